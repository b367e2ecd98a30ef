//! `ExecutionGraph`.

use std::sync::Arc;

use penstock_planner::dense::all;
use penstock_planner::execution_graph::ExecutionGraph as Graph;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::executions::Executions;
use super::regions::{PartitionRelease, PipelinedRegions, RegionScheduling, RestartedRegions};
use super::tables::{self, EdgeChunks};
use super::vertex::{ConsumerSubtasks, ExecutionJobVertex, InputPartitions};
use crate::arrow::columns::Columns;
use crate::error::check;
use crate::interrupt::interruptible;
use crate::job_graph::JobGraph;

/// Every vertex at its parallelism; exchanges are held grouped, edges are made on request (Flink's ExecutionGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct ExecutionGraph(pub Arc<Graph>);

#[pymethods]
impl ExecutionGraph {
    /// The JobGraph it was expanded from.
    #[getter]
    fn job_graph(&self) -> JobGraph {
        JobGraph(self.0.job_graph_arc())
    }

    /// Vertices in order of creation, which is topological.
    #[getter]
    fn vertices(&self) -> Vec<ExecutionJobVertex> {
        ExecutionJobVertex::all(&self.0)
    }

    /// Number of subtasks.
    #[getter]
    fn total_vertices(&self) -> u64 {
        self.0.total_vertices()
    }

    /// Number of ExecutionEdges.
    #[getter]
    fn total_edges(&self) -> u64 {
        self.0.total_edges()
    }

    /// Number of ExecutionEdges per edge of the JobGraph, in the order of its ``edges``. O(job edges) at each access.
    #[getter]
    fn edge_counts(&self) -> Vec<u64> {
        all(self.0.job_graph().edge_count()).map(|edge| self.0.fan_out(edge).edges()).collect()
    }

    /// All ExecutionEdges as columns: consumer, subtask, input, producer, result, partition. O(edges), on all cores.
    ///
    /// They come in record batches of a mebi row each. Columns that repeat in an all-to-all exchange are written once and
    /// shared by its batches, so that the table takes 4 bytes per edge of it instead of 24.
    ///
    /// Args:
    ///     limit_bytes: what a copy of the columns may take, 24 bytes per edge.
    ///
    /// Raises:
    ///     ExecutionGraphError: they would take more than ``limit_bytes``; the message says how many.
    #[pyo3(signature = (*, limit_bytes = 4 << 30))]
    fn execution_edges(&self, py: Python<'_>, limit_bytes: u64) -> PyResult<Columns> {
        check(py, interruptible(py, || tables::execution_edges(self.0.clone(), limit_bytes))?)
    }

    /// The same columns in tables of up to ``chunk_size`` rows, in bounded memory whatever the number of edges.
    ///
    /// Raises:
    ///     ValueError: ``chunk_size`` is 0.
    #[pyo3(signature = (chunk_size = 1 << 20))]
    fn execution_edge_chunks(&self, py: Python<'_>, chunk_size: usize) -> PyResult<EdgeChunks> {
        if chunk_size == 0 {
            return Err(PyValueError::new_err("chunk_size is 0, expected a number of rows of 1 or more"));
        }
        interruptible(py, || EdgeChunks::new(self.0.clone(), chunk_size))
    }

    /// What each subtask reads, as columns: subtasks ``first_subtask`` to ``last_subtask`` of a consumer's input read
    /// ``first_partition`` to ``last_partition`` of a producer's result (ConsumedPartitionGroup of Flink 1.13 and later).
    ///
    /// Each connection is in exactly one row. One row per all-to-all exchange, one per subtask of the smaller side of a
    /// pointwise one: O(P + Q).
    fn consumed_partition_groups(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || tables::consumed_partition_groups(self.0.clone()))
    }

    /// Who reads each partition, as columns: the rows of :meth:`consumed_partition_groups`, ordered by producer, result,
    /// consumer and partition (ConsumerVertexGroup of Flink 1.13 and later). O(P + Q).
    fn consumer_vertex_groups(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || tables::consumer_vertex_groups(self.0.clone()))
    }

    /// Per input of one subtask, the partitions it reads. O(inputs), whatever the parallelism.
    ///
    /// Raises:
    ///     IndexError: there is no such vertex or subtask.
    fn inputs_of(&self, vertex: usize, subtask: u32) -> PyResult<Vec<InputPartitions>> {
        ExecutionJobVertex::at(&self.0, vertex)?.inputs_of(subtask)
    }

    /// Who reads one partition, a range of subtasks per consuming input. O(consuming inputs), whatever the parallelism.
    ///
    /// Raises:
    ///     IndexError: there is no such vertex, result or partition.
    fn consumers_of(&self, vertex: usize, result: usize, partition: u32) -> PyResult<Vec<ConsumerSubtasks>> {
        ExecutionJobVertex::at(&self.0, vertex)?.consumers_of(result, partition)
    }

    /// Broken invariants, a sentence each; empty when all is well. O(V + E).
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        interruptible(py, || self.0.verify())
    }

    /// Vertices as columns.
    fn vertices_table(&self) -> Columns {
        tables::vertices_table(self.0.clone())
    }

    /// Subtasks as columns, with their key groups.
    fn subtasks_table(&self) -> Columns {
        tables::subtasks_table(self.0.clone())
    }

    /// Partitions of all results as columns, with the number of ExecutionEdges that read each
    /// (IntermediateResultPartition).
    fn result_partitions_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || tables::result_partitions_table(self.0.clone()))
    }

    /// Subtasks that exchange records while they run, and so are scheduled and restarted together. O(subtasks), found once.
    ///
    /// Raises:
    ///     ExecutionGraphError: co-located subtasks are in different regions (Flink 2.3; in 1.11 they make the whole job one).
    fn pipelined_regions(&self, py: Python<'_>) -> PyResult<PipelinedRegions> {
        PipelinedRegions::new(py, self.0.clone())
    }

    /// What runs again when a subtask fails (Flink's RestartPipelinedRegionFailoverStrategy).
    ///
    /// Its region does, so do the regions that wrote what these read and what is lost, and all that read what these write.
    /// O(subtasks that run again + partition groups they read and write).
    ///
    /// Args:
    ///     vertex: position of the vertex of the failed subtask.
    ///     subtask: the failed subtask, from 0.
    ///     lost: partitions that cannot be read any more, as (producer vertex, result, first, last); among them the one
    ///         that a PartitionException names.
    ///
    /// Raises:
    ///     SpecError: there is no such subtask or partition.
    ///     ExecutionGraphError: as ``pipelined_regions``.
    #[pyo3(signature = (vertex, subtask, *, lost = Vec::new()))]
    fn regions_to_restart(&self, py: Python<'_>, vertex: u32, subtask: u32, lost: Vec<(u32, u32, u32, u32)>) -> PyResult<RestartedRegions> {
        RestartedRegions::new(py, self.0.clone(), vertex, subtask, &lost)
    }

    /// Begin to keep book of which partitions may be dropped; no subtask has finished. O(subtasks).
    ///
    /// Raises:
    ///     ExecutionGraphError: as ``pipelined_regions``.
    fn partition_release(&self, py: Python<'_>) -> PyResult<PartitionRelease> {
        PartitionRelease::new(py, self.0.clone())
    }

    /// Begin to keep book of which regions may be scheduled; nothing has been. O(subtasks + pointwise connections).
    ///
    /// Raises:
    ///     ExecutionGraphError: as ``pipelined_regions``.
    fn region_scheduling(&self, py: Python<'_>) -> PyResult<RegionScheduling> {
        RegionScheduling::new(py, self.0.clone())
    }

    /// First attempts of all subtasks; ``history`` prior attempts of each are remembered.
    #[pyo3(signature = (*, history = penstock_planner::execution_graph::executions::DEFAULT_HISTORY))]
    fn executions(&self, history: usize) -> Executions {
        Executions::new(self.0.clone(), history)
    }

    /// Fingerprints of all ExecutionEdges, by consumer and by producer (record format). O(edges) time, O(1) space.
    fn sha256_of_edges(&self, py: Python<'_>) -> PyResult<(String, String)> {
        interruptible(py, || (self.0.sha256_of_inputs(), self.0.sha256_of_consumers()))
    }

    fn __repr__(&self) -> String {
        let (vertices, subtasks, edges) = (self.0.vertices().len(), self.0.total_vertices(), self.0.total_edges());
        format!("ExecutionGraph({vertices} vertices, {subtasks} subtasks, {edges} edges)")
    }
}
