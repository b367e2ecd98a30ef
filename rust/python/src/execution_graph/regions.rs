//! Scheduling and failover by region: `PipelinedRegions`, `RestartedRegions`, `PartitionRelease`, `RegionScheduling`.

use std::sync::{Arc, Mutex, MutexGuard};

use penstock_planner::dense::{ExecutionVertexIndex, Index, RegionIndex, all};
use penstock_planner::execution_graph::ExecutionGraph as Graph;
use penstock_planner::execution_graph::region_scheduling::RegionScheduling as Scheduling;
use penstock_planner::execution_graph::regions::{PipelinedRegions as Regions, SubtaskSpan};
use penstock_planner::execution_graph::regions_to_restart::PartitionSpan;
use penstock_planner::execution_graph::release::{PartitionRelease as Release, Releasable};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arrow::arrays;
use crate::arrow::columns::Columns;
use crate::error::check;
use crate::interrupt::interruptible;

/// Subtasks that exchange records while they run, region by region (Flink's SchedulingPipelinedRegion).
///
/// Regions are numbered by their first subtask, which is the order in which Flink schedules them.
#[pyclass(frozen, module = "penstock.plan")]
pub struct PipelinedRegions {
    graph: Arc<Graph>,
    regions: Arc<Regions>,
}

/// The regions that run again after a failure (Flink's RestartPipelinedRegionFailoverStrategy).
#[pyclass(frozen, module = "penstock.plan")]
pub struct RestartedRegions {
    graph: Arc<Graph>,
    regions: Arc<Regions>,
    restarted: Vec<RegionIndex>,
}

/// Keeps book of finished subtasks and says which partitions nobody needs any more (Flink's
/// RegionPartitionReleaseStrategy; RegionPartitionGroupReleaseStrategy in 2.3).
#[pyclass(frozen, module = "penstock.plan")]
pub struct PartitionRelease(Mutex<Release>);

/// Partitions ``first`` to ``last`` of a result that one input of a consumer has read to the end.
///
/// ``free`` tells whether all other readers of these partitions have finished too, so that the data may be dropped; only a
/// result that several inputs share (Flink 2.3) is ever named with ``free`` being False.
#[pyclass(frozen, get_all, eq, module = "penstock.plan")]
#[derive(PartialEq)]
pub struct ReleasablePartitions {
    producer: u32,
    result: usize,
    first: u32,
    last: u32,
    consumer: u32,
    input: usize,
    free: bool,
}

/// Keeps book of what has been written and says which regions may be scheduled (Flink's
/// PipelinedRegionSchedulingStrategy).
#[pyclass(frozen, module = "penstock.plan")]
pub struct RegionScheduling(Mutex<Scheduling>);

impl PipelinedRegions {
    /// The regions of a graph.
    pub fn new(py: Python<'_>, graph: Arc<Graph>) -> PyResult<Self> {
        let regions = check(py, interruptible(py, || graph.pipelined_regions())?)?;
        Ok(Self { graph, regions })
    }
}

#[pymethods]
impl PipelinedRegions {
    fn __len__(&self) -> usize {
        self.regions.len()
    }

    /// The region of a subtask. O(1).
    ///
    /// Raises:
    ///     SpecError: there is no such subtask.
    fn region_of(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<u32> {
        let vertex = ExecutionVertexIndex(vertex);
        check(py, self.graph.check_subtask(vertex, subtask))?;
        Ok(self.regions.of(vertex, subtask).0)
    }

    /// The subtasks of a region, as (vertex, first subtask, last subtask). O(result).
    ///
    /// Raises:
    ///     IndexError: there is no such region.
    fn spans(&self, region: usize) -> PyResult<Vec<(u32, u32, u32)>> {
        let regions = self.regions.len();
        if region >= regions {
            return Err(PyIndexError::new_err(format!("region {region} of {regions}")));
        }
        Ok(self.regions.spans(RegionIndex::new(region)).iter().map(|span| (span.vertex.0, span.first, span.end - 1)).collect())
    }

    /// The subtasks of all regions as columns: region, vertex, first_subtask, last_subtask. O(rows).
    fn spans_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || spans_table(&self.regions, all(self.regions.len())))
    }

    /// The same subtask by subtask: region, vertex, subtask. O(subtasks).
    fn subtasks_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || subtasks_table(&self.regions, all(self.regions.len())))
    }

    fn __repr__(&self) -> String {
        format!("PipelinedRegions({} regions, {} subtasks)", self.regions.len(), self.graph.total_vertices())
    }
}

impl RestartedRegions {
    /// What a failed subtask and lost partitions (producer, result, first, last) make run again.
    pub fn new(py: Python<'_>, graph: Arc<Graph>, vertex: u32, subtask: u32, lost: &[(u32, u32, u32, u32)]) -> PyResult<Self> {
        let span = |&(producer, result, first, last): &(u32, u32, u32, u32)| PartitionSpan {
            producer: ExecutionVertexIndex(producer),
            result,
            first,
            end: last.saturating_add(1),
        };
        let lost: Vec<_> = lost.iter().map(span).collect();
        let regions = PipelinedRegions::new(py, graph.clone())?.regions;
        let restarted = check(py, interruptible(py, || graph.regions_to_restart((ExecutionVertexIndex(vertex), subtask), &lost))?)?;
        Ok(Self { graph, regions, restarted })
    }
}

#[pymethods]
impl RestartedRegions {
    /// Numbers of the regions, ascending. O(regions) at each access.
    #[getter]
    fn regions(&self) -> Vec<u32> {
        self.restarted.iter().map(|region| region.0).collect()
    }

    /// Number of subtasks that run again. O(regions) at each access.
    #[getter]
    fn total_vertices(&self) -> u64 {
        self.restarted.iter().map(|&region| self.regions.subtasks(region)).sum()
    }

    /// The subtasks as columns: region, vertex, first_subtask, last_subtask. O(rows).
    fn spans_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || spans_table(&self.regions, self.restarted.iter().copied()))
    }

    /// The same subtask by subtask: region, vertex, subtask. O(subtasks).
    fn subtasks_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || subtasks_table(&self.regions, self.restarted.iter().copied()))
    }

    fn __len__(&self) -> usize {
        self.restarted.len()
    }

    fn __repr__(&self) -> String {
        let (subtasks, all) = (self.total_vertices(), self.graph.total_vertices());
        format!("RestartedRegions({} of {} regions, {subtasks} of {all} subtasks)", self.restarted.len(), self.regions.len())
    }
}

impl PartitionRelease {
    /// No subtask has finished.
    pub fn new(py: Python<'_>, graph: Arc<Graph>) -> PyResult<Self> {
        check(py, interruptible(py, || Release::new(graph))?).map(|release| Self(Mutex::new(release)))
    }

    fn lock(&self) -> MutexGuard<'_, Release> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl PartitionRelease {
    /// Note that a subtask has finished.
    ///
    /// Returns:
    ///     The partitions that its region reads and whose readers' regions have all finished with it; empty while a
    ///     subtask of the region has not. O(partition groups that the region reads) when a region finishes, else O(1).
    ///
    /// Raises:
    ///     SpecError: there is no such subtask.
    fn vertex_finished(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<Vec<ReleasablePartitions>> {
        let mut release = self.lock();
        let released = check(py, release.vertex_finished(ExecutionVertexIndex(vertex), subtask))?;
        Ok(released.iter().map(|released| ReleasablePartitions::new(release.graph(), released)).collect())
    }

    /// Note that the subtasks ``first`` to ``last`` of a vertex have finished, one after the other.
    ///
    /// Raises:
    ///     SpecError: there is no such subtask; those before it are noted.
    fn vertices_finished(&self, py: Python<'_>, vertex: u32, first: u32, last: u32) -> PyResult<Vec<ReleasablePartitions>> {
        let mut release = self.lock();
        let mut all = Vec::new();
        for subtask in first..=last {
            let released = check(py, release.vertex_finished(ExecutionVertexIndex(vertex), subtask))?;
            all.extend(released.iter().map(|released| ReleasablePartitions::new(release.graph(), released)));
        }
        Ok(all)
    }

    /// Note that a subtask runs again, so that its region has not finished.
    ///
    /// Raises:
    ///     SpecError: there is no such subtask.
    fn vertex_unfinished(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<()> {
        check(py, self.lock().vertex_unfinished(ExecutionVertexIndex(vertex), subtask))
    }

    fn __repr__(&self) -> String {
        let release = self.lock();
        format!("PartitionRelease({} of {} regions finished)", release.finished_regions(), release.regions().len())
    }
}

impl RegionScheduling {
    /// Nothing is scheduled.
    pub fn new(py: Python<'_>, graph: Arc<Graph>) -> PyResult<Self> {
        check(py, interruptible(py, || Scheduling::new(graph))?).map(|scheduling| Self(Mutex::new(scheduling)))
    }

    fn lock(&self) -> MutexGuard<'_, Scheduling> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn numbers(regions: Vec<RegionIndex>) -> Vec<u32> {
    regions.into_iter().map(|region| region.0).collect()
}

#[pymethods]
impl RegionScheduling {
    /// The regions that wait for nothing and have not been scheduled, ascending; from now on they count as scheduled.
    fn start(&self) -> Vec<u32> {
        numbers(self.lock().start())
    }

    /// Note that a subtask has finished, so that what it writes is there.
    ///
    /// Returns:
    ///     The regions that waited for nothing else, ascending; they count as scheduled. A region waits for the whole of
    ///     each blocking result that it reads from outside; in Flink 2.3, for the partitions of it that it reads.
    ///
    /// Raises:
    ///     SpecError: there is no such subtask.
    fn vertex_finished(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<Vec<u32>> {
        check(py, self.lock().vertex_finished(ExecutionVertexIndex(vertex), subtask)).map(numbers)
    }

    /// Note that regions run again, so that what they have written is gone. O(their subtasks and readers).
    ///
    /// Returns:
    ///     Those of them that wait for nothing, ascending; the others are named when what they wait for is there.
    ///
    /// Raises:
    ///     IndexError: there is no such region.
    fn restart(&self, regions: Vec<u32>) -> PyResult<Vec<u32>> {
        let mut scheduling = self.lock();
        let (all, _) = scheduling.progress();
        if let Some(region) = regions.iter().find(|&&region| region as usize >= all) {
            return Err(PyIndexError::new_err(format!("region {region} of {all}")));
        }
        Ok(numbers(scheduling.restart(regions.into_iter().map(RegionIndex).collect())))
    }

    fn __repr__(&self) -> String {
        let (regions, scheduled) = self.lock().progress();
        format!("RegionScheduling({scheduled} of {regions} regions scheduled)")
    }
}

impl ReleasablePartitions {
    fn new(graph: &Graph, released: &Releasable) -> Self {
        let (job, group) = (graph.job_graph(), &released.group);
        let ends = job.edge(group.edge);
        Self {
            producer: graph.position(ends.source).0,
            result: job.result_position(job.consumed(group.edge)),
            first: group.partitions.start,
            last: group.partitions.end - 1,
            consumer: graph.position(ends.target).0,
            input: job.input_position(group.edge),
            free: released.free,
        }
    }
}

#[pymethods]
impl ReleasablePartitions {
    fn __repr__(&self) -> String {
        let Self { producer, result, first, last, consumer, input, free } = self;
        let kept = if *free { "" } else { ", still read by others" };
        format!("ReleasablePartitions({producer}.{result}, partitions {first} to {last}, read by {consumer}.{input}{kept})")
    }
}

fn spans_table(regions: &Regions, chosen: impl Iterator<Item = RegionIndex>) -> Columns {
    let mut columns = [const { Vec::new() }; 4];
    for region in chosen {
        for span in regions.spans(region) {
            push(&mut columns, [region.0, span.vertex.0, span.first, span.end - 1]);
        }
    }
    table(["region", "vertex", "first_subtask", "last_subtask"], columns)
}

fn subtasks_table(regions: &Regions, chosen: impl Iterator<Item = RegionIndex>) -> Columns {
    let mut columns = [const { Vec::new() }; 3];
    for region in chosen {
        for &SubtaskSpan { vertex, first, end } in regions.spans(region) {
            (first..end).for_each(|subtask| push(&mut columns, [region.0, vertex.0, subtask]));
        }
    }
    table(["region", "vertex", "subtask"], columns)
}

fn push<const N: usize>(columns: &mut [Vec<u32>; N], row: [u32; N]) {
    columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
}

fn table<const N: usize>(names: [&'static str; N], columns: [Vec<u32>; N]) -> Columns {
    Columns::new(names.into_iter().zip(columns).map(|(name, column)| (name, arrays::numbers(column.into_iter()))).collect())
}
