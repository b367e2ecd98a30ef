//! Invariants of a JobGraph, checked after compilation in debug builds and on demand. Read-only, O(V + E).

use hashbrown::HashMap;

use super::JobGraph;
use crate::dense::{Index, JobEdgeIndex, VertexIndex, all};

impl JobGraph {
    /// A sentence per broken invariant; empty when all is well.
    pub fn verify(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut position = vec![usize::MAX; self.vertex_count()];
        for (at, vertex) in self.connected.topological.iter().enumerate() {
            position[vertex.get()] = at;
        }
        if self.connected.topological.len() != self.vertex_count() {
            broken.push(format!("{} of {} vertices are sorted", self.connected.topological.len(), self.vertex_count()));
        }
        for edge in all::<JobEdgeIndex>(self.edge_count()) {
            let ends = self.edge(edge);
            if position[ends.source.get()] >= position[ends.target.get()] {
                broken.push(format!("edge {} runs against the topological order", edge.0));
            }
            if self.verdicts.chained(ends.edge) {
                broken.push(format!("edge {} connects vertices but is chained", edge.0));
            }
        }
        for vertex in all::<VertexIndex>(self.vertex_count()) {
            self.verify_chain(vertex, &mut broken);
        }
        self.verify_ids(&mut broken);
        broken
    }

    /// No two vertices have one ID.
    fn verify_ids(&self, broken: &mut Vec<String>) {
        let mut owners = HashMap::with_capacity(self.vertex_count());
        for vertex in all::<VertexIndex>(self.vertex_count()) {
            let owner = *owners.entry(self.id(vertex)).or_insert(vertex);
            if owner != vertex {
                broken.push(format!("vertices {} and {} share the ID {}", owner.0, vertex.0, self.id(vertex)));
            }
        }
    }

    fn verify_chain(&self, vertex: VertexIndex, broken: &mut Vec<String>) {
        let operators = self.operators(vertex);
        let walked = self.walk(vertex).count();
        if walked != operators.len() || operators.last().map(|last| last.node) != Some(self.chain(vertex).head) {
            broken.push(format!("vertex {} has {} operators, {walked} reachable from its head", vertex.0, operators.len()));
        }
        let group = self.shared.slots.group_of[vertex.get()];
        if !self.shared.slots.members.of(group).contains(&vertex) && self.shared.slots.members.degree(group) < 64 {
            broken.push(format!("vertex {} is not in its slot sharing group", vertex.0));
        }
    }
}
