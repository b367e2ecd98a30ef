//! States with a time to live: the twin of `penstock.runtime.state.ttl`. A value is stored with the time of its last access:
//! that of a state, each item of a list, each entry of a map.

use bumpalo::collections::Vec as Items;

use super::draft;
use super::turn::{New, Turn};
use crate::program::{Change, Part};
use crate::value::{Doubt, Value};

/// How long the values of a state live, by the clock.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// In milliseconds.
    pub millis: i64,
    /// Whether reading is an access too.
    pub renews: bool,
    /// Whether a value that is over can be seen until it is removed.
    pub shows: bool,
    /// How many values each access looks at, of any keys.
    pub size: i64,
}

impl Life {
    /// Whether a value of this time is over.
    #[inline]
    pub fn is_over(self, stamp: i64, now: i64) -> bool {
        stamp.checked_add(self.millis).is_some_and(|end| end <= now)
    }

    /// Whether a stored value is over; one without a time never is.
    #[inline]
    pub fn has_ended(self, stored: Value<'_>, now: i64) -> bool {
        parts(stored).is_ok_and(|(_, stamp)| self.is_over(stamp, now))
    }
}

/// A stored value without its time, and this time.
#[inline]
pub fn parts(stored: Value<'_>) -> Result<(Value<'_>, i64), Doubt> {
    match stored {
        Value::Tuple(&[value, Value::Int(stamp)]) => Ok((value, stamp)),
        _ => Err(Doubt),
    }
}

/// Stored items without their times.
fn values<'a>(stored: &[Value<'a>], turn: &Turn<'a>) -> Result<Value<'a>, Doubt> {
    let mut items = Items::with_capacity_in(stored.len(), turn.arena);
    for &item in stored {
        items.push(parts(item)?.0);
    }
    Ok(Value::List(items.into_bump_slice()))
}

impl<'a> Turn<'a> {
    /// What is stored for a value that was accessed now.
    pub(super) fn stamped(&self, value: Value<'a>) -> Value<'a> {
        Value::Tuple(self.arena.alloc_slice_copy(&[value, Value::Int(self.when.now)]))
    }

    fn all_stamped(&self, items: &[Value<'a>]) -> &'a [Value<'a>] {
        self.arena.alloc_slice_fill_iter(items.iter().map(|&item| self.stamped(item)))
    }

    /// What a state shows that has one value. It is removed where it is over.
    pub(super) fn read_living(&mut self, state: usize, life: Life) -> Result<Option<Value<'a>>, Doubt> {
        self.sweep(state, life)?;
        if !self.is_full(state) {
            return Ok(None);
        }
        let (value, stamp) = parts(self.stored(state)?)?;
        if life.is_over(stamp, self.when.now) {
            self.empty(state);
            return Ok(life.shows.then_some(value));
        }
        if life.renews {
            self.set_whole(state, self.stamped(value));
        }
        Ok(Some(value))
    }

    /// What there is to add something to.
    pub(super) fn usable_living(&mut self, state: usize, life: Life) -> Result<Option<Value<'a>>, Doubt> {
        self.sweep(state, life)?;
        if !self.is_full(state) {
            return Ok(None);
        }
        let (value, stamp) = parts(self.stored(state)?)?;
        Ok(Some(value).filter(|_| life.shows || !life.is_over(stamp, self.when.now)))
    }

    /// What a list shows. Where all of it is over, or reading renews the rest, what is over is removed.
    pub(super) fn read_living_list(&mut self, state: usize, life: Life) -> Result<Value<'a>, Doubt> {
        self.sweep(state, life)?;
        let Value::List(stored) = self.stored(state)? else { return Err(Doubt) };
        if stored.is_empty() {
            return Ok(Value::List(&[]));
        }
        let mut live = Items::with_capacity_in(stored.len(), self.arena);
        live.extend(stored.iter().copied().filter(|&item| !life.has_ended(item, self.when.now)));
        let live = live.into_bump_slice();
        let Value::List(shown) = values(live, self)? else { return Err(Doubt) };
        if live.is_empty() {
            self.empty(state);
        } else if life.renews {
            self.set_whole(state, Value::List(self.all_stamped(shown)));
        } else if !life.shows && live.len() < stored.len() {
            self.set_whole(state, Value::List(live));
        }
        if life.shows { values(stored, self) } else { Ok(Value::List(shown)) }
    }

    /// What a map shows for a key. It is removed where it is over.
    pub(super) fn living_entry(&mut self, state: usize, key: Value<'a>, life: Life) -> Result<Option<Value<'a>>, Doubt> {
        self.sweep(state, life)?;
        let Some(stored) = self.stored_entry(state, key)? else { return Ok(None) };
        let (value, stamp) = parts(stored)?;
        if life.is_over(stamp, self.when.now) {
            self.set_entry(state, key, None)?;
            return Ok(life.shows.then_some(value));
        }
        if life.renews {
            self.set_entry(state, key, Some(self.stamped(value)))?;
        }
        Ok(Some(value))
    }

    /// The entries of a map as they are stored: hash, key and value.
    pub(super) fn stored_entries(&mut self, state: usize) -> Result<Items<'a, (u64, Value<'a>, Value<'a>)>, Doubt> {
        let mut entries = Items::new_in(self.arena);
        let map = self.map(state)?;
        match (self.new_of(state), map) {
            (Some(New::Map(draft)), _) => draft.entries(|hash, key, value| entries.push((hash, key, value))),
            (None, Some(map)) => entries.extend(map.entries().map(|(_, hash, key, value)| (hash, key.value(), value.value()))),
            _ => {}
        }
        Ok(entries)
    }

    /// Removes what is over from a map.
    pub(super) fn forget_entries(&mut self, state: usize, over: &[(u64, Value<'a>, Value<'a>)]) -> Result<(), Doubt> {
        for &(hash, key, _) in over {
            self.draft(state)?.set(hash, key, None)?;
        }
        self.empty_if_bare(state);
        Ok(())
    }

    /// What a map shows. What is over is removed.
    pub(super) fn living_entries(&mut self, state: usize, part: Part, life: Life) -> Result<Value<'a>, Doubt> {
        self.sweep(state, life)?;
        let (all, now, arena) = (self.stored_entries(state)?, self.when.now, self.arena);
        let (mut shown, mut over) = (Items::with_capacity_in(all.len(), arena), Items::new_in(arena));
        for entry in all {
            let (hash, key, stored) = entry;
            let (value, stamp) = parts(stored)?;
            let is_over = life.is_over(stamp, now);
            if is_over {
                over.push(entry);
            } else if life.renews {
                let stored = self.stamped(value);
                self.draft(state)?.set(hash, key, Some(stored))?;
            }
            if life.shows || !is_over {
                shown.push(draft::part_of(part, key, value, arena));
            }
        }
        if !over.is_empty() {
            self.forget_entries(state, &over)?;
        }
        Ok(Value::List(shown.into_bump_slice()))
    }

    /// Whether a map shows nothing. What is over before the first other entry is removed.
    pub(super) fn has_no_living(&mut self, state: usize, life: Life) -> Result<bool, Doubt> {
        self.sweep(state, life)?;
        if !life.shows && self.is_full(state) {
            let (all, now) = (self.stored_entries(state)?, self.when.now);
            let over = all.iter().take_while(|(_, _, stored)| life.has_ended(*stored, now)).count();
            if over > 0 {
                self.forget_entries(state, &all[..over])?;
            }
        }
        Ok(!self.is_full(state))
    }

    /// Changes a state; its values are accessed now.
    pub(super) fn change_living(&mut self, state: usize, change: Change, value: Value<'a>, life: Life) -> Result<(), Doubt> {
        match change {
            Change::Clear(_) => self.empty(state),
            Change::Store(_) => {
                let (_, stamp) = parts(self.stored(state)?)?;
                let stored = Value::Tuple(self.arena.alloc_slice_copy(&[value, Value::Int(stamp)]));
                self.set_whole(state, stored);
            }
            Change::Combine(_) => self.set_whole(state, self.stamped(value)),
            _ => {
                self.sweep(state, life)?;
                return self.write_living(state, change, value);
            }
        }
        Ok(())
    }

    fn write_living(&mut self, state: usize, change: Change, value: Value<'a>) -> Result<(), Doubt> {
        match (change, value) {
            (Change::Update(_), Value::None) => self.empty(state),
            (Change::Update(_), _) => self.set_whole(state, self.stamped(value)),
            (Change::Add(_), _) => return self.extend(state, &[self.stamped(value)]),
            (Change::Extend(_), Value::List(items)) => return self.extend(state, self.all_stamped(items)),
            (Change::Replace(_), Value::List([])) => self.empty(state),
            (Change::Replace(_), Value::List(items)) => self.set_whole(state, Value::List(self.all_stamped(items))),
            (Change::PutAll(_), Value::Dict(entries)) => {
                return entries.iter().try_for_each(|&(key, value)| self.set_entry(state, key, Some(self.stamped(value))));
            }
            (Change::Remove(_), key) => return self.set_entry(state, key, None),
            _ => return Err(Doubt),
        }
        Ok(())
    }
}
