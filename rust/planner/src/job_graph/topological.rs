//! Pass 10: vertices sorted topologically from the sources.
//!
//! Semantics: Flink's `JobGraph.getVerticesSortedTopologicallyFromSources`: inputless vertices first, in order of creation,
//! then from each of them depth first into every consumer that has just become free. Not Kahn's breadth first.
//! Cost: O(V + E); a counter per vertex replaces Flink's look at all inputs of every consumer.

use super::chains::Chains;
use super::data_sets::DataSets;
use crate::dense::{Csr, Index, JobEdgeIndex, VertexIndex, all};

/// The vertices in that order, given the inputs of each.
pub fn order(chains: &Chains, data_sets: &DataSets, inputs: &Csr<VertexIndex, JobEdgeIndex>) -> Vec<VertexIndex> {
    let size = chains.chains.len();
    let read = all(data_sets.count(chains.connections.len())).flat_map(|data_set| data_sets.consumers(data_set));
    let ends = read.map(|edge: JobEdgeIndex| &chains.connections[edge.get()]).map(|edge| (edge.source, edge.target));
    sort(&Csr::group(size, ends), all(size).map(|vertex| inputs.degree(vertex) as u32))
}

/// The order, given the consumers of each vertex (with repetition, in order of its results) and its number of inputs.
/// The graph is acyclic: cycles were refused when chains were built.
fn sort(consumers: &Csr<VertexIndex, VertexIndex>, inputs: impl Iterator<Item = u32>) -> Vec<VertexIndex> {
    let mut pending: Vec<u32> = inputs.collect();
    let mut sorted: Vec<VertexIndex> = all(pending.len()).filter(|vertex: &VertexIndex| pending[vertex.get()] == 0).collect();
    let starts = sorted.len();
    let mut added = vec![false; pending.len()];
    for &start in &sorted {
        added[start.get()] = true;
        consumers.of(start).iter().for_each(|consumer| pending[consumer.get()] -= 1);
    }
    let mut frames: Vec<(VertexIndex, usize)> = Vec::new();
    for start in 0..starts {
        frames.push((sorted[start], 0));
        while let Some((vertex, cursor)) = frames.last_mut() {
            let Some(&consumer) = consumers.of(*vertex).get(*cursor) else {
                frames.pop();
                continue;
            };
            *cursor += 1;
            if pending[consumer.get()] == 0 && !std::mem::replace(&mut added[consumer.get()], true) {
                sorted.push(consumer);
                consumers.of(consumer).iter().for_each(|next| pending[next.get()] -= 1);
                frames.push((consumer, 0));
            }
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_first_into_what_becomes_free() {
        // 0 feeds 2 and 3, 1 feeds 3, 2 feeds 4: breadth first would give 0 1 2 3 4
        let edges = [(0, 2), (0, 3), (1, 3), (2, 4)].map(|(from, to)| (VertexIndex(from), VertexIndex(to)));
        let consumers = Csr::group(5, edges.into_iter());
        assert_eq!(sort(&consumers, [0, 0, 1, 2, 1].into_iter()).iter().map(|vertex| vertex.0).collect::<Vec<_>>(), [0, 1, 2, 4, 3]);
    }
}
