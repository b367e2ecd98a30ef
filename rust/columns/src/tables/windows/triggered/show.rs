//! What windows show, and which records evictors leave in them.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::turn::Run;
use crate::tables::reduce::Fold;
use crate::tables::windows::next::Next;
use crate::value::{Doubt, Value};

/// What a window shows, and the records that an evictor leaves.
pub(super) struct Shown<'a> {
    pub value: Value<'a>,
    pub left: Option<&'a [Value<'a>]>,
}

impl<'r> Run<'r> {
    /// The records that an evictor leaves, if they can be in a window.
    pub(super) fn admitted<'a>(&mut self, key: Value<'a>, left: Option<&'a [Value<'a>]>) -> Result<Option<&'a [Value<'a>]>, Doubt> {
        let admitted = left.is_none_or(|left| self.state.entries.admits(key, Value::List(left)));
        if admitted { Ok(left) } else { Err(Doubt) }
    }

    /// What a window shows that will have this; `numbers`: the windows whose records come before a new one; and whether that
    /// stays there.
    pub(super) fn shown<'a>(&mut self, next: Next<'a>, numbers: &[usize], goes_on: bool, arena: &'a Bump) -> Result<Shown<'a>, Doubt>
    where
        'r: 'a,
    {
        match next {
            Next::Whole(value) => Ok(Shown { value: self.ready.result(value, arena)?, left: None }),
            Next::Record(record) => {
                let records = self.state.entries.list(numbers.iter().copied(), record, arena).copied(arena);
                let Value::List(records) = records else { return Err(Doubt) };
                self.shown_of(records, arena)
            }
            Next::Root(root) => self.shown_root(root, goes_on, arena),
            Next::Int(..) => Err(Doubt),
        }
    }

    /// What a window with these records shows, and which of them an evictor leaves.
    fn shown_of<'a>(&self, records: &'a [Value<'a>], arena: &'a Bump) -> Result<Shown<'a>, Doubt>
    where
        'r: 'a,
    {
        let Some((evictor, constants)) = self.evictor else { return Ok(Shown { value: Value::List(records), left: None }) };
        let records = if evictor.after { records } else { evictor.evicted(constants, records, arena)? };
        let plain = if evictor.is_timed() { plain(records, arena)? } else { records };
        let value = self.ready.reduced(plain, arena)?;
        let mut left = records;
        if matches!(self.ready.folded(), Some((_, Fold::Min | Fold::Max))) && !records.is_empty() {
            left = with_first(records, value, evictor.is_timed(), arena); // where Flink writes it
        }
        let left = if evictor.after { evictor.evicted(constants, left, arena)? } else { left };
        Ok(Shown { value, left: Some(left) })
    }

    /// What an accumulator shows that is changed in place.
    fn shown_root<'a>(&mut self, root: u32, goes_on: bool, arena: &'a Bump) -> Result<Shown<'a>, Doubt>
    where
        'r: 'a,
    {
        let ready = self.ready;
        let value = self.state.entries.with_heap(|heap| ready.result_of(root, goes_on, heap, arena))?;
        Ok(Shown { value, left: None })
    }

    /// What a window shows, if something is in it; and whether that stays there.
    pub(super) fn contents<'a>(&mut self, number: usize, goes_on: bool, arena: &'a Bump) -> Result<Option<Shown<'a>>, Doubt>
    where
        'r: 'a,
    {
        if let Some(root) = self.state.entries.root(number) {
            return self.shown_root(root, goes_on, arena).map(Some);
        }
        let contents = self.state.entries.value(number, arena).map(|contents| contents.copied(arena));
        Ok(match contents {
            None => None,
            Some(Value::List(records)) if self.state.entries.elements.is_some() => Some(self.shown_of(records, arena)?),
            Some(value) => Some(Shown { value: self.ready.result(value, arena)?, left: None }),
        })
    }
}

/// Records without their timestamps.
fn plain<'a>(records: &'a [Value<'a>], arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
    let mut values = Items::with_capacity_in(records.len(), arena);
    for record in records {
        let &Value::Tuple(&[value, _]) = record else { return Err(Doubt) };
        values.push(value);
    }
    Ok(values.into_bump_slice())
}

/// The same records, but for the first one, which keeps its timestamp.
fn with_first<'a>(records: &'a [Value<'a>], first: Value<'a>, timed: bool, arena: &'a Bump) -> &'a [Value<'a>] {
    let records = arena.alloc_slice_copy(records);
    records[0] = match records[0] {
        Value::Tuple(&[_, time]) if timed => Value::Tuple(arena.alloc([first, time])),
        _ => first,
    };
    records
}
