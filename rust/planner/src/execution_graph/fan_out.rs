//! Which partitions a subtask reads, and which subtasks read a partition.
//!
//! Semantics: `ExecutionVertex.connectPointwise` and `connectAllToAll` of Flink 1.11. Both relations are contiguous ranges,
//! so an exchange is held as its two sizes and every range is computed when asked for. Pointwise is done in 32-bit floats
//! where the sizes do not divide, exactly as Flink 1.11 does: whole numbers, which 2.3 takes, differ in 1,546 of the 65,536
//! pairs up to 256.
//!
//! Cost: O(1) in both directions, and O(1) for each group of partitions and subtasks that are all connected.

use std::ops::Range;

use crate::job_graph::Distribution;
use crate::profile::Shares;

/// An exchange between `producers` partitions and `consumers` subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanOut {
    /// How both sides are connected.
    pub distribution: Distribution,
    /// Number of partitions.
    pub producers: u32,
    /// Number of subtasks that read them.
    pub consumers: u32,
    /// The arithmetic of pointwise shares.
    pub shares: Shares,
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
            Distribution::Pointwise if self.shares == Shares::Exact => {
                let bound = |subtask: u32| (u64::from(subtask) * u64::from(n) / u64::from(m)) as u32;
                bound(subtask)..bound(subtask + 1).max(bound(subtask) + 1)
            }
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

    /// Subtasks that read a partition: the inverse of [`Self::partitions_of`]. O(1).
    pub fn consumers_of(&self, partition: u32) -> Range<u32> {
        let (n, m) = (self.producers, self.consumers);
        match self.distribution {
            Distribution::AllToAll => 0..m,
            Distribution::Pointwise if n <= m && m % n == 0 => partition * (m / n)..(partition + 1) * (m / n),
            Distribution::Pointwise if n <= m => self.first_reader(partition)..self.first_reader(partition + 1),
            Distribution::Pointwise => self.only_reader(partition),
        }
    }

    /// With more subtasks than partitions, the first subtask that reads this partition or a later one.
    ///
    /// The quotient is exact in 64 bits (15 by 24 binary digits), and the division that Flink rounds to 32 bits is off by
    /// less than the step from one subtask to the next, so that only the subtask before may round up to the partition.
    fn first_reader(&self, partition: u32) -> u32 {
        if partition == self.producers {
            return self.consumers;
        }
        if self.shares == Shares::Exact {
            return (u64::from(partition) * u64::from(self.consumers)).div_ceil(u64::from(self.producers)) as u32;
        }
        let factor = self.consumers as f32 / self.producers as f32;
        let exact = (f64::from(partition) * f64::from(factor)).ceil() as u32;
        let rounds_up = exact > 0 && self.partitions_of(exact - 1).start == partition;
        exact - u32::from(rounds_up)
    }

    /// With more partitions than subtasks, the one subtask that reads a partition; the estimate is off by one at most.
    fn only_reader(&self, partition: u32) -> Range<u32> {
        let estimate = (u64::from(partition) * u64::from(self.consumers) / u64::from(self.producers)) as u32;
        let read = self.partitions_of(estimate);
        let subtask = if partition < read.start { estimate - 1 } else { estimate + u32::from(partition >= read.end) };
        subtask..subtask + 1
    }

    /// Number of groups: maximal sets of partitions and subtasks that are all connected with each other.
    pub fn groups(&self) -> u32 {
        match self.distribution {
            Distribution::AllToAll => 1,
            Distribution::Pointwise => self.producers.min(self.consumers),
        }
    }

    /// One group: its partitions are a `ConsumedPartitionGroup` of Flink 1.13 and later, its subtasks a
    /// `ConsumerVertexGroup`. Groups ascend on both sides, and each connection is in exactly one of them. O(1).
    pub fn group(&self, at: u32) -> (Range<u32>, Range<u32>) {
        match self.distribution {
            Distribution::AllToAll => (0..self.producers, 0..self.consumers),
            Distribution::Pointwise if self.producers <= self.consumers => (at..at + 1, self.consumers_of(at)),
            Distribution::Pointwise => (self.partitions_of(at), at..at + 1),
        }
    }

    /// Number of connections of all subtasks before this one. O(1).
    pub fn edges_before(&self, subtask: u32) -> u64 {
        match self.distribution {
            Distribution::AllToAll => u64::from(subtask) * u64::from(self.producers),
            Distribution::Pointwise if self.producers <= self.consumers => subtask.into(),
            Distribution::Pointwise if subtask == self.consumers => self.producers.into(),
            Distribution::Pointwise => self.partitions_of(subtask).start.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointwise(producers: u32, consumers: u32) -> FanOut {
        FanOut { distribution: Distribution::Pointwise, producers, consumers, shares: Shares::Floats }
    }

    fn exact(producers: u32, consumers: u32) -> FanOut {
        FanOut { shares: Shares::Exact, ..pointwise(producers, consumers) }
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

    /// Who reads a partition, by searching among all subtasks.
    fn searched(fan_out: FanOut, partition: u32) -> Range<u32> {
        let first = first_subtask(fan_out.consumers, |subtask| fan_out.partitions_of(subtask).end > partition);
        let end = first_subtask(fan_out.consumers, |subtask| fan_out.partitions_of(subtask).start > partition);
        first..end
    }

    fn check_inverse(producers: u32, consumers: u32) {
        for fan_out in [pointwise(producers, consumers), exact(producers, consumers)] {
            for partition in 0..producers {
                assert_eq!(fan_out.consumers_of(partition), searched(fan_out, partition), "{fan_out:?}: {partition}");
            }
        }
    }

    #[test]
    fn the_inverse_equals_a_search_for_all_pairs_up_to_256() {
        (1..=256).for_each(|producers| (1..=256).for_each(|consumers| check_inverse(producers, consumers)));
    }

    #[test]
    fn the_inverse_equals_a_search_for_large_numbers() {
        let mut state = 1_u64; // Knuth's generator: the same pairs in every run
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % 32_768 + 1
        };
        (0..40).for_each(|_| check_inverse(random(), random()));
        for (producers, consumers) in [(32_768, 32_767), (32_767, 32_768), (16_385, 32_768), (32_768, 16_385), (3, 32_768), (32_768, 3)] {
            check_inverse(producers, consumers);
        }
    }

    #[test]
    fn groups_and_counts_cover_each_connection_once() {
        let all_to_all = |producers, consumers| FanOut { distribution: Distribution::AllToAll, ..pointwise(producers, consumers) };
        for fan_out in (1..=40).flat_map(|n| (1..=40).flat_map(move |m| [pointwise(n, m), exact(n, m), all_to_all(n, m)])) {
            let pairs = |subtask| fan_out.partitions_of(subtask).map(move |partition| (subtask, partition));
            let forward: Vec<_> = (0..fan_out.consumers).flat_map(pairs).collect();
            let mut grouped: Vec<_> = (0..fan_out.groups())
                .map(|at| fan_out.group(at))
                .flat_map(|(partitions, subtasks)| subtasks.flat_map(move |subtask| partitions.clone().map(move |at| (subtask, at))))
                .collect();
            grouped.sort_unstable();
            assert_eq!(grouped, forward, "{fan_out:?}");
            assert_eq!(forward.len() as u64, fan_out.edges(), "{fan_out:?}");
            for subtask in 0..=fan_out.consumers {
                let before = forward.partition_point(|&(reader, _)| reader < subtask);
                assert_eq!(fan_out.edges_before(subtask), before as u64, "{fan_out:?} {subtask}");
            }
        }
    }

    #[test]
    fn floats_not_whole_numbers() {
        let differs = |n, m| (0..m).any(|subtask| pointwise(n, m).partitions_of(subtask) != exact(n, m).partitions_of(subtask));
        assert!(differs(14, 16) && differs(20, 24) && differs(25, 30));
        assert!(!differs(4, 16) && !differs(16, 4) && !differs(7, 7));
    }
}
