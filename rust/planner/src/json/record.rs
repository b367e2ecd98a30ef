//! One line in, one line out: everything the planner decides about a described graph, in the form golden records have.
//!
//! O(nodes + edges + execution edges); partitions are listed only up to 1,000 execution edges, hashed in any case.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record_types::*;
use super::{job_plan, streaming_plan};
use crate::chainable::Verdicts;
use crate::error::{PlanError, Result};
use crate::execution_graph::{ExecutionGraph, ExecutionJobVertex, edge_table::BYTES_PER_EDGE, expand};
use crate::index::{DataSetIndex, EdgeIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex, all};
use crate::job_graph::{ExchangeConfig, JobGraph, JobOptions, StreamConfig, compile};
use crate::operator_id::{OperatorId, OperatorIds};
use crate::stream_graph::spec::{Spec, SpecResources};
use crate::stream_graph::{ResourceSpec, StreamGraph};

const FLINK: &str = "1.11.4";
const LISTED_EDGES: u64 = 1000;
/// Hashing more edges than this takes minutes.
const HASHED_EDGES: u64 = 1 << 30;

/// The record of a described graph, errors included, each at its stage.
pub fn plan_record(spec: &str) -> String {
    let parsed = Spec::parse(spec);
    let name = &parsed.as_ref().map_or_else(|_| name_of(spec), |spec| spec.name().to_owned());
    match parsed.as_ref().map_err(PlanError::clone).and_then(Spec::build) {
        Err(error) => write(&Record { name, flink: FLINK, stream_graph: Err(error).into(), planned: None }),
        Ok(graph) => planned(&Arc::new(graph), name),
    }
}

/// The name of a description that is JSON but otherwise broken.
fn name_of(spec: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(spec).unwrap_or_default();
    value.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}

fn write(record: &Record<'_>) -> String {
    serde_json::to_string(record).expect("a record has only string keys and finite numbers")
}

fn planned(graph: &Arc<StreamGraph>, name: &str) -> String {
    let verdicts = Verdicts::of(graph);
    let ids = OperatorIds::of(graph, &verdicts);
    let job = compile(graph.clone(), JobOptions::default()).map(Arc::new);
    let planned = Planned {
        hashes: ids.map(|ids| hashes(graph, &ids)).into(),
        streaming_plan: streaming_plan(graph).into(),
        job_graph: job.as_ref().map(|job| job_graph_record(job)).map_err(PlanError::clone).into(),
        execution_graph: job.as_ref().ok().map(|job| execution_record(job).into()),
    };
    let stream_graph = Stage::Done(stream_graph_record(graph, &verdicts));
    write(&Record { name, flink: FLINK, stream_graph, planned: Some(planned) })
}

fn stream_graph_record(graph: &StreamGraph, verdicts: &Verdicts) -> StreamGraphRecord {
    let edge = |index: EdgeIndex| {
        let edge = graph.edge(index);
        StreamEdgeRecord {
            partitioner: edge.partitioner.as_str(),
            shuffle_mode: edge.shuffle_mode.as_str(),
            buffer_timeout: edge.buffer_timeout,
            chainable: verdicts.chained(index),
        }
    };
    StreamGraphRecord {
        edges: all(graph.edge_count()).map(edge).collect(),
        source_ids: graph.sources().iter().map(|&source| graph.node(source).id).collect(),
    }
}

fn hashes(graph: &StreamGraph, ids: &OperatorIds) -> BTreeMap<i32, String> {
    all(graph.node_count()).filter_map(|node: NodeIndex| Some((graph.node(node).id, ids.get(node)?.to_string()))).collect()
}

fn job_graph_record(job: &JobGraph) -> JobGraphRecord<'_> {
    let graph = job.stream_graph();
    let slots = job.slots();
    let group = |(members, resources): (&[VertexIndex], &Option<ResourceSpec>)| SlotGroupRecord {
        vertices: numbers(members),
        resources: resources.as_ref().map(SpecResources::of),
    };
    let checkpointing = job.checkpointing();
    JobGraphRecord {
        name: &graph.settings.job_name,
        schedule_mode: graph.settings.schedule_mode.as_str(),
        maximum_parallelism: job.maximum_parallelism(),
        vertices: all(job.vertex_count()).map(|vertex| vertex_record(job, vertex)).collect(),
        slot_sharing_groups: slots.members.lists().zip(&slots.resources).map(group).collect(),
        co_location_groups: slots.co_located.lists().map(numbers).collect(),
        checkpointing: CheckpointingRecord {
            interval: checkpointing.interval,
            trigger: numbers(&checkpointing.trigger),
            acknowledge: numbers(&checkpointing.acknowledge),
            confirm: numbers(&checkpointing.confirm),
        },
        topological_order: numbers(job.topological_order()),
        json_plan: job_plan(job),
        edge_buffer_timeouts: all(graph.edge_count()).map(|edge| job.buffer_timeout(edge)).collect(),
    }
}

fn numbers(vertices: &[VertexIndex]) -> Vec<u32> {
    vertices.iter().map(|vertex| vertex.0).collect()
}

fn vertex_record(job: &JobGraph, vertex: VertexIndex) -> VertexRecord<'_> {
    let graph = job.stream_graph();
    let head = job.chain(vertex).head;
    let resources = job.vertex_resources(vertex);
    let pair = |(own, user): (OperatorId, Option<OperatorId>)| (own.to_string(), user.map(|user| user.to_string()));
    VertexRecord {
        id: job.id(vertex).to_string(),
        head: graph.node(head).id,
        name: job.name(vertex),
        parallelism: job.parallelism(vertex),
        max_parallelism: graph.node(head).max_parallelism,
        invokable: graph.task(head),
        operator_ids: job.operator_id_pairs(vertex).map(pair).collect(),
        operator_nodes: job.operators(vertex).iter().map(|operator| graph.node(operator.node).id).collect(),
        slot_sharing_group: job.slots().group_of[vertex.get()].0,
        co_location_group: job.slots().co_location_of.get(vertex.get()).map(|group| group.0),
        min_resources: resources.map(|both| SpecResources::of(&both.min)),
        preferred_resources: resources.map(|both| SpecResources::of(&both.preferred)),
        inputs: job.inputs(vertex).iter().map(|&edge| input_record(job, edge)).collect(),
        results: job.results(vertex).iter().map(|&result| result_record(job, result)).collect(),
        number_of_inputs: job.inputs(vertex).len(),
        in_edges: job.in_edges(vertex).map(|edge| edge.0).collect(),
        out_edges: job.out_edges(vertex).map(|edge| edge.0).collect(),
        chain: job.stream_configs(vertex).map(operator_record).collect(),
        checkpointing_enabled: graph.settings.checkpoints(),
        checkpoint_mode: job.checkpointing_mode().as_str(),
    }
}

fn input_record(job: &JobGraph, edge: JobEdgeIndex) -> InputRecord {
    let ExchangeConfig { source, result, distribution, result_type, ship_strategy, .. } = job.exchange(edge);
    InputRecord { source: source.0, result, distribution, result_type, ship_strategy }
}

fn result_record(job: &JobGraph, result: DataSetIndex) -> ResultRecord {
    let consumers = job.consumers(result);
    ResultRecord {
        r#type: job.edge(consumers[0]).result_type.as_str(),
        consumers: consumers.iter().map(|&edge| (job.edge(edge).target.0, job.input_position(edge))).collect(),
    }
}

fn operator_record(config: StreamConfig<'_>) -> OperatorRecord<'_> {
    let numbers = |edges: &[EdgeIndex]| edges.iter().map(|edge| edge.0).collect();
    OperatorRecord {
        node: config.id,
        operator_id: config.operator_id.to_string(),
        operator_name: config.name,
        chain_index: config.chain_index,
        chain_start: config.chain_start(),
        chain_end: config.chain_end(),
        managed_memory_fraction: config.managed_memory_fraction,
        chained_outputs: numbers(&config.chained_outputs),
        non_chained_outputs: numbers(&config.non_chained_outputs),
        number_of_outputs: config.non_chained_outputs.len(),
    }
}

fn execution_record(job: &Arc<JobGraph>) -> Result<ExecutionGraphRecord> {
    let graph = expand(job.clone())?;
    let (edges, limit) = (graph.total_edges(), HASHED_EDGES * BYTES_PER_EDGE);
    if edges > HASHED_EDGES {
        return Err(PlanError::TooManyExecutionEdges { edges, bytes: edges.saturating_mul(BYTES_PER_EDGE), limit });
    }
    let listed = edges <= LISTED_EDGES;
    Ok(ExecutionGraphRecord {
        total_vertices: graph.total_vertices(),
        total_edges: edges,
        vertices: graph.vertices().iter().map(|expanded| execution_vertex_record(&graph, expanded, listed)).collect(),
        sha256_inputs: graph.sha256_of_inputs(),
        sha256_consumers: graph.sha256_of_consumers(),
    })
}

fn execution_vertex_record(graph: &ExecutionGraph, expanded: &ExecutionJobVertex, listed: bool) -> ExecutionVertexRecord {
    let job = graph.job_graph();
    let input = |&edge: &JobEdgeIndex| {
        let fan_out = graph.fan_out(edge);
        let partitions = || (0..expanded.parallelism).map(|subtask| fan_out.partitions_of(subtask).collect()).collect();
        ExecutionInputRecord {
            source: graph.position(job.edge(edge).source).0,
            result: job.result_position(job.consumed(edge)),
            partitions: listed.then(partitions),
        }
    };
    let result = |&data_set: &DataSetIndex| ExecutionResultRecord {
        r#type: job.edge(job.consumers(data_set)[0]).result_type.as_str(),
        consumers: listed.then(|| (0..expanded.parallelism).map(|partition| consumers(graph, data_set, partition)).collect()),
    };
    ExecutionVertexRecord {
        job_vertex: expanded.vertex.0,
        parallelism: expanded.parallelism,
        max_parallelism: expanded.max_parallelism,
        max_parallelism_configured: expanded.max_parallelism_configured,
        inputs: job.inputs(expanded.vertex).iter().map(input).collect(),
        results: job.results(expanded.vertex).iter().map(result).collect(),
    }
}

fn consumers(graph: &ExecutionGraph, data_set: DataSetIndex, partition: u32) -> Vec<(u32, usize, u32)> {
    let job = graph.job_graph();
    let subtasks = |(edge, subtasks): (JobEdgeIndex, std::ops::Range<u32>)| {
        let (consumer, input) = (graph.position(job.edge(edge).target).0, job.input_position(edge));
        subtasks.map(move |subtask| (consumer, input, subtask))
    };
    graph.partition_consumers(data_set, partition).flat_map(subtasks).collect()
}
