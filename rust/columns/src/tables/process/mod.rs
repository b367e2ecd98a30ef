//! Functions of a keyed stream that have state and timers: the twin of `KeyedProcess` and `KeyedCoProcess` in
//! `penstock.runtime.operators`, for functions that are compiled.
//!
//! ```text
//! buffer  the records of one side of a join
//! join    pairs of two inputs by intervals
//! out     its results
//! store   the states of all keys
//! partly  the same, where they are those of some keys
//! held    what one has for a key
//! dicts   values that are dicts
//! map     a state that is a map
//! timers  those of all keys
//! draft   what a function changes in one
//! turn    what a function reads and changes for a record or a timer
//! life    the same of states whose values expire
//! look    the look at a few of these with each access
//! sweep   how far it has come
//! changes what is done when the function has ended
//! ```

mod buffer;
mod changes;
mod dicts;
mod draft;
mod held;
mod join;
mod life;
mod look;
mod map;
mod out;
mod partly;
mod store;
mod sweep;
mod timers;
mod turn;

use bumpalo::Bump;

use self::buffer::Group;
use self::changes::Changes;
use self::join::fits;
pub use self::life::Life;
use self::out::Out;
pub use self::store::StateNews;
use self::store::{LookedUp, MOST_STATES, Store};
use self::timers::Timers;
use self::turn::{Turn, When};
use super::windows::news::News;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::machine::{Input, MOST_STEPS};
pub use crate::program::Domain;
use crate::program::Program;
use crate::value::{Doubt, Value};
use crate::vectors::{Vector, evaluate};

/// Records whose keys are found together.
const TOGETHER: usize = 1 << 10;

/// Records, or timers, whose keys are looked up before the first of them is taken.
const AHEAD: usize = 32;

/// What comes out of one call at the most, apart from the last record's.
const MOST_RECORDS: usize = 1 << 13;

/// What a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value, or None; what a function has made of those that were added.
    Value,
    /// Items in order.
    List,
    /// The records of one side of a join, by time.
    Buffer,
    /// The same of records that nobody can change, as they are shown to code that could.
    Frozen,
    /// Values by keys.
    Map,
}

/// A state.
#[derive(Clone, Debug)]
pub struct StateSpec {
    /// What it is.
    pub kind: Kind,
    /// How long its values live, where they expire.
    pub life: Option<Life>,
    /// One record: what a value shows where there is none.
    pub default: Option<Batch>,
}

impl From<Kind> for StateSpec {
    fn from(kind: Kind) -> Self {
        Self { kind, life: None, default: None }
    }
}

impl StateSpec {
    fn fits(&self) -> bool {
        match self.kind {
            Kind::Value => self.default.as_ref().is_none_or(|default| default.len() == 1 && self.life.is_none()),
            Kind::List | Kind::Map => self.default.is_none(),
            Kind::Buffer | Kind::Frozen => self.default.is_none() && self.life.is_none(),
        }
    }
}

/// Of each state how many values may be looked at now, and the keys that this round still looks at.
pub type Places = Vec<(i64, Vec<Batch>)>;

/// An input.
#[derive(Clone, Debug)]
pub struct ProcessInput {
    /// Gives the key of a record.
    pub key: Program,
    /// Takes a record.
    pub function: Program,
}

/// What is done with records and timers.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// One or two.
    pub inputs: Vec<ProcessInput>,
    /// Takes the time of a timer.
    pub on_timer: Option<Program>,
    /// The states, by number.
    pub states: Vec<StateSpec>,
    /// Where the inputs are joined: their function takes a left and a right record, and their states are buffers.
    pub bounds: Option<Bounds>,
}

/// How far a right record's time may be from a left one's, both included, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Negative where it may come before.
    pub lower: i64,
    /// At least as much.
    pub upper: i64,
}

/// How far a run has come.
#[derive(Clone, Debug, Default)]
pub struct Processed {
    /// The results.
    pub out: Option<Batch>,
    /// Those for side outputs, by tag.
    pub sides: Vec<(u32, Batch)>,
    /// Where there are some, in which order they came among the others: tag, if it is for a side output, and how many.
    pub order: Vec<(Option<u32>, usize)>,
    /// The place behind the last record that is done; of timers, how many are done.
    pub end: usize,
    /// Whether the next one is doubtful; if not, another run continues with it.
    pub doubtful: bool,
}

/// What has changed since the last time.
#[derive(Debug)]
pub struct ProcessNews {
    /// Of each state.
    pub states: Vec<StateNews>,
    /// Of the timers of event time, and of those of the clock.
    pub timers: [News; 2],
}

/// The state and the timers of all keys.
#[derive(Debug)]
pub struct Process {
    spec: ProcessSpec,
    store: Store,
    timers: Timers,
}

impl Process {
    /// `None` where the functions do not take as many arguments as they will be given, or use more states than there are.
    pub fn new(spec: ProcessSpec) -> Option<Self> {
        let arguments = if spec.bounds.is_some() { 2 } else { 1 };
        let takes = |program: &Program| program.parameters() == arguments && program.states() <= spec.states.len();
        let joins = spec.bounds.map_or_else(
            || !spec.states.iter().any(|state| matches!(state.kind, Kind::Buffer | Kind::Frozen)),
            |bounds| fits(&spec, bounds),
        );
        let joins = joins && spec.states.iter().all(StateSpec::fits);
        let fits = spec.inputs.iter().all(|input| {
            let key = &input.key;
            key.parameters() == 1 && !key.is_iterator() && key.states() == 0 && takes(&input.function)
        });
        let fits = fits && joins && spec.on_timer.as_ref().is_none_or(takes) && spec.states.len() <= MOST_STATES;
        fits.then(|| Self { store: Store::new(&spec.states), timers: Timers::default(), spec })
    }

    /// How many values, lists, maps and buffers there are.
    pub fn len(&self) -> usize {
        self.store.full()
    }

    /// How many values there are, items of lists, entries of maps, and records of buffers: how much there is to be moved where
    /// Python takes the state.
    pub fn weight(&self) -> usize {
        self.store.weight()
    }

    /// Whether there is neither state nor a timer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.timers.is_empty()
    }

    /// The time of the first timer.
    pub fn next_due(&self, domain: Domain) -> Option<i64> {
        self.timers.next_due(domain)
    }

    /// What Python does not know; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<ProcessNews, Doubt> {
        Ok(ProcessNews { states: self.store.news()?, timers: self.timers.news()? })
    }

    /// How far the look at values that expire has come.
    pub fn places(&self) -> Result<Places, Doubt> {
        self.store.places()
    }

    /// Takes the state of Python in place of this one, in the form of [`ProcessNews`]; all timers of each time, as they are
    /// in its heap; and how far the look at values that expire has come.
    /// Doubt: something of it cannot be here, and nothing is.
    pub fn load(&mut self, states: &[Vec<Batch>], timers: [&[Batch]; 2], places: &[(i64, Vec<Batch>)]) -> Result<(), Doubt> {
        self.clear();
        let loaded = self.store.load(states).and_then(|()| self.store.go_on(places));
        loaded.and_then(|()| self.timers.load(timers)).inspect_err(|Doubt| self.clear())
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.store, self.timers) = (self.store.cleared(&self.spec.states), Timers::default());
    }

    /// Takes the records of an input from one to before another, until one is doubtful; by the clock it is now.
    ///
    /// # Panics
    ///
    /// There are not so many, or there is no such input.
    pub fn run(&mut self, input: usize, batch: &Batch, start: usize, end: usize, (watermark, now): (i64, i64)) -> Processed {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        let Self { spec, store, timers } = self;
        let ProcessInput { key, function } = &spec.inputs[input];
        let constants = Bump::new();
        let (of_key, of_function) = (key.constants(&constants), function.constants(&constants));
        let joins = spec.bounds.map(|bounds| (input, bounds));
        let mut run = Run::new(store, timers);
        let (mut row, mut doubtful) = (start, false);
        let (mut of_keys, mut arena, mut looked_up) = (Bump::new(), Bump::new(), Vec::with_capacity(AHEAD));
        'records: while row < end && !doubtful {
            let size = TOGETHER.min(end - row);
            let (keys, sure) = evaluate(key, of_key, of_keys.alloc([Vector::from((batch.records(), row))]), size, &of_keys);
            let mut some = Vec::with_capacity(AHEAD);
            for index in 0..sure {
                if run.out.len() >= MOST_RECORDS {
                    break 'records;
                }
                if index % AHEAD == 0 {
                    some.clear();
                    some.extend((index..sure.min(index + AHEAD)).map(|index| keys.get(index, &of_keys)));
                    run.store.look_all_up(some.iter().copied(), &mut looked_up);
                }
                let (key, input) = (some[index % AHEAD], Input::Row(batch.records(), row));
                let time = batch.time(row);
                let (before, when) = (looked_up[index % AHEAD].ok(), When { time, domain: None, watermark, now });
                let turned = Turned { key, before, input, when, out: time, timer: None, joins };
                if let Err(stopped) = run.call(function, of_function, &turned, &arena) {
                    doubtful = stopped;
                    break 'records;
                }
                arena.reset();
                row += 1;
            }
            doubtful = sure < size;
            of_keys.reset();
        }
        run.out.finish(row, doubtful)
    }

    /// Fires timers up to a time in order, until one is doubtful or there are very many; by the clock it is now.
    pub fn advance(&mut self, domain: Domain, limit: i64, (watermark, now): (i64, i64)) -> Processed {
        let Self { spec, store, timers } = self;
        let constants = Bump::new();
        let of_function = spec.on_timer.as_ref().map(|function| (function, function.constants(&constants)));
        let mut run = Run::new(store, timers);
        let (mut arena, mut done, mut doubtful, mut looked_up) = (Bump::new(), 0, false, Vec::with_capacity(AHEAD));
        while let Some((number, time)) = run.timers.of(domain).due(limit) {
            if run.out.len() >= MOST_RECORDS || !run.knows(domain, number, &arena) {
                break;
            }
            run.look_ahead(domain, done, &arena, &mut looked_up);
            if let Some((function, constants)) = of_function {
                let key = run.timers.of(domain).key(number, &arena).copied(&arena);
                let (when, input) = (When { time: Some(time), domain: Some(domain), watermark, now }, Input::Value(Value::Int(time)));
                let out = if domain == Domain::Event { Some(time) } else { None };
                let turned = Turned { key, before: None, input, when, out, timer: Some(number), joins: None };
                if let Err(stopped) = run.call(function, constants, &turned, &arena) {
                    doubtful = stopped;
                    break;
                }
            } else {
                if let Some(bounds) = spec.bounds {
                    run.forget(bounds, (number, time), &arena);
                }
                run.timers.of(domain).poll();
                run.timers.of(domain).retire(number);
            }
            arena.reset();
            done += 1;
        }
        run.out.finish(done, doubtful)
    }
}

/// A run while it goes.
struct Run<'r> {
    store: &'r mut Store,
    timers: &'r mut Timers,
    /// Those of the record or timer that it is at.
    changes: Changes,
    out: Out,
    /// The partners of the record, where inputs are joined.
    groups: Vec<Group>,
    /// What is made of one pair.
    of_pair: Bump,
}

/// A record or a timer for which a function is called.
struct Turned<'v> {
    key: Value<'v>,
    /// Its key, where that was looked up before others were taken.
    before: Option<LookedUp>,
    input: Input<'v>,
    when: When,
    /// The timestamp of its results.
    out: Option<i64>,
    /// The number of the timer.
    timer: Option<usize>,
    /// The input of a record that is joined with those of the other one.
    joins: Option<(usize, Bounds)>,
}

impl<'r> Run<'r> {
    fn new(store: &'r mut Store, timers: &'r mut Timers) -> Self {
        Self { store, timers, changes: Changes::default(), out: Out::default(), groups: Vec::new(), of_pair: Bump::new() }
    }

    /// Calls a function. When it stops nothing has changed, and it says whether that is because of doubt.
    fn call(&mut self, function: &Program, constants: &[Value<'_>], turned: &Turned<'_>, arena: &Bump) -> Result<(), bool> {
        let before = self.out.mark();
        let done = match turned.joins {
            Some(side) => self.try_join(side, function, constants, turned, arena),
            None => self.try_call(function, constants, turned, arena),
        };
        done.map_err(|refusal| {
            self.out.return_to(before);
            refusal == Refusal::Doubt || self.out.len() == 0
        })
    }

    fn try_call(&mut self, function: &Program, constants: &[Value<'_>], turned: &Turned<'_>, arena: &Bump) -> Result<(), Refusal> {
        let Turned { key, before, timer, when, .. } = *turned;
        let before = before.map_or_else(|| self.store.look_up(key), Ok)?;
        let (hash, number) = self.store.found(before, key);
        self.changes.clear();
        self.changes_of(function, constants, turned, number, arena)?;
        if !self.changes.fit(self.store, self.timers, key) {
            return Err(Refusal::Doubt);
        }
        if let (Some(number), Some(domain)) = (timer, when.domain) {
            self.timers.of(domain).poll();
            self.timers.of(domain).retire(number);
        }
        self.changes.apply(self.store, self.timers, ((hash, key), number), when.now);
        Ok(())
    }

    /// Calls a function. Its results are out, and what it does to state is noted; nothing else has changed.
    fn changes_of(
        &mut self,
        function: &Program,
        constants: &[Value<'_>],
        turned: &Turned<'_>,
        number: Option<usize>,
        arena: &Bump,
    ) -> Result<(), Refusal> {
        let Turned { key, input, when, out, .. } = *turned;
        let mut turn = Turn::new((&*self.store, number), key, when, arena);
        let (inputs, steps) = (&mut [input], &mut MOST_STEPS.clone());
        let result = function.call_in(Some(&mut turn), constants, inputs, arena, steps)?;
        self.out.push(result, &turn.sides, out, arena)?;
        Ok(turn.note(&mut self.changes)?)
    }
}

#[cfg(test)]
mod tests;
