//! Reading a JobGraph: what a vertex, an operator, an edge is, without a copy being kept of it.

use std::sync::Arc;

use super::{Chain, ChainedNode, Connection, Distribution, JobGraph, JobOptions, ResultType, SlotSharing};
use crate::dense::{DataSetIndex, EdgeIndex, Index, JobEdgeIndex, NameId, NodeIndex, OperatorIndex, VertexIndex};
use crate::identity::{OperatorId, OperatorIds, UserHash, Verdicts};
use crate::profile::Profile;
use crate::stream_graph::{NodeExtras, Resources, StreamGraph};

/// Which vertices take part in checkpoints, in the order in which Flink lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpointing {
    /// Milliseconds; `i64::MAX` switches periodic checkpoints off.
    pub interval: i64,
    /// Vertices that start a checkpoint.
    pub trigger: Vec<VertexIndex>,
    /// Vertices that must acknowledge it.
    pub acknowledge: Vec<VertexIndex>,
    /// Vertices that are told when it is complete.
    pub confirm: Vec<VertexIndex>,
}

const SHORTEST_INTERVAL: i64 = 10;

impl JobGraph {
    /// The program it was compiled from.
    pub fn stream_graph(&self) -> &StreamGraph {
        &self.graph
    }

    /// The program it was compiled from, shared.
    pub fn stream_graph_arc(&self) -> Arc<StreamGraph> {
        self.graph.clone()
    }

    /// What the operators of a vertex carry of a kind (an input format, a coordinator), by OperatorID.
    pub fn formats(&self, vertex: VertexIndex, kind: impl Fn(&NodeExtras) -> Option<NameId>) -> Vec<(String, String)> {
        let carried = |operator: &ChainedNode| {
            let name = kind(self.graph.extras(operator.node)?)?;
            Some((self.operator_id(operator.node).to_string(), self.graph.text(name).to_owned()))
        };
        self.operators(vertex).iter().filter_map(carried).collect()
    }

    /// The verdict on every edge of the program.
    pub fn verdicts(&self) -> &Verdicts {
        &self.verdicts
    }

    /// The OperatorIDs of the program.
    pub fn operator_ids(&self) -> &OperatorIds {
        &self.ids
    }

    /// What came from outside the program.
    pub fn options(&self) -> &JobOptions {
        &self.options
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.chains.chains.len()
    }

    /// The chain of a vertex.
    pub fn chain(&self, vertex: VertexIndex) -> &Chain {
        &self.chains.chains[vertex.get()]
    }

    /// The id of a vertex, which is the OperatorID of its head.
    pub fn id(&self, vertex: VertexIndex) -> OperatorId {
        self.operator_id(self.chain(vertex).head)
    }

    /// The name of a vertex.
    pub fn name(&self, vertex: VertexIndex) -> &str {
        self.connected.names.get(&self.graph, vertex, self.chain(vertex))
    }

    /// Parallelism of a vertex; −1 when unset, never 0.
    pub fn parallelism(&self, vertex: VertexIndex) -> i32 {
        let parallelism = self.graph.nodes.parallelism.get(self.chain(vertex).head.get());
        if parallelism > 0 { parallelism } else { -1 }
    }

    /// The largest parallelism of any vertex; −1 when there is none.
    pub fn maximum_parallelism(&self) -> i32 {
        crate::dense::all(self.vertex_count()).map(|vertex| self.parallelism(vertex)).max().unwrap_or(-1)
    }

    /// Operators of a vertex in order of creation, the head last.
    pub fn operators(&self, vertex: VertexIndex) -> &[ChainedNode] {
        let chain = self.chain(vertex);
        &self.chains.operators[chain.first_operator as usize..chain.end_operator as usize]
    }

    /// Number of operators of all vertices.
    pub fn operator_count(&self) -> usize {
        self.chains.operators.len()
    }

    /// Rows of the operator table, which has the operators of all vertices in order, each with its vertex.
    pub fn operator_rows(&self, rows: std::ops::Range<usize>) -> impl Iterator<Item = (VertexIndex, OperatorIndex, &ChainedNode)> {
        let mut vertex = self.chains.chains.partition_point(|chain| chain.end_operator as usize <= rows.start);
        rows.map(move |row| {
            while self.chains.chains[vertex].end_operator as usize <= row {
                vertex += 1;
            }
            (VertexIndex::new(vertex), OperatorIndex::new(row), &self.chains.operators[row])
        })
    }

    /// The OperatorID of a chained node.
    pub fn operator_id(&self, node: NodeIndex) -> OperatorId {
        self.ids.get(node).expect("chains::build refuses nodes without an ID")
    }

    /// Pairs of generated and alternative ID of a vertex's operators: per operator its uid hash, then each further hash.
    pub fn operator_id_pairs(&self, vertex: VertexIndex) -> impl Iterator<Item = (OperatorId, Option<OperatorId>)> + '_ {
        self.operators(vertex).iter().flat_map(move |operator| {
            let own = self.operator_id(operator.node);
            let id = self.graph.node(operator.node).id;
            let further = self.options.additional_hashes.iter().map(move |hashes| (own, hashes.get(&id).copied()));
            std::iter::once((own, self.user_defined_id(operator.node))).chain(further)
        })
    }

    /// The ID a uid hash gives.
    pub fn user_defined_id(&self, node: NodeIndex) -> Option<OperatorId> {
        let at = self.user_hashes.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        match self.user_hashes[at].1 {
            UserHash::Id(id) => Some(id),
            UserHash::WrongLength(_) => None,
        }
    }

    /// Fraction of the slot's managed memory of a row of the operator table; none where Flink sets none.
    pub fn managed_memory_fraction(&self, operator: OperatorIndex) -> Option<f64> {
        self.shared.fractions.get(operator.get())
    }

    /// Resources of a vertex; `None` is UNKNOWN.
    pub fn vertex_resources(&self, vertex: VertexIndex) -> Option<&Resources> {
        self.shared.resources.get(vertex.get())?.as_ref()
    }

    /// Slot sharing and co-location groups.
    pub fn slots(&self) -> &SlotSharing {
        &self.shared.slots
    }

    /// The Flink it equals.
    pub fn profile(&self) -> Profile {
        self.options.profile
    }

    /// Number of job edges.
    pub fn edge_count(&self) -> usize {
        self.chains.connections.len()
    }

    /// One job edge.
    pub fn edge(&self, edge: JobEdgeIndex) -> &Connection {
        &self.chains.connections[edge.get()]
    }

    /// Number of data sets: one per job edge, fewer where edges share.
    pub fn data_set_count(&self) -> usize {
        self.connected.data_sets.count(self.edge_count())
    }

    /// The data set a job edge consumes.
    pub fn consumed(&self, edge: JobEdgeIndex) -> DataSetIndex {
        self.connected.data_sets.consumed(edge)
    }

    /// The job edges that consume a data set, in the order in which they were connected; never empty.
    pub fn consumers(&self, data_set: DataSetIndex) -> impl ExactSizeIterator<Item = JobEdgeIndex> + Clone + '_ {
        self.connected.data_sets.consumers(data_set)
    }

    /// The job edge that a data set was made for.
    pub fn first_consumer(&self, data_set: DataSetIndex) -> JobEdgeIndex {
        self.consumers(data_set).next().expect("a data set is made for an edge")
    }

    /// How the subtasks at both ends of a job edge are connected.
    pub fn distribution(&self, edge: JobEdgeIndex) -> Distribution {
        Distribution::of(self.graph.edge(self.edge(edge).edge).partitioner)
    }

    /// Edges of the program that a vertex reads, in physical order.
    pub fn in_edges(&self, vertex: VertexIndex) -> impl Iterator<Item = EdgeIndex> + '_ {
        self.inputs(vertex).iter().map(|&edge| self.edge(edge).edge)
    }

    /// Edges of the program that leave a vertex, in order.
    pub fn out_edges(&self, vertex: VertexIndex) -> impl Iterator<Item = EdgeIndex> + '_ {
        // the edges of a vertex are connected together; a shared data set has some of them
        let first = self.results(vertex).first().map_or(0, |&result| self.first_consumer(result).get());
        let count: usize = self.results(vertex).iter().map(|&result| self.consumers(result).len()).sum();
        self.chains.connections[first..first + count].iter().map(|connection| connection.edge)
    }

    /// Inputs of a vertex, in order.
    pub fn inputs(&self, vertex: VertexIndex) -> &[JobEdgeIndex] {
        self.connected.inputs.of(vertex)
    }

    /// Data sets of a vertex, in order.
    pub fn results(&self, vertex: VertexIndex) -> &[DataSetIndex] {
        self.connected.results.of(vertex)
    }

    /// Position of a data set among the results of its producer.
    pub fn result_position(&self, data_set: DataSetIndex) -> usize {
        let producer = self.edge(self.first_consumer(data_set)).source;
        self.results(producer).binary_search(&data_set).expect("a data set is a result of its producer")
    }

    /// Position of a job edge among the inputs of its target.
    pub fn input_position(&self, edge: JobEdgeIndex) -> usize {
        self.inputs(self.edge(edge).target).binary_search(&edge).expect("an edge is an input of its target")
    }

    /// Edges of an operator that stay inside its chain, or that leave it, in order.
    pub fn outputs(&self, node: NodeIndex, chained: bool) -> impl Iterator<Item = EdgeIndex> + '_ {
        self.graph.out_edges(node).iter().copied().filter(move |&edge| self.verdicts.chained(edge) == chained)
    }

    /// The operators of a vertex from the head down its chained outputs, each with its row of the operator table.
    pub fn walk(&self, vertex: VertexIndex) -> Walk<'_> {
        let chain = self.chain(vertex);
        let rows = (chain.first_operator..chain.end_operator).map(|row| (self.chains.operators[row as usize].node, OperatorIndex(row)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|(node, _)| *node);
        Walk { job: self, rows, open: vec![(chain.head, 0)] }
    }

    /// Buffer timeout of an edge of the program after compilation, in milliseconds: where a pipelined edge leaves a vertex,
    /// unset has become 100 in Flink 1.11.
    pub fn buffer_timeout(&self, edge: EdgeIndex) -> i64 {
        let timeout = self.graph.edges.buffer_timeout.get(edge.get());
        let leaves_a_vertex = !self.verdicts.chained(edge) && self.ids.get(self.graph.edges.source[edge.get()]).is_some();
        let reset = timeout == -1 && leaves_a_vertex && ResultType::of_edge(&self.graph, edge).is_pipelined();
        self.profile().default_buffer_timeout().filter(|_| reset).unwrap_or(timeout)
    }

    /// Vertices sorted topologically from the sources.
    pub fn topological_order(&self) -> &[VertexIndex] {
        &self.connected.topological
    }

    /// Vertices in the iteration order of Flink's map from head id to vertex.
    pub fn map_order(&self) -> &[VertexIndex] {
        &self.shared.map_order
    }

    /// Checkpointing settings.
    pub fn checkpointing(&self) -> Checkpointing {
        let settings = &self.graph.settings;
        let interval = if settings.checkpoints() && settings.checkpoint_interval >= SHORTEST_INTERVAL {
            settings.checkpoint_interval
        } else {
            i64::MAX
        };
        let trigger = self.shared.map_order.iter().copied().filter(|&vertex| self.inputs(vertex).is_empty()).collect();
        Checkpointing { interval, trigger, acknowledge: self.shared.map_order.clone(), confirm: self.shared.map_order.clone() }
    }
}

/// Pre-order walk over the operators of a chain; yields node, depth and row.
pub struct Walk<'a> {
    job: &'a JobGraph,
    rows: Vec<(NodeIndex, OperatorIndex)>,
    open: Vec<(NodeIndex, u32)>,
}

impl Iterator for Walk<'_> {
    type Item = (NodeIndex, u32, OperatorIndex);

    fn next(&mut self) -> Option<Self::Item> {
        let (node, depth) = self.open.pop()?;
        let start = self.open.len();
        self.open.extend(self.job.outputs(node, true).map(|edge| (self.job.graph.edge(edge).target, depth + 1)));
        self.open[start..].reverse();
        let at = self.rows.binary_search_by_key(&node, |(node, _)| *node).expect("a chain holds what its head reaches");
        Some((node, depth, self.rows[at].1))
    }
}
