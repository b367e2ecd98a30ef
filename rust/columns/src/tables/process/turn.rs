//! What a function reads and changes for one record or timer.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::Kind;
use super::draft::{self, Draft};
use super::map::Map;
use super::store::{Held, Step, Store, list};
use super::timers::Timers;
use crate::machine::Context;
use crate::program::{Around, Change, Domain, Part};
use crate::tables::kept::Kept;
use crate::tables::windows::entries::{Entries, Window};
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
    store: &'a Store,
    /// The number of the key, if it has one.
    number: Option<usize>,
    key: Value<'a>,
    when: When,
    arena: &'a Bump,
    own: &'a mut [Own<'a>],
    timers: Items<'a, (Domain, bool, i64)>,
    /// Results for side outputs: tag, value, and how many other results came before.
    pub(super) sides: Items<'a, (u32, Value<'a>, usize)>,
}

/// A state of the key.
struct Own<'a> {
    /// What was in it before, if it has been read.
    before: Option<Value<'a>>,
    new: New<'a>,
}

/// What a state will have.
enum New<'a> {
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
        let own = arena.alloc_slice_fill_with(store.kinds.len(), |_| Own { before: None, new: New::Same });
        Self { store, number, key, when, arena, own, timers: Items::new_in(arena), sides: Items::new_in(arena) }
    }

    fn held(&self, state: usize) -> &'a Held {
        self.number.map_or(&Held::Nothing, |number| self.store.held(state, number))
    }

    fn before(&mut self, state: usize) -> Value<'a> {
        if let Some(before) = self.own[state].before {
            return before;
        }
        let before = match self.held(state) {
            Held::Value(value) => value.value(),
            Held::List(items) => list(items, self.arena),
            Held::Nothing if self.store.kinds[state] == Kind::List => Value::List(&[]),
            Held::Nothing | Held::Map(_) | Held::Buffer(_) => Value::None,
        };
        self.own[state].before = Some(before);
        before
    }

    fn extend(&mut self, state: usize, items: &[Value<'a>]) -> Result<(), Doubt> {
        if self.store.kinds[state] != Kind::List {
            return Err(Doubt);
        }
        if items.is_empty() {
            return Ok(());
        }
        let arena = self.arena;
        let own = &mut self.own[state].new;
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
    fn map(&self, state: usize) -> Result<Option<&'a Map>, Doubt> {
        match self.held(state) {
            _ if self.store.kinds[state] != Kind::Map => Err(Doubt),
            Held::Map(map) => Ok(Some(map)),
            _ => Ok(None),
        }
    }

    /// The map as it becomes.
    fn draft(&mut self, state: usize) -> Result<&mut Draft<'a>, Doubt> {
        let map = self.map(state)?;
        let new = &mut self.own[state].new;
        match new {
            New::Same => *new = New::Map(self.arena.alloc(Draft::new(map, self.arena))),
            New::Nothing => *new = New::Map(self.arena.alloc(Draft::new(None, self.arena))),
            _ => {}
        }
        if let New::Map(draft) = new { Ok(draft) } else { Err(Doubt) }
    }

    /// Adds what is to be done now that the function has ended.
    pub(super) fn note(self, changes: &mut Changes) -> Result<(), Doubt> {
        for (state, own) in self.own.iter().enumerate() {
            let step = match &own.new {
                New::Same => continue,
                New::Whole(Value::List(items)) if self.store.kinds[state] == Kind::List => {
                    let before: &[Kept] = if let Held::List(before) = self.held(state) { before } else { &[] };
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
        Ok(())
    }
}

/// How many items at the most are dropped between two that stay.
const MOST_DROPPED: usize = 4;

/// A list in the place of another one. Items of that one that come in the same order, few others between them, stay as they
/// are. O(items).
fn replaced(before: &[Kept], items: &[Value<'_>]) -> Result<Vec<Result<usize, Kept>>, Doubt> {
    let mut next = 0;
    let place = |&item: &Value<'_>| match before[next..].iter().take(MOST_DROPPED).position(|kept| kept.is(item)) {
        Some(at) => {
            next += at + 1;
            Ok(Ok(next - 1))
        }
        None => Ok(Err(Kept::new(item)?)),
    };
    items.iter().map(place).collect()
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
        Ok(match &self.own[state].new {
            New::Same => self.before(state),
            New::Whole(value) => *value,
            New::Map(_) => return Err(Doubt),
            New::Nothing if self.store.kinds[state] == Kind::List => Value::List(&[]),
            New::Nothing => Value::None,
            New::More(more) => {
                let before: &[Kept] = if let Held::List(before) = self.held(state) { before } else { &[] };
                let mut items = Items::with_capacity_in(before.len() + more.len(), self.arena);
                items.extend(before.iter().map(Kept::value));
                items.extend_from_slice_copy(more);
                Value::List(items.into_bump_slice())
            }
        })
    }

    fn is_held(&mut self, number: u32) -> bool {
        match &self.own[number as usize].new {
            New::Same => !matches!(self.held(number as usize), Held::Nothing),
            New::Nothing => false,
            New::Whole(_) | New::More(_) | New::Map(_) => true,
        }
    }

    fn entry(&mut self, state: u32, key: Value<'a>) -> Result<Option<Value<'a>>, Doubt> {
        let hash = self.store.entry_hash(key)?;
        let map = self.map(state as usize)?;
        match (&self.own[state as usize].new, map) {
            (New::Map(draft), _) => draft.get(hash, key),
            (New::Same, Some(map)) => Ok(map.find(hash, key)?.and_then(|place| map.value(place)).map(Kept::value)),
            _ => Ok(None),
        }
    }

    fn has_no_entries(&mut self, state: u32) -> Result<bool, Doubt> {
        let map = self.map(state as usize)?;
        Ok(match &self.own[state as usize].new {
            New::Map(draft) => draft.is_empty(),
            New::Same => map.is_none_or(Map::is_empty),
            _ => true,
        })
    }

    fn entries(&mut self, state: u32, part: Part) -> Result<Value<'a>, Doubt> {
        let map = self.map(state as usize)?;
        Ok(match (&self.own[state as usize].new, map) {
            (New::Map(draft), _) => draft.list(part, self.arena),
            (New::Same, Some(map)) => draft::list(map, part, self.arena),
            _ => Value::List(&[]),
        })
    }

    fn put_entry(&mut self, state: u32, key: Value<'a>, value: Option<Value<'a>>) -> Result<(), Doubt> {
        let hash = self.store.entry_hash(key)?;
        self.draft(state as usize)?.set(hash, key, value)
    }

    fn change(&mut self, change: Change, value: Value<'a>) -> Result<(), Doubt> {
        match change {
            Change::Update(state) if self.store.kinds[state as usize] == Kind::Value => {
                self.own[state as usize].new = if matches!(value, Value::None) { New::Nothing } else { New::Whole(value) };
            }
            Change::Store(state) if self.store.kinds[state as usize] == Kind::Value => {
                self.own[state as usize].new = New::Whole(value);
            }
            Change::Add(state) => self.extend(state as usize, &[value])?,
            Change::Extend(state) => {
                let Value::List(items) = value else { return Err(Doubt) };
                self.extend(state as usize, items)?;
            }
            Change::Replace(state) if self.store.kinds[state as usize] == Kind::List => {
                let Value::List(items) = value else { return Err(Doubt) };
                self.own[state as usize].new = if items.is_empty() { New::Nothing } else { New::Whole(value) };
            }
            Change::PutAll(state) => {
                let Value::Dict(entries) = value else { return Err(Doubt) };
                return entries.iter().try_for_each(|&(key, value)| self.put_entry(state, key, Some(value)));
            }
            Change::Remove(state) => self.put_entry(state, value, None)?,
            Change::Clear(state) => self.own[state as usize].new = New::Nothing,
            Change::Register(domain) | Change::Delete(domain) => {
                let Value::Int(time) = value else { return Err(Doubt) };
                self.timers.push((domain, change == Change::Register(domain), time));
            }
            Change::Update(_) | Change::Store(_) | Change::Replace(_) => return Err(Doubt),
        }
        Ok(())
    }

    fn side(&mut self, tag: u32, value: Value<'a>, before: usize) {
        self.sides.push((tag, value, before));
    }
}

fn together<'a>(old: &[Value<'a>], new: &[Value<'a>], arena: &'a Bump) -> Value<'a> {
    let mut items = Items::with_capacity_in(old.len() + new.len(), arena);
    items.extend_from_slice_copy(old);
    items.extend_from_slice_copy(new);
    Value::List(items.into_bump_slice())
}

/// What a function has done to the state and the timers of a key.
#[derive(Default)]
pub(super) struct Changes {
    states: Vec<(usize, Step)>,
    /// Whether each is registered, and its time.
    timers: Vec<(Domain, bool, i64)>,
}

impl Changes {
    /// Whether all of it can be done.
    pub(super) fn fit(&self, store: &mut Store, timers: &mut Timers, key: Value<'_>) -> bool {
        self.states.iter().all(|(state, step)| store.admits_step(*state, step))
            && (self.states.is_empty() || store.admits(key))
            && (self.timers.is_empty() || timers.admit(self.timers.len(), key))
    }

    /// Forgets it.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.timers.clear();
    }

    /// Does it, where it fits.
    pub(super) fn apply(&mut self, store: &mut Store, timers: &mut Timers, (hash, key): (u64, Value<'_>), number: Option<usize>) {
        if !self.states.is_empty() {
            let number = number.unwrap_or_else(|| store.create(hash, key));
            self.states.drain(..).for_each(|(state, step)| store.apply(state, number, step));
            store.retire(number);
        }
        for (domain, registered, time) in self.timers.drain(..) {
            let (timers, window) = (timers.of(domain), Window::at(time));
            if registered {
                register(timers, (hash, key), window);
            } else if let Some(number) = timers.find(hash, key, window) {
                timers.clear(number);
            }
        }
    }
}

/// Registers a timer at the end of a window, unless there is one. The key is admitted.
pub(super) fn register(timers: &mut Entries, (hash, key): (u64, Value<'_>), window: Window) {
    if timers.find(hash, key, window).is_none() {
        let number = timers.create(hash, key, window, window);
        timers.register_end(number);
    }
}
