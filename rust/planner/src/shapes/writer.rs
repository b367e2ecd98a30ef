//! What the shapes are written with: bounds of arguments, nodes numbered from 1, edges.

use crate::dense::NameId;
use crate::error::{PlanError, Result};
use crate::stream_graph::{
    ChainingStrategy, MAX_EDGES, NewEdge, Partitioner, Role, Settings, ShuffleMode, StreamGraph, StreamGraphBuilder, StreamNode,
};

/// More subtasks than this have no key group each.
const MAX_PARALLELISM: i64 = 32_768;

/// An argument of a shape that must lie between two bounds.
pub(super) fn bounded(shape: &str, field: &str, value: i64, low: i64, high: i64) -> Result<i32> {
    i32::try_from(value).ok().filter(|_| (low..=high).contains(&value)).ok_or_else(|| PlanError::InvalidValue {
        subject: shape.into(),
        field: field.into(),
        value: value.to_string(),
        expected: format!("a whole number from {low} to {high}"),
    })
}

/// Writes nodes with the ids 1, 2, … and edges between them.
pub(super) struct Writer {
    builder: StreamGraphBuilder,
    parallelism: i32,
    group: NameId,
    last: i32,
}

impl Writer {
    /// An empty graph named `shape_size`, with room for all that will come.
    pub fn new(shape: &str, size: i64, parallelism: i64, nodes: i32, edges: i64) -> Result<Self> {
        let parallelism = bounded(shape, "parallelism", parallelism, 1, MAX_PARALLELISM)?;
        if edges as u64 > MAX_EDGES {
            return Err(PlanError::InvalidValue {
                subject: shape.into(),
                field: "the number of edges".into(),
                value: edges.to_string(),
                expected: format!("at most {MAX_EDGES}: fewer operators, or fewer inputs each"),
            });
        }
        let settings = Settings { name: format!("{shape}_{size}"), ..Settings::default() };
        let mut builder = StreamGraphBuilder::with_capacity(settings, nodes as usize, edges as usize);
        let group = builder.intern("default");
        Ok(Self { builder, parallelism, group, last: 0 })
    }

    /// A kind of node, to be added any number of times. Sources start chains, as Flink's do.
    pub fn kind(&mut self, name: &str, role: Role) -> StreamNode {
        StreamNode {
            id: 0,
            name: self.builder.intern(name),
            role,
            yielding: false,
            chaining_strategy: if role.is_source() { ChainingStrategy::Head } else { ChainingStrategy::Always },
            uid: None,
            user_hash: None,
            slot_sharing_group: Some(self.group),
            co_location_group: None,
            parallelism: self.parallelism,
            max_parallelism: -1,
            managed_memory_weight: None,
            extras: None,
            buffer_timeout: -1,
        }
    }

    /// The id of a text.
    pub fn intern(&mut self, text: &str) -> NameId {
        self.builder.intern(text)
    }

    /// Adds a node; returns its id.
    pub fn node(&mut self, kind: StreamNode) -> Result<i32> {
        self.last += 1;
        self.builder.add_interned(StreamNode { id: self.last, ..kind })?;
        Ok(self.last)
    }

    /// Adds an edge into input 0 with the partitioner that Flink chooses.
    pub fn edge(&mut self, source: i32, target: i32) -> Result<()> {
        self.edge_of(source, target, 0, None)
    }

    /// Adds an edge.
    pub fn edge_of(&mut self, source: i32, target: i32, input: u8, partitioner: Option<Partitioner>) -> Result<()> {
        self.edge_in_mode(source, target, input, partitioner, ShuffleMode::Undefined)
    }

    /// Adds an edge that asks for an exchange mode.
    pub fn edge_in_mode(&mut self, source: i32, target: i32, input: u8, partitioner: Option<Partitioner>, mode: ShuffleMode) -> Result<()> {
        let (shuffle_mode, type_number, side_output, partition_node) = (mode, input, None, None);
        self.builder.add_edge(NewEdge { source, target, partitioner, shuffle_mode, type_number, side_output, partition_node })
    }

    /// The finished graph.
    pub fn build(self) -> StreamGraph {
        self.builder.build()
    }
}
