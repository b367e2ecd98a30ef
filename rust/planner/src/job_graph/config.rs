//! What an executor needs to know of an operator and of an exchange, gathered in one place: Flink's `StreamConfig` and the
//! properties of a `JobEdge`. Made when asked for; O(outputs of the operator).

use hashbrown::HashMap;

use super::JobGraph;
use crate::dense::{EdgeIndex, JobEdgeIndex, NodeIndex, OperatorIndex, VertexIndex};
use crate::identity::OperatorId;

/// The configuration of an operator in its chain.
#[derive(Clone, Debug)]
pub struct StreamConfig<'a> {
    /// External id of the node.
    pub id: i32,
    /// Identity across program versions.
    pub operator_id: OperatorId,
    /// Identity a uid hash gives.
    pub user_defined_id: Option<OperatorId>,
    /// Name of the operator, not of the chain.
    pub name: &'a str,
    /// Identity the user gave.
    pub uid: Option<&'a str>,
    /// Distance from the head of the chain.
    pub depth: u32,
    /// That distance as Flink counts it: from 0, or from 1.
    pub chain_index: u32,
    /// Fraction of the slot's managed memory; none where Flink sets none.
    pub managed_memory_fraction: Option<f64>,
    /// Edges that stay in the chain, in order.
    pub chained_outputs: Vec<EdgeIndex>,
    /// Edges that leave it, in order.
    pub non_chained_outputs: Vec<EdgeIndex>,
    /// How many data sets it writes: one for each edge that leaves the chain, fewer where edges share.
    pub number_of_outputs: usize,
}

impl StreamConfig<'_> {
    /// Whether it is the head of its chain.
    pub fn chain_start(&self) -> bool {
        self.depth == 0
    }

    /// Whether no operator follows it in its chain.
    pub fn chain_end(&self) -> bool {
        self.chained_outputs.is_empty()
    }
}

/// What connects two vertices.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeConfig {
    /// Producing vertex.
    pub source: VertexIndex,
    /// Position among the producer's results.
    pub result: usize,
    /// Consuming vertex.
    pub target: VertexIndex,
    /// Position among the consumer's inputs.
    pub input: usize,
    /// POINTWISE or ALL_TO_ALL.
    pub distribution: &'static str,
    /// When records may be read.
    pub result_type: &'static str,
    /// The partitioner's name.
    pub ship_strategy: &'static str,
    /// The edge of the program.
    pub stream_edge: EdgeIndex,
}

impl JobGraph {
    /// The operators of a vertex from the head down its chained outputs, in pre-order.
    pub fn stream_configs(&self, vertex: VertexIndex) -> impl Iterator<Item = StreamConfig<'_>> {
        let written = self.written_by(vertex);
        self.walk(vertex).map(move |(node, depth, row)| {
            let config = self.stream_config(node, depth, row);
            match &written {
                None => config,
                Some(written) => StreamConfig { number_of_outputs: written.get(&node).copied().unwrap_or(0), ..config },
            }
        })
    }

    /// How many data sets each operator of a vertex writes, where edges may share them.
    fn written_by(&self, vertex: VertexIndex) -> Option<HashMap<NodeIndex, usize>> {
        self.profile().shares_data_sets().then(|| {
            let mut written = HashMap::new();
            for &result in self.results(vertex) {
                let edge = self.edge(self.first_consumer(result)).edge;
                *written.entry(self.graph.edge(edge).source).or_default() += 1;
            }
            written
        })
    }

    fn stream_config(&self, node: NodeIndex, depth: u32, row: OperatorIndex) -> StreamConfig<'_> {
        let stream_node = self.graph.node(node);
        let non_chained_outputs: Vec<EdgeIndex> = self.outputs(node, false).collect();
        StreamConfig {
            id: stream_node.id,
            operator_id: self.operator_id(node),
            user_defined_id: self.user_defined_id(node),
            name: self.graph.name(node),
            uid: stream_node.uid.map(|uid| self.graph.text(uid)),
            depth,
            chain_index: depth + self.profile().head_index(),
            managed_memory_fraction: self.managed_memory_fraction(row),
            chained_outputs: self.outputs(node, true).collect(),
            number_of_outputs: non_chained_outputs.len(),
            non_chained_outputs,
        }
    }

    /// Everything about a job edge.
    pub fn exchange(&self, edge: JobEdgeIndex) -> ExchangeConfig {
        let ends = self.edge(edge);
        ExchangeConfig {
            source: ends.source,
            result: self.result_position(self.consumed(edge)),
            target: ends.target,
            input: self.input_position(edge),
            distribution: self.distribution(edge).as_str(),
            result_type: ends.result_type.as_str(),
            ship_strategy: self.graph.edge(ends.edge).partitioner.as_str(),
            stream_edge: ends.edge,
        }
    }
}
