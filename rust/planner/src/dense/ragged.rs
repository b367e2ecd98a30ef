//! Lists of different lengths, laid end to end as the rows of one table: which list a row is in, and where.
//!
//! Cost: O(lists) to build and to hold; O(log lists) to find a row, O(1) for each that follows it.

use std::ops::Range;

/// The lengths of lists.
#[derive(Clone, Debug)]
pub struct Ragged(Vec<u64>);

impl Ragged {
    /// Lists of these lengths.
    pub fn new(lengths: impl Iterator<Item = u64>) -> Self {
        let mut end = 0;
        let ends = lengths.map(|length| {
            end += length;
            end
        });
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.0[self.0.len() - 1]
    }

    /// The rows of a list.
    pub fn of(&self, list: usize) -> Range<u64> {
        self.0[list]..self.0[list + 1]
    }

    /// The list that an existing row is in.
    pub fn list_of(&self, row: u64) -> usize {
        self.0.partition_point(|&first| first <= row) - 1
    }

    /// Some rows, each as list and position in the list.
    pub fn walk(&self, rows: Range<u64>) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut list = self.list_of(rows.start);
        rows.map(move |row| {
            while self.0[list + 1] <= row {
                list += 1; // also over empty lists
            }
            (list, row - self.0[list])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_from_any_start() {
        let lengths = [0, 2, 0, 0, 3, 1, 0];
        let ragged = Ragged::new(lengths.into_iter());
        let all = [(1, 0), (1, 1), (4, 0), (4, 1), (4, 2), (5, 0)];
        assert_eq!((ragged.rows(), ragged.of(4)), (6, 2..5));
        for first in 0..=all.len() {
            assert_eq!(ragged.walk(first as u64..6).collect::<Vec<_>>(), all[first..]);
        }
        assert_eq!(Ragged::new(std::iter::empty()).walk(0..0).next(), None);
    }
}
