//! The values that a running sum, minimum or maximum over 64-bit integers has reached, by key.
//!
//! What a record costs here is one look-up in one table that holds keys and values side by side. A dict of tuples, which
//! it stands in for, costs five places in memory that are in no cache when there are many keys.
//!
//! O(1) per look-up; a key of up to 24 bytes lies in the table itself.

use std::collections::HashMap;

use compact_str::CompactString;
use foldhash::fast::RandomState;

/// A key that can be looked up here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// A text.
    Text(&'a str),
    /// An integer.
    Long(i64),
}

/// What two values make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl Fold {
    /// The fold of that name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "sum" => Some(Self::Sum),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// The value after another one; none where a sum has more than 64 bits.
    pub fn apply(self, current: i64, value: i64) -> Option<i64> {
        match self {
            Self::Sum => current.checked_add(value),
            Self::Min => Some(current.min(value)),
            Self::Max => Some(current.max(value)),
        }
    }
}

/// What a key has reached.
#[derive(Debug)]
pub struct Slot<T> {
    /// The value so far.
    pub value: i64,
    /// Whatever else belongs to the key.
    pub rest: T,
    order: u64,
}

/// Slots by key.
#[derive(Debug)]
pub struct Slots<T> {
    texts: HashMap<CompactString, Slot<T>, RandomState>,
    longs: HashMap<i64, Slot<T>, RandomState>,
    inserted: u64,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { texts: HashMap::default(), longs: HashMap::default(), inserted: 0 }
    }
}

impl<T> Slots<T> {
    /// The slot of a key.
    pub fn get(&mut self, key: Key<'_>) -> Option<&mut Slot<T>> {
        match key {
            Key::Text(text) => self.texts.get_mut(text),
            Key::Long(long) => self.longs.get_mut(&long),
        }
    }

    /// Bring the slots of some keys near. Look-ups that do not wait for each other overlap in the processor, so this and
    /// a second look-up of each cost less than one after the other when the slots are in no cache.
    pub fn touch<'a>(&self, keys: impl Iterator<Item = Key<'a>>) {
        let values = keys.filter_map(|key| match key {
            Key::Text(text) => self.texts.get(text),
            Key::Long(long) => self.longs.get(&long),
        });
        std::hint::black_box(values.fold(0, |all, slot| all ^ slot.value));
    }

    /// Give a key a slot; it has none.
    pub fn insert(&mut self, key: Key<'_>, value: i64, rest: T) {
        let slot = Slot { value, rest, order: self.inserted };
        self.inserted += 1;
        match key {
            Key::Text(text) => self.texts.insert(text.into(), slot),
            Key::Long(long) => self.longs.insert(long, slot),
        };
    }

    /// Take a key's slot away.
    pub fn remove(&mut self, key: Key<'_>) -> Option<Slot<T>> {
        match key {
            Key::Text(text) => self.texts.remove(text),
            Key::Long(long) => self.longs.remove(&long),
        }
    }

    /// Hand over all slots in the order of their insertion. O(slots log slots).
    ///
    /// The callback's error ends it; what it has not been given is lost then.
    pub fn drain<E>(&mut self, mut take: impl FnMut(Key<'_>, Slot<T>) -> Result<(), E>) -> Result<(), E> {
        let mut texts: Vec<_> = self.texts.drain().collect();
        let mut longs: Vec<_> = self.longs.drain().collect();
        texts.sort_unstable_by_key(|(_, slot)| slot.order);
        longs.sort_unstable_by_key(|(_, slot)| slot.order);
        texts.into_iter().try_for_each(|(text, slot)| take(Key::Text(&text), slot))?;
        longs.into_iter().try_for_each(|(long, slot)| take(Key::Long(long), slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds() {
        assert_eq!(Fold::of("sum").and_then(|fold| fold.apply(2, 3)), Some(5));
        assert_eq!(Fold::Sum.apply(i64::MAX, 1), None);
        assert_eq!(Fold::of("min").and_then(|fold| fold.apply(2, -3)), Some(-3));
        assert_eq!(Fold::of("max").and_then(|fold| fold.apply(2, -3)), Some(2));
        assert_eq!(Fold::of("mean"), None);
    }

    #[test]
    fn slots_come_out_as_they_went_in() {
        let mut slots = Slots::default();
        let long = "a key that is longer than what lies in the table".repeat(3);
        let keys = ["b", "a", "", long.as_str()];
        for (value, key) in keys.iter().enumerate() {
            assert!(slots.get(Key::Text(key)).is_none());
            slots.insert(Key::Text(key), value as i64, ());
        }
        slots.insert(Key::Long(7), 70, ());
        assert_eq!(slots.remove(Key::Text("a")).map(|slot| slot.value), Some(1));
        slots.get(Key::Text("b")).unwrap().value = 10;
        let mut seen = Vec::new();
        let all: Result<(), ()> = slots.drain(|key, slot| {
            seen.push((format!("{key:?}").len(), slot.value));
            Ok(())
        });
        assert_eq!(all, Ok(()));
        assert_eq!(seen.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [10, 2, 3, 70]);
        assert!(slots.get(Key::Long(7)).is_none());
    }
}
