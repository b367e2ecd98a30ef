//! What a function reads and changes for one record or timer.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::Kind;
use super::changes::Changes;
use super::draft::{self, Draft};
use super::held::{Held, Step, list, replaced};
use super::life::Life;
use super::map::Map;
use super::store::Store;
use super::sweep::Swept;
use crate::machine::Context;
use crate::program::{Around, Asked, Change, Domain, Part};
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// When a function is called.
#[derive(Clone, Copy)]
pub(super) struct When {
    /// The time of the record or the timer.
    pub time: Option<i64>,
    /// That of the timer, if it is called for one.
    pub domain: Option<Domain>,
    pub watermark: i64,
    /// By the clock.
    pub now: i64,
}

/// The state of a key, as the function sees it: nothing changes before it has ended.
pub(super) struct Turn<'a> {
    pub(super) store: &'a Store,
    /// The number of the key, if it has one.
    pub(super) number: Option<usize>,
    key: Value<'a>,
    pub(super) when: When,
    pub(super) arena: &'a Bump,
    /// Of each state; empty until one of them needs it, as most records do no more than to read.
    own: &'a mut [Own<'a>],
    /// How far the look at values that expire has come.
    pub(super) swept: Vec<Swept>,
    /// By state and number: where values are removed by that. Others than those of the key.
    pub(super) trimmed: Vec<(usize, usize)>,
    timers: Items<'a, (Domain, bool, i64)>,
    /// Results for side outputs: tag, value, and how many other results came before.
    pub(super) sides: Items<'a, (u32, Value<'a>, usize)>,
}

/// A state of the key.
pub(super) struct Own<'a> {
    /// What was in it before, if it has been read.
    before: Option<Value<'a>>,
    pub(super) new: New<'a>,
    /// What it had when it was asked whether it has something.
    shown: Option<Value<'a>>,
    /// Whether it had nothing for a while, and its values expire: it comes behind those of other keys then.
    pub(super) emptied: bool,
}

/// What a state will have.
pub(super) enum New<'a> {
    /// The same as before.
    Same,
    Whole(Value<'a>),
    /// Items more than before.
    More(Items<'a, Value<'a>>),
    Map(&'a mut Draft<'a>),
    Nothing,
}

impl<'a> Turn<'a> {
    pub(super) fn new((store, number): (&'a Store, Option<usize>), key: Value<'a>, when: When, arena: &'a Bump) -> Self {
        let (timers, sides) = (Items::new_in(arena), Items::new_in(arena));
        Self { store, number, key, when, arena, own: &mut [], swept: Vec::new(), trimmed: Vec::new(), timers, sides }
    }

    /// What is known of a state of the key.
    pub(super) fn own(&mut self, state: usize) -> &mut Own<'a> {
        if self.own.is_empty() {
            let nothing = |_| Own { before: None, new: New::Same, shown: None, emptied: false };
            self.own = self.arena.alloc_slice_fill_with(self.store.kinds.len(), nothing);
        }
        &mut self.own[state]
    }

    /// What a state will have; `None` where it stays as it was before.
    #[inline]
    pub(super) fn new_of(&self, state: usize) -> Option<&New<'a>> {
        self.own.get(state).map(|own| &own.new).filter(|new| !matches!(new, New::Same))
    }

    /// Whether the state had nothing for a while.
    pub(super) fn was_emptied(&self, state: usize) -> bool {
        self.own.get(state).is_some_and(|own| own.emptied)
    }

    fn life(&self, state: usize) -> Option<Life> {
        self.store.lives[state]
    }

    pub(super) fn is_list(&self, state: usize) -> bool {
        self.store.kinds[state] == Kind::List
    }

    /// Whether a state has something.
    pub(super) fn is_full(&self, state: usize) -> bool {
        match self.new_of(state) {
            None | Some(New::Same) => !matches!(self.held(state), Held::Nothing),
            Some(New::Nothing) => false,
            Some(New::Map(draft)) => !draft.is_empty(),
            Some(New::Whole(_) | New::More(_)) => true,
        }
    }

    /// Gives a state another value, or another list.
    pub(super) fn set_whole(&mut self, state: usize, value: Value<'a>) {
        self.own(state).new = New::Whole(value);
    }

    /// Takes everything out of a state whose values expire.
    pub(super) fn empty(&mut self, state: usize) {
        let own = self.own(state);
        (own.new, own.emptied) = (New::Nothing, true);
    }

    /// A map with nothing in it is as if there were none.
    pub(super) fn empty_if_bare(&mut self, state: usize) {
        if self.life(state).is_some() && !self.is_full(state) {
            self.empty(state);
        }
    }

    pub(super) fn held(&self, state: usize) -> &'a Held {
        self.number.map_or(&Held::Nothing, |number| self.store.held(state, number))
    }

    fn before(&mut self, state: usize) -> Value<'a> {
        if let Some(before) = self.own(state).before {
            return before;
        }
        let before = match self.held(state) {
            Held::Value(value) => value.value(),
            Held::List(items) => list(items, self.arena),
            Held::Nothing => self.of_nothing(state),
            Held::Map(_) | Held::Buffer(_) => Value::None,
        };
        self.own(state).before = Some(before);
        before
    }

    /// What a state shows that has nothing.
    fn of_nothing(&self, state: usize) -> Value<'a> {
        if self.is_list(state) {
            return Value::List(&[]);
        }
        self.store.defaults[state].as_ref().map_or(Value::None, |default| default.get(0, self.arena))
    }

    /// What a state has, with times where its values expire.
    pub(super) fn stored(&mut self, state: usize) -> Result<Value<'a>, Doubt> {
        Ok(match self.new_of(state) {
            None | Some(New::Same) => self.before(state),
            Some(New::Whole(value)) => *value,
            Some(New::Map(_)) => return Err(Doubt),
            Some(New::Nothing) => self.of_nothing(state),
            Some(New::More(more)) => {
                let before: &[Kept] = if let Held::List(before) = self.held(state) { before } else { &[] };
                let mut items = Items::with_capacity_in(before.len() + more.len(), self.arena);
                items.extend(before.iter().map(Kept::value));
                items.extend_from_slice_copy(more);
                Value::List(items.into_bump_slice())
            }
        })
    }

    pub(super) fn extend(&mut self, state: usize, items: &[Value<'a>]) -> Result<(), Doubt> {
        if self.store.kinds[state] != Kind::List {
            return Err(Doubt);
        }
        if items.is_empty() {
            return Ok(());
        }
        let arena = self.arena;
        let own = &mut self.own(state).new;
        match own {
            New::More(more) => more.extend_from_slice_copy(items),
            New::Same => {
                let mut more = Items::with_capacity_in(items.len(), arena);
                more.extend_from_slice_copy(items);
                *own = New::More(more);
            }
            New::Nothing => *own = New::Whole(Value::List(arena.alloc_slice_copy(items))),
            New::Whole(Value::List(old)) => *own = New::Whole(together(old, items, arena)),
            New::Whole(_) | New::Map(_) => return Err(Doubt),
        }
        Ok(())
    }

    /// The map that was there before.
    pub(super) fn map(&self, state: usize) -> Result<Option<&'a Map>, Doubt> {
        match self.held(state) {
            _ if self.store.kinds[state] != Kind::Map => Err(Doubt),
            Held::Map(map) => Ok(Some(map)),
            _ => Ok(None),
        }
    }

    /// The map as it becomes.
    pub(super) fn draft(&mut self, state: usize) -> Result<&mut Draft<'a>, Doubt> {
        let map = self.map(state)?;
        let arena = self.arena;
        let new = &mut self.own(state).new;
        match new {
            New::Same => *new = New::Map(arena.alloc(Draft::new(map, arena))),
            New::Nothing => *new = New::Map(arena.alloc(Draft::new(None, arena))),
            _ => {}
        }
        if let New::Map(draft) = new { Ok(draft) } else { Err(Doubt) }
    }

    /// What a map has for a key, with its time where values expire.
    pub(super) fn stored_entry(&self, state: usize, key: Value<'a>) -> Result<Option<Value<'a>>, Doubt> {
        let hash = self.store.entry_hash(key)?;
        let map = self.map(state)?;
        match (self.new_of(state), map) {
            (Some(New::Map(draft)), _) => draft.get(hash, key),
            (None, Some(map)) => Ok(map.find(hash, key)?.and_then(|place| map.value(place)).map(Kept::value)),
            _ => Ok(None),
        }
    }

    /// Sets what a map has for a key, or removes it.
    pub(super) fn set_entry(&mut self, state: usize, key: Value<'a>, value: Option<Value<'a>>) -> Result<(), Doubt> {
        let hash = self.store.entry_hash(key)?;
        self.draft(state)?.set(hash, key, value)?;
        if value.is_none() {
            self.empty_if_bare(state);
        }
        Ok(())
    }

    /// Adds what is to be done now that the function has ended.
    pub(super) fn note(&mut self, changes: &mut Changes) -> Result<(), Doubt> {
        for (state, own) in self.own.iter().enumerate() {
            let is_again = own.emptied && !matches!(own.new, New::Nothing) && !matches!(self.held(state), Held::Nothing);
            if is_again {
                changes.states.push((state, Step::Clear));
            }
            let step = match &own.new {
                New::Same => continue,
                New::Whole(Value::List(items)) if self.store.kinds[state] == Kind::List => {
                    let before: &[Kept] = if let (Held::List(before), false) = (self.held(state), is_again) { before } else { &[] };
                    Step::Replace(replaced(before, items)?)
                }
                New::Whole(value) => Step::Set(Kept::new(*value)?),
                New::More(items) => Step::Add(items.iter().map(|&item| Kept::new(item)).collect::<Result<_, _>>()?),
                New::Map(draft) if draft.is_same() => continue,
                New::Map(draft) if draft.is_empty() => Step::Clear,
                New::Map(draft) => Step::Map(Box::new(draft.step()?)),
                New::Nothing => Step::Clear,
            };
            changes.states.push((state, step));
        }
        changes.timers.extend_from_slice(&self.timers);
        if !self.swept.is_empty() {
            changes.swept.append(&mut self.swept);
            changes.trimmed.append(&mut self.trimmed);
        }
        Ok(())
    }
}

impl<'a> Context<'a> for Turn<'a> {
    fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt> {
        match around {
            Around::Key => Ok(self.key),
            Around::Time => self.when.time.map(Value::Int).ok_or(Doubt),
            Around::Watermark => Ok(Value::Int(self.when.watermark)),
            Around::Now => Ok(Value::Int(self.when.now)),
            Around::Domain => Ok(self.when.domain.map_or(Value::None, |domain| Value::Int(i64::from(domain == Domain::Clock)))),
            Around::Left | Around::Right => Err(Doubt),
        }
    }

    fn state(&mut self, number: u32) -> Result<Value<'a>, Doubt> {
        let state = number as usize;
        if let (None, Held::Value(value), None) = (self.new_of(state), self.held(state), self.life(state)) {
            return Ok(value.value());
        }
        match self.life(state) {
            None => self.stored(state),
            Some(life) if self.is_list(state) => self.read_living_list(state, life),
            Some(life) => Ok(self.read_living(state, life)?.unwrap_or(Value::None)),
        }
    }

    fn has(&mut self, state: u32, asked: Asked) -> Result<bool, Doubt> {
        let state = state as usize;
        let shown = match (asked, self.life(state)) {
            (Asked::Held, _) => return Ok(self.is_full(state)),
            (_, None) if self.is_full(state) => Some(self.stored(state)?),
            (_, None) => None,
            (Asked::Readable, Some(life)) => self.read_living(state, life)?,
            (Asked::Usable, Some(life)) => self.usable_living(state, life)?,
        };
        self.own(state).shown = shown;
        Ok(shown.is_some())
    }

    fn shown(&mut self, state: u32) -> Result<Value<'a>, Doubt> {
        self.own(state as usize).shown.ok_or(Doubt)
    }

    fn entry(&mut self, state: u32, key: Value<'a>) -> Result<Option<Value<'a>>, Doubt> {
        match self.life(state as usize) {
            None => self.stored_entry(state as usize, key),
            Some(life) => self.living_entry(state as usize, key, life),
        }
    }

    fn has_no_entries(&mut self, state: u32) -> Result<bool, Doubt> {
        if let Some(life) = self.life(state as usize) {
            return self.has_no_living(state as usize, life);
        }
        let map = self.map(state as usize)?;
        Ok(match self.new_of(state as usize) {
            Some(New::Map(draft)) => draft.is_empty(),
            None => map.is_none_or(Map::is_empty),
            _ => true,
        })
    }

    fn entries(&mut self, state: u32, part: Part) -> Result<Value<'a>, Doubt> {
        if let Some(life) = self.life(state as usize) {
            return self.living_entries(state as usize, part, life);
        }
        let map = self.map(state as usize)?;
        Ok(match (self.new_of(state as usize), map) {
            (Some(New::Map(draft)), _) => draft.list(part, self.arena),
            (None, Some(map)) => draft::list(map, part, self.arena),
            _ => Value::List(&[]),
        })
    }

    fn put_entry(&mut self, state: u32, key: Value<'a>, value: Option<Value<'a>>) -> Result<(), Doubt> {
        let state = state as usize;
        let Some(life) = self.life(state) else { return self.set_entry(state, key, value) };
        self.sweep(state, life)?;
        let value = value.map(|value| self.stamped(value));
        self.set_entry(state, key, value)
    }

    fn change(&mut self, change: Change, value: Value<'a>) -> Result<(), Doubt> {
        if let Some((state, life)) = change.state().and_then(|state| self.life(state).map(|life| (state, life))) {
            return self.change_living(state, change, value, life);
        }
        match change {
            Change::Update(state) if self.store.kinds[state as usize] == Kind::Value => {
                self.own(state as usize).new = if matches!(value, Value::None) { New::Nothing } else { New::Whole(value) };
            }
            Change::Store(state) | Change::Combine(state) if self.store.kinds[state as usize] == Kind::Value => {
                self.set_whole(state as usize, value);
            }
            Change::Add(state) => self.extend(state as usize, &[value])?,
            Change::Extend(state) => {
                let Value::List(items) = value else { return Err(Doubt) };
                self.extend(state as usize, items)?;
            }
            Change::Replace(state) if self.store.kinds[state as usize] == Kind::List => {
                let Value::List(items) = value else { return Err(Doubt) };
                self.own(state as usize).new = if items.is_empty() { New::Nothing } else { New::Whole(value) };
            }
            Change::PutAll(state) => {
                let Value::Dict(entries) = value else { return Err(Doubt) };
                return entries.iter().try_for_each(|&(key, value)| self.set_entry(state as usize, key, Some(value)));
            }
            Change::Remove(state) => self.set_entry(state as usize, value, None)?,
            Change::Clear(state) => self.own(state as usize).new = New::Nothing,
            Change::Register(domain) | Change::Delete(domain) => {
                let Value::Int(time) = value else { return Err(Doubt) };
                self.timers.push((domain, change == Change::Register(domain), time));
            }
            Change::Update(_) | Change::Store(_) | Change::Combine(_) | Change::Replace(_) => return Err(Doubt),
        }
        Ok(())
    }

    fn side(&mut self, tag: u32, value: Value<'a>, before: usize) -> Result<(), Doubt> {
        self.sides.push((tag, value, before));
        Ok(())
    }
}

fn together<'a>(old: &[Value<'a>], new: &[Value<'a>], arena: &'a Bump) -> Value<'a> {
    let mut items = Items::with_capacity_in(old.len() + new.len(), arena);
    items.extend_from_slice_copy(old);
    items.extend_from_slice_copy(new);
    Value::List(items.into_bump_slice())
}
