//! The shape of a record (RESULT of the interchange format), field by field, in Flink 1.11's flavour.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::PlanError;
use crate::stream_graph::spec::SpecResources;

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
    pub schedule_mode: &'static str,
    pub maximum_parallelism: i32,
    pub vertices: Vec<VertexRecord<'a>>,
    pub slot_sharing_groups: Vec<SlotGroupRecord>,
    pub co_location_groups: Vec<Vec<u32>>,
    pub checkpointing: CheckpointingRecord,
    pub topological_order: Vec<u32>,
    pub json_plan: String,
    pub edge_buffer_timeouts: Vec<i64>,
}

#[derive(Serialize)]
pub struct VertexRecord<'a> {
    pub id: String,
    pub head: i32,
    pub name: &'a str,
    pub parallelism: i32,
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
    pub out_edges: Vec<u32>,
    pub chain: Vec<OperatorRecord<'a>>,
    pub checkpointing_enabled: bool,
    pub checkpoint_mode: &'static str,
}

#[derive(Serialize)]
pub struct InputRecord {
    pub source: u32,
    pub result: usize,
    pub distribution: &'static str,
    pub result_type: &'static str,
    pub ship_strategy: &'static str,
}

#[derive(Serialize)]
pub struct ResultRecord {
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
    pub managed_memory_fraction: f64,
    pub chained_outputs: Vec<u32>,
    pub non_chained_outputs: Vec<u32>,
    pub number_of_outputs: usize,
}

#[derive(Serialize)]
pub struct SlotGroupRecord {
    pub vertices: Vec<u32>,
    pub resources: Option<SpecResources>,
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
    pub vertices: Vec<ExecutionVertexRecord>,
    pub sha256_inputs: String,
    pub sha256_consumers: String,
}

#[derive(Serialize)]
pub struct ExecutionVertexRecord {
    pub job_vertex: u32,
    pub parallelism: u32,
    pub max_parallelism: u32,
    pub max_parallelism_configured: bool,
    pub inputs: Vec<ExecutionInputRecord>,
    pub results: Vec<ExecutionResultRecord>,
}

#[derive(Serialize)]
pub struct ExecutionInputRecord {
    pub source: u32,
    pub result: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<Vec<Vec<u32>>>,
}

#[derive(Serialize)]
pub struct ExecutionResultRecord {
    pub r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumers: Option<Vec<Vec<(u32, usize, u32)>>>,
}
