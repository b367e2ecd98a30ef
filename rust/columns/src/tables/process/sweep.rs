//! The look at the values of a state that expire, a few with each access, so that those of keys that never return are removed
//! too: round after round, in the order in which the keys came into the state.

use bumpalo::Bump;

use super::Places;
use super::held::{Held, Step};
use super::life::Life;
use super::map::MapStep;
use super::store::Store;
use crate::batch::Batch;
use crate::tables::kept::Kept;
use crate::tables::windows::news::{Rows, each};
use crate::value::{Doubt, Value};

/// Keys that are noted before the first check which of them still have something.
const FEW_KEYS: usize = 64;

/// How far the look at a state has come.
#[derive(Debug, Default)]
pub struct Sweep {
    /// The numbers of the keys that had something when the round began, in order.
    pub round: Vec<u32>,
    /// The next one to look at.
    pub next: usize,
    /// How many values may be looked at now; below 0 after a long list or map.
    pub credit: i64,
    /// By number: when the key came into the state.
    came: Vec<u64>,
    /// The keys that came, each with when it did; the state may have lost it since.
    order: Vec<(u32, u64)>,
    /// So many of these are checked next.
    most: usize,
}

/// How far the look at a state comes by a record or a timer.
#[derive(Debug)]
pub struct Swept {
    pub state: usize,
    /// The round that has begun, if one has; [`OWN`] in it is the key of the record.
    pub round: Option<Vec<u32>>,
    pub next: usize,
    pub credit: i64,
}

/// The key of the record or the timer, which may have no number yet.
pub const OWN: u32 = u32::MAX;

/// Those of all states.
#[derive(Debug)]
pub struct Sweeps {
    /// By state; None where nothing is looked at.
    states: Vec<Option<Sweep>>,
    /// By number: how many rounds have a key before them. It keeps its number that long.
    waiting: Vec<u32>,
    /// How often a key has come into a state.
    now: u64,
    /// How often that was when Python knew everything.
    settled: u64,
}

impl Sweeps {
    /// None of the keys is there yet.
    pub fn new(lives: &[Option<Life>]) -> Self {
        let sweep = |life: &Option<Life>| life.filter(|life| life.size > 0).map(|_| Sweep { most: FEW_KEYS, ..Sweep::default() });
        Self { states: lives.iter().map(sweep).collect(), waiting: Vec::new(), now: 0, settled: 0 }
    }

    /// The look at a state.
    pub fn of(&self, state: usize) -> Option<&Sweep> {
        self.states[state].as_ref()
    }

    /// There is one number more.
    pub fn grow(&mut self) {
        self.waiting.push(0);
        self.states.iter_mut().flatten().for_each(|sweep| sweep.came.push(0));
    }

    /// Whether a key must keep its number.
    pub fn need(&self, number: usize) -> bool {
        self.waiting[number] > 0
    }

    /// A key has come into a state; `has` says whether a key has something in it.
    pub fn note(&mut self, state: usize, number: usize, has: impl Fn(usize) -> bool) {
        let Some(sweep) = &mut self.states[state] else { return };
        self.now += 1;
        sweep.came[number] = self.now;
        sweep.order.push((number as u32, self.now));
        if sweep.order.len() > sweep.most {
            let Sweep { came, order, most, .. } = sweep;
            order.retain(|&(number, when)| came[number as usize] == when && has(number as usize));
            *most = 2 * order.len() + FEW_KEYS;
        }
    }

    /// Whether a key has come into a state since Python knew everything.
    pub fn is_new(&self, state: usize, number: usize) -> bool {
        self.of(state).is_some_and(|sweep| sweep.came[number] > self.settled)
    }

    /// Numbers in the order in which they came into a state, where that matters.
    pub fn sorted(&self, state: usize, mut numbers: Vec<u32>) -> Vec<u32> {
        if let Some(sweep) = self.of(state) {
            numbers.sort_unstable_by_key(|&number| sweep.came[number as usize]);
        }
        numbers
    }

    /// Notes that Python knows everything.
    pub fn settle(&mut self) {
        self.settled = self.now;
    }

    /// Notes how far the look has come; `own` is the number of the key of the record. Gives the numbers that were looked at.
    pub fn apply(&mut self, swept: Swept, own: Option<usize>) -> Vec<u32> {
        let Some(sweep) = &mut self.states[swept.state] else { return Vec::new() };
        let mut seen = Vec::new();
        if let Some(round) = swept.round {
            let round: Vec<u32> =
                round.into_iter().filter_map(|number| if number == OWN { own.map(|own| own as u32) } else { Some(number) }).collect();
            round.iter().for_each(|&number| self.waiting[number as usize] += 1);
            seen.extend_from_slice(&sweep.round[sweep.next..]);
            (sweep.round, sweep.next) = (round, 0);
        }
        let next = swept.next.min(sweep.round.len());
        seen.extend_from_slice(&sweep.round[sweep.next..next]);
        (sweep.next, sweep.credit) = (next, swept.credit);
        seen.iter().for_each(|&number| self.waiting[number as usize] -= 1);
        seen
    }
}

impl Sweep {
    /// The numbers of the keys that have something in the state, in the order in which they came; `has` says of which that is
    /// so.
    pub fn places(&self, has: impl Fn(usize) -> bool) -> impl Iterator<Item = u32> {
        let is_it = move |&&(number, when): &&(u32, u64)| self.came[number as usize] == when && has(number as usize);
        self.order.iter().filter(is_it).map(|&(number, _)| number)
    }
}

/// Keys, each in a tuple.
fn rows<'v>(mut keys: impl Iterator<Item = Value<'v>>) -> Result<Vec<Batch>, Doubt> {
    let mut rows = Rows::default();
    keys.try_for_each(|key| rows.push(&[key]))?;
    Ok(rows.finish())
}

impl Store {
    /// Notes how far the look has come; `own` is the number of the key of the record.
    pub(super) fn note_swept(&mut self, swept: Swept, own: Option<usize>) {
        let state = swept.state;
        for number in self.sweeps.apply(swept, own) {
            if matches!(self.held(state, number as usize), Held::Nothing) {
                self.retire(number as usize);
            }
        }
    }

    /// Removes what is over of a key.
    pub(super) fn trim(&mut self, state: usize, number: usize, now: i64) {
        let Some(life) = self.lives[state] else { return };
        let lives = |value: &Kept| !life.has_ended(value.value(), now);
        let step = match self.held(state, number) {
            Held::List(items) => {
                let live: Vec<_> = (0..items.len()).filter(|&at| lives(&items[at])).map(Ok).collect();
                if live.is_empty() { Step::Clear } else { Step::Replace(live) }
            }
            Held::Map(map) => {
                let old: Vec<_> = map.entries().filter(|(_, _, _, value)| !lives(value)).map(|(place, ..)| (place, None)).collect();
                if old.len() == map.len() { Step::Clear } else { Step::Map(Box::new(MapStep { old, ..MapStep::default() })) }
            }
            Held::Value(_) | Held::Nothing | Held::Buffer(_) => Step::Clear,
        };
        self.apply(state, number, step);
        self.retire(number);
    }

    /// How far the look has come, by state.
    pub(super) fn places(&self) -> Result<Places, Doubt> {
        let arena = Bump::new();
        let place = |state: usize| match self.sweeps.of(state) {
            None => Ok((0, Vec::new())),
            Some(sweep) => {
                let rest = sweep.round[sweep.next..].iter();
                Ok((sweep.credit, rows(rest.map(|&number| self.key(number as usize, &arena)))?))
            }
        };
        (0..self.kinds.len()).map(place).collect()
    }

    /// Goes on where the look has come. Doubt: one of the keys cannot be here.
    pub(super) fn go_on(&mut self, places: &[(i64, Vec<Batch>)]) -> Result<(), Doubt> {
        let mut arena = Bump::new();
        for (state, (credit, keys)) in places.iter().enumerate() {
            let mut round = Vec::new();
            each(keys, &mut arena, |fields, _| {
                let &[key] = fields else { return Err(Doubt) };
                round.push(self.number_of(key)? as u32);
                Ok(())
            })?;
            self.sweeps.apply(Swept { state, round: Some(round), next: 0, credit: *credit }, None);
        }
        Ok(())
    }
}
