//! The parts of a description: nodes, edges, loops, resources; each from and to what the builder takes.

use std::borrow::Cow;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use serde::{Deserialize, Serialize};

use super::StreamGraph;
use super::builder::{NewEdge, NewIteration, NewNode};
use super::object::Object;
use super::resources::{ResourceSpec, Resources};
use super::types::{ChainingStrategy, Iteration, Partitioner, Role, ShuffleMode};
use crate::dense::{EdgeIndex, NameId, NodeIndex};
use crate::error::{PlanError, Result};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecNode<'a> {
    id: i32,
    #[serde(borrow)]
    name: Cow<'a, str>,
    kind: Kind,
    #[serde(borrow, default)]
    uid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    user_hash: Option<Cow<'a, str>>,
    #[serde(borrow, default = "default_group")]
    slot_sharing_group: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    co_location_group: Option<Cow<'a, str>>,
    #[serde(default = "unset")]
    parallelism: i32,
    #[serde(default = "unset")]
    max_parallelism: i32,
    #[serde(default = "always")]
    chaining_strategy: ChainingStrategy,
    #[serde(default)]
    yielding: bool,
    #[serde(default)]
    managed_memory_weight: Option<i32>,
    #[serde(default = "unset_timeout")]
    buffer_timeout: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_resources: Option<Object<SpecResources>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preferred_resources: Option<Object<SpecResources>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    task: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    input_format: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    output_format: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    coordinator: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Source,
    Operator,
    TwoInput,
    Sink,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecEdge<'a> {
    source: i32,
    target: i32,
    #[serde(default)]
    partitioner: Option<Partitioner>,
    #[serde(default = "undefined")]
    shuffle_mode: ShuffleMode,
    #[serde(default)]
    input: i64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    side_output: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partition_node: Option<i32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecIteration<'a> {
    loop_id: i32,
    source_id: i32,
    sink_id: i32,
    parallelism: i32,
    #[serde(default = "unset")]
    max_parallelism: i32,
    #[serde(default)]
    timeout: i64,
    #[serde(borrow, default = "default_group")]
    slot_sharing_group: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_resources: Option<Object<SpecResources>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preferred_resources: Option<Object<SpecResources>>,
}

/// Resources of one operator, as plain numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecResources {
    /// CPU shares.
    pub cpu: f64,
    /// Task heap, MiB.
    pub heap_mb: i64,
    /// Task off-heap, MiB.
    pub off_heap_mb: i64,
    /// Managed memory, MiB.
    pub managed_mb: i64,
}

fn unset() -> i32 {
    -1
}

fn unset_timeout() -> i64 {
    -1
}

fn always() -> ChainingStrategy {
    ChainingStrategy::Always
}

fn undefined() -> ShuffleMode {
    ShuffleMode::Undefined
}

fn default_group<'a>() -> Option<Cow<'a, str>> {
    Some("default".into())
}

impl<'a> SpecNode<'a> {
    pub(super) fn to_new(&'a self) -> Result<NewNode<'a>> {
        let subject = || format!("node {} ({})", self.id, self.name);
        Ok(NewNode {
            id: self.id,
            name: &self.name,
            role: match self.kind {
                Kind::Source => Role::Source,
                Kind::Operator => Role::Operator,
                Kind::TwoInput => Role::TwoInput,
                Kind::Sink => Role::Sink,
            },
            uid: self.uid.as_deref(),
            user_hash: self.user_hash.as_deref(),
            slot_sharing_group: self.slot_sharing_group.as_deref(),
            co_location_group: self.co_location_group.as_deref(),
            parallelism: self.parallelism,
            max_parallelism: self.max_parallelism,
            chaining_strategy: self.chaining_strategy,
            yielding: self.yielding,
            managed_memory_weight: self.managed_memory_weight,
            buffer_timeout: self.buffer_timeout,
            resources: resource_pair(&subject, self.min_resources.as_deref(), self.preferred_resources.as_deref())?,
            task: self.task.as_deref(),
            input_format: self.input_format.as_deref(),
            output_format: self.output_format.as_deref(),
            coordinator: self.coordinator.as_deref(),
        })
    }

    pub(super) fn of(graph: &'a StreamGraph, index: NodeIndex) -> Self {
        let node = graph.node(index);
        let extras = graph.extras(index).cloned().unwrap_or_default();
        let optional = |name: Option<NameId>| name.map(|name| Cow::Borrowed(graph.text(name)));
        SpecNode {
            id: node.id,
            name: graph.name(index).into(),
            kind: match node.role {
                Role::Source | Role::IterationHead => Kind::Source,
                Role::Operator => Kind::Operator,
                Role::TwoInput => Kind::TwoInput,
                Role::Sink | Role::IterationTail => Kind::Sink,
            },
            uid: optional(node.uid),
            user_hash: optional(node.user_hash),
            slot_sharing_group: optional(node.slot_sharing_group),
            co_location_group: optional(node.co_location_group),
            parallelism: node.parallelism,
            max_parallelism: node.max_parallelism,
            chaining_strategy: node.chaining_strategy,
            yielding: node.yielding,
            managed_memory_weight: node.managed_memory_weight,
            buffer_timeout: node.buffer_timeout,
            min_resources: graph.resources(index).map(|both| Object(SpecResources::of(&both.min))),
            preferred_resources: graph.resources(index).map(|both| Object(SpecResources::of(&both.preferred))),
            task: optional(extras.task),
            input_format: optional(extras.input_format),
            output_format: optional(extras.output_format),
            coordinator: optional(extras.coordinator),
        }
    }
}

impl<'a> SpecEdge<'a> {
    pub(super) fn to_new(&'a self) -> Result<NewEdge<'a>> {
        let type_number = u8::try_from(self.input).ok().filter(|input| *input <= 2).ok_or_else(|| PlanError::InvalidValue {
            subject: format!("the edge {} -> {}", self.source, self.target),
            field: "input".into(),
            value: self.input.to_string(),
            expected: "0 (one-input operator), 1 or 2 (two-input operator)".into(),
        })?;
        Ok(NewEdge {
            source: self.source,
            target: self.target,
            partitioner: self.partitioner,
            shuffle_mode: self.shuffle_mode,
            type_number,
            side_output: self.side_output.as_deref(),
            partition_node: self.partition_node,
        })
    }

    pub(super) fn of(graph: &'a StreamGraph, index: EdgeIndex) -> Self {
        let edge = graph.edge(index);
        SpecEdge {
            source: graph.node(edge.source).id,
            target: graph.node(edge.target).id,
            partitioner: Some(edge.partitioner),
            shuffle_mode: edge.shuffle_mode,
            input: edge.type_number.into(),
            side_output: edge.side_output.map(|tag| graph.text(tag).into()),
            partition_node: edge.partition_node,
        }
    }
}

impl<'a> SpecIteration<'a> {
    pub(super) fn to_new(&'a self) -> Result<NewIteration<'a>> {
        let subject = || format!("iteration {}", self.loop_id);
        Ok(NewIteration {
            loop_id: self.loop_id,
            source_id: self.source_id,
            sink_id: self.sink_id,
            parallelism: self.parallelism,
            max_parallelism: self.max_parallelism,
            timeout: self.timeout,
            slot_sharing_group: self.slot_sharing_group.as_deref(),
            resources: resource_pair(&subject, self.min_resources.as_deref(), self.preferred_resources.as_deref())?,
        })
    }

    pub(super) fn of(graph: &'a StreamGraph, iteration: &Iteration) -> Self {
        let head = graph.node(iteration.head);
        let resources = graph.resources(iteration.head);
        SpecIteration {
            loop_id: iteration.loop_id,
            source_id: head.id,
            sink_id: graph.node(iteration.tail).id,
            parallelism: iteration.parallelism,
            max_parallelism: iteration.max_parallelism,
            timeout: iteration.timeout,
            slot_sharing_group: head.slot_sharing_group.map(|group| graph.text(group).into()),
            min_resources: resources.map(|both| Object(SpecResources::of(&both.min))),
            preferred_resources: resources.map(|both| Object(SpecResources::of(&both.preferred))),
        }
    }
}

impl SpecResources {
    /// As plain numbers.
    pub fn of(spec: &ResourceSpec) -> Self {
        let ResourceSpec { heap_mb, off_heap_mb, managed_mb, .. } = *spec;
        SpecResources { cpu: spec.cpu_as_f64(), heap_mb, off_heap_mb, managed_mb }
    }

    /// As the planner adds them.
    ///
    /// # Errors
    /// [`PlanError::InvalidValue`] for negative or non-finite numbers.
    pub fn to_spec(&self, subject: &dyn Fn() -> String) -> Result<ResourceSpec> {
        let Self { cpu, heap_mb, off_heap_mb, managed_mb } = *self;
        let invalid = |field: &str, value: String| PlanError::InvalidValue {
            subject: subject(),
            field: field.into(),
            value,
            expected: "a finite number, zero or more".into(),
        };
        if !cpu.is_finite() || cpu < 0.0 {
            return Err(invalid("cpu", cpu.to_string()));
        }
        for (field, value) in [("heap_mb", heap_mb), ("off_heap_mb", off_heap_mb), ("managed_mb", managed_mb)] {
            if value < 0 {
                return Err(invalid(field, value.to_string()));
            }
        }
        let cpu = BigDecimal::from_str(&format!("{cpu:?}")).map_err(|_| invalid("cpu", cpu.to_string()))?;
        Ok(ResourceSpec { cpu, heap_mb, off_heap_mb, managed_mb })
    }
}

/// Both resources or none.
///
/// # Errors
/// [`PlanError::InvalidValue`] if only one is given.
pub fn resource_pair(
    subject: &dyn Fn() -> String,
    min: Option<&SpecResources>,
    preferred: Option<&SpecResources>,
) -> Result<Option<Resources>> {
    match (min, preferred) {
        (None, None) => Ok(None),
        (Some(min), Some(preferred)) => Ok(Some(Resources { min: min.to_spec(subject)?, preferred: preferred.to_spec(subject)? })),
        _ => Err(PlanError::InvalidValue {
            subject: subject(),
            field: "resources".into(),
            value: "only one of min_resources and preferred_resources".into(),
            expected: "both or none".into(),
        }),
    }
}
