//! Invariants of an ExecutionGraph, checked after expansion in debug builds and on demand. Read-only, O(V + E).

use super::ExecutionGraph;
use crate::dense::{Index, JobEdgeIndex, all};

impl ExecutionGraph {
    /// A sentence per broken invariant; empty when all is well.
    pub fn verify(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut subtasks = 0;
        for (at, vertex) in self.vertices.iter().enumerate() {
            if vertex.first_subtask != subtasks || self.position(vertex.vertex).get() != at {
                broken.push(format!("vertex {at} does not stand where it is looked for"));
            }
            if vertex.parallelism == 0 || vertex.parallelism > vertex.max_parallelism {
                broken.push(format!("vertex {at} has {} subtasks and {} key groups", vertex.parallelism, vertex.max_parallelism));
            }
            let (first, last) = (vertex.key_groups(0).0, vertex.key_groups(vertex.parallelism - 1).1);
            if (first, last) != (0, vertex.max_parallelism - 1) {
                broken.push(format!("the subtasks of vertex {at} own key groups {first} to {last}"));
            }
            subtasks += u64::from(vertex.parallelism);
        }
        for edge in all::<JobEdgeIndex>(self.job.edge_count()) {
            self.verify_exchange(edge, &mut broken);
        }
        broken
    }

    /// The first and the last of both sides meet, so that with ranges that only move up nothing is left out.
    fn verify_exchange(&self, edge: JobEdgeIndex, broken: &mut Vec<String>) {
        let ends = self.job.edge(edge);
        if self.position(ends.source) >= self.position(ends.target) {
            broken.push(format!("edge {} leads to a vertex created before its producer", edge.0));
        }
        let fan_out = self.fan_out(edge);
        let (first, last) = (fan_out.partitions_of(0), fan_out.partitions_of(fan_out.consumers - 1));
        let (early, late) = (fan_out.consumers_of(0), fan_out.consumers_of(fan_out.producers - 1));
        if (first.start, last.end, early.start, late.end) != (0, fan_out.producers, 0, fan_out.consumers) {
            broken.push(format!("edge {} leaves partitions or subtasks unconnected: {fan_out:?}", edge.0));
        }
    }
}
