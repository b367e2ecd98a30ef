//! Regions that wait for each other's blocking results are one: strongly connected components of the region graph.
//!
//! Semantics: `SchedulingPipelinedRegionComputeUtil.mergeRegionsOnCycles` of Flink 2.3 (FLINK-17330): a region that can
//! only begin when another has finished, and the other way round, would never be scheduled. Tarjan's algorithm with a
//! stack of its own. Cost: O(blocking pointwise edges inside a logical region); nothing where there are none.

use crate::dense::{Csr, Index, RegionIndex, UnionFind, all};

/// Unites the sets on each cycle. `arcs_of` reports producer and consumer of each edge of an exchange.
pub(super) fn merge_cycles<E>(sets: &mut UnionFind, exchanges: impl Iterator<Item = E>, arcs_of: impl Fn(E, &mut dyn FnMut(u32, u32))) {
    let mut arcs = Vec::new();
    for exchange in exchanges {
        arcs_of(exchange, &mut |producer, consumer| {
            let arc = (sets.find(producer), sets.find(consumer));
            if arc.0 != arc.1 && arcs.last() != Some(&arc) {
                arcs.push(arc);
            }
        });
    }
    let mut nodes: Vec<u32> = arcs.iter().flat_map(|&(from, to)| [from, to]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let node = |cell: u32| RegionIndex::new(nodes.binary_search(&cell).expect("every end of an arc is a node"));
    let successors = Csr::group(nodes.len(), arcs.iter().map(|&(from, to)| (node(from), node(to))));
    for_each_component_edge(nodes.len(), &successors, |one, other| sets.unite(nodes[one.get()], nodes[other.get()]));
}

const NEW: u32 = u32::MAX;
const DONE: u32 = u32::MAX - 1;

/// Tarjan: reports pairs that connect the members of each strongly connected component.
fn for_each_component_edge(size: usize, successors: &Csr<RegionIndex, RegionIndex>, mut report: impl FnMut(RegionIndex, RegionIndex)) {
    let mut low = vec![NEW; size]; // the earliest open node that is known to be reachable, NEW or DONE
    let mut order = vec![0u32; size];
    let (mut open, mut path, mut visited) = (Vec::new(), Vec::new(), 0);
    for root in all::<RegionIndex>(size) {
        let mut enter = (low[root.get()] == NEW).then_some(root);
        loop {
            if let Some(at) = enter.take() {
                (order[at.get()], low[at.get()]) = (visited, visited);
                visited += 1;
                open.push(at);
                path.push((at, 0));
            }
            let Some((at, next)) = path.last_mut() else { break };
            let at = *at;
            if let Some(&successor) = successors.of(at).get(*next) {
                *next += 1;
                match low[successor.get()] {
                    NEW => enter = Some(successor),
                    DONE => {}
                    _ => low[at.get()] = low[at.get()].min(order[successor.get()]),
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent.get()] = low[parent.get()].min(low[at.get()]);
            }
            if low[at.get()] == order[at.get()] {
                close(at, &mut open, &mut low, &mut report);
            }
        }
    }
}

/// Takes the component of its first node off the stack.
fn close(first: RegionIndex, open: &mut Vec<RegionIndex>, low: &mut [u32], report: &mut impl FnMut(RegionIndex, RegionIndex)) {
    while let Some(member) = open.pop() {
        low[member.get()] = DONE;
        if member == first {
            return;
        }
        report(first, member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(size: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
        let mut sets = UnionFind::new(size);
        merge_cycles(&mut sets, arcs.iter(), |&(from, to), visit| visit(from, to));
        sets.representatives()
    }

    /// Two nodes are in one component when each reaches the other.
    fn by_reachability(size: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
        let mut reach = vec![vec![false; size]; size];
        (0..size).for_each(|at| reach[at][at] = true);
        arcs.iter().for_each(|&(from, to)| reach[from as usize][to as usize] = true);
        for via in 0..size {
            for from in 0..size {
                for to in 0..size {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        (0..size).map(|at| (0..size).find(|&other| reach[at][other] && reach[other][at]).unwrap() as u32).collect()
    }

    proptest! {
        #[test]
        fn components_are_those_of_mutual_reachability(arcs in prop::collection::vec((0u32..12, 0u32..12), 0..30)) {
            prop_assert_eq!(merged(12, &arcs), by_reachability(12, &arcs));
        }
    }

    #[test]
    fn a_cycle_of_a_hundred_thousand_needs_no_stack() {
        let arcs: Vec<_> = (0..100_000).map(|at| (at, (at + 1) % 100_000)).collect();
        assert!(merged(100_000, &arcs).iter().all(|&set| set == 0));
    }
}
