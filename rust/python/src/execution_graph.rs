//! `ExecutionGraph` and its views.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, UInt32Array, UInt64Array};
use penstock_planner::execution_graph::ExecutionGraph as Graph;
use penstock_planner::execution_graph::edges::{Cursor, EdgeColumns};
use penstock_planner::index::{ExecutionVertexIndex, Index};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::check;
use crate::executions::Executions;
use crate::interrupt::interruptible;
use crate::job_graph::JobGraph;
use crate::regions::{PartitionRelease, PipelinedRegions, RegionScheduling, RestartedRegions};
use crate::stream_graph::clipped;

/// Every vertex at its parallelism; exchanges are held grouped, edges are made on request (Flink's ExecutionGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct ExecutionGraph(pub Arc<Graph>);

/// A vertex at its parallelism (Flink's ExecutionJobVertex).
#[pyclass(frozen, module = "penstock.plan")]
pub struct ExecutionJobVertex {
    graph: Arc<Graph>,
    vertex: ExecutionVertexIndex,
}

/// One subtask of a vertex (Flink's ExecutionVertex).
#[pyclass(frozen, module = "penstock.plan")]
pub struct ExecutionVertex {
    graph: Arc<Graph>,
    vertex: ExecutionVertexIndex,
    subtask: u32,
}

/// The partitions, ``first`` to ``last``, that one input of a subtask reads.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct InputPartitions {
    input: u32,
    producer: u32,
    result: u32,
    first: u32,
    last: u32,
}

/// Iterator of bounded tables of ExecutionEdges.
#[pyclass(frozen, module = "penstock.plan")]
pub struct EdgeChunks {
    graph: Arc<Graph>,
    cursor: Mutex<Cursor>,
    rows: usize,
}

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
        let size = self.0.vertices().len();
        (0..size).map(|at| ExecutionJobVertex { graph: self.0.clone(), vertex: ExecutionVertexIndex::new(at) }).collect()
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

    /// All ExecutionEdges as columns: consumer, subtask, input, producer, result, partition. O(edges).
    ///
    /// Raises:
    ///     ExecutionGraphError: they would take more than ``limit_bytes``; the message says how many.
    #[pyo3(signature = (*, limit_bytes = 4 << 30))]
    fn execution_edges(&self, py: Python<'_>, limit_bytes: u64) -> PyResult<Columns> {
        check(py, interruptible(py, || self.0.all_edges(limit_bytes).map(edge_table))?)
    }

    /// The same columns in tables of up to ``chunk_size`` rows, in bounded memory.
    ///
    /// Raises:
    ///     ValueError: ``chunk_size`` is 0.
    #[pyo3(signature = (chunk_size = 1 << 20))]
    fn execution_edge_chunks(&self, chunk_size: usize) -> PyResult<EdgeChunks> {
        if chunk_size == 0 {
            return Err(PyValueError::new_err("chunk_size is 0, expected a number of rows of 1 or more"));
        }
        Ok(EdgeChunks { graph: self.0.clone(), cursor: Mutex::default(), rows: chunk_size })
    }

    /// Broken invariants, a sentence each; empty when all is well. O(V + E).
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        interruptible(py, || self.0.verify())
    }

    /// Vertices as columns.
    fn vertices_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || vertices_table(&self.0))
    }

    /// Subtasks as columns, with their key groups. O(subtasks).
    fn subtasks_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || subtasks_table(&self.0))
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

#[pymethods]
impl ExecutionJobVertex {
    /// Position among the vertices of the ExecutionGraph.
    #[getter]
    fn index(&self) -> u32 {
        self.vertex.0
    }

    /// Index of the vertex in the JobGraph.
    #[getter]
    fn job_vertex(&self) -> u32 {
        self.graph.vertex(self.vertex).vertex.0
    }

    /// Name of the vertex.
    #[getter]
    fn name(&self) -> &str {
        self.graph.job_graph().name(self.graph.vertex(self.vertex).vertex)
    }

    /// Number of subtasks.
    #[getter]
    fn parallelism(&self) -> u32 {
        self.graph.vertex(self.vertex).parallelism
    }

    /// Number of key groups, Flink's default where unset.
    #[getter]
    fn max_parallelism(&self) -> u32 {
        self.graph.vertex(self.vertex).max_parallelism
    }

    /// Whether the program set it.
    #[getter]
    fn max_parallelism_configured(&self) -> bool {
        self.graph.vertex(self.vertex).max_parallelism_configured
    }

    /// Its subtasks. O(parallelism) at each access.
    #[getter]
    fn subtasks(&self) -> Vec<ExecutionVertex> {
        (0..self.parallelism()).map(|subtask| self.at(subtask)).collect()
    }

    /// One subtask, counted from 0.
    ///
    /// Raises:
    ///     IndexError: there is no such subtask.
    fn subtask(&self, subtask: u32) -> PyResult<ExecutionVertex> {
        self.checked(subtask).map(|subtask| self.at(subtask))
    }

    /// ``name (2/7)``, the subtask counted from 0.
    ///
    /// Raises:
    ///     IndexError: there is no such subtask.
    fn task_name(&self, subtask: u32) -> PyResult<String> {
        self.checked(subtask).map(|subtask| self.graph.task_name(self.vertex, subtask))
    }

    /// Who reads a partition: (consumer vertex, input, first subtask, last subtask) of each group.
    ///
    /// Raises:
    ///     IndexError: there is no such result or partition.
    fn consumers(&self, result: usize, partition: u32) -> PyResult<Vec<(u32, usize, u32, u32)>> {
        let job = self.graph.job_graph();
        let results = job.results(self.graph.vertex(self.vertex).vertex);
        let data_set = *results.get(result).ok_or_else(|| PyIndexError::new_err(format!("result {result} of {}", results.len())))?;
        let groups = self.graph.partition_consumers(data_set, self.checked(partition)?);
        Ok(groups
            .filter(|(_, subtasks)| !subtasks.is_empty())
            .map(|(edge, subtasks)| {
                (self.graph.position(job.edge(edge).target).0, job.input_position(edge), subtasks.start, subtasks.end - 1)
            })
            .collect())
    }

    fn __repr__(&self) -> String {
        format!("ExecutionJobVertex({}: {:?}, parallelism={})", self.vertex.0, clipped(self.name()), self.parallelism())
    }
}

impl ExecutionJobVertex {
    fn at(&self, subtask: u32) -> ExecutionVertex {
        ExecutionVertex { graph: self.graph.clone(), vertex: self.vertex, subtask }
    }

    fn checked(&self, subtask: u32) -> PyResult<u32> {
        let parallelism = self.parallelism();
        (subtask < parallelism)
            .then_some(subtask)
            .ok_or_else(|| PyIndexError::new_err(format!("subtask {subtask} of {}, which has {parallelism}", clipped(self.name()))))
    }
}

#[pymethods]
impl ExecutionVertex {
    /// Position of its vertex.
    #[getter]
    fn vertex(&self) -> u32 {
        self.vertex.0
    }

    /// Index from 0.
    #[getter]
    fn subtask(&self) -> u32 {
        self.subtask
    }

    /// ``name (2/7)``.
    #[getter]
    fn task_name(&self) -> String {
        self.graph.task_name(self.vertex, self.subtask)
    }

    /// Per input, the partitions it reads.
    #[getter]
    fn inputs(&self) -> Vec<InputPartitions> {
        let spans = self.graph.inputs_of(self.vertex, self.subtask);
        spans
            .map(|span| InputPartitions {
                input: span.input,
                producer: span.producer,
                result: span.result,
                first: span.first,
                last: span.end.max(1) - 1,
            })
            .collect()
    }

    fn __repr__(&self) -> String {
        format!("ExecutionVertex({:?})", clipped(&self.task_name()))
    }
}

#[pymethods]
impl InputPartitions {
    fn __repr__(&self) -> String {
        let Self { input, producer, result, first, last } = self;
        format!("InputPartitions(input {input}: {producer}.{result}, partitions {first} to {last})")
    }
}

#[pymethods]
impl EdgeChunks {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Columns>> {
        let columns = interruptible(py, || {
            let mut cursor = self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut next = *cursor; // an interrupted chunk comes again
            let columns = self.graph.next_edges(&mut next, self.rows);
            *cursor = next;
            columns
        })?;
        Ok((!columns.is_empty()).then(|| edge_table(columns)))
    }

    fn __repr__(&self) -> String {
        format!("EdgeChunks(up to {} rows each)", self.rows)
    }
}

fn edge_table(columns: EdgeColumns) -> Columns {
    let EdgeColumns { consumer, subtask, input, producer, result, partition } = columns;
    let column = |values: Vec<u32>| -> ArrayRef { Arc::new(UInt32Array::from(values)) };
    Columns::new(vec![
        ("consumer", column(consumer)),
        ("subtask", column(subtask)),
        ("input", column(input)),
        ("producer", column(producer)),
        ("result", column(result)),
        ("partition", column(partition)),
    ])
}

fn vertices_table(graph: &Graph) -> Columns {
    let vertices = || graph.vertices().iter();
    let column = |values: Vec<u32>| -> ArrayRef { Arc::new(UInt32Array::from(values)) };
    Columns::new(vec![
        ("vertex", column((0..graph.vertices().len() as u32).collect())),
        ("job_vertex", column(vertices().map(|vertex| vertex.vertex.0).collect())),
        ("parallelism", column(vertices().map(|vertex| vertex.parallelism).collect())),
        ("max_parallelism", column(vertices().map(|vertex| vertex.max_parallelism).collect())),
        ("max_parallelism_configured", Arc::new(BooleanArray::from_iter(vertices().map(|vertex| Some(vertex.max_parallelism_configured))))),
        ("first_subtask", Arc::new(UInt64Array::from_iter_values(vertices().map(|vertex| vertex.first_subtask)))),
    ])
}

fn subtasks_table(graph: &Graph) -> Columns {
    let mut columns = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for (at, vertex) in graph.vertices().iter().enumerate() {
        for subtask in 0..vertex.parallelism {
            let (first, last) = vertex.key_groups(subtask);
            for (column, value) in columns.iter_mut().zip([at as u32, subtask, first, last]) {
                column.push(value);
            }
        }
    }
    let names = ["vertex", "subtask", "first_key_group", "last_key_group"];
    Columns::new(names.into_iter().zip(columns).map(|(name, column)| (name, Arc::new(UInt32Array::from(column)) as ArrayRef)).collect())
}
