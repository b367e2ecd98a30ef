//! `StreamGraphBuilder`: Flink's StreamGraph while it is being put together.

use std::sync::{Arc, Mutex};

use penstock_planner::error::{PlanError, Result};
use penstock_planner::stream_graph::spec::{SpecResources, resource_pair};
use penstock_planner::stream_graph::{
    ChainingStrategy, CheckpointingMode, ExchangeMode, NewEdge, NewIteration, NewNode, Partitioner, Resources, Role, ScheduleMode,
    Settings, ShuffleMode, StreamGraphBuilder as Builder,
};
use pyo3::prelude::*;

use super::StreamGraph;
use crate::error::{check, parse};

const NAME: &str = "StreamGraphBuilder";

type ResourceTuple = (f64, i64, i64, i64);

/// Puts a StreamGraph together, node by node, as Flink's StreamGraph is filled; ``build`` consumes it.
///
/// Settings are those of a program: ``exchange_mode`` is Flink's GlobalDataExchangeMode, ``schedule_mode`` its
/// ScheduleMode, intervals are milliseconds.
#[pyclass(frozen, module = "penstock.plan")]
pub struct StreamGraphBuilder(Mutex<Option<Builder>>);

impl StreamGraphBuilder {
    /// Takes the builder out; it cannot be used again.
    pub fn take(&self, py: Python<'_>) -> PyResult<Builder> {
        let builder = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        check(py, builder.ok_or(PlanError::BuilderUsed {}))
    }

    fn with<T>(&self, py: Python<'_>, action: impl FnOnce(&mut Builder) -> Result<T>) -> PyResult<T> {
        let mut builder = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        check(py, builder.as_mut().ok_or(PlanError::BuilderUsed {}).and_then(action))
    }
}

fn resources(subject: &str, min: Option<ResourceTuple>, preferred: Option<ResourceTuple>) -> Result<Option<Resources>> {
    let spec = |(cpu, heap_mb, off_heap_mb, managed_mb)| SpecResources { cpu, heap_mb, off_heap_mb, managed_mb };
    resource_pair(&|| subject.to_owned(), min.map(spec).as_ref(), preferred.map(spec).as_ref())
}

#[pymethods]
impl StreamGraphBuilder {
    #[new]
    #[pyo3(signature = (*, name = "", job_name = "job", chaining_enabled = true, exchange_mode = "ALL_EDGES_PIPELINED", schedule_mode = "EAGER",
        checkpointing_enabled = false, checkpoint_interval = 1000, checkpointing_mode = "EXACTLY_ONCE", force_checkpointing = false,
        all_vertices_in_same_slot_sharing_group = true))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        name: &str,
        job_name: &str,
        chaining_enabled: bool,
        exchange_mode: &str,
        schedule_mode: &str,
        checkpointing_enabled: bool,
        checkpoint_interval: i64,
        checkpointing_mode: &str,
        force_checkpointing: bool,
        all_vertices_in_same_slot_sharing_group: bool,
    ) -> PyResult<Self> {
        let settings = Settings {
            name: name.into(),
            job_name: job_name.into(),
            chaining_enabled,
            exchange_mode: parse(py, NAME, "exchange_mode", exchange_mode, ExchangeMode::ALL, ExchangeMode::parse)?,
            schedule_mode: parse(py, NAME, "schedule_mode", schedule_mode, ScheduleMode::ALL, ScheduleMode::parse)?,
            checkpointing_enabled,
            checkpoint_interval,
            checkpointing_mode: parse(
                py,
                NAME,
                "checkpointing_mode",
                checkpointing_mode,
                CheckpointingMode::ALL,
                CheckpointingMode::parse,
            )?,
            force_checkpointing,
            all_vertices_in_same_slot_sharing_group,
        };
        Ok(Self(Mutex::new(Some(Builder::new(settings)))))
    }

    /// Add an operator.
    ///
    /// Args:
    ///     id: its number in the program, 32 bits, any sign.
    ///     name: its final name, prefixes such as ``"Source: "`` included.
    ///     kind: ``source``, ``operator``, ``two_input`` or ``sink``.
    ///     uid: identity that is hashed to the OperatorID.
    ///     user_hash: an OperatorID taken as it is, 32 hex digits.
    ///     slot_sharing_group: ``None`` is Flink's null.
    ///     co_location_group: key of a co-location constraint.
    ///     parallelism: number of subtasks; 0 or less is unset.
    ///     max_parallelism: number of key groups; -1 is unset.
    ///     chaining_strategy: ``ALWAYS``, ``NEVER`` or ``HEAD``.
    ///     yielding: whether its factory yields to the mailbox (async operators, file readers).
    ///     managed_memory_weight: share of managed memory; ``None`` is 1 in Flink 1.11, and none in 2.3.
    ///     buffer_timeout: milliseconds; -1 is unset.
    ///     min_resources: (CPU shares, heap MiB, off-heap MiB, managed MiB), with ``preferred_resources`` or not at all.
    ///     preferred_resources: likewise.
    ///     task: simple name of the task class, if it is not the kind's own.
    ///     input_format: what the operator reads through an InputFormat.
    ///     output_format: what the operator writes through an OutputFormat.
    ///     coordinator: the operator's coordinator.
    ///
    /// Raises:
    ///     StreamGraphError: the id is taken, or the builder has been used.
    ///     SpecError: a value out of range.
    #[pyo3(signature = (id, name, kind, *, uid = None, user_hash = None, slot_sharing_group = Some("default"), co_location_group = None,
        parallelism = -1, max_parallelism = -1, chaining_strategy = "ALWAYS", yielding = false, managed_memory_weight = None,
        buffer_timeout = -1, min_resources = None, preferred_resources = None, task = None, input_format = None, output_format = None,
        coordinator = None))]
    #[allow(clippy::too_many_arguments)]
    fn add_node(
        &self,
        py: Python<'_>,
        id: i32,
        name: &str,
        kind: &str,
        uid: Option<&str>,
        user_hash: Option<&str>,
        slot_sharing_group: Option<&str>,
        co_location_group: Option<&str>,
        parallelism: i32,
        max_parallelism: i32,
        chaining_strategy: &str,
        yielding: bool,
        managed_memory_weight: Option<i32>,
        buffer_timeout: i64,
        min_resources: Option<ResourceTuple>,
        preferred_resources: Option<ResourceTuple>,
        task: Option<&str>,
        input_format: Option<&str>,
        output_format: Option<&str>,
        coordinator: Option<&str>,
    ) -> PyResult<()> {
        let subject = format_args!("add_node(), node {id} ({name})");
        let role = parse(py, subject, "kind", kind, Role::KINDS, Role::of_kind)?;
        let chaining_strategy = parse(py, subject, "chaining_strategy", chaining_strategy, ChainingStrategy::ALL, ChainingStrategy::parse)?;
        let resources = check(py, resources(name, min_resources, preferred_resources))?;
        let node = NewNode { uid, user_hash, slot_sharing_group, co_location_group, resources, ..NewNode::new(id, name, role) };
        let node = NewNode { parallelism, max_parallelism, chaining_strategy, yielding, managed_memory_weight, buffer_timeout, ..node };
        let node = NewNode { task, input_format, output_format, coordinator, ..node };
        self.with(py, |builder| builder.add_node(&node).map(|_| ()))
    }

    /// Add head and tail of a loop (Flink's createIterationSourceAndSink); ``timeout`` is milliseconds.
    ///
    /// Raises:
    ///     StreamGraphError: one of the ids is taken.
    #[pyo3(signature = (loop_id, source_id, sink_id, *, parallelism, max_parallelism = -1, timeout = 0, slot_sharing_group = None,
        min_resources = None, preferred_resources = None))]
    #[allow(clippy::too_many_arguments)]
    fn add_iteration(
        &self,
        py: Python<'_>,
        loop_id: i32,
        source_id: i32,
        sink_id: i32,
        parallelism: i32,
        max_parallelism: i32,
        timeout: i64,
        slot_sharing_group: Option<&str>,
        min_resources: Option<ResourceTuple>,
        preferred_resources: Option<ResourceTuple>,
    ) -> PyResult<()> {
        let resources = check(py, resources(&format!("iteration {loop_id}"), min_resources, preferred_resources))?;
        let iteration = NewIteration { loop_id, source_id, sink_id, parallelism, max_parallelism, timeout, slot_sharing_group, resources };
        self.with(py, |builder| builder.add_iteration(&iteration))
    }

    /// Change the slot sharing group of a node; a loop knows its own only after its body.
    ///
    /// Raises:
    ///     StreamGraphError: there is no such node.
    fn set_slot_sharing_group(&self, py: Python<'_>, id: i32, group: Option<&str>) -> PyResult<()> {
        self.with(py, |builder| builder.set_slot_sharing_group(id, group))
    }

    /// Add a node that only chooses the partitioner of the edges that leave it.
    ///
    /// Raises:
    ///     StreamGraphError: the id is taken or the input unknown.
    #[pyo3(signature = (id, input, partitioner, shuffle_mode = "UNDEFINED"))]
    fn add_virtual_partition(&self, py: Python<'_>, id: i32, input: i32, partitioner: &str, shuffle_mode: &str) -> PyResult<()> {
        let subject = format_args!("add_virtual_partition(), node {id}");
        let partitioner = parse(py, subject, "partitioner", partitioner, Partitioner::ALL, Partitioner::parse)?;
        let mode = parse(py, subject, "shuffle_mode", shuffle_mode, ShuffleMode::ALL, ShuffleMode::parse)?;
        self.with(py, |builder| builder.add_virtual_partition(id, input, partitioner, mode))
    }

    /// Add a node that only selects a side output.
    ///
    /// Raises:
    ///     StreamGraphError: the id is taken or the input unknown.
    fn add_virtual_side_output(&self, py: Python<'_>, id: i32, input: i32, tag: &str) -> PyResult<()> {
        self.with(py, |builder| builder.add_virtual_side_output(id, input, tag))
    }

    /// Add a node that stands for several, in order.
    ///
    /// Raises:
    ///     StreamGraphError: the id is taken or an input unknown.
    fn add_union(&self, py: Python<'_>, id: i32, inputs: Vec<i32>) -> PyResult<()> {
        self.with(py, |builder| builder.add_union(id, &inputs))
    }

    /// Add the edges from a node, real or virtual, to a real node, which both exist.
    ///
    /// Args:
    ///     source: id of the upstream node.
    ///     target: id of the downstream node.
    ///     input: 0 for one-input operators; 1 or 2 for two-input operators.
    ///     partitioner: ``None`` is FORWARD between equal parallelisms and REBALANCE otherwise.
    ///     shuffle_mode: ``PIPELINED``, ``BATCH`` or ``UNDEFINED``.
    ///
    /// Raises:
    ///     StreamGraphError: an unknown node, or FORWARD between different parallelisms.
    #[pyo3(signature = (source, target, input = 0, *, partitioner = None, shuffle_mode = "UNDEFINED"))]
    fn add_edge(&self, py: Python<'_>, source: i32, target: i32, input: u8, partitioner: Option<&str>, shuffle_mode: &str) -> PyResult<()> {
        let subject = format_args!("add_edge(), the edge {source} -> {target}");
        let partitioner =
            partitioner.map(|name| parse(py, subject, "partitioner", name, Partitioner::ALL, Partitioner::parse)).transpose()?;
        let shuffle_mode = parse(py, subject, "shuffle_mode", shuffle_mode, ShuffleMode::ALL, ShuffleMode::parse)?;
        let edge = NewEdge { source, target, partitioner, shuffle_mode, type_number: input, side_output: None, partition_node: None };
        self.with(py, |builder| builder.add_edge(edge))
    }

    /// Freeze the graph. O(nodes + edges).
    ///
    /// Raises:
    ///     StreamGraphError: the builder has been used.
    fn build(&self, py: Python<'_>) -> PyResult<StreamGraph> {
        let builder = self.take(py)?;
        Ok(StreamGraph(Arc::new(py.detach(|| builder.build()))))
    }

    fn __repr__(&self) -> String {
        let builder = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        builder.as_ref().map_or("StreamGraphBuilder(built)".into(), |builder| {
            format!("StreamGraphBuilder({} nodes, {} edges)", builder.node_count(), builder.edge_count())
        })
    }
}
