//! The ids of data sets: Flink 1.11 draws them at random, 2.3 derives them from the producing vertex and the stream edge.
//!
//! Semantics: `IntermediateDataSetID(JobVertexID, int)` over `StreamEdge.getEdgeId().hashCode()` of 2.3. Made when asked for:
//! one costs O(length of the names of both ends + out-edges of the source), all cost O(data sets + edges + text).

use super::JobGraph;
use crate::dense::{DataSetIndex, EdgeIndex, Index, NodeIndex, all};
use crate::identity::OperatorId;
use crate::stream_graph::StreamGraph;

impl JobGraph {
    /// The id of a data set; none where Flink draws it.
    pub fn data_set_id(&self, data_set: DataSetIndex) -> Option<OperatorId> {
        let edge = self.edge(self.first_consumer(data_set)).edge;
        self.profile().derives_data_set_ids().then(|| self.id_after(data_set, edges_before(&self.graph, edge)))
    }

    /// The ids of all data sets. O(data sets + edges + text).
    pub fn data_set_ids(&self) -> Vec<Option<OperatorId>> {
        if !self.profile().derives_data_set_ids() {
            return vec![None; self.data_set_count()];
        }
        let before = all_edges_before(&self.graph);
        let id = |data_set| self.id_after(data_set, before[self.edge(self.first_consumer(data_set)).edge.get()]);
        all(self.data_set_count()).map(|data_set| Some(id(data_set))).collect()
    }

    /// The halves of the vertex id, swapped, each moved on by the hash of the data set's first edge.
    fn id_after(&self, data_set: DataSetIndex, before: u32) -> OperatorId {
        let first = self.edge(self.first_consumer(data_set));
        let (upper, lower) = self.id(first.source).java_order();
        let step = i64::from(java_hash(&edge_text(&self.graph, first.edge, before)));
        let mut id = [0; 16];
        id[..8].copy_from_slice(&upper.wrapping_add(step).to_be_bytes());
        id[8..].copy_from_slice(&lower.wrapping_add(step).to_be_bytes());
        OperatorId(id)
    }
}

/// Flink's id of a stream edge: both ends, the input, the partitioner, and how many edges the ends had in common before.
fn edge_text(graph: &StreamGraph, index: EdgeIndex, before: u32) -> String {
    let edge = graph.edge(index);
    let (source, target) = (graph.label(edge.source), graph.label(edge.target));
    format!("{source}_{target}_{}_{}_{before}", edge.type_number, edge.partitioner.as_str())
}

fn edges_before(graph: &StreamGraph, index: EdgeIndex) -> u32 {
    let edge = graph.edge(index);
    let before = graph.out_edges(edge.source).iter().take_while(|&&other| other != index);
    before.filter(|&&other| graph.edge(other).target == edge.target).count() as u32
}

fn all_edges_before(graph: &StreamGraph) -> Vec<u32> {
    let mut before = vec![0; graph.edge_count()];
    let mut so_far = vec![0; graph.node_count()];
    for node in all::<NodeIndex>(graph.node_count()) {
        for &edge in graph.out_edges(node) {
            let count = &mut so_far[graph.edge(edge).target.get()];
            before[edge.get()] = *count;
            *count += 1;
        }
        graph.out_edges(node).iter().for_each(|&edge| so_far[graph.edge(edge).target.get()] = 0);
    }
    before
}

/// Java's `String.hashCode`.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_graph::{JobOptions, compile};
    use crate::profile::Profile;
    use crate::stream_graph::{Partitioner, Role};
    use crate::test_graphs::{graph, node};

    fn twice() -> StreamGraph {
        let hash = Some(Partitioner::Hash);
        graph(&[node(1, Role::Source), node(2, Role::Sink), node(3, Role::Sink)], &[(1, 2, hash), (1, 3, hash), (1, 2, hash)])
    }

    #[test]
    fn edges_between_two_nodes_are_counted() {
        let graph = twice();
        assert_eq!(all_edges_before(&graph), [0, 0, 1]);
        assert!(all(3).all(|edge: EdgeIndex| edges_before(&graph, edge) == all_edges_before(&graph)[edge.get()]));
        assert_eq!(edge_text(&graph, EdgeIndex(2), 1), "Source-1_Sink-2_0_HASH_1");
    }

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!((java_hash("Aa"), java_hash("BB"), java_hash("polygenelubricants")), (2112, 2112, i32::MIN));
        assert_eq!(java_hash("\u{1f980}"), 31 * 0xd83e + 0xdd80);
    }

    #[test]
    fn the_halves_change_places() {
        let plan = |profile| compile(std::sync::Arc::new(twice()), JobOptions { profile, ..JobOptions::default() }).unwrap();
        let job = plan(Profile::V2_3);
        let (upper, lower) = job.id(job.edge(job.first_consumer(DataSetIndex(2))).source).java_order();
        let step = i64::from(java_hash("Source-1_Sink-2_0_HASH_1"));
        let expected = (lower.wrapping_add(step), upper.wrapping_add(step));
        assert_eq!(job.data_set_id(DataSetIndex(2)).map(|id| id.java_order()), Some(expected));
        assert!(all(3).all(|data_set: DataSetIndex| job.data_set_ids()[data_set.get()] == job.data_set_id(data_set)));
        assert_eq!(plan(Profile::V1_11).data_set_ids(), [None; 3]);
    }
}
