//! Lists and sets that functions change in place: what accumulators are made of. They live from call to call, each in one
//! place: as an accumulator, or in one list.
//!
//! What a call changes can be taken back ([`Heap::rollback`]), as the call may end in doubt.

use bumpalo::Bump;
use compact_str::CompactString;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, Hash, Hasher};

use crate::program::Comparison;
use crate::value::{Doubt, Value};

/// Objects at the most.
const MOST: usize = 1 << 31;
/// Items of a list or set at the most.
const MOST_ITEMS: usize = 1 << 30;
/// How deep lists and tuples may be nested.
const DEPTH: usize = 64;
/// Integers of a set that are looked through one by one.
const FEW: usize = 16;

/// What is in a list or a set.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(CompactString),
    Bytes(Box<[u8]>),
    Tuple(Box<[Item]>),
    /// A list or set, by its number.
    Object(u32),
}

/// A value with lists and sets, outside of a heap.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `str`.
    Text(CompactString),
    /// A `bytes`.
    Bytes(Box<[u8]>),
    /// A `tuple`, without lists and sets.
    Tuple(Box<[Self]>),
    /// A `list`.
    List(Box<[Self]>),
    /// A `set`, in the order in which its elements were added.
    Set(Box<[Self]>),
}

#[derive(Debug)]
enum Object {
    Free,
    List(Vec<Item>),
    Set(Elements),
}

/// The elements of a set in the order in which they were added.
#[derive(Debug)]
enum Elements {
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
    fn new() -> Self {
        Self::Ints { order: Vec::new(), known: HashTable::new() }
    }

    fn len(&self) -> usize {
        match self {
            Self::Ints { order, .. } => order.len(),
            Self::Mixed { items, .. } => items.len(),
        }
    }

    fn contains(&self, element: &Item, hasher: &FixedState) -> bool {
        match (self, element) {
            (Self::Ints { order, .. }, Item::Int(number)) if order.len() <= FEW => order.contains(number),
            (Self::Ints { known, .. }, Item::Int(number)) => known.find(hash_of(hasher, *number), |other| other == number).is_some(),
            (Self::Ints { .. }, _) => false,
            (Self::Mixed { items, index }, element) => index.find(hash(hasher, element), |&at| items[at as usize] == *element).is_some(),
        }
    }

    /// Adds an element; whether it was not there.
    #[inline]
    fn add(&mut self, element: Item, hasher: &FixedState) -> bool {
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
    fn pop(&mut self, hasher: &FixedState) {
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
fn add_int(order: &mut Vec<i64>, known: &mut HashTable<i64>, number: i64, hasher: &FixedState) -> bool {
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

/// What a call has done.
#[derive(Debug)]
enum Step {
    /// An object is new.
    Made(u32),
    /// A list has an item more.
    Appended(u32),
    /// A list had this item there.
    Replaced(u32, usize, Item),
    /// A set has an element more.
    Added(u32),
}

/// All lists and sets of some accumulators. O(1) per change.
#[derive(Debug, Default)]
pub struct Heap {
    objects: Vec<Object>,
    /// Whether an object is an accumulator, or in a list.
    placed: Vec<bool>,
    free: Vec<u32>,
    steps: Vec<Step>,
    /// Lists whose items were looked at as a whole.
    seen: Vec<u32>,
    /// How many of these are gone through by a loop that goes on.
    locked: usize,
    hasher: FixedState,
}

impl Heap {
    /// A new set without elements.
    pub fn new_set(&mut self) -> Result<u32, Doubt> {
        self.made(Object::Set(Elements::new()))
    }

    fn made(&mut self, object: Object) -> Result<u32, Doubt> {
        let number = match self.free.pop() {
            Some(number) => {
                self.objects[number as usize] = object;
                self.placed[number as usize] = false;
                number
            }
            None if self.objects.len() < MOST => {
                self.objects.push(object);
                self.placed.push(false);
                (self.objects.len() - 1) as u32
            }
            None => return Err(Doubt),
        };
        self.steps.push(Step::Made(number));
        Ok(number)
    }

    /// Takes an accumulator that a function has made, and all lists in it. Doubt: it is no list or set, or one of its lists
    /// is in two places.
    pub fn adopt(&mut self, value: Value<'_>) -> Result<u32, Doubt> {
        match self.placed_item(value, &mut Vec::new(), DEPTH)? {
            Item::Object(number) => Ok(number),
            _ => Err(Doubt),
        }
    }

    /// Recursive, to a fixed depth.
    fn placed_item(&mut self, value: Value<'_>, lists: &mut Vec<*const ()>, depth: usize) -> Result<Item, Doubt> {
        let depth = depth.checked_sub(1).ok_or(Doubt)?;
        let number = match value {
            Value::List(items) => {
                let place = items.as_ptr().cast();
                if lists.contains(&place) {
                    return Err(Doubt);
                }
                lists.push(place);
                let items = items.iter().map(|&item| self.placed_item(item, lists, depth)).collect::<Result<_, _>>()?;
                self.made(Object::List(items))?
            }
            Value::Object(number) if !self.placed[number as usize] => number,
            Value::Object(_) => return Err(Doubt),
            value => return item(value, depth),
        };
        self.placed[number as usize] = true;
        Ok(Item::Object(number))
    }

    /// Whether it has this many items or elements.
    pub fn len(&self, number: u32) -> usize {
        match &self.objects[number as usize] {
            Object::List(items) => items.len(),
            Object::Set(elements) => elements.len(),
            Object::Free => 0,
        }
    }

    /// Whether it is a list.
    pub fn is_list(&self, number: u32) -> bool {
        matches!(self.objects[number as usize], Object::List(_))
    }

    /// The list or set at a place of a list.
    #[inline]
    pub fn inner(&self, number: u32, at: i64) -> Result<u32, Doubt> {
        let items = self.list(number)?;
        if let Item::Object(inner) = items[place(at, items.len())?] { Ok(inner) } else { Err(Doubt) }
    }

    /// The list or set at the end of a way through lists.
    pub fn within(&self, number: u32, path: &[i64]) -> Result<u32, Doubt> {
        path.iter().try_fold(number, |number, &at| self.inner(number, at))
    }

    /// `list[at] += value`, of numbers.
    #[inline]
    pub fn sum(&mut self, number: u32, at: i64, value: Value<'_>) -> Result<(), Doubt> {
        self.renew(number, at, |old| {
            Ok(Some(match (old, value) {
                (Item::Int(old), Value::Int(new)) => Item::Int(old.checked_add(new).ok_or(Doubt)?),
                (Item::Float(old), Value::Float(new)) => Item::Float(old + new),
                _ => return Err(Doubt),
            }))
        })
    }

    /// A number of a list becomes another one, if that compares so with it.
    #[inline]
    pub(crate) fn best(&mut self, number: u32, at: i64, comparison: Comparison, value: Value<'_>) -> Result<(), Doubt> {
        self.renew(number, at, |old| match (old, value) {
            (Item::Int(old), Value::Int(new)) => Ok(comparison.holds(&new, old).then_some(Item::Int(new))),
            (Item::Float(old), Value::Float(new)) => Ok(comparison.holds(&new, old).then_some(Item::Float(new))),
            _ => Err(Doubt),
        })
    }

    /// An item of a list becomes another one, if there is another one.
    #[inline]
    fn renew(&mut self, number: u32, at: i64, new: impl FnOnce(&Item) -> Result<Option<Item>, Doubt>) -> Result<(), Doubt> {
        let Object::List(items) = self.change(number)? else { return Err(Doubt) };
        let at = place(at, items.len())?;
        if let Some(new) = new(&items[at])? {
            let old = std::mem::replace(&mut items[at], new);
            self.steps.push(Step::Replaced(number, at, old));
        }
        Ok(())
    }

    fn list(&self, number: u32) -> Result<&[Item], Doubt> {
        if let Object::List(items) = &self.objects[number as usize] { Ok(items) } else { Err(Doubt) }
    }

    /// The item of a list at a place, which may be counted from the end.
    pub fn item<'a>(&self, number: u32, at: i64, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let items = self.list(number)?;
        Ok(value(&items[place(at, items.len())?], arena))
    }

    /// The items of a list. While a loop goes through them the list does not change.
    pub fn items<'a>(&mut self, number: u32, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
        let items = self.list(number)?;
        let items = arena.alloc_slice_fill_iter(items.iter().map(|item| value(item, arena)));
        self.seen.push(number);
        Ok(items)
    }

    /// A list as one that nobody else has. Doubt: it is a set, or has a list or set in it.
    pub fn copy<'a>(&mut self, number: u32, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let items = self.items(number, arena)?;
        if items.iter().any(|item| matches!(item, Value::Object(_))) { Err(Doubt) } else { Ok(Value::List(items)) }
    }

    /// Whether something is an element of a set, if this is one.
    pub fn has(&self, number: u32, value: Value<'_>) -> Result<Option<bool>, Doubt> {
        let Object::Set(elements) = &self.objects[number as usize] else { return Ok(None) };
        Ok(Some(elements.contains(&element(value)?, &self.hasher)))
    }

    /// Lets a loop begin; what it goes through is looked at next.
    pub fn begin_loop(&mut self) -> usize {
        self.seen.truncate(self.locked);
        self.locked
    }

    /// Locks what has been looked at since the loop began.
    pub fn lock(&mut self) {
        self.locked = self.seen.len();
    }

    /// A loop ends.
    pub fn end_loop(&mut self, before: usize) {
        self.locked = before;
        self.seen.truncate(before);
    }

    fn change(&mut self, number: u32) -> Result<&mut Object, Doubt> {
        if self.seen[..self.locked].contains(&number) {
            return Err(Doubt);
        }
        self.seen.truncate(self.locked);
        Ok(&mut self.objects[number as usize])
    }

    /// `list.append(value)`.
    pub fn append(&mut self, number: u32, value: Value<'_>) -> Result<(), Doubt> {
        let new = item(value, DEPTH)?;
        let Object::List(items) = self.change(number)? else { return Err(Doubt) };
        if items.len() >= MOST_ITEMS {
            return Err(Doubt);
        }
        items.push(new);
        self.steps.push(Step::Appended(number));
        Ok(())
    }

    /// `list[index] = value`.
    pub fn put(&mut self, number: u32, index: Value<'_>, value: Value<'_>) -> Result<(), Doubt> {
        let (Value::Int(at), new) = (index, item(value, DEPTH)?) else { return Err(Doubt) };
        let Object::List(items) = self.change(number)? else { return Err(Doubt) };
        let at = place(at, items.len())?;
        if matches!(items[at], Item::Object(_)) {
            return Err(Doubt);
        }
        let old = std::mem::replace(&mut items[at], new);
        self.steps.push(Step::Replaced(number, at, old));
        Ok(())
    }

    /// `set.add(value)`.
    pub fn add(&mut self, number: u32, value: Value<'_>) -> Result<(), Doubt> {
        let hasher = self.hasher.clone();
        let Object::Set(elements) = self.change(number)? else { return Err(Doubt) };
        if elements.len() >= MOST_ITEMS {
            return Err(Doubt);
        }
        let is_new = match (&mut *elements, value) {
            (Elements::Ints { order, known }, Value::Int(value)) => add_int(order, known, value, &hasher),
            (elements, value) => elements.add(element(value)?, &hasher),
        };
        if is_new {
            self.steps.push(Step::Added(number));
        }
        Ok(())
    }

    /// What has been done counts. Objects that are new and in no place are forgotten.
    pub fn commit(&mut self) {
        while let Some(step) = self.steps.pop() {
            if let Step::Made(number) = step
                && !self.placed[number as usize]
                && !matches!(self.objects[number as usize], Object::Free)
            {
                self.drop(number);
            }
        }
        self.seen.clear();
        self.locked = 0;
    }

    /// Takes back all that has been done since the last time that it counted.
    pub fn rollback(&mut self) {
        let hasher = self.hasher.clone();
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Made(number) => {
                    self.objects[number as usize] = Object::Free;
                    self.free.push(number);
                }
                Step::Appended(number) => {
                    if let Object::List(items) = &mut self.objects[number as usize] {
                        items.pop();
                    }
                }
                Step::Replaced(number, at, old) => {
                    if let Object::List(items) = &mut self.objects[number as usize] {
                        items[at] = old;
                    }
                }
                Step::Added(number) => {
                    if let Object::Set(elements) = &mut self.objects[number as usize] {
                        elements.pop(&hasher);
                    }
                }
            }
        }
        self.seen.clear();
        self.locked = 0;
    }

    /// Forgets an accumulator with all that is in it. Recursive, to a fixed depth.
    pub fn drop(&mut self, number: u32) {
        if let Object::List(items) = std::mem::replace(&mut self.objects[number as usize], Object::Free) {
            for item in items {
                if let Item::Object(inner) = item {
                    self.drop(inner);
                }
            }
        }
        self.free.push(number);
    }

    /// An accumulator by itself. Recursive, to a fixed depth.
    pub fn tree(&self, number: u32) -> Tree {
        match &self.objects[number as usize] {
            Object::List(items) => Tree::List(items.iter().map(|item| self.tree_of(item)).collect()),
            Object::Set(Elements::Ints { order, .. }) => Tree::Set(order.iter().map(|&number| Tree::Int(number)).collect()),
            Object::Set(Elements::Mixed { items, .. }) => Tree::Set(items.iter().map(|item| self.tree_of(item)).collect()),
            Object::Free => Tree::None,
        }
    }

    fn tree_of(&self, item: &Item) -> Tree {
        match item {
            Item::None => Tree::None,
            Item::Bool(flag) => Tree::Bool(*flag),
            Item::Int(number) => Tree::Int(*number),
            Item::Float(number) => Tree::Float(*number),
            Item::Text(text) => Tree::Text(text.clone()),
            Item::Bytes(bytes) => Tree::Bytes(bytes.clone()),
            Item::Tuple(items) => Tree::Tuple(items.iter().map(|item| self.tree_of(item)).collect()),
            Item::Object(number) => self.tree(*number),
        }
    }

    /// Takes an accumulator that was by itself. Doubt: it cannot be here.
    pub fn plant(&mut self, tree: &Tree) -> Result<u32, Doubt> {
        let arena = Bump::new();
        let value = self.value_of(tree, &arena, DEPTH)?;
        self.adopt(value)
    }

    /// Recursive, to a fixed depth.
    fn value_of<'a>(&mut self, tree: &Tree, arena: &'a Bump, depth: usize) -> Result<Value<'a>, Doubt> {
        let depth = depth.checked_sub(1).ok_or(Doubt)?;
        let mut all = |items: &[Tree]| {
            let room = arena.alloc_slice_fill_copy(items.len() + 1, Value::None); // so that each list is at a place of its own
            for (at, item) in items.iter().enumerate() {
                room[at] = self.value_of(item, arena, depth)?;
            }
            Ok(&room[..items.len()])
        };
        Ok(match tree {
            Tree::None => Value::None,
            Tree::Bool(flag) => Value::Bool(*flag),
            Tree::Int(number) => Value::Int(*number),
            Tree::Float(number) => Value::Float(*number),
            Tree::Text(text) => Value::Text(arena.alloc_str(text)),
            Tree::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
            Tree::Tuple(items) => Value::Tuple(all(items)?),
            Tree::List(items) => Value::List(all(items)?),
            Tree::Set(items) => {
                let items = all(items)?;
                let number = self.new_set()?;
                items.iter().try_for_each(|&item| self.add(number, item))?;
                Value::Object(number)
            }
        })
    }
}

/// A value that cannot be changed, as an item. Recursive, to a fixed depth.
#[inline]
fn item(value: Value<'_>, depth: usize) -> Result<Item, Doubt> {
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
        Value::List(_) | Value::Dict(_) | Value::Row(..) | Value::Moment(_) | Value::Object(_) => return Err(Doubt),
    })
}

/// The same as an element of a set: a text, an integer, None, or a tuple of these. Others are equal to what is of another type.
fn element(value: Value<'_>) -> Result<Item, Doubt> {
    let new = item(value, DEPTH)?;
    if is_element(&new) { Ok(new) } else { Err(Doubt) }
}

fn is_element(item: &Item) -> bool {
    match item {
        Item::None | Item::Int(_) | Item::Text(_) => true,
        Item::Tuple(items) => items.iter().all(is_element),
        Item::Bool(_) | Item::Float(_) | Item::Bytes(_) | Item::Object(_) => false,
    }
}

#[inline]
fn hash_of(hasher: &FixedState, number: i64) -> u64 {
    hasher.hash_one(number)
}

fn hash(hasher: &FixedState, item: &Item) -> u64 {
    let mut state = hasher.build_hasher();
    hash_into(item, &mut state);
    state.finish()
}

fn hash_into(item: &Item, state: &mut impl Hasher) {
    match item {
        Item::Int(number) => number.hash(state),
        Item::Text(text) => text.hash(state),
        Item::Tuple(items) => items.iter().for_each(|item| hash_into(item, state)),
        _ => 0_u8.hash(state),
    }
}

#[inline]
fn value<'a>(item: &Item, arena: &'a Bump) -> Value<'a> {
    match item {
        Item::None => Value::None,
        Item::Bool(flag) => Value::Bool(*flag),
        Item::Int(number) => Value::Int(*number),
        Item::Float(number) => Value::Float(*number),
        Item::Text(text) => Value::Text(arena.alloc_str(text)),
        Item::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
        Item::Tuple(items) => Value::Tuple(arena.alloc_slice_fill_iter(items.iter().map(|item| value(item, arena)))),
        Item::Object(number) => Value::Object(*number),
    }
}

/// A place counted from the beginning.
fn place(at: i64, length: usize) -> Result<usize, Doubt> {
    let place = if at < 0 { at + length as i64 } else { at };
    if (0..length as i64).contains(&place) { Ok(place as usize) } else { Err(Doubt) }
}
