//! Lists and sets that functions change in place: what accumulators are made of. They live from call to call, each in one
//! place: as an accumulator, or in one list.
//!
//! What a call changes can be taken back ([`Heap::rollback`]), as the call may end in doubt.

mod items;
mod trees;

use bumpalo::Bump;
use foldhash::fast::FixedState;

use self::items::{Elements, Item, add_int, element, item, place, value};

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
}
