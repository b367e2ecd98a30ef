//! Windows by key: tumbling, sliding, sessions, with the default trigger of Flink, which fires at the end of a window, and at
//! once for records that come after it. The twin of `penstock.runtime.operators.window`, which is the reference.
//!
//! ```text
//! assigner   which windows a record belongs to
//! contents   what becomes of a window with a record
//! counts     windows by the number of records
//! effects    accumulators that are changed in place
//! folds      aggregates of numbers, whose order does not matter
//! entries    the windows of all keys and their timers
//! moves      what timers do
//! next       what will be in a window after a record
//! elements   their records, where all are kept
//! out        what has fired
//! roots      accumulators of a heap
//! run        records on their way into windows
//! takes      many records on their way, together or one by one
//! together   the same for many at a time
//! straight   the same where each changes a number
//! news       what the state in Python does not know
//! triggered  the same windows with other triggers, and with evictors
//! ```

mod assigner;
mod contents;
mod counts;
mod effects;
mod elements;
pub(in crate::tables) mod entries;
mod folds;
mod moves;
pub(in crate::tables) mod news;
mod next;
mod out;
mod roots;
mod run;
mod straight;
mod takes;
mod together;
mod triggered;

use bumpalo::Bump;

use self::contents::Ready;
use self::entries::Entries;
use self::out::Out;
use self::run::Run;
use self::takes::{Known, take};
use self::together::Together;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::heap::Tree;
use crate::program::Program;
use crate::value::Doubt;

pub use self::assigner::Assigner;
pub use self::contents::{Aggregate, Contents};
pub use self::counts::{CountNews, CountSpec, CountWindows, Counted};
pub use self::news::News;
pub use self::triggered::{Delta, Evictor, Own, Rule, Trigger, TriggerNews, TriggerSpec, TriggerWindows};

/// What comes out of one call at the most, apart from the last record's windows.
const MOST_RECORDS: usize = 1 << 16;

/// What windows do.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Gives the key of a record.
    pub key: Program,
    /// Gives its windows.
    pub assigner: Assigner,
    /// What is kept of a window.
    pub contents: Contents,
    /// How long it lives on after its end.
    pub lateness: i64,
    /// Whether late records are wanted, and not only counted.
    pub side: bool,
    /// Whether results come with key and window.
    pub shows: bool,
    /// Whether these also say which windows are over.
    pub clears: bool,
    /// A function of key, window (start and end) and list of contents, or without the key: what it gives are the results.
    pub seeing: Option<Program>,
}

/// How far a run has come.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// What has fired at once.
    pub out: Option<Batch>,
    /// Records that came too late, by their places. All of them came before what has fired.
    pub late: Vec<usize>,
    /// How many such records were dropped.
    pub dropped: u64,
    /// The place behind the last record that is done.
    pub end: usize,
    /// Whether the record there is doubtful; if not, another run continues with it.
    pub doubtful: bool,
}

/// What timers have fired.
#[derive(Clone, Debug, Default)]
pub struct Fired {
    /// The results.
    pub out: Option<Batch>,
    /// Whether more timers are due.
    pub more: bool,
    /// Whether the next one is doubtful.
    pub doubtful: bool,
}

/// The windows of all keys.
#[derive(Debug)]
pub struct Windows {
    spec: Spec,
    entries: Entries,
    known: Known,
}

impl Windows {
    /// `None` where the functions do not take as many arguments as they will be given, or a span is not positive.
    pub fn new(spec: Spec) -> Option<Self> {
        let fits = spec.key.parameters() == 1 && !spec.key.is_iterator() && spec.lateness >= 0;
        let fits = fits && spec.assigner.fits() && spec.assigner.is_timed() && spec.contents.fits(spec.assigner.merges());
        let fits = fits && spec.seeing.as_ref().is_none_or(|seeing| matches!(seeing.parameters(), 2 | 3));
        fits.then(|| {
            let entries = empty(&spec);
            Self { known: Known::of(&spec, entries.objects.is_some()), entries, spec }
        })
    }

    /// How many windows have something in them.
    pub fn len(&self) -> usize {
        self.entries.full()
    }

    /// How much memory they take, in bytes. O(windows).
    pub fn memory(&self) -> usize {
        self.entries.memory()
    }

    /// Whether accumulators are changed in place.
    pub fn has_objects(&self) -> bool {
        self.entries.objects.is_some()
    }

    /// Whether there is neither a window nor a timer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.entries.timers().is_empty()
    }

    /// The time of the first timer.
    pub fn next_due(&self) -> Option<i64> {
        self.entries.timers().first().map(|timer| timer.time)
    }

    /// What Python does not know; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<News, Doubt> {
        self.entries.news()
    }

    /// Takes the state of Python in place of this one; `contents`: accumulators that are changed in place. Doubt: something of it cannot be here, and nothing is.
    pub fn load(&mut self, listed: &[Batch], values: &[Batch], timers: &[Batch], contents: &[Tree]) -> Result<(), Doubt> {
        self.clear();
        self.entries.load(listed, values, timers, contents).inspect_err(|Doubt| self.clear())
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries = empty(&self.spec);
    }

    /// Takes the records from one to before another, until one is doubtful. Their time is their timestamp, or `now`.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn run(&mut self, batch: &Batch, start: usize, end: usize, watermark: i64, now: Option<i64>) -> Taken {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        if keeps_lists(&self.spec) && batch.records().has_lists() {
            return Taken { end: start, doubtful: true, ..Taken::default() };
        }
        let spec = self.spec.clone();
        let constants = Bump::new();
        let of_key = spec.key.constants(&constants);
        let ready = Ready::new(&spec.contents, &constants);
        let out = Out::new(&spec, &constants);
        let together = Together::new((&spec, &ready, of_key), (&self.known, &constants), batch, watermark, now);
        let mut run = Run { spec: &spec, of_key, ready: &ready, entries: &mut self.entries, watermark, now, out, kept: None };
        let mut taken = Taken { end: start, ..Taken::default() };
        take(&mut run, together.as_ref(), spec.side, batch, end, &mut taken);
        taken.out = run.out.finish();
        taken
    }

    /// Fires timers up to a time, in order, until one is doubtful or there are very many.
    pub fn advance(&mut self, limit: i64) -> Fired {
        let spec = self.spec.clone();
        let constants = Bump::new();
        let ready = Ready::new(&spec.contents, &constants);
        let (mut out, mut fired) = (Out::new(&spec, &constants), Fired::default());
        let mut arena = Bump::new();
        while let Some((number, time)) = self.entries.due(limit) {
            let before = out.len();
            if out.size() >= MOST_RECORDS {
                fired.more = true;
                break;
            }
            if let Err(refusal) = fire(&mut self.entries, &ready, &spec, (number, time), &mut out, &arena) {
                out.truncate(before);
                fired.more = true;
                fired.doubtful = refusal == Refusal::Doubt || before == 0;
                break;
            }
            arena.reset();
            self.entries.poll();
            if time == self.entries.cleanup(self.entries.window(number)) {
                self.entries.clear(number);
            } else {
                self.entries.retire(number);
            }
        }
        fired.out = out.finish();
        fired
    }
}

fn empty(spec: &Spec) -> Entries {
    let elements = matches!(spec.contents, Contents::Elements);
    let entries = Entries::new(spec.lateness, spec.assigner.merges(), elements, keeps_lists(spec));
    if spec.contents.has_objects(keeps_lists(spec)) { entries.with_objects() } else { entries }
}

/// Whether lists can be in windows. A function may change one: then nobody else may have it, neither those who get results,
/// nor the records.
fn keeps_lists(spec: &Spec) -> bool {
    matches!(spec.contents, Contents::Aggregate(_)) && spec.lateness == 0
}

/// A timer fires: what its window shows.
fn fire(
    entries: &mut Entries,
    ready: &Ready<'_>,
    spec: &Spec,
    (number, time): (usize, i64),
    out: &mut Out<'_>,
    arena: &Bump,
) -> Result<(), Refusal> {
    let window = entries.window(number);
    let clears = spec.clears && time == entries.cleanup(window);
    let fires = time == window.last();
    let root = entries.root(number).filter(|_| fires);
    let goes_on = time != entries.cleanup(window);
    let accumulated = root.map(|root| entries.with_heap(|heap| ready.result_of(root, goes_on, heap, arena))).transpose()?;
    let entries = &*entries;
    let shown = match if fires && root.is_none() { entries.value(number, arena) } else { None } {
        Some(contents) => Some(ready.result(contents, arena)?),
        None => accumulated,
    };
    if shown.is_some() || clears { out.push(entries.key(number, arena), window, shown, clears, arena) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
