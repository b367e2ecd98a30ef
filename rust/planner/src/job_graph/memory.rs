//! Pass 6: resources of each vertex, and the fraction of managed memory each operator gets in its slot.
//!
//! Semantics: `StreamingJobGraphGenerator.setManagedMemoryFraction`. Weights count while the group's resources are
//! UNKNOWN, managed bytes otherwise; a fraction has 16 decimal places, rounded down. A node that stands in two chains gets
//! a fraction only where it was configured last. Cost: O(operators).

use super::chains::{Chain, Chains};
use super::slot_sharing::SlotSharing;
use crate::index::Index;
use crate::stream_graph::{Resources, StreamGraph};

/// Sum of the resources of the operators of each vertex; one UNKNOWN makes it `None`.
pub fn vertex_resources(graph: &StreamGraph, chains: &Chains) -> Vec<Option<Resources>> {
    if graph.extras.iter().all(|extras| extras.resources.is_none()) {
        return vec![None; chains.chains.len()];
    }
    let merge = |chain: &Chain| {
        let mut operators = rows(chain).map(|row| graph.resources(chains.operators[row].node));
        let first = operators.next()??.clone();
        operators.try_fold(first, |sum, resources| {
            let Resources { min, preferred } = resources?;
            Some(Resources { min: sum.min.merge(min), preferred: sum.preferred.merge(preferred) })
        })
    };
    chains.chains.iter().map(merge).collect()
}

/// The managed memory fraction of each row of the operator table.
pub fn fractions(graph: &StreamGraph, chains: &Chains, slots: &SlotSharing) -> Vec<f64> {
    let mut configured_last = vec![0u32; graph.node_count()];
    for (row, operator) in chains.operators.iter().enumerate() {
        configured_last[operator.node.get()] = row as u32;
    }
    let mut fractions = vec![0.0; chains.operators.len()];
    for (members, resources) in slots.members.iter().zip(&slots.resources) {
        let group_rows = || members.iter().flat_map(|vertex| rows(&chains.chains[vertex.get()]));
        let share = |row: usize| {
            let node = chains.operators[row].node;
            match resources {
                None => i64::from(graph.node(node).managed_memory_weight),
                Some(_) => graph.resources(node).map_or(0, |resources| resources.min.managed_mb),
            }
        };
        let total = match resources {
            None => i64::from(group_rows().fold(0i32, |sum, row| sum.wrapping_add(share(row) as i32))),
            Some(group) => group.managed_mb,
        };
        for row in group_rows().filter(|&row| configured_last[chains.operators[row].node.get()] == row as u32) {
            fractions[row] = rounded_down(share(row), total);
        }
    }
    fractions
}

fn rows(chain: &Chain) -> std::ops::Range<usize> {
    chain.first_operator as usize..chain.end_operator as usize
}

fn rounded_down(share: i64, total: i64) -> f64 {
    const SCALE: i128 = 10_000_000_000_000_000;
    if total <= 0 {
        return 0.0;
    }
    let units = i128::from(share) * SCALE / i128::from(total);
    let sign = if units < 0 { "-" } else { "" };
    let units = units.unsigned_abs();
    let scale = SCALE.unsigned_abs();
    format!("{sign}{}.{:016}", units / scale, units % scale).parse().expect("digits around a point")
}

#[cfg(test)]
mod tests {
    use super::rounded_down;

    #[test]
    fn fractions_are_cut_not_rounded() {
        assert_eq!(rounded_down(2, 3), 0.666_666_666_666_666_6);
        assert_eq!(rounded_down(7, 37), 0.189_189_189_189_189_1);
        assert_eq!((rounded_down(1, 0), rounded_down(0, 5), rounded_down(3, 3)), (0.0, 0.0, 1.0));
    }
}
