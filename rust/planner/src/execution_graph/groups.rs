//! Exchanges as groups: which partitions and which subtasks are all connected with each other.
//!
//! Semantics: `ConsumedPartitionGroup` and `ConsumerVertexGroup` of Flink 1.13 and later. Each connection is in exactly one
//! [`Group`], so the groups are the ExecutionEdges in O(P + Q) rows: one for an all-to-all exchange, one per subtask of the
//! smaller side for a pointwise one. Cost: O(E) to index, O(log E) to find a row, O(1) per row.

use std::ops::Range;
use std::sync::Arc;

use super::ExecutionGraph;
use crate::dense::{DataSetIndex, Index, JobEdgeIndex, Ragged};

/// Partitions of one result and subtasks of one consumer that are all connected with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The job edge between both.
    pub edge: JobEdgeIndex,
    /// Position of the consumer vertex.
    pub consumer: u32,
    /// Input of the consumer.
    pub input: u32,
    /// Position of the producer vertex.
    pub producer: u32,
    /// Result of the producer.
    pub result: u32,
    /// The `ConsumedPartitionGroup` of each of the subtasks.
    pub partitions: Range<u32>,
    /// The `ConsumerVertexGroup` of each of the partitions.
    pub subtasks: Range<u32>,
}

/// The groups of all exchanges, as rows.
#[derive(Clone, Debug)]
pub struct Groups {
    graph: Arc<ExecutionGraph>,
    edges: Vec<JobEdgeIndex>,
    rows: Ragged,
}

impl Groups {
    /// By consumer vertex, input, subtasks: what each subtask reads.
    pub fn by_consumer(graph: Arc<ExecutionGraph>) -> Self {
        let edges = graph.vertices.iter().flat_map(|vertex| graph.job.inputs(vertex.vertex)).copied().collect();
        Self::new(graph, edges)
    }

    /// By producer vertex, result, consuming edge, partitions: who reads each partition.
    pub fn by_producer(graph: Arc<ExecutionGraph>) -> Self {
        let results = graph.vertices.iter().flat_map(|vertex| graph.job.results(vertex.vertex));
        let edges = results.flat_map(|&data_set| graph.job.consumers(data_set)).collect();
        Self::new(graph, edges)
    }

    fn new(graph: Arc<ExecutionGraph>, edges: Vec<JobEdgeIndex>) -> Self {
        let rows = Ragged::new(edges.iter().map(|&edge| graph.fan_out(edge).groups().into()));
        Self { graph, edges, rows }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.rows.rows() as usize
    }

    /// Whether there is no exchange.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the groups.
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = Group> + '_ {
        let rows = self.rows.walk(rows.start as u64..rows.end as u64);
        rows.map(|(edge, at)| self.group(self.edges[edge], at as u32))
    }

    fn group(&self, edge: JobEdgeIndex, at: u32) -> Group {
        let job = &self.graph.job;
        let ends = job.edge(edge);
        let (partitions, subtasks) = self.graph.fan_out(edge).group(at);
        Group {
            edge,
            consumer: self.graph.position(ends.target).get() as u32,
            input: job.input_position(edge) as u32,
            producer: self.graph.position(ends.source).get() as u32,
            result: job.result_position(job.consumed(edge)) as u32,
            partitions,
            subtasks,
        }
    }
}

/// The partitions of all results as rows: by producer vertex, result, partition.
#[derive(Clone, Debug)]
pub struct ResultPartitions {
    data_sets: Vec<DataSetIndex>,
    rows: Ragged,
}

impl ResultPartitions {
    /// Of a graph. O(V + E).
    pub fn of(graph: &ExecutionGraph) -> Self {
        let results =
            || graph.vertices.iter().flat_map(|vertex| graph.job.results(vertex.vertex).iter().map(move |&result| (vertex, result)));
        let rows = Ragged::new(results().map(|(vertex, _)| vertex.parallelism.into()));
        Self { data_sets: results().map(|(_, result)| result).collect(), rows }
    }

    /// Number of partitions.
    pub fn len(&self) -> usize {
        self.rows.rows() as usize
    }

    /// Whether nothing is produced.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the partitions.
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = (DataSetIndex, u32)> + '_ {
        let rows = self.rows.walk(rows.start as u64..rows.end as u64);
        rows.map(|(result, partition)| (self.data_sets[result], partition as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewNode, Partitioner, Role};
    use crate::test_graphs::{graph, job, node};

    fn groups_of(partitioner: Partitioner, producers: i32, consumers: i32) -> [Vec<(Range<u32>, Range<u32>)>; 2] {
        let wide = |id, role, parallelism| NewNode { parallelism, ..node(id, role) };
        let nodes = [wide(1, Role::Source, producers), wide(2, Role::Sink, consumers), wide(3, Role::Sink, 1)];
        let graph = graph(&nodes, &[(1, 2, Some(partitioner)), (1, 3, Some(Partitioner::Global))]);
        let graph = Arc::new(super::super::expand(Arc::new(job(graph))).unwrap());
        let position = graph.vertices.iter().position(|vertex| vertex.parallelism == consumers as u32).unwrap() as u32;
        [Groups::by_consumer(graph.clone()), Groups::by_producer(graph)].map(|groups| {
            let whole: Vec<_> = groups.rows(0..groups.len()).collect();
            whole.into_iter().filter(|group| group.consumer == position).map(|group| (group.partitions, group.subtasks)).collect()
        })
    }

    #[test]
    fn an_exchange_all_to_all_is_one_group() {
        for groups in groups_of(Partitioner::Hash, 7, 4) {
            assert_eq!(groups, [(0..7, 0..4)]);
        }
    }

    #[test]
    fn a_pointwise_one_has_a_group_per_subtask_of_the_smaller_side() {
        for groups in groups_of(Partitioner::Rescale, 2, 5) {
            assert_eq!(groups, [(0..1, 0..3), (1..2, 3..5)]);
        }
        for groups in groups_of(Partitioner::Rescale, 5, 2) {
            assert_eq!(groups, [(0..2, 0..1), (2..5, 1..2)]);
        }
    }
}
