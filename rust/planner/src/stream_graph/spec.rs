//! The JSON description of a StreamGraph (SPEC), in and out. The round trip loses nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::StreamGraph;
use super::builder::StreamGraphBuilder;
use super::object::Object;
use super::spec_parts::{SpecEdge, SpecIteration, SpecNode};
pub use super::spec_parts::{SpecResources, resource_pair};
use super::types::{CheckpointingMode, ExchangeMode, ScheduleMode, Settings};
use crate::dense::{NodeIndex, all};
use crate::error::{PlanError, Result};

/// A whole description. Unknown fields are refused, so that a misspelt one is not ignored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(default = "yes")]
    chaining_enabled: bool,
    #[serde(borrow, default)]
    settings: Object<SpecSettings<'a>>,
    #[serde(borrow)]
    nodes: Vec<Object<SpecNode<'a>>>,
    #[serde(borrow)]
    edges: Vec<Object<SpecEdge<'a>>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    iterations: Option<Vec<Object<SpecIteration<'a>>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SpecSettings<'a> {
    #[serde(borrow)]
    job_name: Cow<'a, str>,
    exchange_mode: ExchangeMode,
    schedule_mode: ScheduleMode,
    checkpointing_enabled: bool,
    checkpoint_interval: i64,
    checkpointing_mode: CheckpointingMode,
    force_checkpointing: bool,
    all_vertices_in_same_slot_sharing_group: bool,
}

impl Default for SpecSettings<'_> {
    fn default() -> Self {
        SpecSettings::plain(&Settings::default())
    }
}

fn yes() -> bool {
    true
}

impl StreamGraph {
    /// Parses a description. O(length of the text).
    ///
    /// # Errors
    /// [`PlanError::InvalidSpec`] for text that is no such JSON, and whatever the builder refuses.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::from_json_of("StreamGraph.from_json()", text)
    }

    /// Likewise, for another call that refusals are to name.
    ///
    /// # Errors
    /// Those of [`StreamGraph::from_json`].
    pub fn from_json_of(call: &'static str, text: &str) -> Result<Self> {
        Spec::parse(call, text)?.build()
    }

    /// The description of this graph, virtual nodes resolved.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Spec::of(self)).expect("a description has no map keys or floats that JSON cannot hold")
    }
}

impl<'a> Spec<'a> {
    /// Parses the text without building; refusals name the call.
    pub fn parse(call: &'static str, text: &'a str) -> Result<Self> {
        let spec = serde_json::from_str::<Object<_>>(text);
        spec.map(|spec| spec.0).map_err(|error| PlanError::InvalidSpec { call, detail: locate(text, &error) })
    }

    /// The name of the case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Builds the graph: all nodes, then loops, then edges, as Flink is driven.
    pub fn build(&self) -> Result<StreamGraph> {
        let mut builder = StreamGraphBuilder::with_capacity(self.settings(), self.nodes.len(), self.edges.len());
        for node in &self.nodes {
            builder.add_node(&node.to_new()?)?;
        }
        for iteration in self.iterations.iter().flatten() {
            builder.add_iteration(&iteration.to_new()?)?;
        }
        for edge in &self.edges {
            builder.add_edge(edge.to_new()?)?;
        }
        Ok(builder.build())
    }

    fn settings(&self) -> Settings {
        let SpecSettings {
            job_name,
            exchange_mode,
            schedule_mode,
            checkpointing_enabled,
            checkpoint_interval,
            checkpointing_mode,
            force_checkpointing,
            all_vertices_in_same_slot_sharing_group,
        } = &self.settings.0;
        Settings {
            name: self.name.to_string(),
            job_name: job_name.to_string(),
            chaining_enabled: self.chaining_enabled,
            exchange_mode: *exchange_mode,
            schedule_mode: *schedule_mode,
            checkpointing_enabled: *checkpointing_enabled,
            checkpoint_interval: *checkpoint_interval,
            checkpointing_mode: *checkpointing_mode,
            force_checkpointing: *force_checkpointing,
            all_vertices_in_same_slot_sharing_group: *all_vertices_in_same_slot_sharing_group,
        }
    }

    fn of(graph: &'a StreamGraph) -> Self {
        let is_plain = |node: &NodeIndex| graph.node(*node).role.has_operator();
        let iterations: Vec<_> = graph.iterations.iter().map(|iteration| Object(SpecIteration::of(graph, iteration))).collect();
        Spec {
            name: graph.settings.name.as_str().into(),
            chaining_enabled: graph.settings.chaining_enabled,
            settings: Object(SpecSettings::of(&graph.settings)),
            nodes: all(graph.node_count()).filter(is_plain).map(|node| Object(SpecNode::of(graph, node))).collect(),
            edges: all(graph.edge_count()).map(|edge| Object(SpecEdge::of(graph, edge))).collect(),
            iterations: (!iterations.is_empty()).then_some(iterations),
        }
    }
}

impl<'a> SpecSettings<'a> {
    fn of(settings: &'a Settings) -> Self {
        SpecSettings { job_name: settings.job_name.as_str().into(), ..SpecSettings::plain(settings) }
    }

    fn plain(settings: &Settings) -> Self {
        SpecSettings {
            job_name: Cow::Borrowed("job"),
            exchange_mode: settings.exchange_mode,
            schedule_mode: settings.schedule_mode,
            checkpointing_enabled: settings.checkpointing_enabled,
            checkpoint_interval: settings.checkpoint_interval,
            checkpointing_mode: settings.checkpointing_mode,
            force_checkpointing: settings.force_checkpointing,
            all_vertices_in_same_slot_sharing_group: settings.all_vertices_in_same_slot_sharing_group,
        }
    }
}

/// Where and why a text is not a description; parsed again with the path kept, which costs too much for the good case.
fn locate(text: &str, error: &serde_json::Error) -> String {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, Object<Spec>>(&mut deserializer) {
        Err(located) if located.path().iter().next().is_some() => format!("{}: {}", located.path(), reason(text, located.inner())),
        _ if error.is_data() && !text.trim_start().starts_with('{') => {
            let (kind, start) = (kind_of(text), excerpt(text.trim_start(), 1, 0));
            format!("it was given {kind}, `{start}`, and a graph is an object with nodes and edges")
        }
        _ => reason(text, error),
    }
}

/// What a JSON value is that is no object.
fn kind_of(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Why, in words that need no knowledge of the parser; where, if it is a place in the text and no field.
fn reason(text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let place = format!(" at line {line} column {column}");
    let message = error.to_string();
    let why = message.strip_suffix(&place).unwrap_or(&message);
    if error.is_data() {
        return why.replace("expected i32", "expected a 32-bit integer").replace("expected i64", "expected a 64-bit integer");
    }
    let why = why.replace("expected ident", "expected a value");
    format!("the text is not JSON: {why}{place}, near `{}`", excerpt(text, line, column))
}

/// Some characters of a line, from shortly before a column.
fn excerpt(text: &str, line: usize, column: usize) -> String {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    line.char_indices().skip_while(|(at, _)| at + 20 < column).map(|(_, character)| character).take(40).collect()
}
