//! Which partitions may be dropped, because everybody who reads them has finished.
//!
//! Semantics: `RegionPartitionReleaseStrategy` (Flink 1.11), `RegionPartitionGroupReleaseStrategy` (2.3): when the last
//! subtask of a region finishes, those of the partitions it reads are named whose readers' regions have all finished. The
//! profiles differ in one point (see `Profile`). Flink 1.11 walks over all readers of all partitions each time; here a
//! group counts the regions that still read it. Cost: O(subtasks + groups read by each region) to begin and O(groups read by
//! the region) when a region finishes or is unfinished again, else O(1). Space: a bit per subtask, four bytes per group.

use std::sync::Arc;

use super::ExecutionGraph;
use super::partition_groups::{PartitionGroup, PartitionGroups};
use super::regions::{PipelinedRegions, SubtaskSpan};
use crate::dense::{ExecutionVertexIndex, Index, RegionIndex, all};
use crate::error::Result;
use crate::work::cancel::checkpoint_at;

/// Partitions that one input does not need any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Releasable {
    /// The partitions, and the exchange whose readers have finished.
    pub group: PartitionGroup,
    /// Whether the readers of all other exchanges that share the data set have finished as well.
    pub free: bool,
}

/// The bookkeeper: which subtasks have finished, and who still reads what.
#[derive(Debug)]
pub struct PartitionRelease {
    graph: Arc<ExecutionGraph>,
    regions: Arc<PipelinedRegions>,
    groups: PartitionGroups,
    finished: Vec<u64>,
    unfinished: Vec<u64>,
    readers: Vec<u32>,
}

impl PartitionRelease {
    /// Begins with no subtask finished.
    ///
    /// # Errors
    /// Those of [`ExecutionGraph::pipelined_regions`] and [`PartitionGroups::new`].
    pub fn new(graph: Arc<ExecutionGraph>) -> Result<Self> {
        let (regions, groups) = (graph.pipelined_regions()?, PartitionGroups::new(&graph)?);
        let mut readers = vec![0; groups.len()];
        for region in all::<RegionIndex>(regions.len()) {
            checkpoint_at(region.get());
            groups.for_each_read_by(&graph, &regions, region, |group| readers[group as usize] += 1);
        }
        let unfinished = all(regions.len()).map(|region| regions.subtasks(region)).collect();
        let finished = vec![0; graph.total_vertices().div_ceil(64) as usize];
        Ok(Self { graph, regions, groups, finished, unfinished, readers })
    }

    /// Notes that a subtask has finished.
    ///
    /// # Returns
    /// What its region reads and nobody needs any more, if that has finished; by reader and input. Named again when a
    /// subtask of a finished region is reported once more, as in Flink.
    ///
    /// # Errors
    /// [`crate::error::PlanError::InvalidValue`] for a subtask that does not exist.
    pub fn vertex_finished(&mut self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<Vec<Releasable>> {
        let (region, newly) = self.mark(vertex, subtask, true)?;
        let mut released = Vec::new();
        if self.unfinished[region.get()] == 0 {
            if newly {
                self.groups.for_each_read_by(&self.graph, &self.regions, region, |group| self.readers[group as usize] -= 1);
            }
            self.groups.for_each_read_by(&self.graph, &self.regions, region, |group| {
                if self.readers[group as usize] == 0 {
                    self.release(region, group, &mut released);
                }
            });
        }
        Ok(released)
    }

    /// Notes that a subtask runs (again): it has not finished.
    ///
    /// # Errors
    /// [`crate::error::PlanError::InvalidValue`] for a subtask that does not exist.
    pub fn vertex_unfinished(&mut self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<()> {
        let (region, newly) = self.mark(vertex, subtask, false)?;
        if newly && self.unfinished[region.get()] == 1 {
            self.groups.for_each_read_by(&self.graph, &self.regions, region, |group| self.readers[group as usize] += 1);
        }
        Ok(())
    }

    /// The graph it keeps book of.
    pub fn graph(&self) -> &ExecutionGraph {
        &self.graph
    }

    /// Its regions.
    pub fn regions(&self) -> &PipelinedRegions {
        &self.regions
    }

    /// Number of regions whose subtasks have all finished. O(regions).
    pub fn finished_regions(&self) -> usize {
        self.unfinished.iter().filter(|&&unfinished| unfinished == 0).count()
    }

    /// Notes the state of a subtask: its region, and whether the state has changed.
    fn mark(&mut self, vertex: ExecutionVertexIndex, subtask: u32, finished: bool) -> Result<(RegionIndex, bool)> {
        let at = self.graph.check_subtask(vertex, subtask)?;
        let region = self.regions.of(vertex, subtask);
        let (word, bit) = (&mut self.finished[at / 64], 1 << (at % 64));
        let changed = (*word & bit != 0) != finished;
        if changed {
            *word ^= bit;
            let unfinished = &mut self.unfinished[region.get()];
            *unfinished = if finished { *unfinished - 1 } else { *unfinished + 1 };
        }
        Ok((region, changed))
    }

    fn release(&self, region: RegionIndex, number: u32, released: &mut Vec<Releasable>) {
        let group = self.groups.group(&self.graph, number);
        let free = self.is_free(&group);
        if self.graph.job.profile().releases_own_partitions() {
            released.push(Releasable { group, free });
            return;
        }
        let producer = self.graph.position(self.graph.job.edge(group.edge).source);
        let partitions = SubtaskSpan { vertex: producer, first: group.partitions.start, end: group.partitions.end };
        for partitions in self.foreign(region, partitions) {
            released.push(Releasable { group: PartitionGroup { partitions, ..group.clone() }, free });
        }
    }

    /// What of some partitions other regions have written.
    fn foreign(&self, region: RegionIndex, partitions: SubtaskSpan) -> Vec<std::ops::Range<u32>> {
        let mut first = partitions.first;
        let mut foreign = Vec::new();
        for own in self.regions.spans(region).iter().filter(|span| span.vertex == partitions.vertex) {
            let (start, end) = (own.first.clamp(first, partitions.end), own.end.clamp(first, partitions.end));
            foreign.push(first..start);
            first = end;
        }
        foreign.push(first..partitions.end);
        foreign.retain(|partitions| !partitions.is_empty());
        foreign
    }

    /// All exchanges of a data set have the same groups, since it is shared only by equal partitioners and parallelisms.
    fn is_free(&self, group: &PartitionGroup) -> bool {
        let mut exchanges = self.graph.job.consumers(self.graph.job.consumed(group.edge));
        exchanges.all(|edge| {
            let number = self.groups.of_partition(&self.graph, edge, group.partitions.start);
            number.is_none_or(|number| self.readers[number as usize] == 0)
        })
    }
}
