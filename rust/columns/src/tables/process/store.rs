//! The states of all keys; and what of them the state in Python does not know yet.

use bumpalo::Bump;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::dicts;
use super::held::{Held, Step, list};
use super::life::Life;
use super::map::{self, MapStep};
use super::partly::Partly;
use super::sweep::Sweeps;
use super::{Kind, StateSpec};
use crate::batch::Batch;
use crate::column::Column;
use crate::tables::cells::Cells;
use crate::tables::fetch::fetch;
use crate::tables::kept::Kept;
use crate::tables::table::{hash_of, hasher};
use crate::tables::windows::news::{Rows, each};
use crate::value::{Doubt, Value};

/// States of a function at the most: each has a bit.
pub const MOST_STATES: usize = 64;

/// What Python does not know of a state.
#[derive(Debug, Default)]
pub struct StateNews {
    /// Keys that have nothing any more, or a new map, each in a tuple.
    pub removed: Vec<Batch>,
    /// Of maps: key, and a key that the map has not any more.
    pub dropped: Vec<Batch>,
    /// Key and value, of dicts [in another form](dicts); of maps key, key in the map, and value, in the order of the map; of a buffer, for each record, key,
    /// number of buckets, time and record.
    pub values: Vec<Batch>,
    /// Of a [part](Partly) of the keys, but not of maps: whether Python has a value of each of these.
    pub known: Vec<bool>,
}

/// Keys by number, each with what it has in each state. O(1) per look-up.
#[derive(Debug)]
pub struct Store {
    pub kinds: Vec<Kind>,
    /// Of states whose values expire.
    pub lives: Vec<Option<Life>>,
    /// What they show where there is nothing, in one row.
    pub defaults: Vec<Option<Column>>,
    /// The look at values that expire.
    pub sweeps: Sweeps,
    pub(super) keys: Cells,
    /// Of each state the types of its keys, if it is a map, and of its values or items, which all have; nothing is in them.
    types: Vec<[Cells; 2]>,
    hashes: Vec<u64>,
    pub(super) index: HashTable<u32>,
    hasher: FixedState,
    free: Vec<u32>,
    /// By state and number.
    pub(super) held: Vec<Vec<Held>>,
    pub(super) full: usize,
    pub(super) weight: usize,
    /// Keys with a state that has changed since the last time, and these states by their bits.
    pub(super) changed: Vec<u32>,
    pub(super) changes: Vec<u64>,
    /// The states of which Python has something.
    pub(super) known: Vec<u64>,
    /// How often a key got its number, and how often one lost it.
    given: u64,
    lost: u64,
    /// Where it has some of the keys of a larger one.
    pub(super) partly: Option<Box<Partly>>,
}

/// A key that was looked up some time ago.
#[derive(Clone, Copy, Debug)]
pub struct LookedUp {
    hash: u64,
    number: Option<usize>,
    given: u64,
    lost: u64,
}

impl Store {
    pub fn new(states: &[StateSpec]) -> Self {
        let held = states.iter().map(|_| Vec::new()).collect();
        let types = states.iter().map(|_| [Cells::default(), Cells::with_lists()]).collect();
        let lives: Vec<_> = states.iter().map(|state| state.life).collect();
        Self {
            kinds: states.iter().map(|state| state.kind).collect(),
            sweeps: Sweeps::new(&lives),
            lives,
            defaults: states.iter().map(|state| state.default.as_ref().map(|batch| batch.records().clone())).collect(),
            keys: Cells::default(),
            types,
            hashes: Vec::new(),
            index: HashTable::new(),
            hasher: hasher(),
            free: Vec::new(),
            held,
            full: 0,
            weight: 0,
            changed: Vec::new(),
            changes: Vec::new(),
            known: Vec::new(),
            given: 0,
            lost: 0,
            partly: None,
        }
    }

    /// How many values, lists and maps there are.
    pub fn full(&self) -> usize {
        self.full
    }

    /// How many values there are, items of lists, entries of maps, and records.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// The hash of a key of a map. Doubt: a dict cannot have it, or has its own ways with it.
    #[inline]
    pub fn entry_hash(&self, key: Value<'_>) -> Result<u64, Doubt> {
        map::hash(&self.hasher, key)
    }

    /// The hash of a key. A key is a text, an integer, or a tuple of these and of None; others are in doubt.
    #[inline]
    pub fn hash(&self, key: Value<'_>) -> Result<u64, Doubt> {
        hash_of(&self.hasher, key)
    }

    /// The number of a key.
    #[inline]
    pub fn find(&self, hash: u64, key: Value<'_>) -> Option<usize> {
        self.index.find(hash, |&number| self.keys.holds(number as usize, key)).map(|&number| number as usize)
    }

    /// The hash and the number of a key, to be [found](Self::found) again when it is its turn.
    pub fn look_up(&self, key: Value<'_>) -> Result<LookedUp, Doubt> {
        let hash = self.hash(key)?;
        let number = self.find(hash, key);
        if let Some(number) = number {
            self.held.iter().for_each(|held| fetch(&raw const held[number]));
        }
        Ok(LookedUp { hash, number, given: self.given, lost: self.lost })
    }

    /// Looks some keys up, and has what they have come closer from memory: so it is waited for once, and not key by key.
    pub fn look_all_up<'v>(&self, keys: impl Iterator<Item = Value<'v>>, looked_up: &mut Vec<Result<LookedUp, Doubt>>) {
        looked_up.clear();
        looked_up.extend(keys.map(|key| self.look_up(key)));
        let numbers = looked_up.iter().flatten().filter_map(|key| key.number);
        numbers.for_each(|number| self.held.iter().for_each(|held| held[number].fetch()));
    }

    /// The hash and the number that a key has now.
    #[inline]
    pub fn found(&self, before: LookedUp, key: Value<'_>) -> (u64, Option<usize>) {
        let LookedUp { hash, number, given, lost } = before;
        let holds = lost == self.lost && (number.is_some() || given == self.given);
        (hash, if holds { number } else { self.find(hash, key) })
    }

    /// Whether a key can be here.
    pub fn admits(&mut self, key: Value<'_>) -> bool {
        (self.hashes.len() < u32::MAX as usize || !self.free.is_empty()) && self.keys.admits(key)
    }

    /// Whether a step can be done.
    pub fn admits_step(&mut self, state: usize, step: &Step) -> bool {
        let [keys, values] = &mut self.types[state];
        match step {
            Step::Set(value) => dicts::admits(keys, values, value.value(), self.lives[state].is_some()),
            Step::Insert(_, record) => (self.kinds[state] != Kind::Frozen || record.value().is_frozen()) && values.admits(record.value()),
            Step::Add(items) => items.iter().all(|item| values.admits(item.value())),
            Step::Replace(items) => items.iter().all(|item| item.as_ref().err().is_none_or(|item| values.admits(item.value()))),
            Step::Map(step) => {
                step.old.iter().all(|(_, value)| value.as_ref().is_none_or(|value| values.admits(value.value())))
                    && step.more.iter().all(|(_, key, value)| keys.admits(key.value()) && values.admits(value.value()))
            }
            Step::Drop(_) | Step::Clear => true,
        }
    }

    /// What a state has for a key.
    #[inline]
    pub fn held(&self, state: usize, number: usize) -> &Held {
        &self.held[state][number]
    }

    /// Makes a place for a key that is [admitted](Self::admits).
    pub fn create(&mut self, hash: u64, key: Value<'_>) -> usize {
        self.given += 1;
        let number = match self.free.pop() {
            Some(number) => {
                let number = number as usize;
                self.keys.set(number, key);
                self.hashes[number] = hash;
                number
            }
            None => {
                let pushed = self.keys.push(key);
                debug_assert!(pushed.is_ok(), "it is admitted");
                self.hashes.push(hash);
                self.changes.push(0);
                self.known.push(0);
                self.sweeps.grow();
                self.held.iter_mut().for_each(|held| held.push(Held::Nothing));
                self.hashes.len() - 1
            }
        };
        let hashes = &self.hashes;
        self.index.insert_unique(hash, number as u32, |&number| hashes[number as usize]);
        self.note_new(number);
        number
    }

    /// The number of a key, a new one if it has none. Doubt: it cannot be here.
    pub fn number_of(&mut self, key: Value<'_>) -> Result<usize, Doubt> {
        let hash = self.hash(key)?;
        match self.find(hash, key) {
            Some(number) => Ok(number),
            None if self.admits(key) => Ok(self.create(hash, key)),
            None => Err(Doubt),
        }
    }

    /// The key of a number.
    pub fn key<'a>(&'a self, number: usize, arena: &'a Bump) -> Value<'a> {
        self.keys.get(number, arena)
    }

    /// Does a step.
    pub fn apply(&mut self, state: usize, number: usize, step: Step) {
        if let Some(partly) = &mut self.partly {
            partly.add(step.memory());
        }
        let held = &mut self.held[state][number];
        let (before, weight) = (!matches!(held, Held::Nothing), held.weight());
        match step {
            Step::Set(value) => *held = Held::Value(value),
            Step::Add(items) => {
                if let Held::List(list) = held {
                    list.extend(items);
                } else {
                    *held = Held::List(items);
                }
            }
            Step::Replace(items) => held.replace(items),
            Step::Map(step) => held.change_map(*step),
            Step::Insert(time, record) => held.insert(time, record),
            Step::Drop(time) => held.drop_time(time),
            Step::Clear => *held = Held::Nothing,
        }
        let after = !matches!(held, Held::Nothing);
        self.full = self.full + usize::from(after) - usize::from(before);
        self.weight = self.weight + held.weight() - weight;
        if after && !before {
            let of_state = &self.held[state];
            self.sweeps.note(state, number, |number| !matches!(of_state[number], Held::Nothing));
        }
        if self.changes[number] == 0 {
            self.changed.push(number as u32);
        }
        self.changes[number] |= 1 << state;
    }

    /// What Python does not know, by state; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<Vec<StateNews>, Doubt> {
        let all = (0..self.kinds.len()).map(|state| self.news_of(state)).collect::<Result<_, _>>()?;
        for number in std::mem::take(&mut self.changed) {
            let at = number as usize;
            self.changes[at] = 0;
            self.held.iter_mut().for_each(|held| held[at].settle());
            let has = |state: &usize| !matches!(self.held[*state][at], Held::Nothing);
            self.known[at] = (0..self.kinds.len()).filter(has).fold(0, |bits, state| bits | 1 << state);
            self.retire(at);
        }
        self.sweeps.settle();
        Ok(all)
    }

    /// Forgets a key that has nothing, if Python does not have anything of it either; another one may have its number then.
    pub fn retire(&mut self, number: usize) {
        if self.known[number] != 0 || self.sweeps.need(number) || self.held.iter().any(|held| !matches!(held[number], Held::Nothing)) {
            return;
        }
        if let Ok(entry) = self.index.find_entry(self.hashes[number], |&other| other as usize == number) {
            entry.remove();
            self.lost += 1;
            self.free.push(number as u32);
        }
    }

    /// A row of a state: the key, what it does, and the number of buckets of a buffer.
    fn read<'v>(&self, state: usize, fields: &[Value<'v>]) -> Result<(Value<'v>, Step, Option<i64>), Doubt> {
        match (self.kinds[state], fields) {
            (Kind::Value, &[key, value]) => Ok((key, Step::Set(Kept::new(value)?), None)),
            (Kind::Value, &[key, Value::List(pairs), time]) => Ok((key, Step::Set(dicts::kept(pairs, time)?), None)),
            (Kind::List, &[key, Value::List(items)]) => {
                Ok((key, Step::Add(items.iter().map(|&item| Kept::new(item)).collect::<Result<_, _>>()?), None))
            }
            (Kind::Map, &[key, entry, value]) => {
                let more = vec![(self.entry_hash(entry)?, Kept::new(entry)?, Kept::new(value)?)];
                Ok((key, Step::Map(Box::new(MapStep { more, ..MapStep::default() })), None))
            }
            (Kind::Buffer | Kind::Frozen, &[key, Value::Int(buckets), Value::Int(time), record]) => {
                Ok((key, Step::Insert(time, Kept::new(record)?), Some(buckets)))
            }
            _ => Err(Doubt),
        }
    }

    fn news_of(&self, state: usize) -> Result<StateNews, Doubt> {
        let [mut removed, mut dropped, mut values] = [(); 3].map(|()| Rows::default());
        let mut flags = Vec::new();
        let mut arena = Bump::new();
        let changed = self.changed.iter().copied().filter(|&number| self.changes[number as usize] >> state & 1 == 1);
        for number in self.sweeps.sorted(state, changed.collect()) {
            let number = number as usize;
            let key = self.keys.get(number, &arena);
            let known = self.known[number] >> state & 1 == 1;
            let again = known && self.sweeps.is_new(state, number);
            let held = &self.held[state][number];
            if again && !matches!(held, Held::Nothing) {
                removed.push(&[key])?; // it is behind others in the order of Python's dict
            }
            if self.partly.is_some() && matches!(held, Held::Value(_) | Held::List(_)) {
                flags.push(known);
            }
            match held {
                Held::Value(value) => values.push(dicts::row(key, value.value(), self.lives[state].is_some(), &arena))?,
                Held::List(items) => values.push(&[key, list(items, &arena)])?,
                Held::Buffer(buffer) => {
                    let buckets = Value::Int(buffer.buckets());
                    buffer.records().try_for_each(|(time, record)| values.push(&[key, buckets, Value::Int(time), record]))?;
                }
                Held::Map(map) => {
                    let news = map.news();
                    if news.new && known && !again {
                        removed.push(&[key])?;
                    }
                    news.removed.iter().try_for_each(|entry| dropped.push(&[key, entry.value()]))?;
                    news.changed.iter().try_for_each(|(entry, value)| values.push(&[key, entry.value(), value.value()]))?;
                }
                Held::Nothing if known => removed.push(&[key])?,
                Held::Nothing => {}
            }
            arena.reset();
        }
        Ok(StateNews { removed: removed.finish(), dropped: dropped.finish(), values: values.finish(), known: flags })
    }

    /// Takes the values of Python, by state, in the form of [`StateNews::values`]. Doubt: some of it cannot be here.
    pub fn load(&mut self, states: &[Vec<Batch>]) -> Result<(), Doubt> {
        self.add_rows(states)?;
        self.sweeps.settle();
        let changed = std::mem::take(&mut self.changed);
        self.settle(&changed);
        Ok(())
    }

    /// The same, while it counts as changed.
    pub(super) fn add_rows(&mut self, states: &[Vec<Batch>]) -> Result<(), Doubt> {
        let mut arena = Bump::new();
        for (state, batches) in states.iter().enumerate() {
            each(batches, &mut arena, |fields, _| {
                let (key, step, buckets) = self.read(state, fields)?;
                if self.lives[state].is_some() && !step.has_times() {
                    return Err(Doubt);
                }
                if !self.admits_step(state, &step) {
                    return Err(Doubt);
                }
                let number = self.number_of(key)?;
                self.apply(state, number, step);
                if let (Some(buckets), Held::Buffer(buffer)) = (buckets, &mut self.held[state][number]) {
                    buffer.set_buckets(buckets)?;
                }
                self.known[number] |= 1 << state;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Counts keys as known.
    pub(super) fn settle(&mut self, numbers: &[u32]) {
        for &number in numbers {
            self.changes[number as usize] = 0;
            self.held.iter_mut().for_each(|held| held[number as usize].settle());
        }
    }
}
