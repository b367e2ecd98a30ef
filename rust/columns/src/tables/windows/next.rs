//! What will be in windows after a record. Nothing changes before all of it is known.

use std::cell::RefCell;

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::contents::Ready;
use super::entries::{Entries, Window};
use crate::column::Refusal;
use crate::heap::Heap;
use crate::machine::Input;
use crate::tables::reduce::field;
use crate::value::{Doubt, Value};

/// What a window will have in it.
#[derive(Clone, Copy)]
pub(super) enum Next<'a> {
    /// The integer in a field.
    Int(usize, i64),
    Whole(Value<'a>),
    /// A record more.
    Record(Value<'a>),
    /// An accumulator that is changed in place.
    Root(u32),
}

impl Entries {
    /// What will be in a window after a record; `shown`: whether it is to be shown then.
    #[inline]
    pub(super) fn next<'a>(
        &mut self,
        ready: &Ready<'a>,
        number: Option<usize>,
        shown: bool,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Doubt> {
        if self.elements.is_some() {
            let record = record.value(arena);
            return if self.admits(key, Value::List(&[record])) { Ok(Next::Record(record)) } else { Err(Doubt) };
        }
        if let (Some((position, fold)), Some(number), false) = (ready.folded(), number, shown)
            && let Some(old) = self.field_int(number, position)
            && let new @ Value::Int(_) = field(record, position, arena)?
            && let Value::Int(value) = fold.apply(Value::Int(old), new, arena)?
        {
            return Ok(Next::Int(position, value));
        }
        if self.objects.is_some() {
            let current = number.and_then(|number| self.root(number));
            let root = self.with_heap(|heap| ready.change(current, record, heap, arena))?;
            let admitted = number.is_some() || self.admits(key, Value::None);
            return if admitted { Ok(Next::Root(root)) } else { Err(Doubt) };
        }
        let current = number.and_then(|number| self.value(number, arena));
        let value = ready.add(current, record, arena)?.copied(arena);
        let admitted = if number.is_some() { self.admits_value(value) } else { self.admits(key, value) };
        if admitted { Ok(Next::Whole(value)) } else { Err(Doubt) }
    }

    /// Puts into a window what will be there. `kept`: the number of the record, if another window has it.
    #[inline]
    pub(super) fn put(&mut self, number: usize, next: &Next<'_>, kept: &mut Option<u32>) {
        match *next {
            Next::Int(position, value) => self.set_field(number, position, Value::Int(value)),
            Next::Whole(value) => self.set(number, value),
            Next::Root(root) => self.set_root(number, root),
            Next::Record(record) => {
                let record = *kept.get_or_insert_with(|| self.keep(record));
                self.add(number, record);
            }
        }
    }

    /// The window that one becomes with those of its key that it touches, and these.
    pub(super) fn touching<'a>(&self, window: Window, hash: u64, key: Value<'_>, arena: &'a Bump) -> (Window, Items<'a, (Window, usize)>) {
        let (mut whole, mut parts) = (window, Items::new_in(arena));
        for number in self.of_key(hash, key) {
            let part = self.window(number);
            if part.start <= window.end && part.end >= window.start {
                whole = Window { start: whole.start.min(part.start), end: whole.end.max(part.end) };
                parts.push((part, number));
            }
        }
        (whole, parts)
    }

    /// What will be in a window that others become, after a record. What is in the others is merged in order, and then with
    /// what is in the first.
    pub(super) fn next_merged<'a>(
        &mut self,
        ready: &Ready<'a>,
        parts: &[(Window, usize)],
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Refusal> {
        let (first, others) = parts.split_first().ok_or(Doubt)?;
        if self.elements.is_some() {
            return Ok(self.next(ready, Some(first.1), true, key, record, arena)?);
        }
        if self.objects.is_some() {
            return Ok(Next::Root(self.merged_root(ready, parts, key, record, arena)?));
        }
        let contents = |number: usize| Some(self.value(number, arena)?.copied(arena));
        let mut merged = None;
        for &(_, other) in others {
            merged = joined(ready, merged, contents(other), arena)?;
        }
        merged = joined(ready, contents(first.1), merged, arena)?;
        let value = ready.add(merged, record, arena)?.copied(arena);
        if self.admits(key, value) { Ok(Next::Whole(value)) } else { Err(Refusal::Doubt) }
    }

    /// The same where accumulators are changed in place.
    fn merged_root<'a>(
        &mut self,
        ready: &Ready<'a>,
        parts: &[(Window, usize)],
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<u32, Doubt> {
        let roots = &*arena.alloc_slice_fill_iter(parts.iter().map(|&(_, part)| self.root(part)));
        let known = arena.alloc_slice_fill_iter(roots.iter().map(|root| root.unwrap_or(u32::MAX)));
        let joining = Joining { ready, roots: known, arena };
        let root = self.with_heap(|heap| {
            let (&first, others) = roots.split_first().ok_or(Doubt)?;
            let merged = others.iter().try_fold(None, |merged, &other| joining.join(heap, merged, other))?;
            let merged = joining.join(heap, first, merged)?;
            let root = ready.change(merged, record, heap, arena)?;
            merged.into_iter().for_each(|old| joining.forget(heap, old, root));
            Ok(root)
        })?;
        if self.admits(key, Value::None) { Ok(root) } else { Err(Doubt) }
    }
}

/// Joins accumulators that are changed in place. One that is neither among the first ones nor wanted any more is forgotten.
struct Joining<'j, 'a> {
    ready: &'j Ready<'a>,
    roots: &'j [u32],
    arena: &'a Bump,
}

impl Joining<'_, '_> {
    fn join<'h>(&self, heap: &'h RefCell<&'h mut Heap>, one: Option<u32>, other: Option<u32>) -> Result<Option<u32>, Doubt> {
        let (Some(first), Some(second)) = (one, other) else { return Ok(one.or(other)) };
        let joined = self.ready.merge_in_place((first, second), heap, self.arena)?;
        [first, second].into_iter().for_each(|old| self.forget(heap, old, joined));
        Ok(Some(joined))
    }

    fn forget<'h>(&self, heap: &'h RefCell<&'h mut Heap>, old: u32, new: u32) {
        if old != new && !self.roots.contains(&old) {
            heap.borrow_mut().drop(old);
        }
    }
}

fn joined<'a>(ready: &Ready<'a>, one: Option<Value<'a>>, other: Option<Value<'a>>, arena: &'a Bump) -> Result<Option<Value<'a>>, Doubt> {
    match (one, other) {
        (Some(one), Some(other)) => ready.merge(one, other, arena).map(Some),
        _ => Ok(one.or(other)),
    }
}
