//! `JobGraph` and its views.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_planner::dense::{DataSetIndex, EdgeIndex, JobEdgeIndex, VertexIndex, all};
use penstock_planner::execution_graph::expand;
use penstock_planner::identity::OperatorId;
use penstock_planner::job_graph::{JobGraph as Job, StreamConfig};
use penstock_planner::stream_graph::ResourceSpec;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::check;
use crate::execution_graph::ExecutionGraph;
use crate::interrupt::interruptible;
use crate::job_tables::{data_sets_table, edges_table, operators_table, vertices_table};
use crate::job_vertex::JobVertex;
use crate::stream_graph::StreamGraph;
use crate::stream_parts::clipped;

/// Chains as vertices and the data sets between them; immutable (Flink's JobGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct JobGraph(pub Arc<Job>);

/// An operator inside a vertex, with what an executor needs of it (Flink's StreamConfig).
///
/// Outputs are stream edges: chained ones stay in the vertex, the others leave it.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct ChainedOperator {
    node: i32,
    operator_id: String,
    user_defined_id: Option<String>,
    name: String,
    uid: Option<String>,
    chain_index: u32,
    chain_start: bool,
    chain_end: bool,
    managed_memory_fraction: Option<f64>,
    chained_outputs: Vec<u32>,
    non_chained_outputs: Vec<u32>,
    number_of_outputs: usize,
}

/// A data set and the vertex that reads it: ``source``'s result number ``result`` is ``target``'s input ``input``.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct JobEdge {
    source: u32,
    result: usize,
    target: u32,
    input: usize,
    distribution: &'static str,
    result_type: &'static str,
    ship_strategy: &'static str,
    stream_edge: u32,
}

/// What a vertex produces; consumers are pairs of vertex and input. It has an ``id`` where Flink derives one (2.3).
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct IntermediateDataSet {
    index: u32,
    id: Option<String>,
    producer: u32,
    result: usize,
    result_type: &'static str,
    consumers: Vec<(u32, usize)>,
}

/// CPU shares, heap, off-heap and managed MiB.
pub type Quantities = (f64, i64, i64, i64);

/// Resources as Python sees them.
pub fn quantities(spec: &ResourceSpec) -> Quantities {
    (spec.cpu_as_f64(), spec.heap_mb, spec.off_heap_mb, spec.managed_mb)
}

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
        operators_table(self.0.clone())
    }

    /// Vertices as columns.
    fn vertices_table(&self) -> Columns {
        vertices_table(self.0.clone())
    }

    /// Job edges as columns.
    fn edges_table(&self) -> Columns {
        edges_table(self.0.clone())
    }

    /// Data sets as columns: producer vertex, its result, type, number of job edges that consume it.
    fn datasets_table(&self) -> Columns {
        data_sets_table(self.0.clone())
    }

    fn __repr__(&self) -> String {
        format!("JobGraph({:?}, {} vertices, {} edges)", self.name(), self.0.vertex_count(), self.0.edge_count())
    }
}

#[pymethods]
impl ChainedOperator {
    fn __repr__(&self) -> String {
        format!("ChainedOperator({}: {:?}, node={}, id={})", self.chain_index, clipped(&self.name), self.node, self.operator_id)
    }
}

#[pymethods]
impl JobEdge {
    fn __repr__(&self) -> String {
        let Self { source, result, target, input, distribution, ship_strategy, .. } = self;
        format!("JobEdge({source}.{result} -> {target}.{input}, {ship_strategy}, {distribution})")
    }
}

#[pymethods]
impl IntermediateDataSet {
    fn __repr__(&self) -> String {
        let Self { producer, result, result_type, consumers, .. } = self;
        format!("IntermediateDataSet({producer}.{result}, {result_type}, {} consumers)", consumers.len())
    }
}

/// The view of one job edge.
pub fn job_edge(job: &Job, edge: JobEdgeIndex) -> JobEdge {
    let exchange = job.exchange(edge);
    JobEdge {
        source: exchange.source.0,
        result: exchange.result,
        target: exchange.target.0,
        input: exchange.input,
        distribution: exchange.distribution,
        result_type: exchange.result_type,
        ship_strategy: exchange.ship_strategy,
        stream_edge: exchange.stream_edge.0,
    }
}

/// The view of one intermediate data set.
pub fn intermediate_data_set(job: &Job, data_set: DataSetIndex, id: Option<OperatorId>) -> IntermediateDataSet {
    let producer = job.edge(job.first_consumer(data_set));
    IntermediateDataSet {
        index: data_set.0,
        id: id.map(|id| id.to_string()),
        producer: producer.source.0,
        result: job.result_position(data_set),
        result_type: producer.result_type.as_str(),
        consumers: job.consumers(data_set).map(|edge| (job.edge(edge).target.0, job.input_position(edge))).collect(),
    }
}

/// The view of one chained operator.
pub fn chained_operator(config: StreamConfig<'_>) -> ChainedOperator {
    let numbers = |edges: &[EdgeIndex]| edges.iter().map(|edge| edge.0).collect();
    ChainedOperator {
        node: config.id,
        operator_id: config.operator_id.to_string(),
        user_defined_id: config.user_defined_id.map(|id| id.to_string()),
        name: config.name.into(),
        uid: config.uid.map(String::from),
        chain_index: config.chain_index,
        chain_start: config.chain_start(),
        chain_end: config.chain_end(),
        managed_memory_fraction: config.managed_memory_fraction,
        chained_outputs: numbers(&config.chained_outputs),
        non_chained_outputs: numbers(&config.non_chained_outputs),
        number_of_outputs: config.number_of_outputs,
    }
}
