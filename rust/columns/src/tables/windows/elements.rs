//! All records of windows, for functions that see them.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::entries::{Entries, FULL};
use crate::tables::cells::Cells;
use crate::value::Value;

/// Records, each here once, and the windows that have them, in order.
#[derive(Debug, Default)]
pub struct Elements {
    records: Cells,
    /// In how many windows each record is.
    uses: Vec<u32>,
    free: Vec<u32>,
    /// The records of each window.
    windows: Vec<Vec<u32>>,
}

impl Elements {
    /// How much memory they take, in bytes. O(windows).
    pub fn memory(&self) -> usize {
        let numbers = self.uses.capacity() + self.free.capacity() + self.windows.iter().map(Vec::capacity).sum::<usize>();
        self.records.memory() + numbers * size_of::<u32>() + self.windows.capacity() * size_of::<Vec<u32>>()
    }

    /// Whether a record can be here. It never changes: a function that changed one would change it in other windows too.
    pub fn admits(&mut self, record: Value<'_>) -> bool {
        record.is_frozen() && self.uses.len() < u32::MAX as usize && self.records.admits(record)
    }

    /// Keeps a record that is admitted, for windows that it will be added to.
    pub fn keep(&mut self, record: Value<'_>) -> u32 {
        if let Some(number) = self.free.pop() {
            self.records.set(number as usize, record);
            return number;
        }
        let pushed = self.records.push(record);
        debug_assert!(pushed.is_ok(), "it is admitted");
        self.uses.push(0);
        self.uses.len() as u32 - 1
    }

    /// Adds a record to a window.
    pub fn add(&mut self, window: usize, record: u32) {
        if window >= self.windows.len() {
            self.windows.resize_with(window + 1, Vec::new);
        }
        self.windows[window].push(record);
        self.uses[record as usize] += 1;
    }

    /// Takes all records out of a window.
    pub fn clear(&mut self, window: usize) {
        for record in self.windows.get_mut(window).map(std::mem::take).unwrap_or_default() {
            let uses = &mut self.uses[record as usize];
            *uses -= 1;
            if *uses == 0 {
                self.free.push(record);
            }
        }
    }

    /// Takes the first records out of a window, and puts another one in the place of the first that is left. Nobody else has
    /// it, and the other one is admitted.
    pub fn drop_first(&mut self, window: usize, count: usize, first: Option<Value<'_>>) {
        let Some(records) = self.windows.get_mut(window) else { return };
        for record in records.drain(..count.min(records.len())) {
            let uses = &mut self.uses[record as usize];
            *uses -= 1;
            if *uses == 0 {
                self.free.push(record);
            }
        }
        if let (Some(first), Some(&record)) = (first, records.first()) {
            self.records.set(record as usize, first);
        }
    }

    /// Puts all records of a window behind those of another one.
    pub fn pass_on(&mut self, from: usize, to: usize) {
        let mut records = self.windows.get_mut(from).map(std::mem::take).unwrap_or_default();
        if to >= self.windows.len() {
            self.windows.resize_with(to + 1, Vec::new);
        }
        if self.windows[to].is_empty() {
            self.windows[to] = records;
        } else {
            self.windows[to].append(&mut records);
        }
    }

    /// The records of some windows as a list, and one more.
    pub fn list<'a>(&'a self, windows: impl Iterator<Item = usize>, more: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
        let mut items = Items::new_in(arena);
        for window in windows {
            let records = self.windows.get(window).map_or(&[][..], |records| records);
            items.extend(records.iter().map(|&record| self.records.get(record as usize, arena)));
        }
        items.extend(more);
        Value::List(items.into_bump_slice())
    }
}

impl Entries {
    /// Takes the first records out of a window, and puts another one in the place of the first that is left.
    pub fn drop_first(&mut self, number: usize, count: usize, first: Option<Value<'_>>) {
        if let Some(elements) = &mut self.elements {
            elements.drop_first(number, count, first);
        }
    }

    /// Puts the records of a window behind those of another one, where all are kept.
    pub fn pass_on(&mut self, from: usize, to: usize) {
        if let (Some(elements), true) = (&mut self.elements, self.flags[from] & FULL != 0) {
            elements.pass_on(from, to);
            self.empty(from);
            self.fill(to);
        }
    }

    /// The records of some windows, and one more.
    pub fn list<'a>(&'a self, windows: impl Iterator<Item = usize>, more: Value<'a>, arena: &'a Bump) -> Value<'a> {
        self.elements.as_ref().map_or(Value::None, |elements| elements.list(windows, Some(more), arena))
    }
}
