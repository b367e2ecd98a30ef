//! Windows by key with other triggers than the default one, as Python sees them.

use penstock_columns::{Batch as Columns, Delta, Evictor, Own, Rule, Trigger, TriggerSpec, TriggerWindows, Value, WindowSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::batches::Batch;
use super::pipelines::Program;
use super::process::domain;
use super::trees::{object_of, trees_of};
use super::windows::{TakenRecords, assigner_of, contents_of};

/// Removed and changed contents, windows that merge and are over or new, what is forgotten and remembered, whether all timers
/// follow, those of both kinds, how many records keys have had, accumulators that are changed in place, and which contents Python
/// has others of.
type News<'py> = (
    Vec<Batch>,
    Vec<Batch>,
    Vec<Batch>,
    Vec<Batch>,
    Vec<Batch>,
    Vec<Batch>,
    bool,
    Vec<Batch>,
    Vec<Batch>,
    Vec<Batch>,
    Vec<Bound<'py, PyAny>>,
    Vec<bool>,
);

/// A trigger: its kind, whether it is of event time, a number, a threshold, programs, and whether it purges.
type TriggerParts<'py> = (String, bool, i64, Option<Threshold>, Vec<Option<PyRef<'py, Program>>>, bool);

/// An evictor: its kind, a number, a threshold, a program, and whether it evicts after the function.
type EvictorParts<'py> = (String, i64, Option<Threshold>, Option<PyRef<'py, Program>>, bool);

/// A number that differences are compared with.
#[derive(Clone, Copy, FromPyObject)]
enum Threshold {
    Int(i64),
    Float(f64),
}

impl Threshold {
    fn with(self, program: &PyRef<'_, Program>) -> Box<Delta> {
        let threshold = match self {
            Self::Int(number) => Value::Int(number),
            Self::Float(number) => Value::Float(number),
        };
        Box::new(Delta { threshold, function: program.functions.clone() })
    }
}

/// Windows by key with any trigger of Flink's, or a compiled one, and with an evictor or without, as
/// ``penstock.runtime.operators.window`` has them, on columns.
///
/// Args:
///     key: gives the key of a record.
///     assigner: as of ``KeyedWindows``, ``counted`` or ``global``.
///     spans: of the assigner; of ``counted`` how many records a window has, and how many are from one to the next.
///     contents: as of ``KeyedWindows``.
///     position: of the field.
///     programs: as of ``KeyedWindows``.
///     trigger: ``never``, ``at_end``, ``count``, ``every``, ``delta`` or ``own``; whether its time is that of records; with
///         how many records it fires, or at which interval in milliseconds; the threshold of ``delta``; the function of
///         ``delta``, or the methods of ``own``: on_element, on_event_time, on_processing_time, on_merge and clear, None for
///         one that does nothing; and whether a window that fires is emptied.
///     evictor: ``count``, ``time`` or ``delta``; how many records it leaves, or of how many milliseconds; the threshold and
///         the function of ``delta``; and whether it evicts after the function. None where there is none.
///     event_time: whether the time of windows is that of records, or the clock's.
///     lateness: how long a window lives on after its end, in milliseconds.
///     side: whether late records are wanted, and not only counted.
///     shows: whether results come with key and window, as (key, start, end, fires, clears, value).
///     clears: whether these also say which windows are over.
///     seeing: a function of key, window and list of contents, or without the key: what it gives are the results.
///
/// Raises:
///     ValueError: these do not go together.
#[pyclass(module = "penstock._native")]
pub struct KeyedTriggers {
    windows: TriggerWindows,
}

#[pymethods]
impl KeyedTriggers {
    #[new]
    #[pyo3(signature = (key, assigner, spans, contents, position, programs, trigger, evictor, event_time, lateness=0, side=false, shows=false, clears=false, seeing=None))]
    #[allow(clippy::too_many_arguments, reason = "they are the parameters of an operator")]
    fn new(
        key: &Program,
        assigner: &str,
        spans: Vec<i64>,
        contents: &str,
        position: usize,
        programs: Vec<PyRef<'_, Program>>,
        trigger: TriggerParts<'_>,
        evictor: Option<EvictorParts<'_>>,
        event_time: bool,
        lateness: i64,
        side: bool,
        shows: bool,
        clears: bool,
        seeing: Option<&Program>,
    ) -> PyResult<Self> {
        let refused = || PyValueError::new_err("such windows are not known here");
        let assigner = assigner_of(assigner, &spans).ok_or_else(refused)?;
        let contents = contents_of(contents, position, &programs).ok_or_else(refused)?;
        let seeing = seeing.map(|program| program.functions.clone());
        let windows = WindowSpec { key: key.functions.clone(), assigner, contents, lateness, side, shows, clears, seeing };
        let (purges, trigger) = (trigger.5, trigger_of(&trigger).ok_or_else(refused)?);
        let evictor = evictor.map(|evictor| evictor_of(&evictor).ok_or_else(refused)).transpose()?;
        let spec = TriggerSpec { windows, trigger, purges, evictor, event: event_time };
        Ok(Self { windows: TriggerWindows::new(spec).ok_or_else(refused)? })
    }

    /// How many windows have something in them.
    fn __len__(&self) -> usize {
        self.windows.len()
    }

    /// How many entries the state in Python has for these: contents, what is remembered, windows that merge, and counts.
    fn entries(&self) -> usize {
        self.windows.entries()
    }

    /// How much memory they take, in bytes. O(windows, and items of accumulators).
    fn memory(&self) -> usize {
        self.windows.memory()
    }

    /// Whether accumulators are changed in place, so that they are by themselves in ``news`` and ``load``.
    fn has_objects(&self) -> bool {
        self.windows.has_objects()
    }

    /// The time of the first timer, of event time or by the clock; None where there is none.
    fn next_due(&self, event_time: bool) -> Option<i64> {
        self.windows.next_due(domain(event_time))
    }

    /// Put some records into their windows.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///     watermark: of the operator.
    ///     now: by the clock.
    ///
    /// Returns:
    ///     As ``KeyedWindows.run``.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn run(&mut self, batch: &Batch, start: usize, end: usize, watermark: i64, now: i64) -> PyResult<TakenRecords> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let taken = self.windows.run(&batch.columns, start, end, (watermark, now));
        Ok((taken.out.map(|columns| Batch { columns }), taken.late, taken.dropped, taken.end, taken.doubtful))
    }

    /// Fire timers up to a time, in order.
    ///
    /// Args:
    ///     event_time: whether those of event time, or those by the clock.
    ///     limit: the time.
    ///     watermark: of the operator.
    ///     now: by the clock.
    ///
    /// Returns:
    ///     The results, or None; whether more timers are due; whether the next one is doubtful, so that Python goes on.
    fn advance(&mut self, event_time: bool, limit: i64, watermark: i64, now: i64) -> (Option<Batch>, bool, bool) {
        let fired = self.windows.advance(domain(event_time), limit, (watermark, now));
        (fired.out.map(|columns| Batch { columns }), fired.more, fired.doubtful)
    }

    /// What the state in Python does not know; it counts as known from then on. O(changes).
    ///
    /// Returns:
    ///     Batches of windows with nothing in them any more (key, start, end); of what is in others (key, start, end,
    ///     contents); of windows that merge and are over (key, start, end); of new ones (key, start, end, and start and end
    ///     of the one under whose name the contents are); of windows of which the trigger has forgotten all (key, start,
    ///     end), and of what it remembers of others (key, start, end, and that). Whether all timers follow, as they are in
    ///     the heaps, or what has been done with them; and these, of event time and by the clock (whether added, time, key,
    ///     start, end). Where windows are numbered, how many records a key has had (key, count). Accumulators that are
    ///     changed in place: then there is None instead of the contents. Of which contents Python has others.
    ///
    /// Raises:
    ///     ValueError: something of it cannot be in a batch.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<News<'py>> {
        let news = self.windows.news().map_err(|_| PyValueError::new_err("these windows cannot be in a batch"))?;
        let batches = |all: Vec<Columns>| all.into_iter().map(|columns| Batch { columns }).collect();
        let windows = news.windows;
        let contents = windows.contents.iter().map(|tree| object_of(py, tree)).collect::<PyResult<_>>()?;
        let [removed, values, unlisted, listed] = [windows.removed, windows.values, windows.unlisted, windows.listed].map(batches);
        let [forgotten, remembered] = [news.forgotten, news.remembered].map(batches);
        let ([event, clock], seen) = (news.timers.map(batches), batches(news.seen));
        Ok((removed, values, unlisted, listed, forgotten, remembered, news.all, event, clock, seen, contents, windows.known))
    }

    /// Take the state of Python in place of this one.
    ///
    /// Args:
    ///     listed: windows that merge, as in ``news``.
    ///     values: what is in windows.
    ///     remembered: what the trigger remembers of windows.
    ///     timers: all timers of event time as they are in the heap (time, key, start, end).
    ///     by_clock: those by the clock.
    ///     seen: how many records keys have had.
    ///     contents: accumulators that are changed in place; then there is None in ``values``.
    ///
    /// Returns:
    ///     Whether all of it can be here; if not, nothing is.
    #[allow(clippy::too_many_arguments, reason = "they are the parts of a state")]
    fn load(
        &mut self,
        listed: Vec<PyRef<'_, Batch>>,
        values: Vec<PyRef<'_, Batch>>,
        remembered: Vec<PyRef<'_, Batch>>,
        timers: Vec<PyRef<'_, Batch>>,
        by_clock: Vec<PyRef<'_, Batch>>,
        seen: Vec<PyRef<'_, Batch>>,
        contents: &Bound<'_, PyList>,
    ) -> bool {
        let Some(contents) = trees_of(contents) else { return false };
        let columns = |all: Vec<PyRef<'_, Batch>>| all.iter().map(|batch| batch.columns.clone()).collect::<Vec<_>>();
        let [listed, values, remembered, timers, by_clock, seen] = [listed, values, remembered, timers, by_clock, seen].map(columns);
        self.windows.load(&listed, &values, &remembered, [&timers, &by_clock], &seen, &contents).is_ok()
    }

    /// Forget everything.
    fn clear(&mut self) {
        self.windows.clear();
    }
}

fn trigger_of((kind, event_time, number, threshold, programs, _): &TriggerParts<'_>) -> Option<Trigger> {
    let program = |program: &Option<PyRef<'_, Program>>| program.as_ref().map(|program| program.functions.clone());
    Some(match (&**kind, &programs[..]) {
        ("never", []) => Trigger::Never,
        ("at_end", []) => Trigger::AtEnd(domain(*event_time)),
        ("count", []) => Trigger::Count(*number),
        ("every", []) => Trigger::Every(domain(*event_time), *number),
        ("delta", [Some(function)]) => Trigger::Delta((*threshold)?.with(function)),
        ("own", [Some(on_element), event, clock, merge, clear]) => {
            let on_element = on_element.functions.clone();
            let [on_event_time, on_processing_time, on_merge, clear] = [event, clock, merge, clear].map(program);
            Trigger::Own(Box::new(Own { on_element, on_event_time, on_processing_time, on_merge, clear }))
        }
        _ => return None,
    })
}

fn evictor_of((kind, number, threshold, program, after): &EvictorParts<'_>) -> Option<Evictor> {
    let rule = match (&**kind, program) {
        ("count", None) => Rule::Count(usize::try_from((*number).max(0)).ok()?),
        ("time", None) => Rule::Time(*number),
        ("delta", Some(function)) => Rule::Delta((*threshold)?.with(function)),
        _ => return None,
    };
    Some(Evictor { rule, after: *after })
}
