//! Which regions run again when a subtask fails.
//!
//! Semantics: `RestartPipelinedRegionFailoverStrategy`, the same in Flink 1.11 and 2.3: the region of the failed subtask;
//! the regions that write what a restarted region reads and what is lost; and all regions that read what a restarted region
//! writes. (Flink 2.3 then leaves out the subtasks that were never started.) Pipelined exchanges lie inside regions, so only
//! blocking ones are followed. Each all-to-all exchange is followed once. Cost: O(restarted subtasks + groups of their
//! exchanges), O(regions) bits, and sorting what is lost; Flink 1.11 needs O(edges).

use std::ops::Range;

use super::ExecutionGraph;
use super::regions::{PipelinedRegions, SubtaskSpan};
use crate::dense::{DataSetIndex, ExecutionVertexIndex, Index, JobEdgeIndex, RegionIndex};
use crate::error::{PlanError, Result};
use crate::job_graph::Distribution;
use crate::work::cancel::checkpoint_at;

/// Consecutive partitions of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionSpan {
    /// The vertex that writes them.
    pub producer: ExecutionVertexIndex,
    /// Result of the vertex.
    pub result: u32,
    /// First partition.
    pub first: u32,
    /// Partition behind the last.
    pub end: u32,
}

impl ExecutionGraph {
    /// The regions to restart when a subtask fails, ascending. `lost` are the result partitions that cannot be read any
    /// more; the one that a `PartitionException` names is one of them.
    ///
    /// # Errors
    /// [`PlanError::InvalidValue`] for a subtask, a result or a partition that does not exist; those of
    /// [`ExecutionGraph::pipelined_regions`].
    pub fn regions_to_restart(&self, failed: (ExecutionVertexIndex, u32), lost: &[PartitionSpan]) -> Result<Vec<RegionIndex>> {
        self.check_subtask(failed.0, failed.1)?;
        let (regions, lost) = (self.pipelined_regions()?, Lost::new(self, lost)?);
        let mut restart = Restart {
            graph: self,
            regions: &regions,
            lost,
            found: Vec::new(),
            seen: vec![false; regions.len()],
            read: vec![false; self.job.edge_count()],
            written: vec![false; self.job.edge_count()],
        };
        restart.add(&[regions.of(failed.0, failed.1)]);
        let mut next = 0;
        while let Some(&region) = restart.found.get(next) {
            checkpoint_at(next);
            restart.follow(region);
            next += 1;
        }
        restart.found.sort_unstable();
        Ok(restart.found)
    }
}

/// What is lost, sorted and merged: `spans` of data set and partitions.
struct Lost(Vec<(DataSetIndex, Range<u32>)>);

impl Lost {
    fn new(graph: &ExecutionGraph, lost: &[PartitionSpan]) -> Result<Self> {
        lost.iter().map(|span| Ok((graph.data_set(span)?, span.first..span.end))).collect::<Result<Vec<_>>>().map(Self::merged)
    }

    fn merged(mut spans: Vec<(DataSetIndex, Range<u32>)>) -> Self {
        spans.sort_unstable_by_key(|(data_set, partitions)| (*data_set, partitions.start));
        spans.dedup_by(|next, kept| {
            let touch = next.0 == kept.0 && next.1.start <= kept.1.end;
            kept.1.end = if touch { kept.1.end.max(next.1.end) } else { kept.1.end };
            touch
        });
        Self(spans)
    }

    /// What is lost of these partitions of a data set.
    fn of(&self, data_set: DataSetIndex, partitions: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let first = self.0.partition_point(|(other, lost)| (*other, lost.end) <= (data_set, partitions.start));
        let lost = self.0[first..].iter().take_while(move |(other, lost)| *other == data_set && lost.start < partitions.end);
        lost.map(move |(_, lost)| lost.start.max(partitions.start)..lost.end.min(partitions.end))
    }
}

struct Restart<'a> {
    graph: &'a ExecutionGraph,
    regions: &'a PipelinedRegions,
    lost: Lost,
    found: Vec<RegionIndex>,
    seen: Vec<bool>,
    /// All-to-all exchanges whose producers, and whose consumers, have been looked at.
    read: Vec<bool>,
    written: Vec<bool>,
}

impl Restart<'_> {
    fn add(&mut self, regions: &[RegionIndex]) {
        for &region in regions {
            if !std::mem::replace(&mut self.seen[region.get()], true) {
                self.found.push(region);
            }
        }
    }

    fn follow(&mut self, region: RegionIndex) {
        let (graph, regions) = (self.graph, self.regions);
        for span in regions.spans(region) {
            let vertex = graph.vertex(span.vertex).vertex;
            if !self.lost.0.is_empty() {
                graph.job.inputs(vertex).iter().for_each(|&edge| self.add_producers(edge, span));
            }
            for &result in graph.job.results(vertex) {
                graph.job.consumers(result).for_each(|edge| self.add_consumers(edge, span));
            }
        }
    }

    fn add_producers(&mut self, edge: JobEdgeIndex, span: &SubtaskSpan) {
        let fan_out = self.graph.fan_out(edge);
        if self.is_done(edge, |restart| &mut restart.read) {
            return;
        }
        let partitions = fan_out.partitions_of(span.first).start..fan_out.partitions_of(span.end - 1).end;
        let vertex = self.graph.position(self.graph.job.edge(edge).source);
        let lost: Vec<_> = self.lost.of(self.graph.job.consumed(edge), partitions).collect();
        for Range { start, end } in lost {
            self.add(self.regions.of_range(SubtaskSpan { vertex, first: start, end }));
        }
    }

    fn add_consumers(&mut self, edge: JobEdgeIndex, span: &SubtaskSpan) {
        let fan_out = self.graph.fan_out(edge);
        if self.is_done(edge, |restart| &mut restart.written) {
            return;
        }
        let subtasks = match fan_out.distribution {
            Distribution::AllToAll => 0..fan_out.consumers,
            Distribution::Pointwise => fan_out.consumers_of(span.first).start..fan_out.consumers_of(span.end - 1).end,
        };
        let vertex = self.graph.position(self.graph.job.edge(edge).target);
        self.add(self.regions.of_range(SubtaskSpan { vertex, first: subtasks.start, end: subtasks.end }));
    }

    /// Whether there is nothing to find behind an exchange: it stays inside the region, or all of it has been found.
    fn is_done(&mut self, edge: JobEdgeIndex, done: impl Fn(&mut Self) -> &mut Vec<bool>) -> bool {
        let whole = self.graph.job.distribution(edge) == Distribution::AllToAll;
        self.graph.is_pipelined(edge) || (whole && std::mem::replace(&mut done(self)[edge.get()], true))
    }
}

impl ExecutionGraph {
    /// The data set of some partitions.
    fn data_set(&self, span: &PartitionSpan) -> Result<DataSetIndex> {
        let broken = |field: &str, value: u32, expected: String| {
            Err(PlanError::InvalidValue { subject: "lost partition".into(), field: field.into(), value: value.to_string(), expected })
        };
        let Some(producer) = self.vertices.get(span.producer.get()) else {
            return broken("producer", span.producer.0, format!("a position below {}", self.vertices.len()));
        };
        let results = self.job.results(producer.vertex);
        let Some(&data_set) = results.get(span.result as usize) else {
            return broken("result", span.result, format!("one of the {} results of {}", results.len(), self.job.name(producer.vertex)));
        };
        if span.end > producer.parallelism || span.first >= span.end {
            let last = span.end.saturating_sub(1);
            return broken("last", last, format!("first or more, and below {}, the number of partitions", producer.parallelism));
        }
        Ok(data_set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_partitions_are_merged_and_cut_to_what_is_asked() {
        let spans = [(1, 4..6), (0, 0..2), (1, 0..2), (1, 5..9), (0, 2..3)].map(|(set, partitions)| (DataSetIndex(set), partitions));
        let lost = Lost::merged(spans.to_vec());
        assert_eq!(lost.0, [(0, 0..3), (1, 0..2), (1, 4..9)].map(|(set, partitions)| (DataSetIndex(set), partitions)));
        let of = |set, partitions| lost.of(DataSetIndex(set), partitions).collect::<Vec<_>>();
        assert_eq!(of(1, 1..7), [1..2, 4..7]);
        assert_eq!((of(0, 3..9), of(1, 2..4), of(2, 0..9)), (vec![], vec![], vec![]));
    }
}
