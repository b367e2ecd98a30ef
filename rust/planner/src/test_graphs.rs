//! Small graphs for the tests of the passes.

use std::sync::Arc;

use crate::job_graph::{JobGraph, JobOptions, compile};
use crate::stream_graph::{ChainingStrategy, NewEdge, NewNode, Partitioner, Role, Settings, ShuffleMode, StreamGraph, StreamGraphBuilder};

/// A node with defaults; tests change what they are about.
pub fn node(id: i32, role: Role) -> NewNode<'static> {
    NewNode {
        id,
        name: match role {
            Role::Source => "Source",
            Role::Sink => "Sink",
            _ => "Op",
        },
        role,
        uid: None,
        user_hash: None,
        slot_sharing_group: Some("default"),
        co_location_group: None,
        parallelism: 1,
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
