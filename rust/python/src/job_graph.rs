//! `JobGraph` and its views.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray, UInt32Array};
use penstock_planner::execution_graph::expand;
use penstock_planner::index::{CoLocationIndex, DataSetIndex, Index, JobEdgeIndex, OperatorIndex, VertexIndex, all};
use penstock_planner::job_graph::JobGraph as Job;
use penstock_planner::stream_graph::ResourceSpec;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::check;
use crate::execution_graph::ExecutionGraph;
use crate::stream_graph::{StreamGraph, clipped};

/// Chains as vertices and the data sets between them; immutable (Flink's JobGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct JobGraph(pub Arc<Job>);

/// A chain of operators that runs as one task (Flink's JobVertex).
#[pyclass(frozen, module = "penstock.plan")]
pub struct JobVertex {
    job: Arc<Job>,
    vertex: VertexIndex,
}

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
    managed_memory_fraction: f64,
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

/// What a vertex produces; consumers are pairs of vertex and input.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct IntermediateDataSet {
    index: u32,
    producer: u32,
    result: usize,
    result_type: &'static str,
    consumers: Vec<(u32, usize)>,
}

type Quantities = (f64, i64, i64, i64);

fn quantities(spec: &ResourceSpec) -> Quantities {
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

    /// When vertices are scheduled.
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
        all(self.0.vertex_count()).map(|vertex| JobVertex { job: self.0.clone(), vertex }).collect()
    }

    /// Job edges in the order in which they were connected. O(E) at each access.
    #[getter]
    fn edges(&self) -> Vec<JobEdge> {
        all(self.0.edge_count()).map(|edge| job_edge(&self.0, edge)).collect()
    }

    /// Data sets in order of creation. O(E) at each access.
    #[getter]
    fn data_sets(&self) -> Vec<IntermediateDataSet> {
        all(self.0.edge_count()).map(|data_set| intermediate_data_set(&self.0, data_set)).collect()
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
        slots.members.iter().zip(&slots.resources).map(|(members, sum)| (numbers(members), sum.as_ref().map(quantities))).collect()
    }

    /// Per group its vertices, in the order in which Flink adds them.
    #[getter]
    fn co_location_groups(&self) -> Vec<Vec<u32>> {
        self.0.slots().co_located.iter().map(|members| numbers(members)).collect()
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
    fn json_plan(&self, py: Python<'_>) -> String {
        py.detach(|| penstock_planner::json::job_plan(&self.0))
    }

    /// Broken invariants, a sentence each; empty when all is well. O(V + E).
    fn verify(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.0.verify())
    }

    /// Expand to subtasks (ExecutionGraph.attachJobGraph). O(V + E) whatever the parallelism.
    ///
    /// Raises:
    ///     ExecutionGraphError: parallelism or maximum parallelism out of bounds.
    fn execution_graph(&self, py: Python<'_>) -> PyResult<ExecutionGraph> {
        check(py, py.detach(|| expand(self.0.clone()))).map(|graph| ExecutionGraph(Arc::new(graph)))
    }

    /// Operators as columns: node, OperatorID, vertex, chain index, names.
    fn operators_table(&self, py: Python<'_>) -> Columns {
        py.detach(|| operators_table(&self.0))
    }

    /// Vertices as columns.
    fn vertices_table(&self, py: Python<'_>) -> Columns {
        py.detach(|| vertices_table(&self.0))
    }

    /// Job edges as columns.
    fn edges_table(&self, py: Python<'_>) -> Columns {
        py.detach(|| edges_table(&self.0))
    }

    fn __repr__(&self) -> String {
        format!("JobGraph({:?}, {} vertices, {} edges)", self.name(), self.0.vertex_count(), self.0.edge_count())
    }
}

#[pymethods]
impl JobVertex {
    /// Position among the vertices.
    #[getter]
    fn index(&self) -> u32 {
        self.vertex.0
    }

    /// JobVertexID: the OperatorID of the head.
    #[getter]
    fn id(&self) -> String {
        self.job.id(self.vertex).to_string()
    }

    /// Chained name, ``A -> (B, C -> D)``.
    #[getter]
    fn name(&self) -> &str {
        self.job.name(self.vertex)
    }

    /// Number of subtasks; -1 when unset.
    #[getter]
    fn parallelism(&self) -> i32 {
        self.job.parallelism(self.vertex)
    }

    /// Number of key groups; -1 when unset.
    #[getter]
    fn max_parallelism(&self) -> i32 {
        self.job.stream_graph().node(self.job.chain(self.vertex).head).max_parallelism
    }

    /// Simple name of the task class.
    #[getter]
    fn invokable(&self) -> &str {
        self.job.stream_graph().task(self.job.chain(self.vertex).head)
    }

    /// Node id of the first operator.
    #[getter]
    fn head(&self) -> i32 {
        self.job.stream_graph().node(self.job.chain(self.vertex).head).id
    }

    /// Pairs of generated and alternative OperatorID, in order of creation, the head last.
    #[getter]
    fn operator_ids(&self) -> Vec<(String, Option<String>)> {
        self.job.operator_id_pairs(self.vertex).map(|(own, other)| (own.to_string(), other.map(|id| id.to_string()))).collect()
    }

    /// Node ids of the operators, in order of creation, the head last.
    #[getter]
    fn operator_nodes(&self) -> Vec<i32> {
        self.job.operators(self.vertex).iter().map(|operator| self.job.stream_graph().node(operator.node).id).collect()
    }

    /// Number of the slot sharing group.
    #[getter]
    fn slot_sharing_group(&self) -> u32 {
        self.job.slots().group_of[self.vertex.get()].0
    }

    /// Number of the co-location group.
    #[getter]
    fn co_location_group(&self) -> Option<u32> {
        self.job.slots().co_location_of[self.vertex.get()].map(|CoLocationIndex(group)| group)
    }

    /// Summed minimum resources (CPU shares, heap, off-heap, managed MiB); ``None`` is UNKNOWN.
    #[getter]
    fn min_resources(&self) -> Option<Quantities> {
        self.job.vertex_resources(self.vertex).map(|both| quantities(&both.min))
    }

    /// Summed preferred resources; ``None`` is UNKNOWN.
    #[getter]
    fn preferred_resources(&self) -> Option<Quantities> {
        self.job.vertex_resources(self.vertex).map(|both| quantities(&both.preferred))
    }

    /// Job edges it reads, in order.
    #[getter]
    fn inputs(&self) -> Vec<JobEdge> {
        self.job.inputs(self.vertex).iter().map(|&edge| job_edge(&self.job, edge)).collect()
    }

    /// Data sets it produces, in order.
    #[getter]
    fn results(&self) -> Vec<IntermediateDataSet> {
        self.job.results(self.vertex).iter().map(|&data_set| intermediate_data_set(&self.job, data_set)).collect()
    }

    /// Stream edges it reads, in physical order.
    #[getter]
    fn in_edges(&self) -> Vec<u32> {
        self.job.inputs(self.vertex).iter().map(|&edge| self.job.edge(edge).edge.0).collect()
    }

    /// Stream edges it writes, in order.
    #[getter]
    fn out_edges(&self) -> Vec<u32> {
        self.job.results(self.vertex).iter().map(|&result| self.job.edge(JobEdgeIndex(result.0)).edge.0).collect()
    }

    /// Its operators from the head down the chained outputs. O(operators) at each access.
    #[getter]
    fn chain(&self) -> Vec<ChainedOperator> {
        self.job.walk(self.vertex).map(|(node, depth, row)| chained_operator(&self.job, node, depth, row)).collect()
    }

    /// Input formats of its operators by OperatorID.
    #[getter]
    fn input_formats(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.input_format)
    }

    /// Output formats of its operators by OperatorID.
    #[getter]
    fn output_formats(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.output_format)
    }

    /// Coordinators of its operators by OperatorID.
    #[getter]
    fn operator_coordinators(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.coordinator)
    }

    fn __repr__(&self) -> String {
        format!("JobVertex({}: {:?}, parallelism={}, id={})", self.vertex.0, clipped(self.name()), self.parallelism(), self.id())
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

fn job_edge(job: &Job, edge: JobEdgeIndex) -> JobEdge {
    let ends = job.edge(edge);
    JobEdge {
        source: ends.source.0,
        result: job.result_position(job.consumed(edge)),
        target: ends.target.0,
        input: job.input_position(edge),
        distribution: job.distribution(edge).as_str(),
        result_type: ends.result_type.as_str(),
        ship_strategy: job.stream_graph().edge(ends.edge).partitioner.as_str(),
        stream_edge: ends.edge.0,
    }
}

fn intermediate_data_set(job: &Job, data_set: DataSetIndex) -> IntermediateDataSet {
    let consumers = job.consumers(data_set);
    let producer = job.edge(consumers[0]);
    IntermediateDataSet {
        index: data_set.0,
        producer: producer.source.0,
        result: job.result_position(data_set),
        result_type: producer.result_type.as_str(),
        consumers: consumers.iter().map(|&edge| (job.edge(edge).target.0, job.input_position(edge))).collect(),
    }
}

fn chained_operator(job: &Job, node: penstock_planner::index::NodeIndex, depth: u32, row: OperatorIndex) -> ChainedOperator {
    let graph = job.stream_graph();
    let edges = |chained| job.outputs(node, chained).map(|edge| edge.0).collect::<Vec<u32>>();
    let (chained_outputs, non_chained_outputs) = (edges(true), edges(false));
    ChainedOperator {
        node: graph.node(node).id,
        operator_id: job.operator_id(node).to_string(),
        user_defined_id: job.user_defined_id(node).map(|id| id.to_string()),
        name: graph.name(node).into(),
        uid: graph.node(node).uid.map(|uid| graph.text(uid).into()),
        chain_index: depth,
        chain_start: depth == 0,
        chain_end: chained_outputs.is_empty(),
        managed_memory_fraction: job.managed_memory_fraction(row),
        number_of_outputs: non_chained_outputs.len(),
        chained_outputs,
        non_chained_outputs,
    }
}

fn operators_table(job: &Job) -> Columns {
    let graph = job.stream_graph();
    let vertices = all::<VertexIndex>(job.vertex_count());
    let table: Vec<_> = vertices.flat_map(|vertex| job.operators(vertex).iter().map(move |operator| (vertex, operator))).collect();
    let rows = || table.iter();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("node", Arc::new(Int32Array::from_iter_values(rows().map(|(_, operator)| graph.node(operator.node).id)))),
        ("operator_id", Arc::new(StringArray::from_iter_values(rows().map(|(_, operator)| job.operator_id(operator.node).to_string())))),
        (
            "user_defined_id",
            Arc::new(StringArray::from_iter(rows().map(|(_, operator)| job.user_defined_id(operator.node).map(|id| id.to_string())))),
        ),
        ("vertex", Arc::new(UInt32Array::from_iter_values(rows().map(|(vertex, _)| vertex.0)))),
        ("chain_index", Arc::new(UInt32Array::from_iter_values(rows().map(|(_, operator)| operator.depth)))),
        ("name", Arc::new(StringArray::from_iter_values(rows().map(|(_, operator)| graph.name(operator.node))))),
        ("uid", Arc::new(StringArray::from_iter(rows().map(|(_, operator)| graph.node(operator.node).uid.map(|uid| graph.text(uid)))))),
        (
            "managed_memory_fraction",
            Arc::new(Float64Array::from_iter_values((0..table.len()).map(|row| job.managed_memory_fraction(OperatorIndex::new(row))))),
        ),
    ];
    Columns::new(columns)
}

fn vertices_table(job: &Job) -> Columns {
    let graph = job.stream_graph();
    let vertices = || all::<VertexIndex>(job.vertex_count());
    let head = |vertex: VertexIndex| job.chain(vertex).head;
    let groups = |vertex: VertexIndex| job.slots().group_of[vertex.get()].0;
    let co_located = |vertex: VertexIndex| job.slots().co_location_of[vertex.get()].map(|group| group.0);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("vertex", Arc::new(UInt32Array::from_iter_values(vertices().map(|vertex| vertex.0)))),
        ("id", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| job.id(vertex).to_string())))),
        ("name", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| job.name(vertex))))),
        ("head", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| graph.node(head(vertex)).id)))),
        ("parallelism", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| job.parallelism(vertex))))),
        ("max_parallelism", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| graph.node(head(vertex)).max_parallelism)))),
        ("invokable", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| graph.task(head(vertex)))))),
        ("slot_sharing_group", Arc::new(UInt32Array::from_iter_values(vertices().map(groups)))),
        ("co_location_group", Arc::new(UInt32Array::from_iter(vertices().map(co_located)))),
    ];
    Columns::new(columns)
}

fn edges_table(job: &Job) -> Columns {
    let indices = || all::<JobEdgeIndex>(job.edge_count());
    let edges = || indices().map(|edge| job.edge(edge));
    let partitioner = |edge: JobEdgeIndex| job.stream_graph().edge(job.edge(edge).edge).partitioner.as_str();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("source", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.source.0)))),
        ("result", Arc::new(UInt32Array::from_iter_values(indices().map(|edge| job.result_position(job.consumed(edge)) as u32)))),
        ("target", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.target.0)))),
        ("input", Arc::new(UInt32Array::from_iter_values(indices().map(|edge| job.input_position(edge) as u32)))),
        ("distribution", Arc::new(StringArray::from_iter_values(indices().map(|edge| job.distribution(edge).as_str())))),
        ("result_type", Arc::new(StringArray::from_iter_values(edges().map(|edge| edge.result_type.as_str())))),
        ("ship_strategy", Arc::new(StringArray::from_iter_values(indices().map(partitioner)))),
        ("stream_edge", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.edge.0)))),
    ];
    Columns::new(columns)
}
