//! Small graphs for the tests of the passes.

use std::sync::Arc;

use crate::job_graph::{JobGraph, JobOptions, compile};
use crate::stream_graph::{NewEdge, NewNode, Partitioner, Role, Settings, ShuffleMode, StreamGraph, StreamGraphBuilder};

/// A node with defaults; tests change what they are about.
pub fn node(id: i32, role: Role) -> NewNode<'static> {
    let name = match role {
        Role::Source => "Source",
        Role::Sink => "Sink",
        _ => "Op",
    };
    NewNode { parallelism: 1, ..NewNode::new(id, name, role) }
}

/// An edge with a partitioner, or the default one.
pub fn edge(source: i32, target: i32, partitioner: Option<Partitioner>) -> NewEdge<'static> {
    NewEdge { source, target, partitioner, shuffle_mode: ShuffleMode::Undefined, type_number: 0, side_output: None, partition_node: None }
}

/// A graph of these nodes and edges.
pub fn graph(nodes: &[NewNode<'_>], edges: &[(i32, i32, Option<Partitioner>)]) -> StreamGraph {
    let mut builder = StreamGraphBuilder::new(Settings::default());
    for node in nodes {
        builder.add_node(node).unwrap();
    }
    for &(source, target, partitioner) in edges {
        builder.add_edge(edge(source, target, partitioner)).unwrap();
    }
    builder.build()
}

/// The JobGraph of a graph.
pub fn job(graph: StreamGraph) -> JobGraph {
    compile(Arc::new(graph), JobOptions::default()).unwrap()
}
