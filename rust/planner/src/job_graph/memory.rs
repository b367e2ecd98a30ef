//! Passes 5 and 7: resources of each vertex, and the fraction of managed memory each operator gets in its slot.
//!
//! Semantics: `StreamingJobGraphGenerator.setManagedMemoryFraction`. Weights count while the group's resources are
//! UNKNOWN, managed bytes otherwise; a fraction has 16 decimal places, rounded down. A node that stands in two chains gets
//! a fraction only where it was configured last. Cost: O(operators).

use super::chains::{Chain, Chains};
use super::slot_sharing::SlotSharing;
use crate::dense::{Column, Index, SlotGroupIndex};
use crate::error::{PlanError, Result};
use crate::profile::Profile;
use crate::stream_graph::{ResourceSpec, Resources, StreamGraph};
use crate::work::cancel::checkpoint_at;

/// Sum of the resources of the operators of each vertex; one UNKNOWN makes it `None`. Empty when no operator has any.
pub fn vertex_resources(graph: &StreamGraph, chains: &Chains, profile: Profile) -> Vec<Option<Resources>> {
    if graph.extras.iter().all(|extras| extras.resources.is_none()) {
        return Vec::new();
    }
    let merge = |chain: &Chain| {
        let mut operators = rows(chain).map(|row| Some(graph.resources(chains.operators[row].node)?.with_cpu_digits(profile.cpu_digits())));
        let first = operators.next()??;
        operators.try_fold(first, |sum, resources| {
            let Resources { min, preferred } = resources?;
            Some(Resources { min: sum.min.merge(&min), preferred: sum.preferred.merge(&preferred) })
        })
    };
    chains.chains.iter().map(merge).collect()
}

/// The managed memory fraction of each row of the operator table. Walks rows in their own order, never by group: members of
/// a group are ordered by id, which is random order in memory.
///
/// # Errors
/// [`PlanError::MemoryShare`] for a fraction that is not between 0 and 1.
pub fn fractions(graph: &StreamGraph, chains: &Chains, slots: &SlotSharing, profile: Profile) -> Result<Column<Option<f64>>> {
    let mut configured_last = vec![0u32; graph.node_count()];
    for (row, operator) in chains.operators.iter().enumerate() {
        configured_last[operator.node.get()] = row as u32;
    }
    let known = |group: SlotGroupIndex| slots.resources[group.get()].as_ref().filter(|_| profile.memory_by_resources());
    let totals = totals(graph, chains, slots, known, profile);
    let unset = |total: i64| (total != 0 || profile.memory_by_resources()).then_some(0.0);
    let mut fractions = Column::default();
    let mut last = ((0, 0), unset(0));
    for (chain, group) in chains.chains.iter().zip(&slots.group_of) {
        for row in rows(chain) {
            checkpoint_at(row);
            let node = chains.operators[row].node;
            let share = match known(*group) {
                _ if configured_last[node.get()] != row as u32 => 0,
                None => i64::from(profile.memory_weight(graph.nodes.managed_memory_weight.get(node.get()))),
                Some(_) => graph.resources(node).map_or(0, |resources| resources.min.managed_mb),
            };
            let question = (share, totals[group.get()]);
            if last.0 != question {
                last = (question, unset(question.1).map(|_| fraction(question.0, question.1, profile)));
                if last.1.is_some_and(|fraction| !(0.0..=1.0).contains(&fraction)) {
                    return Err(PlanError::MemoryShare { operator: graph.label(node), share: question.0, total: question.1 });
                }
            }
            fractions.push(last.1, chains.operators.len());
        }
    }
    Ok(fractions)
}

/// What the shares of each group are shares of. Weights add up in 32 bits, as in Flink.
fn totals<'a>(
    graph: &StreamGraph,
    chains: &Chains,
    slots: &SlotSharing,
    known: impl Fn(SlotGroupIndex) -> Option<&'a ResourceSpec>,
    profile: Profile,
) -> Vec<i64> {
    let mut weights = vec![0i32; slots.resources.len()];
    for (chain, group) in chains.chains.iter().zip(&slots.group_of) {
        for row in rows(chain) {
            let sum = &mut weights[group.get()];
            *sum = sum.wrapping_add(profile.memory_weight(graph.nodes.managed_memory_weight.get(chains.operators[row].node.get())));
        }
    }
    let total = |(group, weight)| known(SlotGroupIndex::new(group)).map_or(i64::from(weight), |group| group.managed_mb);
    weights.into_iter().enumerate().map(total).collect()
}

fn rows(chain: &Chain) -> std::ops::Range<usize> {
    chain.first_operator as usize..chain.end_operator as usize
}

/// The fraction a share is of a total, which may have wrapped: who has nothing to divide or nothing to get gets 0.
fn fraction(share: i64, total: i64, profile: Profile) -> f64 {
    let none = if profile.memory_by_resources() { total <= 0 } else { share <= 0 };
    if none { 0.0 } else { rounded_down(share, total) }
}

/// A quotient with 16 decimals, the rest cut off.
fn rounded_down(share: i64, total: i64) -> f64 {
    const SCALE: i128 = 10_000_000_000_000_000;
    let units = i128::from(share) * SCALE / i128::from(total);
    let sign = if units < 0 { "-" } else { "" };
    let units = units.unsigned_abs();
    let scale = SCALE.unsigned_abs();
    format!("{sign}{}.{:016}", units / scale, units % scale).parse().expect("digits around a point")
}

#[cfg(test)]
mod tests {
    use super::{fraction, rounded_down};
    use crate::profile::Profile;

    #[test]
    fn fractions_are_cut_not_rounded() {
        assert_eq!(rounded_down(2, 3), 0.666_666_666_666_666_6);
        assert_eq!(rounded_down(7, 37), 0.189_189_189_189_189_1);
        assert_eq!((rounded_down(0, 5), rounded_down(3, 3)), (0.0, 1.0));
    }

    #[test]
    fn a_total_that_wrapped_gives_nothing_or_less() {
        assert_eq!((fraction(1, 0, Profile::V1_11), fraction(5, -5, Profile::V1_11)), (0.0, 0.0));
        assert_eq!((fraction(0, -5, Profile::V2_3), fraction(5, -5, Profile::V2_3)), (0.0, -1.0));
    }
}
