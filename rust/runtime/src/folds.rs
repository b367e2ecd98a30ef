//! The values that a running sum, minimum or maximum over 64-bit integers has reached, by key.
//!
//! What a record costs here is one look-up in one table that holds keys and values side by side. A dict of tuples, which
//! it stands in for, costs five places in memory that are in no cache when there are many keys.
//!
//! O(1) per look-up; a key of up to 24 bytes lies in the table itself.

use std::collections::HashMap;

use ecow::EcoString;
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
    value: i64,
    /// Whatever else belongs to the key.
    pub rest: T,
    /// Of its first change since the last hand-over, among those of other slots; 0: it has not changed.
    order: u64,
}

impl<T> Slot<T> {
    /// The value so far.
    pub fn value(&self) -> i64 {
        self.value
    }

    /// Whether it has changed since it was last handed over.
    pub fn has_changed(&self) -> bool {
        self.order > 0
    }
}

/// Slots by key.
#[derive(Debug)]
pub struct Slots<T> {
    texts: HashMap<EcoString, Slot<T>, RandomState>,
    longs: HashMap<i64, Slot<T>, RandomState>,
    changed: u64,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { texts: HashMap::default(), longs: HashMap::default(), changed: 0 }
    }
}

impl<T> Slots<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len() + self.longs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot of a key.
    pub fn get(&self, key: Key<'_>) -> Option<&Slot<T>> {
        match key {
            Key::Text(text) => self.texts.get(text),
            Key::Long(long) => self.longs.get(&long),
        }
    }

    /// Let a key's value be what a function makes of it. None: it has no slot, or the function no value.
    pub fn update(&mut self, key: Key<'_>, next: impl FnOnce(i64) -> Option<i64>) -> Option<&Slot<T>> {
        let slot = match key {
            Key::Text(text) => self.texts.get_mut(text),
            Key::Long(long) => self.longs.get_mut(&long),
        }?;
        slot.value = next(slot.value)?;
        if slot.order == 0 {
            self.changed += 1;
            slot.order = self.changed;
        }
        Some(slot)
    }

    /// Bring the slots of some keys near. Look-ups that do not wait for each other overlap in the processor, so this and
    /// a second look-up of each cost less than one after the other when the slots are in no cache.
    pub fn touch<'a>(&self, keys: impl Iterator<Item = Key<'a>>) {
        std::hint::black_box(keys.filter_map(|key| self.get(key)).fold(0, |all, slot| all ^ slot.value));
    }

    /// Give a key a slot; it has none. That is a change.
    pub fn insert(&mut self, key: Key<'_>, value: i64, rest: T) {
        self.changed += 1;
        let slot = Slot { value, rest, order: self.changed };
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

    /// Forget all slots.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.longs.clear();
        self.changed = 0;
    }

    /// Hand over the slots that have changed since the last time, in the order of their first changes, those of texts
    /// first. They stay. O(slots + changed log changed).
    ///
    /// The callback's error ends it; what it has not been given counts as handed over.
    pub fn hand_over<E>(&mut self, mut take: impl FnMut(&Slot<T>) -> Result<(), E>) -> Result<(), E> {
        self.changed = 0;
        let mut texts: Vec<_> = self.texts.values_mut().filter(|slot| slot.order > 0).collect();
        let mut longs: Vec<_> = self.longs.values_mut().filter(|slot| slot.order > 0).collect();
        texts.sort_unstable_by_key(|slot| slot.order);
        longs.sort_unstable_by_key(|slot| slot.order);
        for slot in texts.iter_mut().chain(&mut longs) {
            slot.order = 0;
        }
        texts.iter().chain(&longs).try_for_each(|slot| take(slot))
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
        assert_eq!(slots.remove(Key::Text("a")).map(|slot| slot.value()), Some(1));
        assert_eq!(slots.update(Key::Text("b"), |_| Some(10)).map(Slot::value), Some(10));
        assert_eq!(handed_over(&mut slots), [10, 2, 3, 70]);
        assert_eq!(slots.len(), 4);
        slots.clear();
        assert!(slots.is_empty());
    }

    #[test]
    fn only_what_has_changed_comes_out_again() {
        let mut slots = Slots::default();
        for (value, key) in ["a", "b", "c"].iter().enumerate() {
            slots.insert(Key::Text(key), value as i64, ());
        }
        assert_eq!(handed_over(&mut slots), [0, 1, 2]);
        assert_eq!(handed_over(&mut slots), [] as [i64; 0]);
        slots.update(Key::Text("c"), |value| Some(value + 10));
        slots.update(Key::Text("a"), |value| Some(value + 20));
        slots.update(Key::Text("c"), |value| Some(value + 10));
        assert!(slots.update(Key::Text("b"), |_| None).is_none());
        assert!(!slots.get(Key::Text("b")).unwrap().has_changed());
        assert_eq!(handed_over(&mut slots), [22, 20]);
    }

    fn handed_over(slots: &mut Slots<()>) -> Vec<i64> {
        let mut seen = Vec::new();
        let all: Result<(), ()> = slots.hand_over(|slot| {
            seen.push(slot.value());
            Ok(())
        });
        assert_eq!(all, Ok(()));
        seen
    }
}
