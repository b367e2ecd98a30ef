//! The map of a key: found by key as a dict finds it, in the order in which its entries came; and what of it the state in Python
//! does not know yet.

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::python;
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// A map with no more places than this has no index.
const FEW: usize = 8;

/// What a map has for a key.
#[derive(Debug)]
struct Entry {
    hash: u64,
    key: Kept,
    value: Kept,
    /// Python's dict has its key.
    known: bool,
    /// It is among the changed ones.
    changed: bool,
}

/// Entries by place, in order; a place whose entry was removed is empty. O(1) per look-up.
#[derive(Debug)]
pub struct Map {
    places: Vec<Option<Entry>>,
    index: HashTable<u32>,
    count: usize,
    /// Whether Python has another map in its place, or none.
    new: bool,
    /// Keys that Python's dict has, and that were removed since the last time.
    removed: Vec<Kept>,
    /// Places of entries that have changed since then.
    changed: Vec<u32>,
}

/// What a map will have: done in this order.
#[derive(Debug, Default)]
pub struct MapStep {
    /// Nothing stays.
    pub clear: bool,
    /// Entries at these places get another value, or are removed.
    pub old: Vec<(usize, Option<Kept>)>,
    /// Entries come behind the others: hash, key and value.
    pub more: Vec<(u64, Kept, Kept)>,
}

/// What Python does not know of a map. Each is to be applied before the next one.
#[derive(Debug)]
pub struct MapNews<'m> {
    /// Whether it is another map than Python's.
    pub new: bool,
    /// Keys to be removed.
    pub removed: &'m [Kept],
    /// Entries to be set, in order.
    pub changed: Vec<(&'m Kept, &'m Kept)>,
}

impl Default for Map {
    fn default() -> Self {
        Self { places: Vec::new(), index: HashTable::new(), count: 0, new: true, removed: Vec::new(), changed: Vec::new() }
    }
}

/// The hash of a key of a map.
#[inline]
pub fn hash(hasher: &FixedState, key: Value<'_>) -> Result<u64, Doubt> {
    python::hash_of(hasher, key)
}

/// Whether keys of one hash are equal.
#[inline]
pub fn is_equal(one: Value<'_>, two: Value<'_>) -> Result<bool, Doubt> {
    match (one, two) {
        (Value::Int(one), Value::Int(two)) => Ok(one == two),
        (Value::Text(one), Value::Text(two)) => Ok(one == two),
        _ => python::same_item(one, two),
    }
}

/// The first of some places that is found without doubt.
pub fn first<T>(mut places: impl Iterator<Item = T>, mut is_it: impl FnMut(&T) -> Result<bool, Doubt>) -> Result<Option<T>, Doubt> {
    let mut doubt = Ok(());
    let place = places.find(|place| {
        is_it(place).unwrap_or_else(|Doubt| {
            doubt = Err(Doubt);
            true
        })
    });
    doubt.map(|()| place)
}

impl Map {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where the entry of a key is. Doubt: equality of two keys is not known here.
    #[inline]
    pub fn find(&self, hash: u64, key: Value<'_>) -> Result<Option<usize>, Doubt> {
        let is_it = |entry: &Option<Entry>| match entry {
            Some(entry) if entry.hash == hash => is_equal(entry.key.value(), key),
            _ => Ok(false),
        };
        if self.places.len() <= FEW {
            return first(0..self.places.len(), |&place| is_it(&self.places[place]));
        }
        let found = first(self.index.iter_hash(hash), |&&place| is_it(&self.places[place as usize]))?;
        Ok(found.map(|&place| place as usize))
    }

    /// The value at a place.
    #[inline]
    pub fn value(&self, place: usize) -> Option<&Kept> {
        self.places[place].as_ref().map(|entry| &entry.value)
    }

    /// All entries in order: place, hash, key, value.
    pub fn entries(&self) -> impl Iterator<Item = (usize, u64, &Kept, &Kept)> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(place, entry)| entry.as_ref().map(|entry| (place, entry.hash, &entry.key, &entry.value)))
    }

    /// Does a step.
    pub fn apply(&mut self, step: MapStep) {
        if step.clear {
            *self = Self::default();
        }
        for (place, value) in step.old {
            match value {
                Some(value) => self.set(place, value),
                None => self.remove(place),
            }
        }
        for (hash, key, value) in step.more {
            self.push(hash, key, value);
        }
        if self.places.len() > 2 * self.count + FEW {
            self.compact();
        }
    }

    fn set(&mut self, place: usize, value: Kept) {
        let Some(entry) = &mut self.places[place] else { return };
        entry.value = value;
        if !std::mem::replace(&mut entry.changed, true) {
            self.changed.push(place as u32);
        }
    }

    fn remove(&mut self, place: usize) {
        let Some(entry) = self.places[place].take() else { return };
        if let Ok(found) = self.index.find_entry(entry.hash, |&other| other as usize == place) {
            found.remove();
        }
        self.count -= 1;
        if entry.known {
            self.removed.push(entry.key);
        }
    }

    /// Adds an entry whose key is not there.
    fn push(&mut self, hash: u64, key: Kept, value: Kept) {
        let place = self.places.len();
        self.places.push(Some(Entry { hash, key, value, known: false, changed: true }));
        self.changed.push(place as u32);
        self.count += 1;
        match place {
            _ if place < FEW => {}
            FEW => self.fill_index(),
            _ => self.add_to_index(place),
        }
    }

    fn add_to_index(&mut self, place: usize) {
        let (places, Some(entry)) = (&self.places, &self.places[place]) else { return };
        let hash = |&place: &u32| places[place as usize].as_ref().map_or(0, |entry| entry.hash);
        self.index.insert_unique(entry.hash, place as u32, hash);
    }

    fn fill_index(&mut self) {
        self.index.clear();
        for place in 0..self.places.len() {
            self.add_to_index(place);
        }
    }

    /// Takes empty places away. O(entries), after as many were removed.
    fn compact(&mut self) {
        self.places.retain(Option::is_some);
        let is_changed =
            |(place, entry): (usize, &Option<Entry>)| entry.as_ref().is_some_and(|entry| entry.changed).then_some(place as u32);
        self.changed = self.places.iter().enumerate().filter_map(is_changed).collect();
        self.index = HashTable::new();
        if self.places.len() > FEW {
            self.fill_index();
        }
    }

    /// What Python does not know.
    pub fn news(&self) -> MapNews<'_> {
        let mut places = self.changed.clone();
        places.sort_unstable(); // new ones come behind the others
        let entry = |place: u32| self.places[place as usize].as_ref().map(|entry| (&entry.key, &entry.value));
        MapNews { new: self.new, removed: &self.removed, changed: places.into_iter().filter_map(entry).collect() }
    }

    /// Notes that Python knows everything. O(changes).
    pub fn settled(&mut self) {
        for place in self.changed.drain(..) {
            if let Some(entry) = &mut self.places[place as usize] {
                (entry.known, entry.changed) = (true, false);
            }
        }
        self.removed.clear();
        self.new = false;
    }
}
