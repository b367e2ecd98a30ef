//! The views of a `JobGraph`'s operators, edges and data sets.

use penstock_planner::dense::{DataSetIndex, EdgeIndex, JobEdgeIndex};
use penstock_planner::identity::OperatorId;
use penstock_planner::job_graph::{JobGraph as Job, StreamConfig};
use penstock_planner::stream_graph::ResourceSpec;
use pyo3::prelude::*;

use crate::repr::clipped;

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
