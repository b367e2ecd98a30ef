//! `JobGraph`.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_planner::dense::{VertexIndex, all};
use penstock_planner::execution_graph::expand;
use penstock_planner::job_graph::JobGraph as Job;
use pyo3::prelude::*;

use super::JobVertex;
use super::parts::{IntermediateDataSet, JobEdge, Quantities, intermediate_data_set, job_edge, quantities};
use super::tables;
use crate::arrow::columns::Columns;
use crate::error::check;
use crate::execution_graph::ExecutionGraph;
use crate::interrupt::interruptible;
use crate::stream_graph::StreamGraph;

/// Chains as vertices and the data sets between them; immutable (Flink's JobGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct JobGraph(pub Arc<Job>);

fn numbers(vertices: &[VertexIndex]) -> Vec<u32> {
    vertices.iter().map(|vertex| vertex.0).collect()
}

#[pymethods]
impl JobGraph {
    /// Name of the job.
    #[getter]
    #[allow(clippy::misnamed_getters)] // the name of a JobGraph is the name of the job, not of the description
    fn name(&self) -> &str {
        &self.0.stream_graph().settings.job_name
    }

    /// The Flink version it equals.
    #[getter]
    fn flink(&self) -> &'static str {
        self.0.profile().as_str()
    }

    /// When vertices are scheduled; Flink 2.3 has no such choice.
    #[getter]
    fn schedule_mode(&self) -> &'static str {
        self.0.stream_graph().settings.schedule_mode.as_str()
    }

    /// The largest parallelism of any vertex; -1 when there is none.
    #[getter]
    fn maximum_parallelism(&self) -> i32 {
        self.0.maximum_parallelism()
    }

    /// The program it was compiled from.
    #[getter]
    fn stream_graph(&self) -> StreamGraph {
        StreamGraph(self.0.stream_graph_arc())
    }

    /// Vertices in order of creation (getVertices). O(V) at each access.
    #[getter]
    fn vertices(&self) -> Vec<JobVertex> {
        all(self.0.vertex_count()).map(|vertex| JobVertex::new(self.0.clone(), vertex)).collect()
    }

    /// Job edges in the order in which they were connected. O(E) at each access.
    #[getter]
    fn edges(&self) -> Vec<JobEdge> {
        all(self.0.edge_count()).map(|edge| job_edge(&self.0, edge)).collect()
    }

    /// Data sets in order of creation. O(E) at each access.
    #[getter]
    fn data_sets(&self) -> Vec<IntermediateDataSet> {
        let ids = self.0.data_set_ids();
        all(self.0.data_set_count()).zip(ids).map(|(data_set, id)| intermediate_data_set(&self.0, data_set, id)).collect()
    }

    /// Vertex indices as getVerticesSortedTopologicallyFromSources returns them.
    #[getter]
    fn topological_order(&self) -> Vec<u32> {
        numbers(self.0.topological_order())
    }

    /// Per group its vertices, ordered as Flink's TreeSet, and their summed resources (``None``: UNKNOWN).
    #[getter]
    fn slot_sharing_groups(&self) -> Vec<(Vec<u32>, Option<Quantities>)> {
        let slots = self.0.slots();
        slots.members.lists().zip(&slots.resources).map(|(members, sum)| (numbers(members), sum.as_ref().map(quantities))).collect()
    }

    /// Per group its vertices, in the order in which Flink adds them.
    #[getter]
    fn co_location_groups(&self) -> Vec<Vec<u32>> {
        self.0.slots().co_located.lists().map(numbers).collect()
    }

    /// ``enabled``, ``mode``, ``interval`` in ms (2**63 - 1: off), and the vertices that trigger, acknowledge, confirm.
    #[getter]
    fn checkpointing(&self, py: Python<'_>) -> PyResult<Py<pyo3::types::PyDict>> {
        let checkpointing = self.0.checkpointing();
        let settings = pyo3::types::PyDict::new(py);
        settings.set_item("enabled", self.0.stream_graph().settings.checkpoints())?;
        settings.set_item("mode", self.0.checkpointing_mode().as_str())?;
        settings.set_item("interval", checkpointing.interval)?;
        settings.set_item("trigger", numbers(&checkpointing.trigger))?;
        settings.set_item("acknowledge", numbers(&checkpointing.acknowledge))?;
        settings.set_item("confirm", numbers(&checkpointing.confirm))?;
        Ok(settings.unbind())
    }

    /// Path of the savepoint to restore, and whether state may be left out.
    #[getter]
    fn savepoint_restore(&self) -> Option<(String, bool)> {
        self.0.options().savepoint.as_ref().map(|savepoint| (savepoint.path.clone(), savepoint.allow_non_restored_state))
    }

    /// Files shipped with the job, path by name.
    #[getter]
    fn artifacts(&self) -> BTreeMap<String, String> {
        self.0.options().artifacts.iter().cloned().collect()
    }

    /// Buffer timeout of each stream edge after compilation, milliseconds.
    fn buffer_timeouts(&self) -> Vec<i64> {
        all(self.0.stream_graph().edge_count()).map(|edge| self.0.buffer_timeout(edge)).collect()
    }

    /// What Flink's JsonPlanGenerator writes, byte for byte, with a JobID of zeros.
    ///
    /// Raises:
    ///     JobGraphError: Flink 2.3's description of a chain, which indents each operator, would take over 1 GiB.
    fn json_plan(&self, py: Python<'_>) -> PyResult<String> {
        check(py, interruptible(py, || penstock_planner::json::job_plan(&self.0))?)
    }

    /// Broken invariants, a sentence each; empty when all is well. O(V + E).
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        interruptible(py, || self.0.verify())
    }

    /// Expand to subtasks (ExecutionGraph.attachJobGraph). O(V + E) whatever the parallelism.
    ///
    /// Raises:
    ///     ExecutionGraphError: parallelism or maximum parallelism out of bounds.
    fn execution_graph(&self, py: Python<'_>) -> PyResult<ExecutionGraph> {
        check(py, interruptible(py, || expand(self.0.clone()))?).map(|graph| ExecutionGraph(Arc::new(graph)))
    }

    /// Operators as columns: node, OperatorID, vertex, chain index, names.
    fn operators_table(&self) -> Columns {
        tables::operators_table(self.0.clone())
    }

    /// Vertices as columns.
    fn vertices_table(&self) -> Columns {
        tables::vertices_table(self.0.clone())
    }

    /// Job edges as columns.
    fn edges_table(&self) -> Columns {
        tables::edges_table(self.0.clone())
    }

    /// Data sets as columns: producer vertex, its result, type, number of job edges that consume it.
    fn datasets_table(&self) -> Columns {
        tables::data_sets_table(self.0.clone())
    }

    fn __repr__(&self) -> String {
        format!("JobGraph({:?}, {} vertices, {} edges)", self.name(), self.0.vertex_count(), self.0.edge_count())
    }
}
