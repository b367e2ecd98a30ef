//! What a function does to the map of its key: kept aside until it has ended, and read meanwhile.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::map::{Map, MapStep, first, is_equal};
use crate::program::Part;
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// A draft with no more entries than this has no index.
const FEW: usize = 8;

/// No entry is at this place of the index.
const NOTHING: u32 = u32::MAX;

/// A map, with changes.
pub(super) struct Draft<'a> {
    /// What it was before, if something of that stays.
    map: Option<&'a Map>,
    entries: Items<'a, Changed<'a>>,
    /// Where entries are, by their hashes; as the rest in the arena.
    index: &'a mut [u32],
    arena: &'a Bump,
    /// How many times something came behind all others.
    turns: u32,
    count: usize,
}

/// An entry that is not as it was before.
struct Changed<'a> {
    hash: u64,
    key: Value<'a>,
    /// Its place in the map before.
    place: Option<usize>,
    /// None where it is removed.
    value: Option<Value<'a>>,
    /// Its place among those behind the entries of before, where it is one of these.
    turn: Option<u32>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(map: Option<&'a Map>, arena: &'a Bump) -> Self {
        Self { map, entries: Items::new_in(arena), index: &mut [], arena, turns: 0, count: map.map_or(0, Map::len) }
    }

    fn find(&self, hash: u64, key: Value<'_>) -> Result<Option<usize>, Doubt> {
        let is_it = |entry: &Changed<'_>| if entry.hash == hash { is_equal(entry.key, key) } else { Ok(false) };
        if self.entries.len() <= FEW {
            return first(0..self.entries.len(), |&at| is_it(&self.entries[at]));
        }
        let alike = way(hash, self.index.len()).map(|place| self.index[place]).take_while(|&at| at != NOTHING);
        Ok(first(alike, |&at| is_it(&self.entries[at as usize]))?.map(|at| at as usize))
    }

    /// What the map has for a key.
    pub(super) fn get(&self, hash: u64, key: Value<'_>) -> Result<Option<Value<'a>>, Doubt> {
        match (self.find(hash, key)?, self.map) {
            (Some(at), _) => Ok(self.entries[at].value),
            (None, Some(map)) => Ok(map.find(hash, key)?.and_then(|place| map.value(place)).map(Kept::value)),
            (None, None) => Ok(None),
        }
    }

    /// Sets the value of a key, or removes it.
    pub(super) fn set(&mut self, hash: u64, key: Value<'a>, value: Option<Value<'a>>) -> Result<(), Doubt> {
        let Some(at) = self.find(hash, key)? else { return self.begin(hash, key, value) };
        let entry = &mut self.entries[at];
        match (entry.value, value) {
            (None, Some(_)) => {
                (entry.key, entry.turn) = (key, Some(self.turns));
                self.turns += 1;
                self.count += 1;
            }
            (Some(_), None) => self.count -= 1,
            _ => {}
        }
        entry.value = value;
        Ok(())
    }

    fn begin(&mut self, hash: u64, key: Value<'a>, value: Option<Value<'a>>) -> Result<(), Doubt> {
        let place = self.map.map_or(Ok(None), |map| map.find(hash, key))?;
        let turn = match (place, value) {
            (None, None) => return Ok(()),
            (Some(_), None) => {
                self.count -= 1;
                None
            }
            (Some(_), Some(_)) => None,
            (None, Some(_)) => {
                self.count += 1;
                self.turns += 1;
                Some(self.turns - 1)
            }
        };
        self.entries.push(Changed { hash, key, place, value, turn });
        self.note(self.entries.len() - 1);
        Ok(())
    }

    /// Adds an entry to the index, if there is one by now; it is at most half full.
    fn note(&mut self, at: usize) {
        let all = at + 1;
        if all > FEW && 2 * all > self.index.len() {
            self.index = self.arena.alloc_slice_fill_copy((4 * all).next_power_of_two(), NOTHING);
            (0..at).for_each(|at| self.place(at));
        }
        if all > FEW {
            self.place(at);
        }
    }

    fn place(&mut self, at: usize) {
        let free = way(self.entries[at].hash, self.index.len()).find(|&place| self.index[place] == NOTHING);
        if let Some(place) = free {
            self.index[place] = at as u32;
        }
    }

    /// Whether nothing is in the map.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the map is as it was before.
    pub(super) fn is_same(&self) -> bool {
        self.map.is_some() && self.entries.is_empty()
    }

    /// Entries behind those of before, in order.
    fn more(&self) -> Vec<&Changed<'a>> {
        let mut more: Vec<_> = self.entries.iter().filter(|entry| entry.turn.is_some() && entry.value.is_some()).collect();
        more.sort_unstable_by_key(|entry| entry.turn);
        more
    }

    /// All entries in order: hash, key and value. O(entries).
    pub(super) fn entries(&self, mut take: impl FnMut(u64, Value<'a>, Value<'a>)) {
        let mut old: Vec<_> = self.entries.iter().filter_map(|entry| Some((entry.place?, entry))).collect();
        old.sort_unstable_by_key(|&(place, _)| place);
        let mut old = old.into_iter().peekable();
        for (place, hash, key, value) in self.map.into_iter().flat_map(Map::entries) {
            match old.next_if(|&(changed, _)| changed == place) {
                None => take(hash, key.value(), value.value()),
                Some((_, Changed { value: Some(new), turn: None, .. })) => take(hash, key.value(), *new),
                Some(_) => {}
            }
        }
        for entry in self.more() {
            if let Some(value) = entry.value {
                take(entry.hash, entry.key, value);
            }
        }
    }

    /// The keys, values or both of all entries, in order. O(entries).
    pub(super) fn list(&self, part: Part, arena: &'a Bump) -> Value<'a> {
        let mut items = Items::with_capacity_in(self.count, arena);
        self.entries(|_, key, value| items.push(part_of(part, key, value, arena)));
        Value::List(items.into_bump_slice())
    }

    /// What is to be done to the map now that the function has ended.
    pub(super) fn step(&self) -> Result<MapStep, Doubt> {
        let mut step = MapStep { clear: self.map.is_none(), ..MapStep::default() };
        for entry in &self.entries {
            let Some(place) = entry.place else { continue };
            let stays = entry.value.filter(|_| entry.turn.is_none());
            step.old.push((place, stays.map(Kept::new).transpose()?));
        }
        for entry in self.more() {
            if let Some(value) = entry.value {
                step.more.push((entry.hash, Kept::new(entry.key)?, Kept::new(value)?));
            }
        }
        Ok(step)
    }
}

/// The places of an index to look at, one after the other. Of an index there are as many as a power of two.
fn way(hash: u64, places: usize) -> impl Iterator<Item = usize> {
    (0..places).map(move |step| (hash as usize).wrapping_add(step) & (places - 1))
}

/// The keys, values or both of a map without changes. O(entries).
pub(super) fn list<'a>(map: &'a Map, part: Part, arena: &'a Bump) -> Value<'a> {
    let mut items = Items::with_capacity_in(map.len(), arena);
    items.extend(map.entries().map(|(_, _, key, value)| part_of(part, key.value(), value.value(), arena)));
    Value::List(items.into_bump_slice())
}

/// The key, the value or both of an entry.
pub(super) fn part_of<'a>(part: Part, key: Value<'a>, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match part {
        Part::Keys => key,
        Part::Values => value,
        Part::Items => Value::Tuple(arena.alloc_slice_copy(&[key, value])),
        Part::Merged => Value::None, // of triggers
    }
}
