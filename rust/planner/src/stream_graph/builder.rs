//! Building a StreamGraph node by node, resolving virtual nodes on the way.
//!
//! Partitions, side outputs and unions are no operators: an edge that leaves one is followed back to the real nodes behind
//! it. Semantics: Flink's `StreamGraph.addNode` and `addEdgeInternal`. Cost: O(1) per node, O(virtual nodes passed + edges
//! made) per edge; no recursion.

use std::sync::Arc;

use super::StreamGraph;
use super::columns::{EdgeTable, NodeTable};
use super::ids::NodeIds;
use super::resources::Resources;
use super::types::{ChainingStrategy, Iteration, NodeExtras, Partitioner, Role, Settings, ShuffleMode, StreamEdge, StreamNode};
use super::virtual_nodes::{Trail, VirtualNode, VirtualNodes};
use crate::dense::{Index, NameId, Names, NodeIndex};
use crate::error::{PlanError, Result};
use crate::work::cancel::checkpoint_at;

/// More edges than this are a mistake (a union of unions of one stream), and would not fit in memory anyway.
pub(crate) const MAX_EDGES: u64 = 1 << 28;
/// Likewise.
pub(crate) const MAX_NODES: u64 = 1 << 28;

/// A node to add; strings are borrowed and interned.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewNode<'a> {
    pub id: i32,
    pub name: &'a str,
    pub role: Role,
    pub uid: Option<&'a str>,
    pub user_hash: Option<&'a str>,
    pub slot_sharing_group: Option<&'a str>,
    pub co_location_group: Option<&'a str>,
    pub parallelism: i32,
    pub max_parallelism: i32,
    pub chaining_strategy: ChainingStrategy,
    pub yielding: bool,
    pub managed_memory_weight: Option<i32>,
    pub buffer_timeout: i64,
    pub resources: Option<Resources>,
    pub task: Option<&'a str>,
    pub input_format: Option<&'a str>,
    pub output_format: Option<&'a str>,
    pub coordinator: Option<&'a str>,
}

impl<'a> NewNode<'a> {
    /// A node as Flink makes it when nothing else is said.
    pub fn new(id: i32, name: &'a str, role: Role) -> Self {
        Self {
            id,
            name,
            role,
            uid: None,
            user_hash: None,
            slot_sharing_group: Some("default"),
            co_location_group: None,
            parallelism: -1,
            max_parallelism: -1,
            chaining_strategy: ChainingStrategy::Always,
            yielding: false,
            managed_memory_weight: None,
            buffer_timeout: -1,
            resources: None,
            task: None,
            input_format: None,
            output_format: None,
            coordinator: None,
        }
    }
}

/// A loop to add.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewIteration<'a> {
    pub loop_id: i32,
    pub source_id: i32,
    pub sink_id: i32,
    pub parallelism: i32,
    pub max_parallelism: i32,
    pub timeout: i64,
    pub slot_sharing_group: Option<&'a str>,
    pub resources: Option<Resources>,
}

/// An edge to add; the source may be virtual.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct NewEdge<'a> {
    pub source: i32,
    pub target: i32,
    pub partitioner: Option<Partitioner>,
    pub shuffle_mode: ShuffleMode,
    pub type_number: u8,
    pub side_output: Option<&'a str>,
    pub partition_node: Option<i32>,
}

/// The mutable form of a StreamGraph, consumed by [`StreamGraphBuilder::build`].
#[derive(Debug)]
pub struct StreamGraphBuilder {
    settings: Settings,
    names: Names,
    nodes: NodeTable,
    edges: EdgeTable,
    iterations: Vec<Iteration>,
    extras: Vec<NodeExtras>,
    ids: NodeIds,
    virtual_nodes: VirtualNodes,
}

impl StreamGraphBuilder {
    /// An empty graph.
    pub fn new(settings: Settings) -> Self {
        Self::with_capacity(settings, 0, 0)
    }

    /// An empty graph with room.
    pub fn with_capacity(settings: Settings, nodes: usize, edges: usize) -> Self {
        Self {
            settings,
            names: Names::default(),
            nodes: NodeTable::with_capacity(nodes),
            edges: EdgeTable::with_capacity(edges),
            iterations: Vec::new(),
            extras: Vec::new(),
            ids: NodeIds::default(),
            virtual_nodes: VirtualNodes::default(),
        }
    }

    /// Number of real nodes so far.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of edges so far.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Adds a real node. Refuses an id that is taken.
    pub fn add_node(&mut self, node: &NewNode<'_>) -> Result<NodeIndex> {
        self.claim(node.id, node.name)?;
        let mut optional = |text: Option<&str>| text.map(|text| self.names.intern(text));
        let (uid, user_hash) = (optional(node.uid), optional(node.user_hash));
        let (slot_sharing_group, co_location_group) = (optional(node.slot_sharing_group), optional(node.co_location_group));
        let extras = NodeExtras {
            task: optional(node.task),
            resources: node.resources.clone(),
            input_format: optional(node.input_format),
            output_format: optional(node.output_format),
            coordinator: optional(node.coordinator),
        };
        let name = self.names.intern(node.name);
        let extras = self.add_extras(extras);
        Ok(self.push_node(StreamNode {
            id: node.id,
            name,
            role: node.role,
            yielding: node.yielding,
            chaining_strategy: node.chaining_strategy,
            uid,
            user_hash,
            slot_sharing_group,
            co_location_group,
            parallelism: node.parallelism,
            max_parallelism: node.max_parallelism,
            managed_memory_weight: node.managed_memory_weight,
            extras,
            buffer_timeout: node.buffer_timeout,
        }))
    }

    /// Makes room for more nodes and edges.
    pub(super) fn reserve(&mut self, nodes: usize, edges: usize) {
        self.nodes.reserve(nodes);
        self.edges.reserve(edges);
    }

    /// The node with an id, if there is one.
    pub(super) fn find(&self, id: i32) -> Option<NodeIndex> {
        self.ids.find(id)
    }

    /// What a node is.
    pub(super) fn role(&self, node: NodeIndex) -> Role {
        self.nodes.role[node.get()]
    }

    /// The buffer timeout of the edge added last; unset if there is none.
    pub(super) fn last_buffer_timeout(&self) -> i64 {
        self.edges.buffer_timeout.last().unwrap_or(-1)
    }

    /// The id of a text, for nodes that are added with their texts interned.
    pub(crate) fn intern(&mut self, text: &str) -> NameId {
        self.names.intern(text)
    }

    /// Adds a real node whose texts are interned: what nodes by the million share is looked up once.
    pub(crate) fn add_interned(&mut self, node: StreamNode) -> Result<NodeIndex> {
        self.claim(node.id, self.names.get(node.name))?;
        Ok(self.push_node(node))
    }

    fn push_node(&mut self, node: StreamNode) -> NodeIndex {
        checkpoint_at(self.nodes.len());
        self.ids.push(node.id, self.nodes.capacity());
        self.nodes.push(node);
        NodeIndex::new(self.nodes.len() - 1)
    }

    /// Adds head and tail of a loop: Flink's `createIterationSourceAndSink`.
    pub fn add_iteration(&mut self, iteration: &NewIteration<'_>) -> Result<()> {
        let group = format!("IterationCoLocationGroup-{}", iteration.loop_id);
        let end = |id, name, role, max_parallelism| NewNode {
            id,
            name,
            role,
            uid: None,
            user_hash: None,
            slot_sharing_group: iteration.slot_sharing_group,
            co_location_group: Some(&group),
            parallelism: iteration.parallelism,
            max_parallelism,
            chaining_strategy: ChainingStrategy::Always,
            yielding: false,
            managed_memory_weight: None,
            buffer_timeout: 0,
            resources: iteration.resources.clone(),
            task: None,
            input_format: None,
            output_format: None,
            coordinator: None,
        };
        let head_name = format!("IterationSource-{}", iteration.loop_id);
        let tail_name = format!("IterationSink-{}", iteration.loop_id);
        let head = self.add_node(&end(iteration.source_id, &head_name, Role::IterationHead, iteration.max_parallelism))?;
        let tail = self.add_node(&end(iteration.sink_id, &tail_name, Role::IterationTail, iteration.parallelism))?;
        let NewIteration { loop_id, parallelism, max_parallelism, timeout, .. } = *iteration;
        self.iterations.push(Iteration { loop_id, head, tail, parallelism, max_parallelism, timeout });
        Ok(())
    }

    /// Changes the slot sharing group of a node; a loop knows its own only after its body.
    pub fn set_slot_sharing_group(&mut self, id: i32, group: Option<&str>) -> Result<()> {
        let node = self.known(id, || "set_slot_sharing_group".into())?;
        let group = group.map(|group| self.names.intern(group));
        self.nodes.slot_sharing_group.set(node.get(), group);
        Ok(())
    }

    /// Adds a node that only chooses a partitioner for what is connected to it.
    pub fn add_virtual_partition(&mut self, id: i32, input: i32, partitioner: Partitioner, shuffle_mode: ShuffleMode) -> Result<()> {
        self.add_virtual(id, &[input], VirtualNode::Partition { input, partitioner, shuffle_mode })
    }

    /// Adds a node that only selects a side output.
    pub fn add_virtual_side_output(&mut self, id: i32, input: i32, tag: &str) -> Result<()> {
        self.add_virtual(id, &[input], VirtualNode::SideOutput { input, tag: tag.into() })
    }

    /// Adds a node that stands for several.
    pub fn add_union(&mut self, id: i32, inputs: &[i32]) -> Result<()> {
        self.add_virtual(id, inputs, VirtualNode::Union { inputs: inputs.into() })
    }

    /// Adds the edges from what a node stands for. Both ends must exist.
    pub fn add_edge(&mut self, edge: NewEdge<'_>) -> Result<()> {
        let target = self.known(edge.target, || self.edge_label(&edge))?;
        let role = self.nodes.role[target.get()];
        if edge.type_number > 2 || (role != Role::TwoInput && edge.type_number != 0 && role.has_operator()) {
            return Err(self.bad_type_number(&edge, target));
        }
        let total = (self.edges.len() as u64).saturating_add(self.virtual_nodes.branches(edge.source));
        if total > MAX_EDGES {
            return Err(PlanError::TooLarge { what: "edges".into(), count: total, limit: MAX_EDGES });
        }
        if let Some(source) = self.ids.find(edge.source) {
            let tag = edge.side_output.map(|tag| self.names.intern(tag));
            return self.connect(source, target, edge, tag);
        }
        let start = Trail {
            at: edge.source,
            partitioner: edge.partitioner,
            partition_node: edge.partition_node,
            shuffle_mode: edge.shuffle_mode,
            side_output: edge.side_output.map(Arc::from),
        };
        for Trail { at, partitioner, partition_node, shuffle_mode, side_output } in self.virtual_nodes.follow_back(start) {
            let source = self.known(at, || self.edge_label(&edge))?;
            let tag = side_output.map(|tag| self.names.intern(&tag));
            self.connect(source, target, NewEdge { partitioner, partition_node, shuffle_mode, ..edge }, tag)?;
        }
        Ok(())
    }

    /// Freezes the graph. O(nodes + edges).
    pub fn build(self) -> StreamGraph {
        StreamGraph::new(self.settings, self.names, self.nodes, self.edges, self.iterations, self.extras, self.ids)
    }

    /// Adds one edge between real nodes; everything but ends and tag is as `edge` says.
    fn connect(&mut self, source: NodeIndex, target: NodeIndex, edge: NewEdge<'_>, side_output: Option<NameId>) -> Result<()> {
        checkpoint_at(self.edges.len());
        let (up, down) = (self.nodes.parallelism.get(source.get()), self.nodes.parallelism.get(target.get()));
        let same = up == down;
        let partitioner = edge.partitioner.unwrap_or(if same { Partitioner::Forward } else { Partitioner::Rebalance });
        if partitioner == Partitioner::Forward && !same {
            return Err(PlanError::ForwardParallelism {
                source: self.label(source),
                source_parallelism: up,
                target: self.label(target),
                target_parallelism: down,
            });
        }
        let NewEdge { shuffle_mode, type_number, partition_node, .. } = edge;
        let buffer_timeout = self.nodes.buffer_timeout.get(source.get());
        self.edges.push(StreamEdge { source, target, partitioner, shuffle_mode, type_number, side_output, partition_node, buffer_timeout });
        Ok(())
    }

    fn add_virtual(&mut self, id: i32, inputs: &[i32], node: VirtualNode) -> Result<()> {
        self.claim(id, "a virtual node")?;
        for &input in inputs {
            if self.ids.find(input).is_none() && !self.virtual_nodes.contains(input) {
                return Err(PlanError::UnknownNode { id: input, context: format!("virtual node {id}") });
            }
        }
        self.virtual_nodes.insert(id, inputs, node);
        Ok(())
    }

    fn claim(&self, id: i32, name: &str) -> Result<()> {
        if let Some(first) = self.ids.find(id) {
            return Err(PlanError::DuplicateNode { id, first: self.label(first), second: format!("{name}-{id}") });
        }
        if self.virtual_nodes.contains(id) {
            return Err(PlanError::DuplicateNode { id, first: format!("virtual node {id}"), second: format!("{name}-{id}") });
        }
        let count = self.nodes.len() as u64 + 1;
        if count > MAX_NODES {
            return Err(PlanError::TooLarge { what: "nodes".into(), count, limit: MAX_NODES });
        }
        Ok(())
    }

    fn known(&self, id: i32, context: impl FnOnce() -> String) -> Result<NodeIndex> {
        self.ids.find(id).ok_or_else(|| PlanError::UnknownNode { id, context: context() })
    }

    /// Stores what few nodes have; `None` for one that has nothing of it.
    pub(super) fn add_extras(&mut self, extras: NodeExtras) -> Option<u32> {
        if extras == NodeExtras::default() {
            return None;
        }
        self.extras.push(extras);
        Some(self.extras.len() as u32 - 1)
    }

    #[cold]
    fn bad_type_number(&self, edge: &NewEdge<'_>, target: NodeIndex) -> PlanError {
        let role = self.role(target);
        PlanError::BadTypeNumber {
            edge: self.edge_label(edge),
            target: self.label(target),
            kind: role.as_str(),
            input: edge.type_number.into(),
            takes: if role == Role::TwoInput { "1 or 2" } else { "0" },
        }
    }

    fn edge_label(&self, edge: &NewEdge<'_>) -> String {
        let end = |id: i32| self.ids.find(id).map_or(id.to_string(), |node| self.label(node));
        format!("the edge {} -> {}", end(edge.source), end(edge.target))
    }

    fn label(&self, node: NodeIndex) -> String {
        format!("{}-{}", self.names.get(self.nodes.name[node.get()]), self.nodes.id[node.get()])
    }
}
