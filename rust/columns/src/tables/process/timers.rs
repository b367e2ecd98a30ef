//! The timers of all keys: those of event time, and those of the clock.

use bumpalo::Bump;

use super::store::LookedUp;
use super::{AHEAD, Domain, Run};
use crate::batch::Batch;
use crate::tables::windows::entries::Entries;
use crate::tables::windows::news::News;
use crate::value::{Doubt, Value};

/// Timers by time; each is a window that has this time alone.
#[derive(Debug)]
pub(super) struct Timers {
    event: Entries,
    clock: Entries,
}

impl Default for Timers {
    fn default() -> Self {
        Self { event: Entries::new(0, false, false, false), clock: Entries::new(0, false, false, false) }
    }
}

impl Timers {
    #[inline]
    pub fn of(&mut self, domain: Domain) -> &mut Entries {
        match domain {
            Domain::Event => &mut self.event,
            Domain::Clock => &mut self.clock,
        }
    }

    /// Whether so many more of a key can be here.
    pub fn admit(&mut self, count: usize, key: Value<'_>) -> bool {
        let admit = |timers: &mut Entries| timers.has_room(count) && timers.admits(key, Value::None);
        admit(&mut self.event) && admit(&mut self.clock)
    }

    /// How much memory they take, in bytes.
    pub fn memory(&self) -> usize {
        self.event.memory() + self.clock.memory()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.event.timers().is_empty() && self.clock.timers().is_empty()
    }

    /// The time of the first one.
    pub fn next_due(&self, domain: Domain) -> Option<i64> {
        let timers = match domain {
            Domain::Event => &self.event,
            Domain::Clock => &self.clock,
        };
        timers.timers().first().map(|timer| timer.time)
    }

    /// Python's lack of knowledge: of event time, and of the clock.
    pub fn news(&mut self) -> Result<[News; 2], Doubt> {
        Ok([self.event.news()?, self.clock.news()?])
    }

    /// Takes those of Python; there are none before.
    pub fn load(&mut self, [event, clock]: [&[Batch]; 2]) -> Result<(), Doubt> {
        self.event.load(&[], &[], event, &[])?;
        self.clock.load(&[], &[], clock, &[])
    }
}

impl Run<'_> {
    /// After some timers, has what those need that probably come next come closer from memory.
    pub(super) fn look_ahead(&mut self, domain: Domain, done: usize, arena: &Bump, looked_up: &mut Vec<Result<LookedUp, Doubt>>) {
        if done.is_multiple_of(AHEAD) {
            let timers = &*self.timers.of(domain);
            self.store.look_all_up(timers.soon(AHEAD).map(|number| timers.key(number, arena)), looked_up);
        }
    }
}
