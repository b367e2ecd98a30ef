//! How full a buffer of columns is: the twin of `Filling` in `penstock.runtime.buffers.buffer_size`, which looks at objects.

use crate::column::{Column, text_size};

/// How far the looks at the records that wait for a buffer have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// How many records wait at the next look.
    pub mark: usize,
    /// How many waited at the last one.
    pub count: usize,
    /// About how many bytes these have.
    pub bytes: usize,
    /// About how many bytes a record has, by the last look.
    pub mean: usize,
}

/// When a buffer is full, and how often it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Records of a full one.
    pub records: usize,
    /// Bytes of a full one.
    pub bytes: usize,
    /// Records between two looks at the most.
    pub look: usize,
    /// One record in so many is looked at.
    pub every: usize,
}

impl Looks {
    /// Looks at the records of a column, in front of which `first` others wait that were all looked at, up to its end, or to
    /// before the look that finds the buffer full. O(records looked at).
    pub fn go_on(mut self, column: &Column, first: usize, limits: Limits) -> Self {
        while self.count < self.mark && self.mark <= first + column.len() {
            let rows = (self.count - first..self.mark - first).step_by(limits.every);
            let samples = rows.len();
            let size: usize = rows.map(|row| text_size(column, row)).sum();
            let bytes = self.bytes + size * (self.mark - self.count) / samples;
            if bytes >= limits.bytes || self.mark >= limits.records {
                break;
            }
            let mark = (2 * self.mark).min(self.mark + limits.look).min(limits.records);
            self = Self { mark, count: self.mark, bytes, mean: size / samples };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Builder;
    use crate::value::Value;

    const LIMITS: Limits = Limits { records: 1_000, bytes: 4_000, look: 128, every: 31 };

    fn numbers(count: i64) -> Column {
        let mut builder = Builder::new();
        (0..count).for_each(|number| builder.push(Value::Int(number)).expect("they are of one type"));
        builder.finish()
    }

    #[test]
    fn it_stops_at_the_last_mark_within_the_column() {
        let looks = Looks { mark: 1, count: 0, bytes: 0, mean: 0 }.go_on(&numbers(300), 0, LIMITS);
        assert_eq!(looks, Looks { mark: 384, count: 256, bytes: 2_048, mean: 8 });
    }

    #[test]
    fn it_stops_before_the_look_that_finds_it_full() {
        let looks = Looks { mark: 64, count: 0, bytes: 0, mean: 0 }.go_on(&numbers(900), 0, LIMITS);
        assert_eq!(looks, Looks { mark: 512, count: 384, bytes: 3_072, mean: 8 });
    }
}
