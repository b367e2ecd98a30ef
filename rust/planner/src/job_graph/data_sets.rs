//! Pass 9: which job edges read which data set.
//!
//! Semantics: `StreamingJobGraphGenerator.connect` of 1.11, where every edge has a data set of its own, and
//! `createOrReuseOutput` of 2.3, where blocking edges of one operator share one if their partitioners are equal and their
//! consumers have the same parallelism, the same maximum and the same side output. Two key selectors are never equal.
//!
//! Cost: O(edges) time; space only where data sets are shared.

use hashbrown::HashMap;

use super::chains::{Chains, Connection};
use crate::dense::{Csr, DataSetIndex, Index, JobEdgeIndex, NameId, NodeIndex, VertexIndex, all};
use crate::profile::Profile;
use crate::stream_graph::{Partitioner, StreamGraph};

/// Who reads what.
#[derive(Clone, Debug)]
pub enum DataSets {
    /// Edge `i` reads data set `i`.
    OnePerEdge,
    /// Numbered by their first edges.
    Shared {
        /// The data set of each edge.
        consumed: Vec<DataSetIndex>,
        /// The edges of each data set.
        consumers: Csr<DataSetIndex, JobEdgeIndex>,
        /// How many data sets there are.
        count: usize,
    },
}

/// What makes two blocking edges equal to the operator they leave.
#[derive(PartialEq, Eq, Hash)]
struct Demand {
    source: NodeIndex,
    partitioner: Partitioner,
    parallelism: i32,
    max_parallelism: i32,
    side_output: Option<NameId>,
}

/// Gives every edge its data set.
pub fn assign(graph: &StreamGraph, chains: &Chains, profile: Profile) -> DataSets {
    if !profile.shares_data_sets() || chains.connections.iter().all(|edge| edge.result_type.is_pipelined()) {
        return DataSets::OnePerEdge;
    }
    let mut known: HashMap<Demand, DataSetIndex> = HashMap::new();
    let mut count = 0;
    let mut consumed = Vec::with_capacity(chains.connections.len());
    for connection in &chains.connections {
        let fresh = DataSetIndex::new(count);
        let data_set = demand(graph, connection).map_or(fresh, |demand| *known.entry(demand).or_insert(fresh));
        count += usize::from(data_set == fresh);
        consumed.push(data_set);
    }
    let consumers = Csr::group(count, consumed.iter().enumerate().map(|(at, &data_set)| (data_set, JobEdgeIndex::new(at))));
    DataSets::Shared { consumed, consumers, count }
}

fn demand(graph: &StreamGraph, connection: &Connection) -> Option<Demand> {
    let edge = graph.edge(connection.edge);
    let equal = !matches!(edge.partitioner, Partitioner::Hash | Partitioner::Custom);
    (equal && !connection.result_type.is_pipelined()).then(|| {
        let target = graph.node(edge.target);
        Demand {
            source: edge.source,
            partitioner: edge.partitioner,
            parallelism: target.parallelism,
            max_parallelism: target.max_parallelism,
            side_output: edge.side_output,
        }
    })
}

impl DataSets {
    /// How many there are, of this many edges.
    pub fn count(&self, edges: usize) -> usize {
        match self {
            Self::OnePerEdge => edges,
            Self::Shared { count, .. } => *count,
        }
    }

    /// The data set of an edge.
    #[inline]
    pub fn consumed(&self, edge: JobEdgeIndex) -> DataSetIndex {
        match self {
            Self::OnePerEdge => DataSetIndex(edge.0),
            Self::Shared { consumed, .. } => consumed[edge.get()],
        }
    }

    /// The edges of a data set, in the order in which they were connected; never empty.
    #[inline]
    pub fn consumers(&self, data_set: DataSetIndex) -> impl ExactSizeIterator<Item = JobEdgeIndex> + Clone + '_ {
        let shared = match self {
            Self::OnePerEdge => None,
            Self::Shared { consumers, .. } => Some(consumers.of(data_set)),
        };
        (0..shared.map_or(1, <[_]>::len)).map(move |at| shared.map_or(JobEdgeIndex(data_set.0), |edges| edges[at]))
    }

    /// The data sets of each vertex, in order of creation.
    pub fn results(&self, chains: &Chains) -> Csr<VertexIndex, DataSetIndex> {
        let sources = || chains.connections.iter().map(|edge| edge.source);
        let size = chains.chains.len();
        match self {
            Self::OnePerEdge => Csr::group(size, sources().enumerate().map(|(at, source)| (source, DataSetIndex::new(at)))),
            Self::Shared { consumers, count, .. } => {
                let source = |data_set: DataSetIndex| chains.connections[consumers.of(data_set)[0].get()].source;
                Csr::group(size, all(*count).map(|data_set| (source(data_set), data_set)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_graph::{JobGraph, JobOptions, compile};
    use crate::stream_graph::{ExchangeMode, NewNode, Role, Settings, StreamGraphBuilder};
    use crate::test_graphs::{edge, node};

    /// One source with an edge of each of these to a sink of its own.
    fn fan(profile: Profile, edges: &[(Partitioner, i32)]) -> JobGraph {
        let settings = Settings { exchange_mode: ExchangeMode::AllBlocking, ..Settings::default() };
        let mut builder = StreamGraphBuilder::new(settings);
        builder.add_node(&node(0, Role::Source)).unwrap();
        for (id, &(partitioner, parallelism)) in (1..).zip(edges) {
            builder.add_node(&NewNode { parallelism, ..node(id, Role::Sink) }).unwrap();
            builder.add_edge(edge(0, id, Some(partitioner))).unwrap();
        }
        compile(std::sync::Arc::new(builder.build()), JobOptions { profile, ..JobOptions::default() }).unwrap()
    }

    fn consumed(job: &JobGraph) -> Vec<u32> {
        all(job.edge_count()).map(|edge| job.consumed(edge).0).collect()
    }

    #[test]
    fn equal_demands_share_and_key_selectors_never_do() {
        use Partitioner::{Broadcast, Hash, Rebalance};
        let edges = [(Rebalance, 2), (Hash, 2), (Rebalance, 2), (Hash, 2), (Rebalance, 3), (Broadcast, 2), (Rebalance, 2)];
        let job = fan(Profile::V2_3, &edges);
        assert_eq!(consumed(&job), [0, 1, 0, 2, 3, 4, 0]);
        assert_eq!((job.data_set_count(), job.edge_count()), (5, 7));
        let readers: Vec<u32> = job.consumers(DataSetIndex(0)).map(|edge| edge.0).collect();
        assert_eq!(readers, [0, 2, 6]);
        assert_eq!(consumed(&fan(Profile::V1_11, &edges)), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn shared_data_sets_change_the_topological_order() {
        use Partitioner::{Rebalance, Shuffle};
        let edges = [(Rebalance, 2), (Shuffle, 2), (Rebalance, 2)];
        let order = |profile| fan(profile, &edges).topological_order().iter().map(|vertex| vertex.0).collect::<Vec<_>>();
        assert_eq!((order(Profile::V1_11), order(Profile::V2_3)), (vec![3, 0, 1, 2], vec![3, 0, 2, 1]));
    }
}
