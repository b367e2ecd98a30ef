//! What triggers remember of windows: one value of each, by the number of the window. That of a compiled trigger is a tuple
//! of what each of its states has, None for nothing.

use crate::tables::kept::Kept;
use crate::value::Value;

/// Python's tables have a value of it.
const KNOWN: u8 = 1;
/// It is among the changed ones.
const CHANGED: u8 = 2;

/// Values, and which of them Python does not know.
#[derive(Debug, Default)]
pub struct Memory {
    values: Vec<Option<Kept>>,
    flags: Vec<u8>,
    pub changed: Vec<u32>,
    count: usize,
    /// Whether values are of several states.
    pub of_states: bool,
}

impl Memory {
    /// How many values there are, of each state.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How much memory they take, in bytes. O(windows).
    pub fn size(&self) -> usize {
        let of_values: usize = self.values.iter().flatten().map(Kept::memory).sum();
        let slots = self.values.capacity() * size_of::<Option<Kept>>() + self.flags.capacity();
        of_values + slots + self.changed.capacity() * size_of::<u32>()
    }

    fn weight(of_states: bool, value: Option<&Kept>) -> usize {
        match value.map(Kept::value) {
            Some(Value::Tuple(values)) if of_states => values.iter().filter(|value| !matches!(value, Value::None)).count(),
            value => usize::from(value.is_some()),
        }
    }

    /// What is remembered of a window.
    #[inline]
    pub fn get(&self, window: usize) -> Option<Value<'_>> {
        self.values.get(window)?.as_ref().map(Kept::value)
    }

    /// Remembers something, or nothing.
    pub fn set(&mut self, window: usize, value: Option<Kept>) {
        if window >= self.values.len() {
            if value.is_none() {
                return;
            }
            self.values.resize_with(window + 1, || None);
            self.flags.resize(window + 1, 0);
        }
        let old = &mut self.values[window];
        if old.is_none() && value.is_none() {
            return;
        }
        self.count += Self::weight(self.of_states, value.as_ref());
        self.count -= Self::weight(self.of_states, old.as_ref());
        *old = value;
        if self.flags[window] & CHANGED == 0 {
            self.flags[window] |= CHANGED;
            self.changed.push(window as u32);
        }
    }

    /// Whether a value is there, or Python may have one.
    pub fn holds(&self, window: usize) -> bool {
        self.values.get(window).is_some_and(|value| value.is_some() || self.flags[window] != 0)
    }

    /// Whether Python has a value of a window.
    pub fn is_known(&self, window: usize) -> bool {
        self.flags[window] & KNOWN != 0
    }

    /// Python knows all values. Returns the windows that had others.
    pub fn settled(&mut self) -> Vec<u32> {
        let changed = std::mem::take(&mut self.changed);
        for &window in &changed {
            self.flags[window as usize] = if self.values[window as usize].is_some() { KNOWN } else { 0 };
        }
        changed
    }
}
