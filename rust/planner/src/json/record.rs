//! One line in, one line out: everything the planner decides about a described graph, in the form golden records have.
//!
//! O(nodes + edges + execution edges); partitions are listed only up to 1,000 execution edges (2.3: groups), hashed in any
//! case.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::execution_record::execution_record;
use super::job_plan::{JOB_TYPE, job_plan};
use super::record_types::*;
use super::streaming_plan;
use crate::dense::{DataSetIndex, EdgeIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex, all};
use crate::error::{PlanError, Result};
use crate::identity::{OperatorId, OperatorIds, Verdicts};
use crate::job_graph::{ExchangeConfig, JobGraph, JobOptions, StreamConfig, compile};
use crate::profile::Profile;
use crate::stream_graph::spec::{Spec, SpecResources};
use crate::stream_graph::{Partitioner, ResourceSpec, StreamEdge, StreamGraph};

/// The record of a described graph, errors included, each at its stage.
pub fn plan_record(spec: &str, profile: Profile) -> String {
    let parsed = Spec::parse("plan_record()", spec);
    let name = &parsed.as_ref().map_or_else(|_| name_of(spec), |spec| spec.name().to_owned());
    match parsed.as_ref().map_err(PlanError::clone).and_then(Spec::build) {
        Err(error) => write(&Record { name, flink: profile.release(), stream_graph: Err(error).into(), planned: None }),
        Ok(graph) => planned(&Arc::new(graph), name, profile),
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

fn planned(graph: &Arc<StreamGraph>, name: &str, profile: Profile) -> String {
    let verdicts = Verdicts::of(graph);
    let ids = OperatorIds::of(graph, &verdicts);
    let job = compile(graph.clone(), JobOptions { profile, ..JobOptions::default() }).map(Arc::new);
    let planned = Planned {
        hashes: ids.map(|ids| hashes(graph, &ids)).into(),
        streaming_plan: streaming_plan(graph).into(),
        job_graph: job.as_ref().map_err(PlanError::clone).and_then(|job| job_graph_record(job)).into(),
        execution_graph: job.as_ref().ok().map(|job| execution_record(job).into()),
    };
    let stream_graph = Stage::Done(stream_graph_record(graph, &verdicts));
    write(&Record { name, flink: profile.release(), stream_graph, planned: Some(planned) })
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

fn job_graph_record(job: &JobGraph) -> Result<JobGraphRecord<'_>> {
    let graph = job.stream_graph();
    let slots = job.slots();
    let group = |(members, resources): (&[VertexIndex], &Option<ResourceSpec>)| SlotGroupRecord {
        name: new(job, || group_name(job, members)),
        vertices: numbers(members),
        resources: old(job, || resources.as_ref().map(SpecResources::of)),
    };
    let vertices: Result<Vec<_>> = all(job.vertex_count()).map(|vertex| vertex_record(job, vertex)).collect();
    Ok(JobGraphRecord {
        name: &graph.settings.job_name,
        schedule_mode: old(job, || graph.settings.schedule_mode.as_str()),
        job_type: new(job, || JOB_TYPE),
        maximum_parallelism: job.maximum_parallelism(),
        vertices: vertices?,
        slot_sharing_groups: slots.members.lists().zip(&slots.resources).map(group).collect(),
        co_location_groups: slots.co_located.lists().map(numbers).collect(),
        checkpointing: old(job, || checkpointing_record(job)),
        topological_order: numbers(job.topological_order()),
        json_plan: job_plan(job)?,
        edge_buffer_timeouts: old(job, || all(graph.edge_count()).map(|edge| job.buffer_timeout(edge)).collect()),
    })
}

fn group_name<'a>(job: &'a JobGraph, members: &[VertexIndex]) -> &'a str {
    let graph = job.stream_graph();
    graph.node(job.chain(members[0]).head).slot_sharing_group.map_or("", |name| graph.text(name))
}

fn checkpointing_record(job: &JobGraph) -> CheckpointingRecord {
    let checkpointing = job.checkpointing();
    CheckpointingRecord {
        interval: checkpointing.interval,
        trigger: numbers(&checkpointing.trigger),
        acknowledge: numbers(&checkpointing.acknowledge),
        confirm: numbers(&checkpointing.confirm),
    }
}

fn numbers(vertices: &[VertexIndex]) -> Vec<u32> {
    vertices.iter().map(|vertex| vertex.0).collect()
}

fn vertex_record(job: &JobGraph, vertex: VertexIndex) -> Result<VertexRecord<'_>> {
    let graph = job.stream_graph();
    let head = job.chain(vertex).head;
    let resources = job.vertex_resources(vertex);
    let pair = |(own, user): (OperatorId, Option<OperatorId>)| (own.to_string(), user.map(|user| user.to_string()));
    let tree = new(job, || job.tree(vertex)).transpose()?;
    Ok(VertexRecord {
        id: job.id(vertex).to_string(),
        head: graph.node(head).id,
        name: job.name(vertex),
        operator_pretty_name: tree,
        parallelism: job.parallelism(vertex),
        parallelism_configured: new(job, || graph.node(head).parallelism != -1),
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
        out_edges: old(job, || job.out_edges(vertex).map(|edge| edge.0).collect()),
        number_of_vertex_outputs: new(job, || job.results(vertex).len()),
        chain: job.stream_configs(vertex).map(|config| operator_record(job, config)).collect(),
        checkpointing_enabled: old(job, || graph.settings.checkpoints()),
        checkpoint_mode: old(job, || job.checkpointing_mode().as_str()),
    })
}

fn input_record(job: &JobGraph, edge: JobEdgeIndex) -> InputRecord {
    let ExchangeConfig { source, result, distribution, result_type, ship_strategy, stream_edge, .. } = job.exchange(edge);
    let StreamEdge { partitioner, type_number, .. } = job.stream_graph().edge(stream_edge);
    InputRecord {
        source: source.0,
        result,
        distribution,
        result_type,
        ship_strategy,
        broadcast: new(job, || partitioner == Partitioner::Broadcast),
        forward: new(job, || partitioner == Partitioner::Forward),
        type_number: new(job, || type_number),
    }
}

fn result_record(job: &JobGraph, result: DataSetIndex) -> ResultRecord {
    ResultRecord {
        id: job.data_set_id(result).map(|id| id.to_string()),
        r#type: job.edge(job.first_consumer(result)).result_type.as_str(),
        consumers: job.consumers(result).map(|edge| (job.edge(edge).target.0, job.input_position(edge))).collect(),
    }
}

fn operator_record<'a>(job: &JobGraph, config: StreamConfig<'a>) -> OperatorRecord<'a> {
    let numbers = |edges: &[EdgeIndex]| edges.iter().map(|edge| edge.0).collect();
    OperatorRecord {
        node: config.id,
        operator_id: config.operator_id.to_string(),
        operator_name: config.name,
        chain_index: config.chain_index,
        chain_start: config.chain_start(),
        chain_end: config.chain_end(),
        managed_memory_fraction: old(job, || config.managed_memory_fraction),
        managed_memory_fraction_operator: new(job, || config.managed_memory_fraction),
        chained_outputs: numbers(&config.chained_outputs),
        non_chained_outputs: old(job, || numbers(&config.non_chained_outputs)),
        number_of_outputs: config.number_of_outputs,
    }
}
