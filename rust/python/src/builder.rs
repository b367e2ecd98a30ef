//! `StreamGraphBuilder`: Flink's StreamGraph while it is being put together.

use std::sync::{Arc, Mutex};

use penstock_planner::error::{PlanError, Result};
use penstock_planner::stream_graph::spec::{SpecResources, resource_pair};
use penstock_planner::stream_graph::{
    ChainingStrategy, CheckpointingMode, ExchangeMode, NewEdge, NewIteration, NewNode, Partitioner, Resources, Role, ScheduleMode,
    Settings, ShuffleMode, StreamGraphBuilder as Builder,
};
use pyo3::prelude::*;

use crate::error::{check, parse};
use crate::stream_graph::StreamGraph;

type ResourceTuple = (f64, i64, i64, i64);

/// Collects nodes and edges; `build` consumes it.
#[pyclass(frozen, module = "penstock.plan")]
pub struct StreamGraphBuilder(Mutex<Option<Builder>>);

impl StreamGraphBuilder {
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
            exchange_mode: parse(py, "exchange_mode", exchange_mode, ExchangeMode::ALL, ExchangeMode::parse)?,
            schedule_mode: parse(py, "schedule_mode", schedule_mode, ScheduleMode::ALL, ScheduleMode::parse)?,
            checkpointing_enabled,
            checkpoint_interval,
            checkpointing_mode: parse(py, "checkpointing_mode", checkpointing_mode, CheckpointingMode::ALL, CheckpointingMode::parse)?,
            force_checkpointing,
            all_vertices_in_same_slot_sharing_group,
        };
        Ok(Self(Mutex::new(Some(Builder::new(settings)))))
    }

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
        let node = NewNode {
            id,
            name,
            role: parse(py, "kind", kind, Role::KINDS, Role::of_kind)?,
            uid,
            user_hash,
            slot_sharing_group,
            co_location_group,
            parallelism,
            max_parallelism,
            chaining_strategy: parse(py, "chaining_strategy", chaining_strategy, ChainingStrategy::ALL, ChainingStrategy::parse)?,
            yielding,
            managed_memory_weight,
            buffer_timeout,
            resources: check(py, resources(name, min_resources, preferred_resources))?,
            task,
            input_format,
            output_format,
            coordinator,
        };
        self.with(py, |builder| builder.add_node(&node).map(|_| ()))
    }

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

    fn set_slot_sharing_group(&self, py: Python<'_>, id: i32, group: Option<&str>) -> PyResult<()> {
        self.with(py, |builder| builder.set_slot_sharing_group(id, group))
    }

    #[pyo3(signature = (id, input, partitioner, shuffle_mode = "UNDEFINED"))]
    fn add_virtual_partition(&self, py: Python<'_>, id: i32, input: i32, partitioner: &str, shuffle_mode: &str) -> PyResult<()> {
        let partitioner = parse(py, "partitioner", partitioner, Partitioner::ALL, Partitioner::parse)?;
        let mode = parse(py, "shuffle_mode", shuffle_mode, ShuffleMode::ALL, ShuffleMode::parse)?;
        self.with(py, |builder| builder.add_virtual_partition(id, input, partitioner, mode))
    }

    fn add_virtual_side_output(&self, py: Python<'_>, id: i32, input: i32, tag: &str) -> PyResult<()> {
        self.with(py, |builder| builder.add_virtual_side_output(id, input, tag))
    }

    fn add_union(&self, py: Python<'_>, id: i32, inputs: Vec<i32>) -> PyResult<()> {
        self.with(py, |builder| builder.add_union(id, &inputs))
    }

    #[pyo3(signature = (source, target, input = 0, *, partitioner = None, shuffle_mode = "UNDEFINED"))]
    fn add_edge(&self, py: Python<'_>, source: i32, target: i32, input: u8, partitioner: Option<&str>, shuffle_mode: &str) -> PyResult<()> {
        let partitioner = partitioner.map(|name| parse(py, "partitioner", name, Partitioner::ALL, Partitioner::parse)).transpose()?;
        let shuffle_mode = parse(py, "shuffle_mode", shuffle_mode, ShuffleMode::ALL, ShuffleMode::parse)?;
        let edge = NewEdge { source, target, partitioner, shuffle_mode, type_number: input, side_output: None, partition_node: None };
        self.with(py, |builder| builder.add_edge(edge))
    }

    fn build(&self, py: Python<'_>) -> PyResult<StreamGraph> {
        let builder = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let builder = check(py, builder.ok_or(PlanError::BuilderUsed {}))?;
        Ok(StreamGraph(Arc::new(py.detach(|| builder.build()))))
    }

    fn __repr__(&self) -> String {
        let builder = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        builder.as_ref().map_or("StreamGraphBuilder(built)".into(), |builder| {
            format!("StreamGraphBuilder({} nodes, {} edges)", builder.node_count(), builder.edge_count())
        })
    }
}
