//! The views of a `StreamGraph`'s nodes, edges and verdicts.

use penstock_planner::dense::{EdgeIndex, NameId, NodeIndex};
use penstock_planner::identity::Verdicts;
use penstock_planner::stream_graph::StreamGraph as Graph;
use pyo3::prelude::*;

use crate::repr::clipped;

/// One operator of a program.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct StreamNode {
    id: i32,
    name: String,
    kind: &'static str,
    uid: Option<String>,
    user_hash: Option<String>,
    slot_sharing_group: Option<String>,
    co_location_group: Option<String>,
    parallelism: i32,
    max_parallelism: i32,
    chaining_strategy: &'static str,
    yielding: bool,
    managed_memory_weight: Option<i32>,
    buffer_timeout: i64,
    in_edges: Vec<u32>,
    out_edges: Vec<u32>,
}

/// One connection of a program, between real nodes.
///
/// ``partition_node`` is the id of the virtual partition that chose the partitioner.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct StreamEdge {
    index: u32,
    source: i32,
    target: i32,
    partitioner: &'static str,
    shuffle_mode: &'static str,
    type_number: u8,
    side_output: Option<String>,
    buffer_timeout: i64,
    partition_node: Option<i32>,
}

/// What the chaining rules say about one edge: chained, or the first rule that broke and both values in a sentence.
#[pyclass(frozen, get_all, module = "penstock.plan")]
pub struct Verdict {
    edge: u32,
    chained: bool,
    rule: Option<&'static str>,
    reason: Option<String>,
}

#[pymethods]
impl StreamNode {
    fn __repr__(&self) -> String {
        format!("StreamNode(id={}, name={:?}, kind={}, parallelism={})", self.id, clipped(&self.name), self.kind, self.parallelism)
    }
}

#[pymethods]
impl StreamEdge {
    fn __repr__(&self) -> String {
        format!("StreamEdge({}: {} -> {}, {})", self.index, self.source, self.target, self.partitioner)
    }
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        match &self.reason {
            None => format!("Verdict(edge={}, chained)", self.edge),
            Some(reason) => format!("Verdict(edge={}, not chained: {})", self.edge, clipped(reason)),
        }
    }
}

fn text(graph: &Graph, name: Option<NameId>) -> Option<String> {
    name.map(|name| graph.text(name).to_owned())
}

/// The view of one node.
pub fn stream_node(graph: &Graph, index: NodeIndex) -> StreamNode {
    let node = graph.node(index);
    StreamNode {
        id: node.id,
        name: graph.name(index).into(),
        kind: node.role.as_str(),
        uid: text(graph, node.uid),
        user_hash: text(graph, node.user_hash),
        slot_sharing_group: text(graph, node.slot_sharing_group),
        co_location_group: text(graph, node.co_location_group),
        parallelism: node.parallelism,
        max_parallelism: node.max_parallelism,
        chaining_strategy: node.chaining_strategy.as_str(),
        yielding: node.yielding,
        managed_memory_weight: node.managed_memory_weight,
        buffer_timeout: node.buffer_timeout,
        in_edges: graph.in_edges(index).iter().map(|edge| edge.0).collect(),
        out_edges: graph.out_edges(index).iter().map(|edge| edge.0).collect(),
    }
}

/// The view of one edge.
pub fn stream_edge(graph: &Graph, index: EdgeIndex) -> StreamEdge {
    let edge = graph.edge(index);
    StreamEdge {
        index: index.0,
        source: graph.node(edge.source).id,
        target: graph.node(edge.target).id,
        partitioner: edge.partitioner.as_str(),
        shuffle_mode: edge.shuffle_mode.as_str(),
        type_number: edge.type_number,
        side_output: text(graph, edge.side_output),
        buffer_timeout: edge.buffer_timeout,
        partition_node: edge.partition_node,
    }
}

/// The view of the verdict on one edge.
pub fn verdict(graph: &Graph, verdicts: &Verdicts, edge: EdgeIndex) -> Verdict {
    let rule = verdicts.get(edge).rule();
    Verdict { edge: edge.0, chained: rule.is_none(), rule, reason: verdicts.reason(graph, edge) }
}
