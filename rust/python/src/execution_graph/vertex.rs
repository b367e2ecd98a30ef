//! Views of an ExecutionGraph's vertices and subtasks, and lookups of what is connected.

use std::sync::Arc;

use penstock_planner::dense::{ExecutionVertexIndex, Index, all};
use penstock_planner::execution_graph::ExecutionGraph as Graph;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::repr::clipped;

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

/// The subtasks, ``first`` to ``last``, that read one partition through one input of a consumer.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct ConsumerSubtasks {
    consumer: u32,
    input: u32,
    first: u32,
    last: u32,
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
        (0..self.parallelism()).map(|subtask| self.view(subtask)).collect()
    }

    /// One subtask, counted from 0.
    ///
    /// Raises:
    ///     IndexError: there is no such subtask.
    fn subtask(&self, subtask: u32) -> PyResult<ExecutionVertex> {
        self.checked(subtask).map(|subtask| self.view(subtask))
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
    fn consumers(&self, result: usize, partition: u32) -> PyResult<Vec<(u32, u32, u32, u32)>> {
        let consumers = self.consumers_of(result, partition)?;
        Ok(consumers.iter().map(|read| (read.consumer, read.input, read.first, read.last)).collect())
    }

    fn __repr__(&self) -> String {
        format!("ExecutionJobVertex({}: {:?}, parallelism={})", self.vertex.0, clipped(self.name()), self.parallelism())
    }
}

impl ExecutionJobVertex {
    /// All vertices, in order of creation.
    pub fn all(graph: &Arc<Graph>) -> Vec<Self> {
        all(graph.vertices().len()).map(|vertex| Self { graph: graph.clone(), vertex }).collect()
    }

    /// One vertex.
    pub fn at(graph: &Arc<Graph>, vertex: usize) -> PyResult<Self> {
        let vertices = graph.vertices().len();
        (vertex < vertices)
            .then(|| Self { graph: graph.clone(), vertex: ExecutionVertexIndex::new(vertex) })
            .ok_or_else(|| PyIndexError::new_err(format!("vertex {vertex} of an ExecutionGraph that has {vertices}")))
    }

    /// Per input of one subtask, the partitions it reads.
    pub fn inputs_of(&self, subtask: u32) -> PyResult<Vec<InputPartitions>> {
        let spans = self.graph.inputs_of(self.vertex, self.checked(subtask)?);
        Ok(spans
            .map(|span| InputPartitions {
                input: span.input,
                producer: span.producer,
                result: span.result,
                first: span.first,
                last: span.end.max(1) - 1,
            })
            .collect())
    }

    /// Per consuming input, the subtasks that read one partition.
    pub fn consumers_of(&self, result: usize, partition: u32) -> PyResult<Vec<ConsumerSubtasks>> {
        let job = self.graph.job_graph();
        let results = job.results(self.graph.vertex(self.vertex).vertex);
        let data_set = *results.get(result).ok_or_else(|| PyIndexError::new_err(format!("result {result} of {}", results.len())))?;
        let groups = self.graph.partition_consumers(data_set, self.checked(partition)?);
        Ok(groups
            .filter(|(_, subtasks)| !subtasks.is_empty())
            .map(|(edge, subtasks)| ConsumerSubtasks {
                consumer: self.graph.position(job.edge(edge).target).0,
                input: job.input_position(edge) as u32,
                first: subtasks.start,
                last: subtasks.end - 1,
            })
            .collect())
    }

    fn view(&self, subtask: u32) -> ExecutionVertex {
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
    fn inputs(&self) -> PyResult<Vec<InputPartitions>> {
        ExecutionJobVertex { graph: self.graph.clone(), vertex: self.vertex }.inputs_of(self.subtask)
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
impl ConsumerSubtasks {
    fn __repr__(&self) -> String {
        let Self { consumer, input, first, last } = self;
        format!("ConsumerSubtasks(input {input} of {consumer}, subtasks {first} to {last})")
    }
}
