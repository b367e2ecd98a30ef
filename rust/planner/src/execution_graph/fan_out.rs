//! Which partitions a subtask reads, and which subtasks read a partition.
//!
//! Semantics: `ExecutionVertex.connectPointwise` and `connectAllToAll` of Flink 1.11. Both relations are contiguous ranges,
//! so an exchange is held as its two sizes and every range is computed when asked for. Pointwise is done in 32-bit floats
//! where the sizes do not divide, exactly as Flink does: whole numbers would differ in 1,546 of the 65,536 pairs up to 256.
//!
//! Cost: O(1) for the partitions of a subtask, O(log consumers) for the consumers of a partition.

use std::ops::Range;

use crate::job_graph::Distribution;

/// An exchange between `producers` partitions and `consumers` subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanOut {
    /// How both sides are connected.
    pub distribution: Distribution,
    /// Number of partitions.
    pub producers: u32,
    /// Number of subtasks that read them.
    pub consumers: u32,
}

impl FanOut {
    /// Number of ExecutionEdges.
    pub fn edges(&self) -> u64 {
        match self.distribution {
            Distribution::AllToAll => u64::from(self.producers) * u64::from(self.consumers),
            Distribution::Pointwise => u64::from(self.producers.max(self.consumers)),
        }
    }

    /// Partitions that a consumer subtask reads.
    pub fn partitions_of(&self, subtask: u32) -> Range<u32> {
        let (n, m) = (self.producers, self.consumers);
        match self.distribution {
            Distribution::AllToAll => 0..n,
            Distribution::Pointwise if n <= m => {
                let partition = if m % n == 0 { subtask / (m / n) } else { (subtask as f32 / (m as f32 / n as f32)) as u32 };
                partition..partition + 1
            }
            Distribution::Pointwise if n % m == 0 => subtask * (n / m)..(subtask + 1) * (n / m),
            Distribution::Pointwise => {
                let factor = n as f32 / m as f32;
                let end = if subtask + 1 == m { n } else { ((subtask + 1) as f32 * factor) as u32 };
                (subtask as f32 * factor) as u32..end
            }
        }
    }

    /// Subtasks that read a partition.
    pub fn consumers_of(&self, partition: u32) -> Range<u32> {
        let first = first_subtask(self.consumers, |subtask| self.partitions_of(subtask).end > partition);
        let end = first_subtask(self.consumers, |subtask| self.partitions_of(subtask).start > partition);
        first..end
    }
}

/// The first subtask for which a monotone condition holds, or the number of subtasks.
fn first_subtask(subtasks: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, subtasks);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointwise(producers: u32, consumers: u32) -> FanOut {
        FanOut { distribution: Distribution::Pointwise, producers, consumers }
    }

    #[test]
    fn both_directions_agree_for_all_pairs_up_to_128() {
        for producers in 1..=128 {
            for consumers in 1..=128 {
                let fan_out = pointwise(producers, consumers);
                let mut forward: Vec<(u32, u32)> =
                    (0..consumers).flat_map(|subtask| fan_out.partitions_of(subtask).map(move |partition| (partition, subtask))).collect();
                let backward: Vec<(u32, u32)> =
                    (0..producers).flat_map(|partition| fan_out.consumers_of(partition).map(move |subtask| (partition, subtask))).collect();
                assert_eq!(forward.len() as u64, fan_out.edges(), "{producers} -> {consumers}");
                forward.sort_unstable();
                assert_eq!(forward, backward, "{producers} -> {consumers}");
            }
        }
    }

    #[test]
    fn floats_not_whole_numbers() {
        let exact = |producers: u32, consumers: u32, subtask: u32| subtask * producers / consumers;
        let differs = |n, m| (0..m).any(|subtask| pointwise(n, m).partitions_of(subtask).start != exact(n, m, subtask));
        assert!(differs(14, 16) || differs(20, 24) || differs(25, 30));
    }
}
