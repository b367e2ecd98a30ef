//! Windows by key: tumbling, sliding, sessions, with the default trigger of Flink, which fires at the end of a window, and at
//! once for records that come after it. The twin of `penstock.runtime.operators.window`, which is the reference.
//!
//! ```text
//! assigner   which windows a record belongs to
//! contents   what becomes of a window with a record
//! entries    the windows of all keys and their timers
//! elements   their records, where all are kept
//! out        what has fired
//! news       what the state in Python does not know
//! ```

mod assigner;
mod contents;
mod elements;
mod entries;
mod news;
mod out;

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use self::assigner::{java_order, panes};
use self::contents::Ready;
use self::entries::{Entries, Window};
use self::out::Out;
use super::reduce::field;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::machine::{Input, MOST_STEPS};
use crate::program::Program;
use crate::value::{Doubt, Value};

pub use self::assigner::Assigner;
pub use self::contents::{Aggregate, Contents};
pub use self::news::News;

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
}

impl Windows {
    /// `None` where the functions do not take as many arguments as they will be given, or a span is not positive.
    pub fn new(spec: Spec) -> Option<Self> {
        let fits = spec.key.parameters() == 1 && !spec.key.is_iterator() && spec.lateness >= 0;
        let fits = fits && spec.assigner.fits() && spec.contents.fits(spec.assigner.merges());
        fits.then(|| Self { entries: empty(&spec), spec })
    }

    /// How many windows have something in them.
    pub fn len(&self) -> usize {
        self.entries.full()
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

    /// Takes the state of Python in place of this one. Doubt: something of it cannot be here, and nothing is.
    pub fn load(&mut self, listed: &[Batch], values: &[Batch], timers: &[Batch]) -> Result<(), Doubt> {
        self.clear();
        self.entries.load(listed, values, timers).inspect_err(|Doubt| self.clear())
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
        let spec = self.spec.clone();
        let constants = Bump::new();
        let of_key = spec.key.constants(&constants);
        let ready = Ready::new(&spec.contents, &constants);
        let out = Out::new(spec.shows);
        let mut run = Run { spec: &spec, ready, entries: &mut self.entries, watermark, now, out, kept: None };
        let mut taken = Taken { end: start, ..Taken::default() };
        let mut arena = Bump::new();
        while taken.end < end && run.out.size() < MOST_RECORDS {
            let (row, fired) = (taken.end, run.out.len());
            let key = spec.key.call(of_key, &mut [Input::Row(batch.records(), row)], &arena, &mut MOST_STEPS.clone());
            let done = key.map_err(Refusal::from).and_then(|key| run.record(batch, row, key, &arena));
            match done {
                Ok(Fate::Late) if spec.side && fired > 0 => break,
                Ok(Fate::Late) if spec.side => taken.late.push(row),
                Ok(Fate::Late) => taken.dropped += 1,
                Ok(Fate::Taken) => {}
                Err(refusal) => {
                    run.out.truncate(fired);
                    taken.doubtful = refusal == Refusal::Doubt || fired == 0;
                    break;
                }
            }
            arena.reset();
            taken.end = row + 1;
            if !taken.late.is_empty() && run.out.len() > 0 {
                break;
            }
        }
        taken.out = run.out.finish();
        taken
    }

    /// Fires timers up to a time, in order, until one is doubtful or there are very many.
    pub fn advance(&mut self, limit: i64) -> Fired {
        let spec = self.spec.clone();
        let constants = Bump::new();
        let ready = Ready::new(&spec.contents, &constants);
        let (mut out, mut fired) = (Out::new(spec.shows), Fired::default());
        let mut arena = Bump::new();
        while let Some((number, time)) = self.entries.due(limit) {
            let before = out.len();
            if out.size() >= MOST_RECORDS {
                fired.more = true;
                break;
            }
            if let Err(refusal) = fire(&self.entries, &ready, &spec, (number, time), &mut out, &arena) {
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
    Entries::new(spec.lateness, spec.assigner.merges(), matches!(spec.contents, Contents::Elements))
}

/// A timer fires: what its window shows.
fn fire(
    entries: &Entries,
    ready: &Ready<'_>,
    spec: &Spec,
    (number, time): (usize, i64),
    out: &mut Out,
    arena: &Bump,
) -> Result<(), Refusal> {
    let window = entries.window(number);
    let clears = spec.clears && time == entries.cleanup(window);
    let contents = if time == window.last() { entries.value(number, arena) } else { None };
    let shown = match contents {
        Some(contents) => Some(ready.result(contents, arena)?),
        None => None,
    };
    if shown.is_some() || clears { out.push(entries.key(number, arena), window, shown, clears) } else { Ok(()) }
}

/// What has become of a record.
enum Fate {
    /// It is in its windows, or belongs to none.
    Taken,
    /// It is too late.
    Late,
}

/// What a window will have in it.
enum Next<'a> {
    /// The integer in a field.
    Int(usize, i64),
    Whole(Value<'a>),
    /// A record more.
    Record(Value<'a>),
}

/// A run while it goes.
struct Run<'r> {
    spec: &'r Spec,
    ready: Ready<'r>,
    entries: &'r mut Entries,
    watermark: i64,
    now: Option<i64>,
    out: Out,
    /// The number of the record, where all are kept.
    kept: Option<u32>,
}

impl<'r> Run<'r> {
    /// A record with this key. When it is refused nothing has changed but what is out.
    fn record<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<Fate, Refusal>
    where
        'r: 'a,
    {
        let hash = self.entries.hash(key)?;
        let time = self.now.or_else(|| batch.time(row)).ok_or(Doubt)?;
        let record = Input::Row(batch.records(), row);
        self.kept = None;
        let taken = match self.spec.assigner {
            Assigner::Panes { size, slide, offset } => {
                let windows = panes(time, size, slide, offset)?;
                self.into_panes(windows, hash, key, record, arena)?
            }
            Assigner::Sessions { gap } => {
                let window = Window { start: time, end: time.checked_add(gap).ok_or(Doubt)? };
                self.into_session(window, hash, key, record, arena)?
            }
        };
        let late = !taken && time.checked_add(self.spec.lateness).is_some_and(|time| time <= self.watermark);
        Ok(if late { Fate::Late } else { Fate::Taken })
    }

    /// Puts a record into windows; whether any of them is not over.
    fn into_panes<'a>(
        &mut self,
        windows: impl Iterator<Item = Window>,
        hash: u64,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<bool, Refusal>
    where
        'r: 'a,
    {
        let mut steps = Items::new_in(arena);
        for window in windows {
            if self.entries.cleanup(window) <= self.watermark {
                continue;
            }
            let (number, fires) = (self.entries.find(hash, key, window), window.last() <= self.watermark);
            let next = self.next(number, fires, key, record, arena)?;
            if fires {
                let contents = match next {
                    Next::Whole(value) => value,
                    Next::Record(record) => self.entries.list(number.into_iter(), record, arena),
                    Next::Int(..) => return Err(Refusal::Doubt),
                };
                self.out.push(key, window, Some(self.ready.result(contents, arena)?), false)?;
            }
            steps.push((number, window, next));
        }
        let taken = !steps.is_empty();
        for (number, window, next) in steps {
            let number = number.unwrap_or_else(|| self.entries.create(hash, key, window, window));
            self.put(number, &next);
        }
        Ok(taken)
    }

    /// What will be in a window after a record.
    #[inline]
    fn next<'a>(
        &mut self,
        number: Option<usize>,
        fires: bool,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Doubt>
    where
        'r: 'a,
    {
        if let (Some((position, fold)), Some(number), false) = (self.ready.folded(), number, fires)
            && let Some(old) = self.entries.field_int(number, position)
            && let new @ Value::Int(_) = field(record, position, arena)?
            && let Value::Int(value) = fold.apply(Value::Int(old), new, arena)?
        {
            return Ok(Next::Int(position, value));
        }
        if self.ready.keeps_all() {
            let record = record.value(arena);
            return if self.entries.admits(key, Value::List(&[record])) { Ok(Next::Record(record)) } else { Err(Doubt) };
        }
        let current = number.and_then(|number| self.entries.value(number, arena));
        let value = self.ready.add(current, record, arena)?.copied(arena);
        let admitted = if number.is_some() { self.entries.admits_value(value) } else { self.entries.admits(key, value) };
        if admitted { Ok(Next::Whole(value)) } else { Err(Doubt) }
    }

    /// Puts into a window what will be there, and registers its timers.
    #[inline]
    fn put(&mut self, number: usize, next: &Next<'_>) {
        match *next {
            Next::Int(position, value) => self.entries.set_field(number, position, Value::Int(value)),
            Next::Whole(value) => self.entries.set(number, value),
            Next::Record(record) => {
                let record = *self.kept.get_or_insert_with(|| self.entries.keep(record));
                self.entries.add(number, record);
            }
        }
        if self.entries.window(number).last() > self.watermark {
            self.entries.register_end(number);
        }
        self.entries.register_cleanup(number);
    }

    /// Puts a record into the session that its own window and those that touch it become; whether that is not over.
    fn into_session<'a>(&mut self, window: Window, hash: u64, key: Value<'a>, record: Input<'a>, arena: &'a Bump) -> Result<bool, Refusal>
    where
        'r: 'a,
    {
        let mut parts = Items::new_in(arena);
        for number in self.entries.of_key(hash, key) {
            let other = self.entries.window(number);
            if other.start <= window.end && other.end >= window.start {
                parts.push((other, number));
            }
        }
        let whole =
            parts.iter().fold(window, |whole, (part, _)| Window { start: whole.start.min(part.start), end: whole.end.max(part.end) });
        if parts.iter().all(|&(part, _)| part == whole) && parts.len() < 2 {
            return self.into_panes(std::iter::once(whole), hash, key, record, arena);
        }
        let limit = self.now.unwrap_or(self.watermark);
        if self.entries.cleanup(whole) <= limit || parts.iter().any(|&(part, _)| part == whole) {
            return Err(Refusal::Doubt);
        }
        let more = usize::from(parts.iter().all(|&(part, _)| part != window));
        let size = parts.len() + more;
        java_order(&mut parts, size);
        self.merge(whole, &parts, hash, key, record, arena)?;
        Ok(true)
    }

    /// Sessions become one, with a record. What is in the others is merged in order, and then with what is in the first.
    fn merge<'a>(
        &mut self,
        whole: Window,
        parts: &[(Window, usize)],
        hash: u64,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<(), Refusal>
    where
        'r: 'a,
    {
        let next = self.next_merged(parts, key, record, arena)?;
        let (first, _) = parts.split_first().ok_or(Doubt)?;
        if whole.last() <= self.watermark {
            let contents = match next {
                Next::Record(record) => self.entries.list(parts.iter().map(|part| part.1), record, arena),
                Next::Whole(value) => value,
                Next::Int(..) => return Err(Refusal::Doubt),
            };
            self.out.push(key, whole, Some(self.ready.result(contents, arena)?), false)?;
        }
        let number = self.entries.create(hash, key, whole, self.entries.kept(first.1));
        if whole.last() > self.watermark {
            self.entries.register_end(number);
        }
        self.entries.hand_on(first.1, number);
        for &(_, part) in parts {
            self.entries.unregister(part);
        }
        for &(_, part) in parts {
            if self.ready.keeps_all() {
                self.entries.pass_on(part, number);
            }
            self.entries.empty(part);
            self.entries.retire(part);
        }
        self.put(number, &next);
        Ok(())
    }

    /// What will be in a session that others become, after a record.
    fn next_merged<'a>(
        &mut self,
        parts: &[(Window, usize)],
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Refusal>
    where
        'r: 'a,
    {
        let (first, others) = parts.split_first().ok_or(Doubt)?;
        if self.ready.keeps_all() {
            return Ok(self.next(Some(first.1), true, key, record, arena)?);
        }
        let contents = |number: usize| Some(self.entries.value(number, arena)?.copied(arena));
        let mut merged = None;
        for &(_, other) in others {
            merged = self.joined(merged, contents(other), arena)?;
        }
        merged = self.joined(contents(first.1), merged, arena)?;
        let value = self.ready.add(merged, record, arena)?.copied(arena);
        if self.entries.admits(key, value) { Ok(Next::Whole(value)) } else { Err(Refusal::Doubt) }
    }

    fn joined<'a>(&self, one: Option<Value<'a>>, other: Option<Value<'a>>, arena: &'a Bump) -> Result<Option<Value<'a>>, Doubt>
    where
        'r: 'a,
    {
        match (one, other) {
            (Some(one), Some(other)) => self.ready.merge(one, other, arena).map(Some),
            _ => Ok(one.or(other)),
        }
    }
}

#[cfg(test)]
mod tests;
