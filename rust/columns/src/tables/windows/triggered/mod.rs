//! Windows by key with any trigger of Flink's, or a compiled one, and with evictors: by time, or the only one of a key. The twin
//! of `penstock.runtime.operators.window`, which is the reference.
//!
//! ```text
//! trigger  when windows fire
//! own      triggers of the program, compiled
//! evictor  which records stay
//! memory   what triggers remember
//! queues   timers of both kinds
//! state    all windows with their timers, and what Python does not know of them
//! turn     records and timers
//! show     what windows show then
//! ```

mod evictor;
mod memory;
mod own;
mod queues;
mod show;
mod state;
mod trigger;
mod turn;

use bumpalo::Bump;

use self::state::State;
use self::trigger::{Asked, Place};
use self::turn::Run;
use super::assigner::Assigner;
use super::contents::{Contents, Ready};
use super::entries::Entries;
use super::takes::{Known, take};
use super::together::Together;
use super::{Fired, MOST_RECORDS, Spec, Taken};
use crate::batch::Batch;
use crate::column::Refusal;
use crate::heap::Tree;
use crate::program::Domain;
use crate::value::Doubt;

pub use self::evictor::{Evictor, Rule};
pub use self::own::Own;
pub use self::state::TriggerNews;
pub use self::trigger::{Delta, Trigger};

/// What windows do.
#[derive(Clone, Debug)]
pub struct TriggerSpec {
    /// The windows, apart from these.
    pub windows: Spec,
    /// When they fire.
    pub trigger: Trigger,
    /// Whether one that fires is emptied, whatever the trigger says.
    pub purges: bool,
    /// Which records stay then.
    pub evictor: Option<Evictor>,
    /// Whether their time is that of records, or the clock's.
    pub event: bool,
}

impl TriggerSpec {
    /// The timers at which windows are over.
    fn cleans(&self) -> Domain {
        if self.event { Domain::Event } else { Domain::Clock }
    }

    fn entries(&self) -> Entries {
        let elements = self.evictor.is_some() || matches!(self.windows.contents, Contents::Elements);
        let mut entries = Entries::new(self.windows.lateness, self.windows.assigner.merges(), elements, false);
        entries.entered = self.steady().map(|_| Vec::new());
        if self.windows.contents.has_objects(false) && self.evictor.is_none() { entries.with_objects() } else { entries }
    }

    fn state(&self) -> State {
        let mut state = State::new(self.entries());
        state.memory.of_states = matches!(&self.trigger, Trigger::Own(own) if own.states() > 0);
        state
    }

    /// The timers that the trigger registers for each record that is not late, if it does nothing else then, and records can be
    /// taken together.
    fn steady(&self) -> Option<Vec<(Domain, Place)>> {
        let panes = matches!(self.windows.assigner, Assigner::Panes { .. });
        let elements = self.evictor.is_some() || matches!(self.windows.contents, Contents::Elements);
        if panes && !elements { self.trigger.steady(self.event) } else { None }
    }

    fn fits(&self) -> bool {
        let Self { windows, evictor, .. } = self;
        let fits = windows.key.parameters() == 1 && !windows.key.is_iterator() && windows.lateness >= 0;
        let fits = fits && windows.assigner.fits() && windows.contents.fits(windows.assigner.merges() && evictor.is_none());
        let fits = fits && evictor.as_ref().is_none_or(Evictor::fits) && self.trigger.fits();
        fits && windows.seeing.as_ref().is_none_or(|seeing| matches!(seeing.parameters(), 2 | 3))
    }
}

/// The windows of all keys.
#[derive(Debug)]
pub struct TriggerWindows {
    spec: TriggerSpec,
    state: State,
    /// What records do, where the trigger does the same for each, so that many can be taken together.
    known: Option<Known>,
}

impl TriggerWindows {
    /// `None` where the functions do not take as many arguments as they will be given, or a span is not positive.
    pub fn new(spec: TriggerSpec) -> Option<Self> {
        if !spec.fits() {
            return None;
        }
        let state = spec.state();
        let known = spec.steady().map(|_| Known::of(&spec.windows, state.entries.objects.is_some()));
        Some(Self { state, known, spec })
    }

    /// How many windows have something in them.
    pub fn len(&self) -> usize {
        self.state.entries.full()
    }

    /// How many entries Python's tables have for these: contents, what is remembered, windows that merge, and
    /// counts.
    pub fn entries(&self) -> usize {
        self.len() + self.state.memory.len() + self.state.living + self.state.seen.len()
    }

    /// How much memory they take, in bytes. O(windows).
    pub fn memory(&self) -> usize {
        self.state.size()
    }

    /// Whether accumulators are changed in place.
    pub fn has_objects(&self) -> bool {
        self.state.entries.objects.is_some()
    }

    /// Whether there is neither an entry nor a timer.
    pub fn is_empty(&self) -> bool {
        self.entries() == 0 && self.state.queues.is_empty()
    }

    /// The time of the first timer.
    pub fn next_due(&self, domain: Domain) -> Option<i64> {
        self.state.queues.first(domain).map(|(_, time)| time)
    }

    /// What Python does not know; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<TriggerNews, Doubt> {
        self.state.news()
    }

    /// Takes the state of Python in place of this one: windows that merge, contents, what is remembered, and the timers of event
    /// time and by the clock; `seen`: how many records keys have had, where windows are numbered; `contents`: accumulators that
    /// are changed in place. Doubt: something of it cannot be here, and nothing is.
    pub fn load(
        &mut self,
        listed: &[Batch],
        values: &[Batch],
        remembered: &[Batch],
        timers: [&[Batch]; 2],
        seen: &[Batch],
        contents: &[Tree],
    ) -> Result<(), Doubt> {
        self.clear();
        self.state.load((listed, values, contents), remembered, timers, seen).inspect_err(|Doubt| self.clear())
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.state = self.spec.state();
    }

    /// Takes the records from one to before another, until one is doubtful; `times`: the watermark, and the time of the clock.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn run(&mut self, batch: &Batch, start: usize, end: usize, times: (i64, i64)) -> Taken {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        let Self { spec, state, known } = self;
        let constants = Bump::new();
        let ready = Ready::new(&spec.windows.contents, &constants);
        let trigger = Asked::new(&spec.trigger, spec.purges, &constants);
        let mut run = Run::new(spec, (&ready, &trigger), state, times, &constants);
        let mut taken = Taken { end: start, ..Taken::default() };
        let of_key = run.of_key;
        let (watermark, now) = if spec.event { (times.0, None) } else { (i64::MIN, Some(times.1)) };
        let known = known.as_ref().map(|known| (known, &constants));
        let together = known.and_then(|known| Together::new((&spec.windows, &ready, of_key), known, batch, watermark, now));
        take(&mut run, together.as_ref(), spec.windows.side, batch, end, &mut taken);
        taken.out = run.out.finish();
        taken
    }

    /// Fires timers up to a time, in order, until one is doubtful or there are very many; `times` as of `run`.
    pub fn advance(&mut self, domain: Domain, limit: i64, times: (i64, i64)) -> Fired {
        let Self { spec, state, .. } = self;
        let constants = Bump::new();
        let ready = Ready::new(&spec.windows.contents, &constants);
        let trigger = Asked::new(&spec.trigger, spec.purges, &constants);
        let mut run = Run::new(spec, (&ready, &trigger), state, times, &constants);
        let (mut fired, mut arena) = (Fired::default(), Bump::new());
        while let Some((number, time)) = run.state.queues.first(domain).filter(|&(_, time)| time <= limit) {
            let before = run.out.len();
            if run.out.size() >= MOST_RECORDS {
                fired.more = true;
                break;
            }
            if let Err(refusal) = run.fire(domain, number, time, &arena) {
                run.out.truncate(before);
                fired.more = true;
                fired.doubtful = refusal == Refusal::Doubt || before == 0;
                break;
            }
            arena.reset();
        }
        fired.out = run.out.finish();
        fired
    }
}

#[cfg(test)]
mod tests;
