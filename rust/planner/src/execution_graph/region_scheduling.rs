//! Which regions may be scheduled, because all they read has been written.
//!
//! Semantics: `PipelinedRegionSchedulingStrategy`: regions that wait for nothing begin; another one follows when the last
//! blocking result it reads from outside is there. In Flink 1.11 a result is there when all its partitions are, in 2.3 when
//! those are that the region reads (see `Profile`). What a region waits for is counted per unit (a result, or a group of
//! partitions), so that nothing is asked again when a subtask finishes. Cost: O(subtasks + pointwise edges) to begin;
//! O(exchanges) when a subtask finishes, and O(readers) when that completes a unit.

use std::ops::Range;
use std::sync::Arc;

use super::ExecutionGraph;
use super::partition_groups::PartitionGroups;
use super::regions::{PipelinedRegions, SubtaskSpan};
use crate::dense::{ExecutionVertexIndex, Index, JobEdgeIndex, RegionIndex, all};
use crate::error::Result;
use crate::work::cancel::checkpoint_at;

/// The bookkeeper: what has been written, who waits, who has been scheduled.
#[derive(Debug)]
pub struct RegionScheduling {
    graph: Arc<ExecutionGraph>,
    regions: Arc<PipelinedRegions>,
    groups: PartitionGroups,
    /// Whether all subtasks of a vertex are in one region.
    uniform: Vec<bool>,
    /// Partitions of each unit that are not there; units are job edges or groups.
    missing: Vec<u32>,
    /// Units that each region waits for.
    waits: Vec<u32>,
    finished: Vec<bool>,
    scheduled: Vec<bool>,
}

impl RegionScheduling {
    /// Begins with nothing scheduled, in the way of the graph's profile.
    ///
    /// # Errors
    /// Those of [`ExecutionGraph::pipelined_regions`] and [`PartitionGroups::new`].
    pub fn new(graph: Arc<ExecutionGraph>) -> Result<Self> {
        let (regions, groups) = (graph.pipelined_regions()?, PartitionGroups::new(&graph)?);
        let is_uniform = |vertex| {
            let of = regions.of_range(graph.all_subtasks(vertex));
            of.iter().all(|&region| region == of[0])
        };
        let uniform = all(graph.vertices().len()).map(is_uniform).collect();
        let missing = vec![0; if graph.job.profile().waits_for_whole_results() { graph.job.edge_count() } else { groups.len() }];
        let (waits, scheduled) = (vec![0; regions.len()], vec![false; regions.len()]);
        let finished = vec![false; graph.total_vertices() as usize];
        let mut scheduling = Self { graph, regions, groups, uniform, missing, waits, finished, scheduled };
        for vertex in all(scheduling.graph.vertices().len()) {
            for subtask in 0..scheduling.graph.vertex(vertex).parallelism {
                checkpoint_at(subtask as usize);
                scheduling.withdraw(vertex, subtask);
            }
        }
        Ok(scheduling)
    }

    /// The regions that wait for nothing and have not been scheduled, ascending; they count as scheduled from now on.
    pub fn start(&mut self) -> Vec<RegionIndex> {
        self.schedule(all(self.regions.len()).collect())
    }

    /// Notes that a subtask has finished. Returns the regions that waited for nothing else, ascending.
    ///
    /// # Errors
    /// [`crate::error::PlanError::InvalidValue`] for a subtask that does not exist.
    pub fn vertex_finished(&mut self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<Vec<RegionIndex>> {
        let at = self.graph.check_subtask(vertex, subtask)?;
        let mut complete = Vec::new();
        if !std::mem::replace(&mut self.finished[at], true) {
            for (edge, unit) in self.units_of(vertex, subtask) {
                self.missing[unit] -= 1;
                if self.missing[unit] == 0 {
                    let readers = self.waiting(edge, subtask);
                    readers.iter().for_each(|region| self.waits[region.get()] -= 1);
                    complete.extend(readers);
                }
            }
        }
        complete.sort_unstable();
        complete.dedup();
        Ok(self.schedule(complete))
    }

    /// Notes that regions run again: what they have written is gone. Returns those that wait for nothing, ascending.
    pub fn restart(&mut self, mut regions: Vec<RegionIndex>) -> Vec<RegionIndex> {
        for &region in &regions {
            self.scheduled[region.get()] = false;
            for span in self.regions.clone().spans(region) {
                (span.first..span.end).for_each(|subtask| self.take_back(span.vertex, subtask));
            }
        }
        regions.sort_unstable();
        regions.dedup();
        self.schedule(regions)
    }

    /// Number of regions, and of those that have been scheduled. O(regions).
    pub fn progress(&self) -> (usize, usize) {
        (self.regions.len(), self.scheduled.iter().filter(|&&scheduled| scheduled).count())
    }

    fn schedule(&mut self, mut regions: Vec<RegionIndex>) -> Vec<RegionIndex> {
        regions.retain(|region| self.waits[region.get()] == 0 && !std::mem::replace(&mut self.scheduled[region.get()], true));
        regions
    }

    fn take_back(&mut self, vertex: ExecutionVertexIndex, subtask: u32) {
        let at = self.graph.vertex(vertex).first_subtask as usize + subtask as usize;
        if std::mem::replace(&mut self.finished[at], false) {
            self.withdraw(vertex, subtask);
        }
    }

    /// What a subtask writes is not there.
    fn withdraw(&mut self, vertex: ExecutionVertexIndex, subtask: u32) {
        for (edge, unit) in self.units_of(vertex, subtask) {
            if self.missing[unit] == 0 {
                self.waiting(edge, subtask).iter().for_each(|region| self.waits[region.get()] += 1);
            }
            self.missing[unit] += 1;
        }
    }

    /// The exchanges that a subtask writes to and the unit of its partition in each, where somebody may wait for it.
    fn units_of(&self, vertex: ExecutionVertexIndex, subtask: u32) -> Vec<(JobEdgeIndex, usize)> {
        let graph = &self.graph;
        let edges = graph.job.results(graph.vertex(vertex).vertex).iter().flat_map(|&result| graph.job.consumers(result));
        edges.filter_map(|edge| Some((edge, self.unit(edge, vertex, subtask)?))).collect()
    }

    fn unit(&self, edge: JobEdgeIndex, vertex: ExecutionVertexIndex, partition: u32) -> Option<usize> {
        let group = self.groups.of_partition(&self.graph, edge, partition)?;
        if self.graph.job.profile().waits_for_whole_results() {
            return Some(edge.get());
        }
        let readers = self.groups.consumers(&self.graph, group);
        let own = readers.end - readers.first == 1 && self.regions.of(readers.vertex, readers.first) == self.regions.of(vertex, partition);
        (!own).then_some(group as usize) // a region waits for what others write
    }

    /// The regions that wait for the unit of a partition, ascending: they read what is written outside of them.
    fn waiting(&self, edge: JobEdgeIndex, partition: u32) -> Vec<RegionIndex> {
        let target = self.graph.position(self.graph.job.edge(edge).target);
        let readers = match self.groups.of_partition(&self.graph, edge, partition) {
            Some(group) if !self.graph.job.profile().waits_for_whole_results() => self.groups.consumers(&self.graph, group),
            _ => self.graph.all_subtasks(target),
        };
        let region_of = |subtask| self.regions.of(target, subtask);
        let mut regions: Vec<_> =
            (readers.first..readers.end).filter(|&subtask| self.reads_from_outside(edge, subtask)).map(region_of).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }

    fn reads_from_outside(&self, edge: JobEdgeIndex, subtask: u32) -> bool {
        let ends = self.graph.job.edge(edge);
        let (source, target) = (self.graph.position(ends.source), self.graph.position(ends.target));
        let Range { start: first, end } = self.graph.fan_out(edge).partitions_of(subtask);
        let region = self.regions.of(target, subtask);
        if first == 0 && end == self.graph.vertex(source).parallelism {
            return !(self.uniform[source.get()] && self.regions.of(source, 0) == region);
        }
        self.regions.of_range(SubtaskSpan { vertex: source, first, end }).iter().any(|&other| other != region)
    }
}
