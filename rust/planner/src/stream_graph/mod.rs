//! The StreamGraph: operators and the connections between them, virtual nodes resolved. No chains, no IDs.
//!
//! Built by [`StreamGraphBuilder`] (node by node), from the JSON description ([`spec`])
//! or from columns ([`tables`]), immutable afterwards.
//! Semantics: Flink's `StreamGraph`, `StreamNode`, `StreamEdge`.

mod builder;
mod columns;
mod ids;
mod object;
mod resources;
pub mod spec;
mod spec_parts;
pub mod tables;
mod types;
mod verify;
mod virtual_nodes;

pub use builder::{NewEdge, NewIteration, NewNode, StreamGraphBuilder};
pub use resources::{ResourceSpec, Resources};
pub use types::{
    ChainingStrategy, CheckpointingMode, ExchangeMode, Iteration, NodeExtras, Partitioner, Role, ScheduleMode, Settings, ShuffleMode,
    StreamEdge, StreamNode,
};

pub(crate) use builder::{MAX_EDGES, MAX_NODES};
use ids::NodeIds;

use crate::dense::{Csr, EdgeIndex, Index, NameId, Names, NodeIndex, all};
use crate::java::hash::iteration_order;
use columns::{EdgeTable, NodeTable};

/// An immutable StreamGraph. Holding it costs 17 bytes per node and 16 per edge, what differs between nodes or edges
/// besides (see `columns.rs`), and the text of the names.
#[derive(Debug)]
pub struct StreamGraph {
    /// Program-wide settings.
    pub settings: Settings,
    pub(crate) names: Names,
    pub(crate) nodes: NodeTable,
    pub(crate) edges: EdgeTable,
    pub(crate) iterations: Vec<Iteration>,
    pub(crate) extras: Vec<NodeExtras>,
    pub(crate) ids: NodeIds,
    pub(crate) outgoing: Csr<NodeIndex, EdgeIndex>,
    pub(crate) incoming: Csr<NodeIndex, EdgeIndex>,
    pub(crate) sources: Vec<NodeIndex>,
}

fn by_node(nodes: usize, ends: &[NodeIndex]) -> Csr<NodeIndex, EdgeIndex> {
    Csr::group(nodes, ends.iter().enumerate().map(|(at, &node)| (node, EdgeIndex::new(at))))
}

impl StreamGraph {
    fn new(
        settings: Settings,
        names: Names,
        nodes: NodeTable,
        edges: EdgeTable,
        iterations: Vec<Iteration>,
        extras: Vec<NodeExtras>,
        ids: NodeIds,
    ) -> Self {
        let outgoing = by_node(nodes.len(), &edges.source);
        let incoming = by_node(nodes.len(), &edges.target);
        let added: Vec<NodeIndex> = all::<NodeIndex>(nodes.len()).filter(|node| nodes.role[node.get()].is_source()).collect();
        let order = iteration_order(added.iter().map(|node| nodes.id[node.get()]));
        let sources = order.into_iter().map(|at| added[at as usize]).collect();
        let graph = Self { settings, names, nodes, edges, iterations, extras, ids, outgoing, incoming, sources };
        debug_assert_eq!(graph.verify(), Vec::<String>::new());
        graph
    }

    /// Number of nodes, loop heads and tails included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// One node.
    #[inline]
    pub fn node(&self, node: NodeIndex) -> StreamNode {
        self.nodes.row(node.get())
    }

    /// One edge.
    #[inline]
    pub fn edge(&self, edge: EdgeIndex) -> StreamEdge {
        self.edges.row(edge.get())
    }

    /// The node an edge leaves.
    #[inline]
    pub fn source(&self, edge: EdgeIndex) -> NodeIndex {
        self.edges.source[edge.get()]
    }

    /// The node an edge reaches.
    #[inline]
    pub fn target(&self, edge: EdgeIndex) -> NodeIndex {
        self.edges.target[edge.get()]
    }

    /// Out-edges of a node, in order of addition.
    #[inline]
    pub fn out_edges(&self, node: NodeIndex) -> &[EdgeIndex] {
        self.outgoing.of(node)
    }

    /// In-edges of a node, in order of addition.
    #[inline]
    pub fn in_edges(&self, node: NodeIndex) -> &[EdgeIndex] {
        self.incoming.of(node)
    }

    /// Sources (loop heads included) in the iteration order of Flink's `getSourceIDs()`, a HashSet.
    pub fn sources(&self) -> &[NodeIndex] {
        &self.sources
    }

    /// The loops of the program.
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// The node with an external id.
    pub fn find(&self, id: i32) -> Option<NodeIndex> {
        self.ids.find(id)
    }

    /// An interned text.
    pub fn text(&self, name: NameId) -> &str {
        self.names.get(name)
    }

    /// The name of a node.
    pub fn name(&self, node: NodeIndex) -> &str {
        self.names.get(self.nodes.name[node.get()])
    }

    /// Minimum and preferred resources of a node; `None` is Flink's UNKNOWN.
    pub fn resources(&self, node: NodeIndex) -> Option<&Resources> {
        self.extras(node)?.resources.as_ref()
    }

    /// What few nodes have.
    pub fn extras(&self, node: NodeIndex) -> Option<&NodeExtras> {
        self.node(node).extras.map(|at| &self.extras[at as usize])
    }

    /// What few nodes have, of those that have it.
    pub fn all_extras(&self) -> &[NodeExtras] {
        &self.extras
    }

    /// Simple name of the task class that runs a node when it is the head of its chain.
    pub fn task(&self, node: NodeIndex) -> &str {
        match self.extras(node).and_then(|extras| extras.task) {
            Some(task) => self.text(task),
            None => self.node(node).default_task(),
        }
    }

    /// `name-id`, the form in which messages speak of a node.
    pub fn label(&self, node: NodeIndex) -> String {
        format!("{}-{}", self.name(node), self.node(node).id)
    }
}
