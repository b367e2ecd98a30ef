//! The groups of an ExecutionGraph's blocking exchanges: partitions that are read by the same subtasks.
//!
//! Semantics: `ConsumedPartitionGroup` and `ConsumerVertexGroup` of Flink 2.3; Flink 1.11 asks the same of each partition
//! by itself. An all-to-all exchange is one group, a pointwise one has a group per partition or per reader, whichever are
//! fewer; groups of an exchange are numbered in that order. Cost: O(job edges) space, O(1) per question but for the readers
//! of a pointwise group.

use std::ops::Range;

use super::ExecutionGraph;
use super::fan_out::FanOut;
use super::region_cells::running_sums;
use super::regions::{PipelinedRegions, SubtaskSpan};
use crate::dense::{ExecutionVertexIndex, Index, JobEdgeIndex, RegionIndex, all};
use crate::error::Result;
use crate::job_graph::Distribution;

/// Numbers of the groups of all blocking exchanges.
#[derive(Debug)]
pub struct PartitionGroups {
    /// The first group of each job edge, and the number of groups. Pipelined exchanges have none.
    first: Vec<u32>,
}

/// Partitions that are read by the same subtasks of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionGroup {
    /// The exchange.
    pub edge: JobEdgeIndex,
    /// Partitions, by number of the subtask that writes them.
    pub partitions: Range<u32>,
}

impl FanOut {
    fn by_partition(&self) -> bool {
        self.producers <= self.consumers
    }

    /// The group that a subtask reads.
    fn group_of_consumer(&self, subtask: u32) -> u32 {
        match self.distribution {
            Distribution::AllToAll => 0,
            Distribution::Pointwise if self.by_partition() => self.partitions_of(subtask).start,
            Distribution::Pointwise => subtask,
        }
    }

    /// The group that a partition is in.
    fn group_of_partition(&self, partition: u32) -> u32 {
        match self.distribution {
            Distribution::AllToAll => 0,
            Distribution::Pointwise if self.by_partition() => partition,
            Distribution::Pointwise => self.consumers_of(partition).start,
        }
    }

    /// The groups that consecutive subtasks read; a reader always has one, and they only move up.
    fn groups_of_consumers(&self, subtasks: Range<u32>) -> Range<u32> {
        self.group_of_consumer(subtasks.start)..self.group_of_consumer(subtasks.end - 1) + 1
    }
}

impl PartitionGroups {
    /// Numbers the groups of a graph.
    ///
    /// # Errors
    /// [`crate::error::PlanError::TooManyRegions`] beyond 4 billion.
    pub fn new(graph: &ExecutionGraph) -> Result<Self> {
        let groups = |edge| if graph.is_pipelined(edge) { 0 } else { u64::from(graph.fan_out(edge).groups()) };
        let first = running_sums("groups of partitions", all(graph.job.edge_count()).map(groups))?;
        Ok(Self { first })
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// Whether there is no blocking exchange.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A group by its number.
    pub fn group(&self, graph: &ExecutionGraph, number: u32) -> PartitionGroup {
        let edge = JobEdgeIndex::new(self.first.partition_point(|&first| first <= number) - 1);
        PartitionGroup { edge, partitions: graph.fan_out(edge).group(number - self.first[edge.get()]).0 }
    }

    /// The groups that a partition of an exchange is in: one, or none if the exchange is pipelined.
    pub fn of_partition(&self, graph: &ExecutionGraph, edge: JobEdgeIndex, partition: u32) -> Option<u32> {
        (!graph.is_pipelined(edge)).then(|| self.first[edge.get()] + graph.fan_out(edge).group_of_partition(partition))
    }

    /// The subtasks that read a group.
    pub fn consumers(&self, graph: &ExecutionGraph, number: u32) -> SubtaskSpan {
        let edge = self.group(graph, number).edge;
        let (_, subtasks) = graph.fan_out(edge).group(number - self.first[edge.get()]);
        SubtaskSpan { vertex: graph.position(graph.job.edge(edge).target), first: subtasks.start, end: subtasks.end }
    }

    /// Visits each group that a region reads once, in the order of its vertices and their inputs.
    pub fn for_each_read_by(&self, graph: &ExecutionGraph, regions: &PipelinedRegions, region: RegionIndex, mut visit: impl FnMut(u32)) {
        let mut spans = regions.spans(region);
        while let Some(&SubtaskSpan { vertex, .. }) = spans.first() {
            let of_vertex = spans.iter().take_while(|span| span.vertex == vertex).count();
            let (here, rest) = spans.split_at(of_vertex);
            self.for_each_read_by_vertex(graph, vertex, here, &mut visit);
            spans = rest;
        }
    }

    fn for_each_read_by_vertex(
        &self,
        graph: &ExecutionGraph,
        vertex: ExecutionVertexIndex,
        spans: &[SubtaskSpan],
        visit: &mut impl FnMut(u32),
    ) {
        for &edge in graph.job.inputs(graph.vertex(vertex).vertex).iter().filter(|&&edge| !graph.is_pipelined(edge)) {
            let (fan_out, first) = (graph.fan_out(edge), self.first[edge.get()]);
            let mut next = 0;
            for span in spans {
                let groups = fan_out.groups_of_consumers(span.first..span.end);
                (groups.start.max(next)..groups.end).for_each(|group| visit(first + group));
                next = groups.end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution_graph::expand;
    use crate::stream_graph::{NewEdge, NewNode, Partitioner, Role, ShuffleMode, StreamGraphBuilder};
    use crate::test_graphs::{edge, job, node};
    use std::sync::Arc;

    fn blocking(partitioner: Partitioner, producers: i32, consumers: i32) -> ExecutionGraph {
        let mut builder = StreamGraphBuilder::new(Default::default());
        builder.add_node(&NewNode { parallelism: producers, ..node(1, Role::Source) }).unwrap();
        builder.add_node(&NewNode { parallelism: consumers, ..node(2, Role::Sink) }).unwrap();
        builder.add_edge(NewEdge { shuffle_mode: ShuffleMode::Batch, ..edge(1, 2, Some(partitioner)) }).unwrap();
        expand(Arc::new(job(builder.build()))).unwrap()
    }

    #[test]
    fn groups_cut_partitions_and_readers_into_blocks_that_meet() {
        let edge = JobEdgeIndex(0);
        let sizes = (1..12).flat_map(|producers| (1..12).map(move |consumers| (producers, consumers)));
        for (partitioner, (producers, consumers)) in sizes.flat_map(|size| [(Partitioner::Rescale, size), (Partitioner::Hash, size)]) {
            let graph = blocking(partitioner, producers, consumers);
            let groups = PartitionGroups::new(&graph).unwrap();
            let mut seen = (Vec::new(), Vec::new());
            for number in 0..groups.len() as u32 {
                let (partitions, readers) = (groups.group(&graph, number).partitions, groups.consumers(&graph, number));
                for subtask in readers.first..readers.end {
                    assert_eq!(graph.fan_out(edge).partitions_of(subtask), partitions, "{producers} -> {consumers}");
                }
                assert!(partitions.clone().all(|partition| groups.of_partition(&graph, edge, partition) == Some(number)));
                seen.0.extend(partitions);
                seen.1.extend(readers.first..readers.end);
            }
            assert_eq!(seen, ((0..producers as u32).collect(), (0..consumers as u32).collect()), "each once, in order");
        }
    }
}
