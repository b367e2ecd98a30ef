//! What is in lists and sets that functions change in place.

use std::hash::{BuildHasher, Hash, Hasher};

use bumpalo::Bump;
use ecow::EcoString;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::DEPTH;
use crate::value::{Doubt, Unit, Value, outside};

/// Integers of a set that are looked through one by one.
const FEW: usize = 16;

/// What is in a list or a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(EcoString),
    Bytes(Box<[u8]>),
    Moment(Unit, i64),
    Tuple(Box<[Item]>),
    /// A list or set, by its number.
    Object(u32),
}

impl Item {
    /// How much memory it takes elsewhere, in bytes, but for objects. Recursive, to a fixed depth.
    pub fn memory(&self) -> usize {
        match self {
            Self::Text(text) => outside(Value::Text(text)),
            Self::Bytes(bytes) => bytes.len(),
            Self::Tuple(items) => size_of_val(&**items) + items.iter().map(Self::memory).sum::<usize>(),
            _ => 0,
        }
    }
}

/// The elements of a set in the order in which they were added.
#[derive(Debug)]
pub enum Elements {
    /// All are integers, so far; the table is empty while there are few.
    Ints {
        order: Vec<i64>,
        known: HashTable<i64>,
    },
    Mixed {
        items: Vec<Item>,
        index: HashTable<u32>,
    },
}

impl Elements {
    pub fn new() -> Self {
        Self::Ints { order: Vec::new(), known: HashTable::new() }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Ints { order, .. } => order.len(),
            Self::Mixed { items, .. } => items.len(),
        }
    }

    /// How much memory they take elsewhere, in bytes. O(elements).
    pub fn memory(&self) -> usize {
        match self {
            Self::Ints { order, known } => order.capacity() * size_of::<i64>() + known.allocation_size(),
            Self::Mixed { items, index } => {
                let of_items: usize = items.iter().map(Item::memory).sum();
                items.capacity() * size_of::<Item>() + index.allocation_size() + of_items
            }
        }
    }

    pub fn contains(&self, element: &Item, hasher: &FixedState) -> bool {
        match (self, element) {
            (Self::Ints { order, .. }, Item::Int(number)) if order.len() <= FEW => order.contains(number),
            (Self::Ints { known, .. }, Item::Int(number)) => known.find(hash_of(hasher, *number), |other| other == number).is_some(),
            (Self::Ints { .. }, _) => false,
            (Self::Mixed { items, index }, element) => index.find(hash(hasher, element), |&at| items[at as usize] == *element).is_some(),
        }
    }

    /// Adds an element; whether it was not there.
    #[inline]
    pub fn add(&mut self, element: Item, hasher: &FixedState) -> bool {
        if let (Self::Ints { order, known }, &Item::Int(number)) = (&mut *self, &element) {
            return add_int(order, known, number, hasher);
        }
        if let Self::Ints { order, .. } = self {
            let items: Vec<Item> = order.iter().map(|&number| Item::Int(number)).collect();
            let mut index = HashTable::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                index.insert_unique(hash(hasher, item), at as u32, |&at| hash(hasher, &items[at as usize]));
            }
            *self = Self::Mixed { items, index };
        }
        let Self::Mixed { items, index } = self else { return false };
        let place = index.entry(hash(hasher, &element), |&at| items[at as usize] == element, |&at| hash(hasher, &items[at as usize]));
        let Entry::Vacant(place) = place else { return false };
        place.insert(items.len() as u32);
        items.push(element);
        true
    }

    /// Takes the last element out.
    pub fn pop(&mut self, hasher: &FixedState) {
        match self {
            Self::Ints { order, known } => {
                let Some(last) = order.pop() else { return };
                if order.len() <= FEW {
                    known.clear();
                    return;
                }
                if let Ok(entry) = known.find_entry(hash_of(hasher, last), |&other| other == last) {
                    entry.remove();
                }
            }
            Self::Mixed { items, index } => {
                let Some(last) = items.pop() else { return };
                let count = items.len();
                if let Ok(entry) = index.find_entry(hash(hasher, &last), |&at| at as usize == count) {
                    entry.remove();
                }
            }
        }
    }
}

/// Adds an integer to a set of integers; whether it was not there.
#[inline]
pub fn add_int(order: &mut Vec<i64>, known: &mut HashTable<i64>, number: i64, hasher: &FixedState) -> bool {
    if order.len() < FEW {
        let is_new = !order.contains(&number);
        if is_new {
            order.push(number);
        }
        return is_new;
    }
    let again = |&other: &i64| hash_of(hasher, other);
    if known.is_empty() {
        for &other in &*order {
            known.insert_unique(hash_of(hasher, other), other, again);
        }
    }
    let Entry::Vacant(place) = known.entry(hash_of(hasher, number), |&other| other == number, again) else { return false };
    place.insert(number);
    order.push(number);
    true
}

/// A value that cannot be changed, as an item. Recursive, to a fixed depth.
#[inline]
pub fn item(value: Value<'_>, depth: usize) -> Result<Item, Doubt> {
    Ok(match value {
        Value::None => Item::None,
        Value::Bool(flag) => Item::Bool(flag),
        Value::Int(number) => Item::Int(number),
        Value::Float(number) => Item::Float(number),
        Value::Text(text) => Item::Text(text.into()),
        Value::Bytes(bytes) => Item::Bytes(bytes.into()),
        Value::Tuple(items) => {
            let depth = depth.checked_sub(1).ok_or(Doubt)?;
            Item::Tuple(items.iter().map(|&value| item(value, depth)).collect::<Result<_, _>>()?)
        }
        Value::Moment(moment) => moment.number().map(|(unit, number)| Item::Moment(unit, number)).ok_or(Doubt)?,
        Value::List(_) | Value::Dict(_) | Value::Row(..) | Value::Object(_) => return Err(Doubt),
    })
}

/// The same as an element of a set: a text, an integer, a date or time, None, or a tuple of these. Others are equal to what is of another type.
pub fn element(value: Value<'_>) -> Result<Item, Doubt> {
    let new = item(value, DEPTH)?;
    if is_element(&new) { Ok(new) } else { Err(Doubt) }
}

fn is_element(item: &Item) -> bool {
    match item {
        Item::None | Item::Int(_) | Item::Text(_) | Item::Moment(..) => true,
        Item::Tuple(items) => items.iter().all(is_element),
        Item::Bool(_) | Item::Float(_) | Item::Bytes(_) | Item::Object(_) => false,
    }
}

#[inline]
fn hash_of(hasher: &FixedState, number: i64) -> u64 {
    hasher.hash_one(number)
}

pub fn hash(hasher: &FixedState, item: &Item) -> u64 {
    let mut state = hasher.build_hasher();
    hash_into(item, &mut state);
    state.finish()
}

fn hash_into(item: &Item, state: &mut impl Hasher) {
    match item {
        Item::Int(number) => number.hash(state),
        Item::Text(text) => text.hash(state),
        Item::Moment(_, number) => number.hash(state),
        Item::Tuple(items) => items.iter().for_each(|item| hash_into(item, state)),
        _ => 0_u8.hash(state),
    }
}

#[inline]
pub fn value<'a>(item: &Item, arena: &'a Bump) -> Value<'a> {
    match item {
        Item::None => Value::None,
        Item::Bool(flag) => Value::Bool(*flag),
        Item::Int(number) => Value::Int(*number),
        Item::Float(number) => Value::Float(*number),
        Item::Text(text) => Value::Text(arena.alloc_str(text)),
        Item::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
        Item::Moment(unit, number) => Value::Moment(unit.moment(*number)),
        Item::Tuple(items) => Value::Tuple(arena.alloc_slice_fill_iter(items.iter().map(|item| value(item, arena)))),
        Item::Object(number) => Value::Object(*number),
    }
}

/// A place counted from the beginning.
pub fn place(at: i64, length: usize) -> Result<usize, Doubt> {
    let place = if at < 0 { at + length as i64 } else { at };
    if (0..length as i64).contains(&place) { Ok(place as usize) } else { Err(Doubt) }
}
