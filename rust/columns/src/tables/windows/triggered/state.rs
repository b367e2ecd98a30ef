//! The windows of all keys, their timers, and what triggers remember of them.

use bumpalo::Bump;

use super::memory::Memory;
use super::queues::Queues;
use super::trigger::Decision;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::heap::Tree;
use crate::program::Domain;
use crate::tables::kept::Kept;
use crate::tables::table::Table;
use crate::tables::windows::entries::{ASKED, CHANGED, DEAD, Entries, GONE, HELD, LISTED, Window};
use crate::tables::windows::news::{News, Rows, each, window};
use crate::value::{Doubt, Value};

/// What has changed since the last time. Each is to be applied before the next one.
#[derive(Debug, Default)]
pub struct TriggerNews {
    /// What is in windows; the timers are not there.
    pub windows: News,
    /// Windows of which nothing is remembered any more: key, start, end.
    pub forgotten: Vec<Batch>,
    /// What is remembered of others: key, start, end, and that.
    pub remembered: Vec<Batch>,
    /// Whether all timers follow, as they are in the heaps, or what has been done with them.
    pub all: bool,
    /// Of event time, and by the clock: whether it was added, time, key, start, end.
    pub timers: [Vec<Batch>; 2],
    /// Where windows are numbered: key, and how many records it has had.
    pub seen: Vec<Batch>,
}

/// The windows, with what belongs to them.
#[derive(Debug)]
pub(super) struct State {
    pub entries: Entries,
    pub queues: Queues,
    pub memory: Memory,
    /// How many windows that merge are not over.
    pub living: usize,
    /// Where windows are numbered: how many records each key has had.
    pub seen: Table,
}

impl State {
    pub fn new(entries: Entries) -> Self {
        Self { entries, queues: Queues::default(), memory: Memory::default(), living: 0, seen: Table::default() }
    }

    /// How much memory all of it takes, in bytes. O(windows).
    pub fn size(&self) -> usize {
        self.entries.memory() + self.queues.memory() + self.memory.size() + self.seen.memory()
    }

    /// The number of a window of a key. Doubt: it was another one before, and Python does not know that it is over.
    pub fn find(&self, hash: u64, key: Value<'_>, window: Window) -> Result<Option<usize>, Doubt> {
        let number = self.entries.find(hash, key, window);
        let returns = number.is_some_and(|number| self.entries.flags[number] & (DEAD | LISTED) == DEAD | LISTED);
        if returns { Err(Doubt) } else { Ok(number) }
    }

    /// The number of a key in the table of counts, and how many records it has had. Refused: it cannot be here.
    pub fn place_of(&mut self, key: Value<'_>) -> Result<(usize, i64), Refusal> {
        let hash = self.seen.hash(key)?;
        let number = match self.seen.find(hash, key) {
            Some(number) => number,
            None => self.seen.insert(hash, key, Value::Int(0), false)?,
        };
        let place = self.seen.values().ints().map(|counts| counts[number]);
        place.filter(|place| (0..i64::MAX).contains(place)).map(|place| (number, place)).ok_or(Refusal::Doubt)
    }

    /// The number of a window of a key, which may be a new one.
    pub fn open(&mut self, number: Option<usize>, hash: u64, key: Value<'_>, window: Window, kept: Window) -> usize {
        let begins = number.is_none_or(|number| self.entries.flags[number] & DEAD != 0);
        self.living += usize::from(begins && self.entries.merging);
        let number = number.unwrap_or_else(|| self.entries.create(hash, key, window, kept));
        if self.entries.flags[number] & DEAD != 0 {
            self.entries.flags[number] &= !DEAD;
            self.entries.kept[number] = kept;
            self.entries.note(number);
        }
        number
    }

    /// Does to a window what its trigger has decided, apart from its contents.
    pub fn follow(&mut self, number: usize, decision: Decision<'_>) {
        for (domain, adds, time) in decision.timers {
            if adds {
                self.queues.add(domain, number, time);
            } else {
                self.queues.remove(domain, number, time);
                self.entries.flags[number] &= !ASKED;
            }
        }
        if let Some(memory) = decision.memory {
            self.memory.set(number, memory);
        }
    }

    /// A window is over; what belongs to it stays as long as it waits for something.
    pub fn bury(&mut self, number: usize) {
        self.entries.empty(number);
        if self.entries.merging {
            self.entries.flags[number] |= DEAD;
            self.entries.note(number);
            self.living -= 1;
        }
    }

    /// Forgets a window that nothing belongs to any more.
    pub fn release(&mut self, number: usize) {
        let lives = self.entries.merging && self.entries.flags[number] & DEAD == 0;
        let held = lives || self.queues.count(number) > 0 || self.memory.holds(number);
        let flags = &mut self.entries.flags[number];
        *flags = if held { *flags | HELD } else { *flags & !HELD };
        let asked_for = self.queues.names_windows();
        if self.entries.asked_for && !asked_for {
            self.entries.release();
        }
        self.entries.asked_for = asked_for;
        if !held {
            self.entries.retire(number);
        }
    }

    /// What Python does not know; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<TriggerNews, Doubt> {
        let [mut forgotten, mut remembered, mut event, mut clock] = [(); 4].map(|()| Rows::default());
        let mut arena = Bump::new();
        for &number in &self.memory.changed {
            let number = number as usize;
            let (key, window) = (self.entries.key(number, &arena), self.entries.window(number));
            let row = [key, Value::Int(window.start), Value::Int(window.end)];
            match self.memory.get(number) {
                Some(value) => remembered.push(&[row[0], row[1], row[2], value])?,
                None if self.memory.is_known(number) => forgotten.push(&row)?,
                None => {}
            }
            arena.reset();
        }
        for (domain, rows) in [(Domain::Event, &mut event), (Domain::Clock, &mut clock)] {
            for (added, number, time) in self.queues.news(domain) {
                let (key, window) = (self.entries.key(number, &arena), self.entries.window(number));
                rows.push(&[Value::Bool(added), Value::Int(time), key, Value::Int(window.start), Value::Int(window.end)])?;
                arena.reset();
            }
        }
        let mut seen = Rows::default();
        for &number in self.seen.changed() {
            let number = number as usize;
            seen.push(&[self.seen.key(number, &arena), self.seen.value(number, &arena)])?;
            arena.reset();
        }
        let (windows, all) = (self.entries.news()?, self.queues.outgrown);
        self.settle();
        let [forgotten, remembered, event, clock, seen] = [forgotten, remembered, event, clock, seen].map(Rows::finish);
        Ok(TriggerNews { windows, forgotten, remembered, all, timers: [event, clock], seen })
    }

    fn settle(&mut self) {
        self.queues.settled();
        self.seen.written();
        for number in self.memory.settled() {
            if self.entries.flags[number as usize] & GONE == 0 {
                self.release(number as usize);
            }
        }
        self.entries.asked_for = false;
    }

    /// Takes the state of Python, in the form of [`TriggerNews`]; all timers, as they are in the heaps. Nothing is here before.
    /// Doubt: something of it cannot be here.
    pub fn load(
        &mut self,
        (listed, values, contents): (&[Batch], &[Batch], &[Tree]),
        remembered: &[Batch],
        timers: [&[Batch]; 2],
        counted: &[Batch],
    ) -> Result<(), Doubt> {
        let Self { entries, queues, memory, seen, .. } = self;
        entries.load(listed, values, &[], contents)?;
        let mut arena = Bump::new();
        each(counted, &mut arena, |fields, _| match fields {
            &[key, count @ Value::Int(_)] => seen.put(key, count).map(drop).map_err(|_| Doubt),
            _ => Err(Doubt),
        })?;
        each(remembered, &mut arena, |fields, _| {
            let &[key, start, end, value] = fields else { return Err(Doubt) };
            let number = place(entries, key, window(start, end)?)?;
            memory.set(number, Some(Kept::new(value)?));
            Ok(())
        })?;
        memory.settled();
        for (domain, timers) in [Domain::Event, Domain::Clock].into_iter().zip(timers) {
            each(timers, &mut arena, |fields, _| {
                let &[Value::Int(time), key, start, end] = fields else { return Err(Doubt) };
                let number = place(entries, key, window(start, end)?)?;
                if queues.fill(domain, number, time) { Ok(()) } else { Err(Doubt) }
            })?;
        }
        self.hold_all();
        Ok(())
    }

    /// Windows that something belongs to stay.
    fn hold_all(&mut self) {
        let Self { entries, queues, memory, living, .. } = self;
        for number in 0..entries.flags.len() {
            let lives = entries.merging && entries.flags[number] & DEAD == 0;
            *living += usize::from(lives);
            if lives || queues.count(number) > 0 || memory.holds(number) {
                entries.flags[number] |= HELD;
            }
        }
        let changed = std::mem::take(&mut entries.changed);
        for number in changed {
            entries.flags[number as usize] &= !CHANGED;
        }
    }
}

/// The number of a window that timers or memory of Python belong to. One that merges and is not in Python's set is over.
fn place(entries: &mut Entries, key: Value<'_>, window: Window) -> Result<usize, Doubt> {
    if let Some(number) = entries.find(entries.hash(key)?, key, window) {
        return Ok(number);
    }
    let number = entries.made(key, window, window)?;
    if entries.merging {
        entries.flags[number] |= DEAD;
    }
    Ok(number)
}
