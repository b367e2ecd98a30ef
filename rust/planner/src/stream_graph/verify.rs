//! Invariants of a StreamGraph, checked when it is frozen in debug builds and on demand. Read-only, O(nodes + edges).

use super::{Partitioner, StreamGraph};
use crate::dense::{EdgeIndex, NodeIndex, all};

impl StreamGraph {
    /// A sentence per broken invariant; empty when all is well.
    pub fn verify(&self) -> Vec<String> {
        let mut broken = Vec::new();
        if self.ids.len() != self.nodes.len() {
            broken.push(format!("{} ids for {} nodes", self.ids.len(), self.nodes.len()));
        }
        for node in all::<NodeIndex>(self.nodes.len()) {
            self.verify_node(node, &mut broken);
        }
        for (at, edge) in self.edges.rows().enumerate() {
            let same = self.node(edge.source).parallelism == self.node(edge.target).parallelism;
            if edge.partitioner == Partitioner::Forward && !same {
                broken.push(format!("edge {at} is FORWARD between different parallelisms"));
            }
        }
        let listed: usize = all::<NodeIndex>(self.nodes.len()).map(|node| self.out_edges(node).len()).sum();
        if listed != self.edges.len() {
            broken.push(format!("{listed} of {} edges leave a node", self.edges.len()));
        }
        broken
    }

    fn verify_node(&self, node: NodeIndex, broken: &mut Vec<String>) {
        if self.find(self.node(node).id) != Some(node) {
            broken.push(format!("node {} is not found by its id", self.label(node)));
        }
        let in_order = |edges: &[EdgeIndex]| edges.is_sorted();
        let ours = |edges: &[EdgeIndex], end: fn(super::StreamEdge) -> NodeIndex| edges.iter().all(|&edge| end(self.edge(edge)) == node);
        let (incoming, outgoing) = (self.in_edges(node), self.out_edges(node));
        if !ours(incoming, |edge| edge.target) || !ours(outgoing, |edge| edge.source) || !in_order(incoming) || !in_order(outgoing) {
            broken.push(format!("the edges of {} are not its own, or out of order", self.label(node)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dense::NodeIndex;
    use crate::stream_graph::Role;
    use crate::test_graphs::{graph, node};

    #[test]
    fn a_damaged_graph_is_noticed() {
        let mut graph = graph(&[node(1, Role::Source), node(2, Role::Sink)], &[(1, 2, None)]);
        assert!(graph.verify().is_empty());
        graph.nodes.parallelism.set(1, 5);
        graph.edges.source[0] = NodeIndex(1);
        assert_eq!(graph.verify().len(), 1, "{:?}", graph.verify());
    }
}
