//! Pass 4: the order in which Flink's map of vertices iterates: by hash in 1.11, by creation in 2.3. O(vertices).

use super::chains::Chains;
use crate::dense::{Index, VertexIndex, all};
use crate::java::hash::iteration_order;
use crate::profile::Profile;
use crate::stream_graph::StreamGraph;

/// All vertices, in that order.
pub fn of(graph: &StreamGraph, chains: &Chains, profile: Profile) -> Vec<VertexIndex> {
    if !profile.hash_ordered() {
        return all(chains.chains.len()).collect();
    }
    iteration_order(chains.chains.iter().map(|chain| graph.nodes.id[chain.head.get()])).into_iter().map(VertexIndex).collect()
}
