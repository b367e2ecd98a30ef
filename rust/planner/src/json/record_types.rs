//! The shape of a record (RESULT of the interchange format), field by field. What only one version of Flink shows is an
//! [`Only`], left out where the other is planned.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::PlanError;
use crate::job_graph::JobGraph;
use crate::profile::Profile;
use crate::stream_graph::spec::SpecResources;

/// A field that one version has.
pub type Only<T> = Option<T>;

/// What only a record of 1.11 has.
pub fn old<T>(job: &JobGraph, field: impl FnOnce() -> T) -> Only<T> {
    (job.profile() == Profile::V1_11).then(field)
}

/// What only a record of 2.3 has.
pub fn new<T>(job: &JobGraph, field: impl FnOnce() -> T) -> Only<T> {
    (job.profile() == Profile::V2_3).then(field)
}

/// A stage: what it gave, or why it failed.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Stage<T> {
    Done(T),
    Failed { error: Failure },
}

impl<T> From<crate::error::Result<T>> for Stage<T> {
    fn from(result: crate::error::Result<T>) -> Self {
        match result {
            Ok(value) => Self::Done(value),
            Err(error) => Self::Failed { error: Failure::of(&error) },
        }
    }
}

/// Flink's class, our message.
#[derive(Serialize)]
pub struct Failure {
    class: Option<&'static str>,
    message: String,
}

impl Failure {
    fn of(error: &PlanError) -> Self {
        Self { class: error.flink_class(), message: error.to_string() }
    }
}

#[derive(Serialize)]
pub struct Record<'a> {
    pub name: &'a str,
    pub flink: &'static str,
    pub stream_graph: Stage<StreamGraphRecord>,
    #[serde(flatten)]
    pub planned: Option<Planned<'a>>,
}

#[derive(Serialize)]
pub struct Planned<'a> {
    pub hashes: Stage<BTreeMap<i32, String>>,
    pub streaming_plan: Stage<String>,
    pub job_graph: Stage<JobGraphRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_graph: Option<Stage<ExecutionGraphRecord>>,
}

#[derive(Serialize)]
pub struct StreamGraphRecord {
    pub edges: Vec<StreamEdgeRecord>,
    pub source_ids: Vec<i32>,
}

#[derive(Serialize)]
pub struct StreamEdgeRecord {
    pub partitioner: &'static str,
    pub shuffle_mode: &'static str,
    pub buffer_timeout: i64,
    pub chainable: bool,
}

#[derive(Serialize)]
pub struct JobGraphRecord<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_mode: Only<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_type: Only<&'static str>,
    pub maximum_parallelism: i32,
    pub vertices: Vec<VertexRecord<'a>>,
    pub slot_sharing_groups: Vec<SlotGroupRecord<'a>>,
    pub co_location_groups: Vec<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpointing: Only<CheckpointingRecord>,
    pub topological_order: Vec<u32>,
    pub json_plan: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_buffer_timeouts: Only<Vec<i64>>,
}

#[derive(Serialize)]
pub struct VertexRecord<'a> {
    pub id: String,
    pub head: i32,
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_pretty_name: Only<String>,
    pub parallelism: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism_configured: Only<bool>,
    pub max_parallelism: i32,
    pub invokable: &'a str,
    pub operator_ids: Vec<(String, Option<String>)>,
    pub operator_nodes: Vec<i32>,
    pub slot_sharing_group: u32,
    pub co_location_group: Option<u32>,
    pub min_resources: Option<SpecResources>,
    pub preferred_resources: Option<SpecResources>,
    pub inputs: Vec<InputRecord>,
    pub results: Vec<ResultRecord>,
    pub number_of_inputs: usize,
    pub in_edges: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_edges: Only<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_of_vertex_outputs: Only<usize>,
    pub chain: Vec<OperatorRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpointing_enabled: Only<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_mode: Only<&'static str>,
}

#[derive(Serialize)]
pub struct InputRecord {
    pub source: u32,
    pub result: usize,
    pub distribution: &'static str,
    pub result_type: &'static str,
    pub ship_strategy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast: Only<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Only<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_number: Only<u8>,
}

#[derive(Serialize)]
pub struct ResultRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Only<String>,
    pub r#type: &'static str,
    pub consumers: Vec<(u32, usize)>,
}

#[derive(Serialize)]
pub struct OperatorRecord<'a> {
    pub node: i32,
    pub operator_id: String,
    pub operator_name: &'a str,
    pub chain_index: u32,
    pub chain_start: bool,
    pub chain_end: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_memory_fraction: Only<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_memory_fraction_operator: Only<Option<f64>>,
    pub chained_outputs: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_chained_outputs: Only<Vec<u32>>,
    pub number_of_outputs: usize,
}

#[derive(Serialize)]
pub struct SlotGroupRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Only<&'a str>,
    pub vertices: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Only<Option<SpecResources>>,
}

#[derive(Serialize)]
pub struct CheckpointingRecord {
    pub interval: i64,
    pub trigger: Vec<u32>,
    pub acknowledge: Vec<u32>,
    pub confirm: Vec<u32>,
}

#[derive(Serialize)]
pub struct ExecutionGraphRecord {
    pub total_vertices: u64,
    pub total_edges: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_groups: Only<u64>,
    pub vertices: Vec<ExecutionVertexRecord>,
    pub sha256_inputs: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256_consumers: Only<String>,
}

#[derive(Serialize)]
pub struct ExecutionVertexRecord {
    pub job_vertex: u32,
    pub parallelism: u32,
    pub max_parallelism: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallelism_configured: Only<bool>,
    pub inputs: Vec<ExecutionInputRecord>,
    pub results: Vec<ExecutionResultRecord>,
}

#[derive(Serialize)]
pub struct ExecutionInputRecord {
    pub source: u32,
    pub result: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Only<Vec<Vec<u32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Only<Vec<GroupRecord>>,
}

#[derive(Serialize)]
pub struct ExecutionResultRecord {
    pub r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumers: Only<Vec<Vec<(u32, usize, u32)>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumer_groups: Only<Vec<Vec<(u32, u32, u32)>>>,
}

#[derive(Serialize)]
pub struct GroupRecord {
    pub partitions: (u32, u32),
    pub consumers: (u32, u32),
}
