//! `sorted`, `min` and `max` by a key, and items of lists and dicts that a function changes.

use std::cmp::Ordering;

use bumpalo::collections::Vec as Items;

use super::{Frame, Machine};
use crate::program::{Expr, Keyed};
use crate::python;
use crate::value::{Doubt, Value};

type Pair<'a> = (Value<'a>, Value<'a>);

impl<'a> Machine<'a, '_> {
    /// Items behind what they are compared by, which is found for all of them before two are compared.
    fn keyed(&mut self, frame: &mut Frame<'a>, keyed: &'a Keyed, items: &'a [Value<'a>]) -> Result<Items<'a, Pair<'a>>, Doubt> {
        let mut pairs = Items::with_capacity_in(items.len(), self.arena);
        for &item in items {
            pairs.push((self.key_of(frame, keyed, item)?, item));
        }
        Ok(pairs)
    }

    fn key_of(&mut self, frame: &mut Frame<'a>, keyed: &'a Keyed, item: Value<'a>) -> Result<Value<'a>, Doubt> {
        let Some((target, key)) = &keyed.key else { return Ok(item) };
        self.step()?;
        self.assign(frame, target, item)?;
        self.eval(frame, key)
    }

    /// `sorted(items, key=…, reverse=…)`.
    pub(super) fn sorted(&mut self, frame: &mut Frame<'a>, keyed: &'a Keyed, reverse: &'a Expr) -> Result<Value<'a>, Doubt> {
        let items = self.items(frame, &keyed.items)?;
        let reverse = match self.eval(frame, reverse)? {
            Value::Bool(reverse) => reverse,
            Value::Int(number) if i32::try_from(number).is_ok() => number != 0, // others are errors before Python 3.13
            _ => return Err(Doubt),
        };
        let mut pairs = self.keyed(frame, keyed, items)?;
        python::sort_by_keys(self.arena, &mut pairs, reverse)?;
        self.bounded()?;
        Ok(Value::List(self.arena.alloc_slice_fill_iter(pairs.iter().map(|pair| pair.1))))
    }

    /// `insort(items, item, key=…)`: where the search of the module `bisect` leads to, also if the items are not sorted.
    pub(super) fn insorted(&mut self, frame: &mut Frame<'a>, keyed: &'a Keyed, item: &'a Expr, behind: bool) -> Result<Value<'a>, Doubt> {
        let Value::List(items) = self.eval(frame, &keyed.items)? else { return Err(Doubt) };
        let item = self.eval(frame, item)?;
        let wanted = self.key_of(frame, keyed, item)?;
        let (mut low, mut high) = (0, items.len());
        while low < high {
            let middle = low.midpoint(high);
            let key = self.key_of(frame, keyed, items[middle])?;
            let before = if behind {
                python::order(wanted, key)? == Some(Ordering::Less)
            } else {
                python::order(key, wanted)? != Some(Ordering::Less)
            };
            if before { high = middle } else { low = middle + 1 }
        }
        self.bounded()?;
        let mut grown = Items::with_capacity_in(items.len() + 1, self.arena);
        grown.extend_from_slice_copy(&items[..low]);
        grown.push(item);
        grown.extend_from_slice_copy(&items[low..]);
        Ok(Value::List(grown.into_bump_slice()))
    }

    /// `min` and `max`: the first of those whose key is the least or the greatest.
    pub(super) fn extreme(
        &mut self,
        frame: &mut Frame<'a>,
        wanted: Ordering,
        keyed: &'a Keyed,
        default: Option<&'a Expr>,
    ) -> Result<Value<'a>, Doubt> {
        let items = self.items(frame, &keyed.items)?;
        let default = default.map(|default| self.eval(frame, default)).transpose()?;
        let pairs = self.keyed(frame, keyed, items)?;
        let Some((first, rest)) = pairs.split_first() else { return default.ok_or(Doubt) };
        let mut best = *first;
        for pair in rest {
            if python::order(pair.0, best.0)? == Some(wanted) {
                best = *pair;
            }
        }
        Ok(best.1)
    }

    /// `local[index] = value`, of a list or dict that only the local has. What it was before stays as it is.
    pub(super) fn put(&mut self, frame: &mut Frame<'a>, local: u32, index: &'a Expr, value: &'a Expr) -> Result<(), Doubt> {
        let value = self.eval(frame, value)?;
        let index = self.eval(frame, index)?;
        let old = frame.locals[local as usize].ok_or(Doubt)?;
        frame.locals[local as usize] = Some(python::with_item(self.arena, old, index, value)?);
        self.bounded()
    }
}
