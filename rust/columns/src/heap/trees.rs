//! Accumulators by themselves, outside of a heap.

use bumpalo::Bump;
use ecow::EcoString;

use super::items::{Elements, Item};
use super::{DEPTH, Heap, Object};
use crate::value::{Doubt, Unit, Value};

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
    Text(EcoString),
    /// A `bytes`.
    Bytes(Box<[u8]>),
    /// A `date`, or a `datetime` without a time zone.
    Moment(Unit, i64),
    /// A `tuple`, without lists and sets.
    Tuple(Box<[Self]>),
    /// A `list`.
    List(Box<[Self]>),
    /// A `dict`, in the order in which its keys came.
    Dict(Box<[(Self, Self)]>),
    /// A `set`, in the order in which its elements were added.
    Set(Box<[Self]>),
}

impl Heap {
    /// An accumulator by itself. Recursive, to a fixed depth.
    pub fn tree(&self, number: u32) -> Tree {
        match &self.objects[number as usize] {
            Object::List(items) => Tree::List(items.iter().map(|item| self.tree_of(item)).collect()),
            Object::Set(Elements::Ints { order, .. }) => Tree::Set(order.iter().map(|&number| Tree::Int(number)).collect()),
            Object::Set(Elements::Mixed { items, .. }) => Tree::Set(items.iter().map(|item| self.tree_of(item)).collect()),
            Object::Dict(pairs) => Tree::Dict(pairs.items.iter().map(|(key, value)| (self.tree_of(key), self.tree_of(value))).collect()),
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
            Item::Moment(unit, number) => Tree::Moment(*unit, *number),
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
            Tree::Moment(unit, number) => Value::Moment(unit.moment(*number)),
            Tree::Tuple(items) => Value::Tuple(all(items)?),
            Tree::List(items) => Value::List(all(items)?),
            Tree::Dict(entries) => {
                let room = arena.alloc_slice_fill_copy(entries.len() + 1, (Value::None, Value::None)); // as of lists
                for (at, (key, value)) in entries.iter().enumerate() {
                    room[at] = (self.value_of(key, arena, depth)?, self.value_of(value, arena, depth)?);
                }
                Value::Dict(&room[..entries.len()])
            }
            Tree::Set(items) => {
                let items = all(items)?;
                let number = self.new_set()?;
                items.iter().try_for_each(|&item| self.add(number, item))?;
                Value::Object(number)
            }
        })
    }
}
