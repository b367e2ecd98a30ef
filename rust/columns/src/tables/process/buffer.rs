//! One side of a join by intervals: the records of a key by time, in the order of a Java HashMap by times, which never shrinks.
//! Those of one bucket come in the order in which their times came.

use std::collections::VecDeque;
use std::ops::Range;

use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

const FEWEST_BUCKETS: i64 = 16;
const MOST_BUCKETS: i64 = 1 << 40;

/// Records by time. O(log records) to find, and to add the latest one.
#[derive(Debug)]
pub struct Buffer {
    /// In the order of their times; those of one time in the order in which they came.
    entries: VecDeque<Entry>,
    /// How many times there are.
    times: i64,
    buckets: i64,
    /// How many times came so far.
    came: u64,
}

#[derive(Debug)]
struct Entry {
    time: i64,
    /// How many times came before its own.
    place: u64,
    record: Kept,
}

/// The records of one time: where the map has it, and which they are.
pub type Group = (i64, u64, Range<usize>);

impl Default for Buffer {
    fn default() -> Self {
        Self { entries: VecDeque::new(), times: 0, buckets: FEWEST_BUCKETS, came: 0 }
    }
}

impl Buffer {
    /// Adds a record behind those of its time.
    pub fn insert(&mut self, time: i64, record: Kept) {
        let at = self.entries.partition_point(|entry| entry.time <= time);
        let same = at.checked_sub(1).map(|at| &self.entries[at]).filter(|entry| entry.time == time);
        let place = same.map_or(self.came, |entry| entry.place);
        if same.is_none() {
            (self.came, self.times) = (self.came + 1, self.times + 1);
        }
        self.entries.insert(at, Entry { time, place, record });
        if self.times > self.buckets * 3 / 4 {
            self.buckets *= 2;
        }
    }

    /// Takes all records of a time out; whether none is left.
    pub fn remove(&mut self, time: i64) -> bool {
        let range = self.range(i128::from(time), i128::from(time));
        self.times -= i64::from(!range.is_empty());
        self.entries.drain(range);
        self.entries.is_empty()
    }

    fn range(&self, first: i128, last: i128) -> Range<usize> {
        let start = self.entries.partition_point(|entry| i128::from(entry.time) < first);
        start..self.entries.partition_point(|entry| i128::from(entry.time) <= last)
    }

    /// The records with times from one to another, by time, in the order of the map.
    pub fn between(&self, first: i128, last: i128, groups: &mut Vec<Group>) {
        groups.clear();
        for at in self.range(first, last) {
            let Entry { time, place, .. } = self.entries[at];
            match groups.last_mut() {
                Some((_, known, range)) if *known == place => range.end = at + 1,
                _ => groups.push((bucket(time, self.buckets), place, at..at + 1)),
            }
        }
        groups.sort_unstable_by_key(|&(bucket, place, _)| (bucket, place));
    }

    /// How much memory they take, in bytes. O(records).
    pub fn memory(&self) -> usize {
        let records: usize = self.entries.iter().map(|entry| entry.record.memory()).sum();
        size_of::<Self>() + self.entries.capacity() * size_of::<Entry>() + records
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A record, and its time.
    pub fn get(&self, at: usize) -> (i64, Value<'_>) {
        let entry = &self.entries[at];
        (entry.time, entry.record.value())
    }

    /// All of them, each with its time, by time in the order in which these came.
    pub fn records(&self) -> impl Iterator<Item = (i64, Value<'_>)> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|&at| self.entries[at].place);
        order.into_iter().map(|at| self.get(at))
    }

    /// How many buckets the map has.
    pub fn buckets(&self) -> i64 {
        self.buckets
    }

    /// Has so many. Doubt: no map has.
    pub fn set_buckets(&mut self, buckets: i64) -> Result<(), Doubt> {
        let known = (FEWEST_BUCKETS..=MOST_BUCKETS).contains(&buckets) && buckets.count_ones() == 1;
        self.buckets = buckets;
        if known { Ok(()) } else { Err(Doubt) }
    }
}

/// The bucket of a time.
fn bucket(time: i64, buckets: i64) -> i64 {
    let mixed = time ^ time >> 32;
    (mixed ^ (mixed & 0xFFFF_FFFF) >> 16) & (buckets - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(times: impl IntoIterator<Item = i64>) -> Buffer {
        let mut buffer = Buffer::default();
        for (number, time) in (0..).zip(times) {
            buffer.insert(time, Kept::new(Value::Int(number)).expect("it is a number"));
        }
        buffer
    }

    fn shown(buffer: &Buffer, first: i64, last: i64) -> Vec<i64> {
        let mut groups = Vec::new();
        buffer.between(first.into(), last.into(), &mut groups);
        groups.into_iter().flat_map(|(_, _, range)| range).map(|at| buffer.get(at).0).collect()
    }

    #[test]
    fn times_come_in_the_order_of_buckets() {
        assert_eq!(shown(&buffer([33, 1, 17, 2, 1, -1]), -1, 33), [-1, 33, 1, 1, 17, 2]);
        assert_eq!(shown(&buffer([33, 1, 17, 2]), 2, 32), [17, 2]);
        assert_eq!(shown(&buffer([33, 1, 17, 2]), 3, 16), [0; 0]);
    }

    #[test]
    fn buckets_grow_and_stay() {
        let mut buffer = buffer(0..13);
        assert_eq!(buffer.buckets(), 32);
        assert!((0..13).all(|time| buffer.remove(time) == (time == 12)));
        assert_eq!(buffer.buckets(), 32);
        assert!(buffer.set_buckets(24).is_err());
    }

    #[test]
    fn records_are_known_in_the_order_in_which_their_times_came() {
        let mut buffer = buffer([5, 3, 5, 4]);
        buffer.remove(3);
        buffer.insert(3, Kept::new(Value::None).expect("it is None"));
        assert_eq!(buffer.records().map(|(time, _)| time).collect::<Vec<_>>(), [5, 5, 4, 3]);
    }
}
