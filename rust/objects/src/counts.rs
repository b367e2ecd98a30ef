//! Windows by the number of records, as Python sees them.

use penstock_columns::{Batch as Columns, CountSpec, CountWindows, Counted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::batches::Batch;
use super::pipelines::Program;
use super::trees::{object_of, trees_of};
use super::windows::contents_of;

type News<'py> = (Vec<Batch>, Vec<Batch>, Vec<Batch>, Vec<Bound<'py, PyAny>>, Vec<bool>);

/// Windows by key on the global window with a ``CountTrigger``, as ``penstock.runtime.operators.window`` has them, on columns.
///
/// Args:
///     key: gives the key of a record.
///     every: with how many records of a key its window fires.
///     purges: whether it is emptied then.
///     most: how many records an evictor leaves before it fires; None where there is none.
///     contents: as of ``KeyedWindows``.
///     position: of the field.
///     programs: as of ``KeyedWindows``, without merge.
///     shows: whether results come with key, as (key, start, end, fires, clears, value).
///     seeing: a function of key, None and list of contents, or without the key: what it gives are the results.
///
/// Raises:
///     ValueError: these do not go together.
#[pyclass(module = "penstock._native")]
pub struct KeyedCounts {
    windows: CountWindows,
}

#[pymethods]
impl KeyedCounts {
    #[new]
    #[pyo3(signature = (key, every, purges, most, contents, position=0, programs=Vec::new(), shows=false, seeing=None))]
    #[allow(clippy::too_many_arguments, reason = "they are the parameters of an operator")]
    fn new(
        key: &Program,
        every: i64,
        purges: bool,
        most: Option<usize>,
        contents: &str,
        position: usize,
        programs: Vec<PyRef<'_, Program>>,
        shows: bool,
        seeing: Option<&Program>,
    ) -> PyResult<Self> {
        let refused = || PyValueError::new_err("such windows are not known here");
        let contents = contents_of(contents, position, &programs).ok_or_else(refused)?;
        let seeing = seeing.map(|program| program.functions.clone());
        let spec = CountSpec { key: key.functions.clone(), every, purges, most, contents, shows, seeing };
        Ok(Self { windows: CountWindows::new(spec).ok_or_else(refused)? })
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

    /// How many windows have records that came since they fired. O(windows).
    fn counting(&self) -> usize {
        self.windows.counting()
    }

    /// Put some records into the windows of their keys.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     What has fired, or None; the place behind the last record that is done; whether the record there is doubtful, so that
    ///     Python decides. If it is not, and there is one, the next call begins with it.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn run(&mut self, batch: &Batch, start: usize, end: usize) -> PyResult<(Option<Batch>, usize, bool)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let Counted { out, end, doubtful } = self.windows.run(&batch.columns, start, end);
        Ok((out.map(|columns| Batch { columns }), end, doubtful))
    }

    /// What the state in Python does not know; it counts as known from then on. O(changes).
    ///
    /// Returns:
    ///     Batches of empty windows (key and two numbers), of what is in others (key, two numbers, contents), and of how many
    ///     records came since these fired (key, number). Accumulators that are changed in place: then there is None instead of
    ///     the contents. Of which contents Python has others.
    ///
    /// Raises:
    ///     ValueError: something of it cannot be in a batch.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<News<'py>> {
        let news = self.windows.news().map_err(|_| PyValueError::new_err("these windows cannot be in a batch"))?;
        let batches = |all: Vec<Columns>| all.into_iter().map(|columns| Batch { columns }).collect();
        let [removed, values, counts] = [news.removed, news.values, news.counts].map(batches);
        let contents = news.contents.iter().map(|tree| object_of(py, tree)).collect::<PyResult<_>>()?;
        Ok((removed, values, counts, contents, news.known))
    }

    /// Take the state of Python in place of this one.
    ///
    /// Args:
    ///     values: what is in windows (key, 0, 0, contents).
    ///     counts: how many records came since they fired (key, number).
    ///     contents: accumulators that are changed in place; then there is None in ``values``.
    ///
    /// Returns:
    ///     Whether all of it can be here; if not, nothing is.
    fn load(&mut self, values: Vec<PyRef<'_, Batch>>, counts: Vec<PyRef<'_, Batch>>, contents: &Bound<'_, PyList>) -> bool {
        let Some(contents) = trees_of(contents) else { return false };
        let [values, counts] = [values, counts].map(|all| all.iter().map(|batch| batch.columns.clone()).collect::<Vec<_>>());
        self.windows.load(&values, &counts, &contents).is_ok()
    }

    /// Forget everything.
    fn clear(&mut self) {
        self.windows.clear();
    }
}
