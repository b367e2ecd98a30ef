//! Disjoint sets over positions: union-find with path halving; the smallest member stands for its set.
//!
//! Cost: O(log n) amortised per call, in practice constant; four bytes per position.

/// A partition of `0..n` into sets.
#[derive(Clone, Debug)]
pub struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// Every position in a set of its own. `size` is at most `u32::MAX`.
    pub fn new(size: usize) -> Self {
        Self { parent: (0..size as u32).collect() }
    }

    /// The smallest position in the set of this one.
    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            self.parent[at as usize] = self.parent[self.parent[at as usize] as usize];
            at = self.parent[at as usize];
        }
        at
    }

    /// Makes one set of two.
    pub fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.find(one), self.find(other));
        self.parent[one.max(other) as usize] = one.min(other);
    }

    /// What stands for the set of each position.
    pub fn representatives(mut self) -> Vec<u32> {
        (0..self.parent.len() as u32).map(|at| self.find(at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn the_smallest_member_stands_for_its_set() {
        let mut sets = UnionFind::new(6);
        for (one, other) in [(5, 3), (3, 4), (1, 2), (4, 5)] {
            sets.unite(one, other);
        }
        assert_eq!(sets.representatives(), [0, 1, 1, 3, 3, 3]);
    }
}
