//! Virtual nodes: partitions, side outputs and unions, which only change the edges that pass through them.
//!
//! Semantics: Flink's `addEdgeInternal`. Cost: O(nodes passed + branches found), no recursion.

use std::sync::Arc;

use hashbrown::HashMap;

use super::types::{Partitioner, ShuffleMode};

/// A node that is no operator.
#[derive(Debug)]
pub(super) enum VirtualNode {
    Partition { input: i32, partitioner: Partitioner, shuffle_mode: ShuffleMode },
    SideOutput { input: i32, tag: Arc<str> },
    Union { inputs: Vec<i32> },
}

/// What an edge has collected on its way back through virtual nodes.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    /// The node it has come to; a real one in the end.
    pub at: i32,
    pub partitioner: Option<Partitioner>,
    pub partition_node: Option<i32>,
    pub shuffle_mode: ShuffleMode,
    pub side_output: Option<Arc<str>>,
}

/// All virtual nodes of a graph, each with the number of real nodes it stands for, counted with repetition.
#[derive(Debug, Default)]
pub(super) struct VirtualNodes(HashMap<i32, (VirtualNode, u64)>);

impl VirtualNodes {
    pub fn contains(&self, id: i32) -> bool {
        self.0.contains_key(&id)
    }

    pub fn insert(&mut self, id: i32, inputs: &[i32], node: VirtualNode) {
        let branches = inputs.iter().fold(0u64, |sum, &input| sum.saturating_add(self.branches(input)));
        self.0.insert(id, (node, branches));
    }

    pub fn branches(&self, id: i32) -> u64 {
        self.0.get(&id).map_or(1, |(_, branches)| *branches)
    }

    /// Walks from an edge's source to the real nodes behind it, unions in order. The partitioner and tag met first win;
    /// the exchange mode met last wins, as in Flink.
    pub fn follow_back(&self, start: Trail) -> Vec<Trail> {
        let mut open = vec![start];
        let mut found = Vec::new();
        while let Some(mut trail) = open.pop() {
            match self.0.get(&trail.at).map(|(node, _)| node) {
                None => found.push(trail),
                Some(VirtualNode::Union { inputs }) => open.extend(inputs.iter().rev().map(|&at| Trail { at, ..trail.clone() })),
                Some(VirtualNode::SideOutput { input, tag }) => {
                    trail.side_output.get_or_insert_with(|| tag.clone());
                    trail.at = *input;
                    open.push(trail);
                }
                Some(VirtualNode::Partition { input, partitioner, shuffle_mode }) => {
                    if trail.partitioner.is_none() {
                        (trail.partitioner, trail.partition_node) = (Some(*partitioner), Some(trail.at));
                    }
                    trail.shuffle_mode = *shuffle_mode;
                    trail.at = *input;
                    open.push(trail);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::PlanError;
    use crate::stream_graph::{Role, Settings, StreamGraphBuilder};
    use crate::test_graphs::{edge, node};

    #[test]
    fn the_partitioner_met_first_wins_and_unions_keep_their_order() {
        let mut builder = StreamGraphBuilder::new(Settings::default());
        for id in [1, 2] {
            builder.add_node(&node(id, Role::Source)).unwrap();
        }
        builder.add_node(&node(9, Role::Sink)).unwrap();
        builder.add_virtual_partition(3, 1, Partitioner::Shuffle, ShuffleMode::Undefined).unwrap();
        builder.add_virtual_partition(4, 3, Partitioner::Hash, ShuffleMode::Undefined).unwrap();
        builder.add_union(5, &[4, 2]).unwrap();
        builder.add_edge(edge(5, 9, None)).unwrap();
        let graph = builder.build();
        let edges: Vec<_> = graph.edges.rows().map(|edge| (edge.source.0, edge.partitioner, edge.partition_node)).collect();
        assert_eq!(edges, [(0, Partitioner::Hash, Some(4)), (1, Partitioner::Forward, None)]);
    }

    #[test]
    fn unions_of_unions_are_counted_before_they_fill_memory() {
        let mut builder = StreamGraphBuilder::new(Settings::default());
        builder.add_node(&node(0, Role::Source)).unwrap();
        builder.add_node(&node(-1, Role::Sink)).unwrap();
        for id in 1..80 {
            builder.add_union(id, &[id - 1, id - 1]).unwrap();
        }
        let error = builder.add_edge(edge(79, -1, None)).unwrap_err();
        assert!(matches!(error, PlanError::TooLarge { .. }), "{error}");
    }
}
