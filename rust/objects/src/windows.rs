//! Windows by key, as Python sees them.

use penstock_columns::{Aggregate, Assigner, Batch as Columns, Best, Contents, Fold, WindowSpec, Windows};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::batches::Batch;
use super::pipelines::Program;
use super::trees::{object_of, trees_of};

type News<'py> = (Vec<Batch>, Vec<Batch>, Vec<Batch>, Vec<Batch>, bool, Vec<Batch>, Vec<Bound<'py, PyAny>>, Vec<bool>);

/// The parts of what `run` returns.
pub(crate) type TakenRecords = (Option<Batch>, Vec<usize>, u64, usize, bool);

/// What windows contain, by its name.
pub(crate) fn contents_of(name: &str, position: usize, programs: &[PyRef<'_, Program>]) -> Option<Contents> {
    let functions: Vec<_> = programs.iter().map(|program| program.functions.clone()).collect();
    Some(match (name, &functions[..]) {
        ("elements", []) => Contents::Elements,
        ("reduce", [reduce]) => Contents::Reduce(reduce.clone()),
        ("aggregate", [create, add, result, merge @ ..]) if merge.len() < 2 => {
            let (create, add, result) = (create.clone(), add.clone(), result.clone());
            Contents::Aggregate(Box::new(Aggregate { create, add, result, merge: merge.first().cloned() }))
        }
        (fold, []) => match Best::of(fold, position) {
            Some(best) => Contents::Best(best),
            None => Contents::Field(position, Fold::of(fold)?),
        },
        _ => return None,
    })
}

/// An assigner by its name, with its spans.
pub(crate) fn assigner_of(name: &str, spans: &[i64]) -> Option<Assigner> {
    match (name, spans) {
        ("panes", &[size, slide, offset]) => Some(Assigner::Panes { size, slide, offset }),
        ("sessions", &[gap]) => Some(Assigner::Sessions { gap }),
        ("counted", &[size, slide]) => Some(Assigner::Counted { size, slide }),
        ("global", []) => Some(Assigner::Global),
        _ => None,
    }
}

/// Windows by key with the default trigger, as ``penstock.runtime.operators.window`` has them, on columns.
///
/// Args:
///     key: gives the key of a record.
///     assigner: ``panes`` or ``sessions``.
///     spans: in milliseconds: size, slide and offset of panes; the gap of sessions.
///     contents: ``sum``, ``min``, ``max``, ``min_by``, ``max_by``, ``min_by_last`` or ``max_by_last`` of a field, ``reduce``, ``aggregate``, or ``elements``: all of them.
///     position: of the field.
///     programs: of ``reduce`` the function; of ``aggregate`` create_accumulator, add, get_result, and merge if there is one.
///     lateness: how long a window lives on after its end, in milliseconds.
///     side: whether late records are wanted, and not only counted.
///     shows: whether results come with key and window, as (key, start, end, fires, clears, value).
///     clears: whether these also say which windows are over.
///     seeing: a function of key, window and list of contents, or without the key: what it gives are the results.
///
/// Raises:
///     ValueError: these do not go together.
#[pyclass(module = "penstock._native")]
pub struct KeyedWindows {
    windows: Windows,
}

#[pymethods]
impl KeyedWindows {
    #[new]
    #[pyo3(signature = (key, assigner, spans, contents, position=0, programs=Vec::new(), lateness=0, side=false, shows=false, clears=false, seeing=None))]
    #[allow(clippy::too_many_arguments, reason = "they are the parameters of an operator")]
    fn new(
        key: &Program,
        assigner: &str,
        spans: Vec<i64>,
        contents: &str,
        position: usize,
        programs: Vec<PyRef<'_, Program>>,
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
        let spec = WindowSpec { key: key.functions.clone(), assigner, contents, lateness, side, shows, clears, seeing };
        Ok(Self { windows: Windows::new(spec).ok_or_else(refused)? })
    }

    /// How many windows have something in them.
    fn __len__(&self) -> usize {
        self.windows.len()
    }

    /// How much memory they take, in bytes. O(windows, and items of accumulators).
    fn memory(&self) -> usize {
        self.windows.memory()
    }

    /// Whether accumulators are changed in place, so that they are by themselves in ``news`` and ``load``.
    fn has_objects(&self) -> bool {
        self.windows.has_objects()
    }

    /// Whether there is neither a window nor a timer.
    fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// The time of the first timer; None where there is none.
    fn next_due(&self) -> Option<i64> {
        self.windows.next_due()
    }

    /// Put some records into their windows.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///     watermark: of the operator; the smallest where the clock counts.
    ///     now: by the clock, where that counts.
    ///
    /// Returns:
    ///     What has fired at once, or None; the places of late records, all of which came before what has fired; how many
    ///     late records were dropped; the place behind the last record that is done; whether the record there is doubtful, so
    ///     that Python decides. If it is not, and there is one, the next call begins with it.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    #[pyo3(signature = (batch, start, end, watermark, now=None))]
    fn run(&mut self, batch: &Batch, start: usize, end: usize, watermark: i64, now: Option<i64>) -> PyResult<TakenRecords> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let taken = self.windows.run(&batch.columns, start, end, watermark, now);
        Ok((taken.out.map(|columns| Batch { columns }), taken.late, taken.dropped, taken.end, taken.doubtful))
    }

    /// Fire timers up to a time, in order.
    ///
    /// Args:
    ///     limit: the watermark, or the time of the clock.
    ///
    /// Returns:
    ///     The results, or None; whether more timers are due; whether the next one is doubtful, so that Python goes on.
    fn advance(&mut self, limit: i64) -> (Option<Batch>, bool, bool) {
        let fired = self.windows.advance(limit);
        (fired.out.map(|columns| Batch { columns }), fired.more, fired.doubtful)
    }

    /// What the state in Python does not know; it counts as known from then on. O(changes).
    ///
    /// Returns:
    ///     Batches of windows with nothing in them any more (key, start, end); of what is in others (key, start, end,
    ///     contents); of windows that merge and are over (key, start, end); of new ones (key, start, end, and start and end of
    ///     the one under whose name the contents are). Whether all timers follow, as they are in the heap, or what has been
    ///     done with them; and these (whether added, time, key, start, end). Accumulators that are changed in place: then there is
    ///     None instead of the contents. Of which contents Python has others.
    ///
    /// Raises:
    ///     ValueError: something of it cannot be in a batch.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<News<'py>> {
        let news = self.windows.news().map_err(|_| PyValueError::new_err("these windows cannot be in a batch"))?;
        let batches = |all: Vec<Columns>| all.into_iter().map(|columns| Batch { columns }).collect();
        let [removed, values, unlisted, listed, timers] = [news.removed, news.values, news.unlisted, news.listed, news.timers].map(batches);
        let contents = news.contents.iter().map(|tree| object_of(py, tree)).collect::<PyResult<_>>()?;
        Ok((removed, values, unlisted, listed, news.all, timers, contents, news.known))
    }

    /// Take the state of Python in place of this one.
    ///
    /// Args:
    ///     listed: windows that merge, as in ``news``.
    ///     values: what is in windows.
    ///     timers: all timers as they are in the heap (time, key, start, end).
    ///     contents: accumulators that are changed in place; then there is None in ``values``.
    ///
    /// Returns:
    ///     Whether all of it can be here; if not, nothing is.
    #[pyo3(signature = (listed, values, timers, contents=None))]
    fn load(
        &mut self,
        listed: Vec<PyRef<'_, Batch>>,
        values: Vec<PyRef<'_, Batch>>,
        timers: Vec<PyRef<'_, Batch>>,
        contents: Option<&Bound<'_, PyList>>,
    ) -> bool {
        let Some(contents) = contents.map_or(Some(Vec::new()), trees_of) else { return false };
        let [listed, values, timers] =
            [listed, values, timers].map(|all| all.iter().map(|batch| batch.columns.clone()).collect::<Vec<_>>());
        self.windows.load(&listed, &values, &timers, &contents).is_ok()
    }

    /// Forget everything.
    fn clear(&mut self) {
        self.windows.clear();
    }
}
