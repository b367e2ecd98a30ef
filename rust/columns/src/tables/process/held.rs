//! What a state has for a key, and what it will have.

use bumpalo::Bump;

use super::buffer::Buffer;
use super::life::parts;
use super::map::{Map, MapStep};
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// Items of a list that come closer from memory at the most.
const MOST_FETCHED: usize = 10;

/// What a state has for a key.
#[derive(Debug, Default)]
pub enum Held {
    #[default]
    Nothing,
    Value(Kept),
    List(Vec<Kept>),
    Map(Box<Map>),
    Buffer(Box<Buffer>),
}

/// What a state will have.
#[derive(Debug)]
pub enum Step {
    Set(Kept),
    /// Items more.
    Add(Vec<Kept>),
    /// A list, with items at these places of the one before, which grow, or new ones.
    Replace(Vec<Result<usize, Kept>>),
    /// A record of a time more.
    Insert(i64, Kept),
    /// No record of a time.
    Drop(i64),
    /// A map that has something in it then.
    Map(Box<MapStep>),
    Clear,
}

impl Step {
    /// Whether all values in it have their times.
    pub(super) fn has_times(&self) -> bool {
        let has = |value: &Kept| parts(value.value()).is_ok();
        match self {
            Self::Set(value) => has(value),
            Self::Add(items) => items.iter().all(has),
            Self::Map(step) => step.more.iter().all(|(_, _, value)| has(value)),
            _ => false,
        }
    }
}

/// Bytes of an entry of a map, but for what its key and value have elsewhere.
const ENTRY: usize = 80;

impl Step {
    /// How much memory more it takes at the most, in bytes.
    pub(super) fn memory(&self) -> usize {
        let of = |item: &Kept| size_of::<Kept>() + item.memory();
        match self {
            Self::Set(value) | Self::Insert(_, value) => of(value),
            Self::Add(items) => items.iter().map(of).sum(),
            Self::Replace(items) => items.iter().filter_map(|item| item.as_ref().err()).map(of).sum(),
            Self::Map(step) => {
                let old: usize = step.old.iter().filter_map(|(_, value)| value.as_ref()).map(of).sum();
                old + step.more.iter().map(|(_, key, value)| ENTRY + of(key) + of(value)).sum::<usize>()
            }
            Self::Drop(_) | Self::Clear => 0,
        }
    }
}

impl Held {
    /// How much memory it takes elsewhere, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Buffer(buffer) => buffer.memory(),
            Self::Value(value) => value.memory(),
            Self::List(items) => items.capacity() * size_of::<Kept>() + items.iter().map(Kept::memory).sum::<usize>(),
            Self::Map(map) => map.entries().map(|(_, _, key, value)| ENTRY + key.memory() + value.memory()).sum(),
        }
    }

    /// Has values and lists come closer from memory.
    pub(super) fn fetch(&self) {
        match self {
            Self::Value(value) => value.fetch(),
            Self::List(items) => items.iter().take(MOST_FETCHED).for_each(Kept::fetch),
            _ => {}
        }
    }

    /// How many values, items, entries or records there are.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Value(_) => 1,
            Self::List(items) => items.len(),
            Self::Map(map) => map.len(),
            Self::Buffer(buffer) => buffer.len(),
        }
    }

    /// Adds a record to a buffer.
    pub(super) fn insert(&mut self, time: i64, record: Kept) {
        if !matches!(self, Self::Buffer(_)) {
            *self = Self::Buffer(Box::default());
        }
        if let Self::Buffer(buffer) = self {
            buffer.insert(time, record);
        }
    }

    /// Takes the records of a time out of a buffer.
    pub(super) fn drop_time(&mut self, time: i64) {
        if let Self::Buffer(buffer) = self
            && buffer.remove(time)
        {
            *self = Self::Nothing;
        }
    }

    /// Has a list, with items at places of the one before, or new ones.
    pub(super) fn replace(&mut self, items: Vec<Result<usize, Kept>>) {
        let mut old = if let Self::List(list) = std::mem::take(self) { list } else { Vec::new() }.into_iter();
        let (length, mut list) = (old.len(), Vec::with_capacity(items.len()));
        for item in items {
            match item {
                // the places grow: what lies before this one is dropped
                Ok(at) => list.extend(old.nth((at + old.len()).saturating_sub(length))),
                Err(new) => list.push(new),
            }
        }
        *self = Self::List(list);
    }

    pub(super) fn change_map(&mut self, step: MapStep) {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Box::default());
        }
        if let Self::Map(map) = self {
            map.apply(step);
        }
    }

    /// Notes that Python knows what is there.
    pub(super) fn settle(&mut self) {
        if let Self::Map(map) = self {
            map.settled();
        }
    }
}

/// Kept items as a list.
pub fn list<'a>(items: &'a [Kept], arena: &'a Bump) -> Value<'a> {
    Value::List(arena.alloc_slice_fill_iter(items.iter().map(Kept::value)))
}

/// How many items at the most are dropped between two that stay.
const MOST_DROPPED: usize = 4;

/// A list in the place of another one. Items of that one that come in the same order, few others between them, stay as they
/// are. O(items).
pub(super) fn replaced(before: &[Kept], items: &[Value<'_>]) -> Result<Vec<Result<usize, Kept>>, Doubt> {
    let mut next = 0;
    let mut place = |item: Value<'_>| match before[next..].iter().take(MOST_DROPPED).position(|kept| kept.is(item)) {
        Some(at) => {
            next += at + 1;
            Ok(Ok(next - 1))
        }
        None => Ok(Err(Kept::new(item)?)),
    };
    let mut all = Vec::with_capacity(items.len());
    for &item in items {
        all.push(place(item)?);
    }
    Ok(all)
}
