//! Lists, sets and dicts that functions change in place: what accumulators are made of. They live from call to call, each in one
//! place: as an accumulator, or in one list.
//!
//! What a call changes can be taken back ([`Heap::rollback`]), as the call may end in doubt.

mod items;
mod pairs;
mod steps;
mod trees;
mod unions;

use bumpalo::Bump;
use foldhash::fast::FixedState;

use self::items::{Elements, Item, add_int, element, item, place, value};
use self::pairs::Pairs;
use self::steps::Step;

use crate::program::Comparison;
use crate::value::{Doubt, Value};

pub use self::trees::Tree;

/// Objects at the most.
const MOST: usize = 1 << 31;
/// Items of a list or set at the most.
const MOST_ITEMS: usize = 1 << 30;
/// How deep lists and tuples may be nested.
const DEPTH: usize = 64;

#[derive(Debug)]
enum Object {
    Free,
    List(Vec<Item>),
    Set(Elements),
    Dict(Pairs),
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
            Value::Dict(entries) => {
                let place = entries.as_ptr().cast();
                if lists.contains(&place) {
                    return Err(Doubt);
                }
                lists.push(place);
                let (mut pairs, hasher) = (Pairs::default(), self.hasher.clone());
                for &(key, value) in entries {
                    let (key, value) = (element(key)?, self.placed_item(value, lists, depth)?);
                    pairs.push(key, value, &hasher);
                }
                self.made(Object::Dict(pairs))?
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
            Object::Dict(pairs) => pairs.len(),
            Object::Free => 0,
        }
    }

    /// How much memory all of them take, in bytes. O(items).
    pub fn memory(&self) -> usize {
        let of = |object: &Object| match object {
            Object::Free => 0,
            Object::List(items) => items.capacity() * size_of::<Item>() + items.iter().map(Item::memory).sum::<usize>(),
            Object::Set(elements) => elements.memory(),
            Object::Dict(pairs) => pairs.memory(),
        };
        self.objects.capacity() * size_of::<Object>() + self.objects.iter().map(of).sum::<usize>()
    }

    /// Whether it is a list.
    pub fn is_list(&self, number: u32) -> bool {
        matches!(self.objects[number as usize], Object::List(_))
    }

    /// Whether it is a set.
    pub fn is_set(&self, number: u32) -> bool {
        matches!(self.objects[number as usize], Object::Set(_))
    }

    /// Whether it is a dict.
    pub fn is_dict(&self, number: u32) -> bool {
        matches!(self.objects[number as usize], Object::Dict(_))
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

    /// The item of a list at a place, which may be counted from the end; or what a dict has for a key. Doubt: there is none.
    pub fn item<'a>(&self, number: u32, at: Value<'_>, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        match (&self.objects[number as usize], at) {
            (Object::List(items), Value::Int(at)) => Ok(value(&items[place(at, items.len())?], arena)),
            _ => self.get(number, at, arena)?.ok_or(Doubt),
        }
    }

    /// What a dict has for a key, if it has the key.
    pub fn get<'a>(&self, number: u32, key: Value<'_>, arena: &'a Bump) -> Result<Option<Value<'a>>, Doubt> {
        let Object::Dict(pairs) = &self.objects[number as usize] else { return Err(Doubt) };
        Ok(pairs.find(&element(key)?, &self.hasher).map(|at| value(&pairs.items[at].1, arena)))
    }

    /// The items of a list, or the keys of a dict. While a loop goes through them it does not change.
    pub fn items<'a>(&mut self, number: u32, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
        let items = match &self.objects[number as usize] {
            Object::List(items) => arena.alloc_slice_fill_iter(items.iter().map(|item| value(item, arena))),
            Object::Dict(pairs) => arena.alloc_slice_fill_iter(pairs.items.iter().map(|(key, _)| value(key, arena))),
            Object::Set(_) | Object::Free => return Err(Doubt),
        };
        self.seen.push(number);
        Ok(items)
    }

    /// What is in a list or set, as a list, or in a dict.
    fn contents<'a>(&self, number: u32, arena: &'a Bump) -> Value<'a> {
        let all = |items: &[Item]| Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| value(item, arena))));
        match &self.objects[number as usize] {
            Object::List(items) | Object::Set(Elements::Mixed { items, .. }) => all(items),
            Object::Set(Elements::Ints { order, .. }) => {
                Value::List(arena.alloc_slice_fill_iter(order.iter().map(|&number| Value::Int(number))))
            }
            Object::Dict(pairs) => {
                let pairs = pairs.items.iter().map(|(key, own)| (value(key, arena), value(own, arena)));
                Value::Dict(arena.alloc_slice_fill_iter(pairs))
            }
            Object::Free => Value::None,
        }
    }

    /// A list or dict as one that nobody else has. Doubt: it is a set, or has a list, set or dict in it.
    pub fn copy<'a>(&mut self, number: u32, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let is_object = |value: &Value<'_>| matches!(value, Value::Object(_));
        let contents = self.contents(number, arena);
        let alone = match contents {
            Value::List(items) => !matches!(self.objects[number as usize], Object::Set(_)) && !items.iter().any(is_object),
            Value::Dict(entries) => !entries.iter().any(|(_, value)| is_object(value)),
            _ => false,
        };
        self.seen.push(number);
        if alone { Ok(contents) } else { Err(Doubt) }
    }

    /// Whether something is an element of a set or a key of a dict, if this is one.
    pub fn has(&self, number: u32, value: Value<'_>) -> Result<Option<bool>, Doubt> {
        Ok(match &self.objects[number as usize] {
            Object::Set(elements) => Some(elements.contains(&element(value)?, &self.hasher)),
            Object::Dict(pairs) => Some(pairs.find(&element(value)?, &self.hasher).is_some()),
            Object::List(_) | Object::Free => None,
        })
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
        self.append_item(number, new)
    }

    /// The same of a value that is new, with all lists and dicts in it.
    pub fn append_new(&mut self, number: u32, value: Value<'_>) -> Result<(), Doubt> {
        let new = self.placed_item(value, &mut Vec::new(), DEPTH)?;
        self.append_item(number, new)
    }

    fn append_item(&mut self, number: u32, new: Item) -> Result<(), Doubt> {
        let Object::List(items) = self.change(number)? else { return Err(Doubt) };
        if items.len() >= MOST_ITEMS {
            return Err(Doubt);
        }
        items.push(new);
        self.steps.push(Step::Appended(number));
        Ok(())
    }

    /// `list[index] = value`, or that of a dict. Doubt: a list, set or dict would be in another place, or in none.
    pub fn put(&mut self, number: u32, index: Value<'_>, value: Value<'_>) -> Result<(), Doubt> {
        if let Value::Object(_) = value {
            let arena = Bump::new();
            let is_same = matches!((self.item(number, index, &arena)?, value), (Value::Object(one), Value::Object(other)) if one == other);
            return if is_same { self.change(number).map(|_| ()) } else { Err(Doubt) };
        }
        self.put_item(number, index, item(value, DEPTH)?)
    }

    /// The same of a value that is new, with all lists and dicts in it.
    pub fn put_new(&mut self, number: u32, index: Value<'_>, value: Value<'_>) -> Result<(), Doubt> {
        let new = self.placed_item(value, &mut Vec::new(), DEPTH)?;
        self.put_item(number, index, new)
    }

    fn put_item(&mut self, number: u32, index: Value<'_>, new: Item) -> Result<(), Doubt> {
        let hasher = self.hasher.clone();
        let (at, place) = match (self.change(number)?, index) {
            (Object::List(items), Value::Int(at)) => {
                let at = place(at, items.len())?;
                (at, &mut items[at])
            }
            (Object::Dict(pairs), key) => {
                let key = element(key)?;
                let Some(at) = pairs.find(&key, &hasher) else {
                    if pairs.len() >= MOST_ITEMS {
                        return Err(Doubt);
                    }
                    pairs.push(key, new, &hasher);
                    self.steps.push(Step::Added(number));
                    return Ok(());
                };
                (at, &mut pairs.items[at].1)
            }
            _ => return Err(Doubt),
        };
        if matches!(place, Item::Object(_)) {
            return Err(Doubt);
        }
        let old = std::mem::replace(place, new);
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
}
