//! Evaluation of programs on many records at a time, expression by expression.
//!
//! Nothing is evaluated that Python would not evaluate: where a branch could be in doubt that is not taken, or a function has
//! loops, the machine runs it record by record ([`rowwise`](Evaluator::rowwise)). Records are in doubt from one on: what is
//! behind it is left out, and its index is known.

mod addends;
mod arithmetic;
mod emit;
mod evaluate;
mod parts;
mod statements;
mod texts;

use bumpalo::Bump;

use crate::column::Column;
use crate::value::Value;

pub(crate) use addends::{grown, only_adds};
pub(crate) use evaluate::{Evaluator, evaluate, truths};
pub(crate) use parts::Exploded;

/// Values of an expression, one for each record. There may be more than are in use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Vector<'a> {
    /// The same for all.
    Same(Value<'a>),
    Ints(&'a [i64]),
    Floats(&'a [f64]),
    Bools(&'a [bool]),
    Texts(&'a [&'a str]),
    /// Tuples by field.
    Tuples(&'a [Self]),
    /// Lists of as many items each, by place.
    Arrays(&'a [Self]),
    /// Lists: where each ends, and the items of all.
    Lists(&'a [u32], &'a Self),
    /// What is in a column at some places, not read yet.
    Column(&'a Column, Places<'a>),
    /// Anything.
    Values(&'a [Value<'a>]),
}

/// Places in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places<'a> {
    /// From one on.
    From(usize),
    /// These.
    Picked(&'a [u32]),
}

impl Places<'_> {
    #[inline]
    pub(crate) fn at(self, index: usize) -> usize {
        match self {
            Self::From(start) => start + index,
            Self::Picked(places) => places[index] as usize,
        }
    }
}

impl<'a> Vector<'a> {
    /// One of the values; what it has around it is made in the arena.
    ///
    /// # Panics
    ///
    /// There are not so many.
    #[inline]
    pub(crate) fn get(self, index: usize, arena: &'a Bump) -> Value<'a> {
        match self {
            Self::Same(value) => value,
            Self::Ints(values) => Value::Int(values[index]),
            Self::Floats(values) => Value::Float(values[index]),
            Self::Bools(values) => Value::Bool(values[index]),
            Self::Texts(values) => Value::Text(values[index]),
            Self::Tuples(fields) => Value::Tuple(Self::all(fields, index, arena)),
            Self::Arrays([]) => Value::List(&arena.alloc_slice_fill_copy(1, Value::None)[..0]), // at a place of its own
            Self::Arrays(items) => Value::List(Self::all(items, index, arena)),
            Self::Lists(ends, items) => {
                let range = range(ends, index);
                Value::List(arena.alloc_slice_fill_iter(range.map(|item| items.get(item, arena))))
            }
            Self::Column(column, places) => column.get(places.at(index), arena),
            Self::Values(values) => values[index],
        }
    }
}

impl<'a> Vector<'a> {
    /// A value of each.
    fn all(vectors: &'a [Self], index: usize, arena: &'a Bump) -> &'a [Value<'a>] {
        let values = arena.alloc_slice_fill_copy(vectors.len(), Value::None);
        values.iter_mut().zip(vectors).for_each(|(value, vector)| vector.read_one(index, arena, value));
        values
    }

    /// Puts one of the values somewhere: without a copy of what was just made.
    #[inline]
    fn read_one(self, index: usize, arena: &'a Bump, into: &mut Value<'a>) {
        match self {
            Self::Ints(values) => *into = Value::Int(values[index]),
            Self::Texts(values) => *into = Value::Text(values[index]),
            Self::Column(column, places) => column.read(places.at(index), arena, into),
            vector => *into = vector.get(index, arena),
        }
    }
}

/// The items of a list.
#[inline]
pub(crate) fn range(ends: &[u32], index: usize) -> std::ops::Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    start..ends[index] as usize
}
