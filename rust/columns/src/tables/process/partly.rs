//! A store that has some of the keys of a larger one in Python: which of them were used lately, and how much memory they take.
//! Records and timers are taken in turns, for which the state of their keys is brought.

use super::held::Held;
use super::store::Store;
use super::{Domain, Process, ProcessSpec, Run, StateSpec};
use crate::batch::Batch;
use crate::column::{Builder, Column};
use crate::tables::table::Table;
use crate::tables::timers::Timers;
use crate::tables::uses::{each_key, keys_of};
use crate::value::{Doubt, Value};

use bumpalo::Bump;

/// Bytes of a key, but for itself and what it has.
const KEY: usize = 64;

/// What a store knows of that.
#[derive(Debug, Default)]
pub struct Partly {
    /// By number: the turn that used a key last.
    last: Vec<u32>,
    turn: u32,
    /// The keys of this turn that were not here: what there is of them is brought.
    asked: Table,
    /// How much memory the keys took when that was looked at, and how much more they take at the most.
    measured: usize,
    added: usize,
    /// How much memory a key took then.
    mean: usize,
}

impl Partly {
    fn begin(&mut self) {
        self.turn += 1;
        self.asked.clear();
    }

    /// Notes that a key is used.
    fn note(&mut self, number: usize) {
        if number >= self.last.len() {
            self.last.resize(number + 1, self.turn);
        }
        self.last[number] = self.turn;
    }

    /// Notes that so much memory more is taken, at the most.
    pub fn add(&mut self, bytes: usize) {
        self.added += bytes;
    }
}

impl Store {
    /// Makes it one that has some of the keys.
    fn divide(&mut self) {
        self.partly = Some(Box::default());
    }

    /// The same kind with nothing in it.
    pub(super) fn cleared(&self, states: &[StateSpec]) -> Self {
        let mut store = Self::new(states);
        if self.partly.is_some() {
            store.divide();
        }
        store
    }

    /// Notes that a key has come.
    pub(super) fn note_new(&mut self, number: usize) {
        if self.partly.is_some() {
            let bytes = self.memory_of_key() + self.held.len() * size_of::<Held>();
            if let Some(partly) = &mut self.partly {
                partly.note(number);
                partly.add(bytes);
            }
        }
    }

    /// Notes that a key is used in this turn; `None` where it cannot be here.
    fn ask(&mut self, key: Value<'_>) -> Option<()> {
        let hash = self.hash(key).ok()?;
        let number = self.find(hash, key);
        let partly = self.partly.as_deref_mut()?;
        match number {
            Some(number) => partly.note(number),
            None if partly.asked.find(hash, key).is_some() => {}
            None => drop(partly.asked.insert(hash, key, Value::None, false).ok()?),
        }
        Some(())
    }

    /// Whether all there is of a key is here.
    fn knows(&self, key: Value<'_>) -> bool {
        let (Some(partly), Ok(hash)) = (self.partly.as_deref(), self.hash(key)) else { return true };
        self.find(hash, key).is_some() || partly.asked.find(hash, key).is_some()
    }

    /// Takes what Python has of keys that are not here. Doubt: some of it cannot be here, and nothing is.
    fn bring(&mut self, states: &[Vec<Batch>]) -> Result<(), Doubt> {
        let others = std::mem::take(&mut self.changed);
        let added = self.add_rows(states);
        let brought = std::mem::replace(&mut self.changed, others);
        self.settle(&brought);
        if added.is_err() {
            brought.into_iter().for_each(|number| self.forget(number as usize));
        }
        added
    }

    /// Forgets what a key has, which Python knows.
    fn forget(&mut self, number: usize) {
        for held in &mut self.held {
            let gone = std::mem::take(&mut held[number]);
            self.full -= usize::from(!matches!(gone, Held::Nothing));
            self.weight -= gone.weight();
        }
        self.known[number] = 0;
        self.retire(number);
    }

    /// How much memory a key takes, in bytes.
    fn memory_of(&self, number: u32) -> usize {
        let held: usize = self.held.iter().map(|held| size_of::<Held>() + held[number as usize].memory()).sum();
        self.memory_of_key() + held
    }

    /// How much memory a key takes with nothing in its states, in bytes.
    fn memory_of_key(&self) -> usize {
        KEY + self.keys.memory() / self.keys.len().max(1)
    }

    /// How much memory all keys take, in bytes. O(what they have).
    pub(super) fn memory(&self) -> usize {
        self.index.iter().map(|&number| self.memory_of(number)).sum()
    }

    /// Whether it is time to forget keys, where so much memory may be taken. O(1), but for one look at all keys whenever as much
    /// as a quarter of that has come.
    fn is_over(&mut self, bytes: usize) -> bool {
        let Some(Partly { measured, added, .. }) = self.partly.as_deref() else { return false };
        if measured + added <= bytes {
            return false;
        }
        let now = self.memory();
        let mean = now / self.index.len().max(1);
        if let Some(partly) = self.partly.as_deref_mut() {
            (partly.measured, partly.added, partly.mean) = (now, 0, mean);
        }
        now > bytes - bytes / 4
    }

    /// Forgets the keys that were used longest ago, until half of so much memory is taken; Python knows everything. O(keys log
    /// keys).
    fn forget_idle(&mut self, bytes: usize) {
        let Some(partly) = self.partly.as_deref() else { return };
        let mut numbers: Vec<(u32, u32)> = self.index.iter().map(|&number| (partly.last[number as usize], number)).collect();
        numbers.sort_unstable();
        let mut memory: usize = numbers.iter().map(|&(_, number)| self.memory_of(number)).sum();
        for (_, number) in numbers {
            if memory <= bytes / 2 {
                break;
            }
            if self.changes[number as usize] == 0 {
                memory -= self.memory_of(number).min(memory);
                self.forget(number as usize);
            }
        }
        if let Some(partly) = self.partly.as_deref_mut() {
            (partly.measured, partly.added) = (memory, 0);
            partly.asked.clear();
        }
    }

    /// How many values, lists and maps are here that Python has not, but for those that it has and are no more.
    fn fresh(&self) -> isize {
        let of = |number: usize, state: usize| {
            let (has, known) = (!matches!(self.held[state][number], Held::Nothing), self.known[number] >> state & 1 == 1);
            isize::from(has) - isize::from(known)
        };
        self.changed.iter().map(|&number| (0..self.kinds.len()).map(|state| of(number as usize, state)).sum::<isize>()).sum()
    }
}

impl Process {
    /// The same that has some of the keys of a larger one in Python. `None` where these functions cannot be so: joins, and states
    /// a few of whose values are looked at with each access.
    pub fn in_part(spec: ProcessSpec) -> Option<Self> {
        let looks = spec.states.iter().any(|state| state.life.is_some_and(|life| life.size > 0));
        let mut process = Self::new(spec).filter(|process| process.spec.bounds.is_none() && !looks)?;
        process.store.divide();
        Some(process)
    }

    /// Begins a turn with the records of an input from one to before another: their keys that are not here, each once, and the
    /// place behind the last record whose key, and those before it, is not in doubt. With what Python has of these keys
    /// [brought](Self::bring) the records up to there can be taken.
    ///
    /// # Panics
    ///
    /// There are not so many, or there is no such input.
    pub fn begin(&mut self, input: usize, batch: &Batch, start: usize, end: usize) -> (Column, usize) {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        let Self { spec, store, .. } = self;
        begin(store);
        let row = each_key(&spec.inputs[input].key, batch, start, end, |key| store.ask(key));
        asked(store).map_or_else(|| (Builder::new().finish(), start), |keys| (keys, row))
    }

    /// Begins a turn with the timers that are due next, about so many: their keys that are not here. Firing ends at a timer
    /// whose key is neither here nor among these. `None` where they would take more than 2 GiB of texts.
    pub fn due(&mut self, domain: Domain, limit: i64, most: usize) -> Option<Column> {
        let Self { store, timers, .. } = self;
        begin(store);
        let (entries, arena) = (timers.of(domain), Bump::new());
        for number in next(entries.timers(), limit, most) {
            store.ask(entries.key(number, &arena))?;
        }
        asked(store)
    }

    /// Takes what Python has of the keys that were asked for, in the form of [`ProcessNews`](super::ProcessNews). Doubt: some of
    /// it cannot be here, and nothing is.
    pub fn bring(&mut self, states: &[Vec<Batch>]) -> Result<(), Doubt> {
        self.store.bring(states)
    }

    /// Whether it is time to forget keys, where what they have may take so much memory, in bytes.
    pub fn is_over(&mut self, bytes: usize) -> bool {
        self.store.is_over(bytes)
    }

    /// Forgets the keys that were used longest ago, until half of so much memory is taken; Python knows everything.
    pub fn forget_idle(&mut self, bytes: usize) {
        self.store.forget_idle(bytes);
    }

    /// How many values, lists and maps more there are than Python knows.
    pub fn fresh(&self) -> isize {
        self.store.fresh()
    }

    /// How much memory a key took when it was last asked whether it is time to forget some, and that was looked at; 0 before.
    pub fn mean(&self) -> usize {
        self.store.partly.as_deref().map_or(0, |partly| partly.mean)
    }

    /// How much memory state and timers take, in bytes. O(state).
    pub fn memory(&self) -> usize {
        self.store.memory() + self.timers.memory()
    }

    /// How many keys have state here.
    pub fn keys(&self) -> usize {
        self.store.index.len()
    }

    /// How many timers there are, of event time and of the clock.
    pub fn waiting(&mut self) -> [usize; 2] {
        [Domain::Event, Domain::Clock].map(|domain| self.timers.of(domain).timers().len())
    }
}

impl Run<'_> {
    /// Whether all there is of the key of a timer is here.
    pub(super) fn knows(&mut self, domain: Domain, number: usize, arena: &Bump) -> bool {
        self.store.knows(self.timers.of(domain).key(number, arena))
    }
}

fn begin(store: &mut Store) {
    if let Some(partly) = &mut store.partly {
        partly.begin();
    }
}

fn asked(store: &Store) -> Option<Column> {
    store.partly.as_deref().and_then(|partly| keys_of(&partly.asked))
}

/// The numbers of the windows of the timers that are due, or of so many that come first.
fn next(timers: &Timers, limit: i64, most: usize) -> Vec<usize> {
    let (heap, mut places, mut due) = (timers.all(), vec![0], Vec::new());
    while let Some(place) = places.pop() {
        if let Some(timer) = heap.get(place).filter(|timer| timer.time <= limit) {
            due.push(timer.id);
            places.extend([2 * place + 1, 2 * place + 2]);
        }
        if due.len() > most {
            let mut copy = timers.clone();
            due = (0..most).filter_map(|_| copy.poll()).map(|timer| timer.id).collect();
            break;
        }
    }
    due.into_iter().map(|id| (id >> 1) as usize).collect()
}
