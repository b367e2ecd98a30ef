//! Operators with keyed state on batches: the channels of keys, and running reductions.

use penstock_columns::{Builder, Column, Combine, Doubt, Fold, KeyedReduce as Reductions, Progress, Refusal, Router, Value};
use penstock_runtime::key_groups::Channels;
use penstock_runtime::key_type::KeyType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};

use super::batches::Batch;
use super::gather::gathered;
use super::hand_over::objects;
use super::pipelines::Program;

/// Keys that stay when the table has been brought up to date; if there are more, all are forgotten, as they would take about
/// as much memory as the table.
const KEPT: usize = 1 << 17;

/// Sends the records of a batch to the subtasks that own their keys.
///
/// Args:
///     key: gives the key of a record.
///     key_type: code of the declared type of the key (``key_types.native_code``).
///     max_parallelism: number of key groups.
///     channels: number of subtasks.
///
/// Raises:
///     ValueError: the code is none, a number is zero, or the program does not take one argument.
#[pyclass(frozen, module = "penstock._native")]
pub struct ColumnRouter {
    router: Router,
}

#[pymethods]
impl ColumnRouter {
    #[new]
    fn new(key: &Program, key_type: &[u8], max_parallelism: u32, channels: u32) -> PyResult<Self> {
        let refused = || PyValueError::new_err("no code of a key type, no key of a record, or nothing to route to");
        if max_parallelism == 0 || channels == 0 {
            return Err(refused());
        }
        let key_type = KeyType::parse(key_type).ok_or_else(refused)?;
        let router = Router::new(key.functions.clone(), key_type, Channels::new(max_parallelism, channels)).ok_or_else(refused)?;
        Ok(Self { router })
    }

    /// Distribute the records of a batch. O(records + channels).
    ///
    /// Args:
    ///     batch: the records.
    ///
    /// Returns:
    ///     Channel and records, in order, for each channel that gets some; None where the key of some record is in doubt.
    fn split(&self, batch: &Batch) -> Option<Vec<(u32, Batch)>> {
        let parts = self.router.split(&batch.columns).ok()?;
        let whole = parts.iter().filter(|rows| !rows.is_empty()).count() == 1;
        let filled = parts.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
        filled
            .map(|(channel, rows)| {
                let columns = if whole { batch.columns.clone() } else { batch.columns.take(&rows)? };
                Some((channel as u32, Batch { columns }))
            })
            .collect()
    }
}

/// A running reduction per key, on columns. It stands in front of a table of objects: while a key is here the table does not
/// know it, or knows an old value. Who changes the table by himself flushes before.
///
/// Args:
///     key: gives the key of a record.
///     combine: the name of a fold (sum, min, max) and the position of its field; or a program of the value so far and a record.
///     table: the reduction so far by key.
///     touched: takes each key as soon as the table has a new value of it; None where nobody asks.
///
/// Raises:
///     ValueError: the fold is another one, or a program takes another number of arguments.
#[pyclass(module = "penstock._native")]
pub struct KeyedReduce {
    reductions: Reductions,
    table: Py<PyDict>,
    touched: Option<Py<PySet>>,
}

#[derive(FromPyObject)]
enum Combination<'py> {
    Field(String, usize),
    Program(PyRef<'py, Program>),
}

#[pymethods]
impl KeyedReduce {
    #[new]
    #[pyo3(signature = (key, combine, table, touched=None))]
    fn new(key: &Program, combine: Combination<'_>, table: Py<PyDict>, touched: Option<Py<PySet>>) -> PyResult<Self> {
        let refused = || PyValueError::new_err("no fold, or a program with another number of arguments");
        let combine = match combine {
            Combination::Field(fold, position) => Combine::Field(position, Fold::of(&fold).ok_or_else(refused)?),
            Combination::Program(program) => Combine::Program(program.functions.clone()),
        };
        let reductions = Reductions::new(key.functions.clone(), combine).ok_or_else(refused)?;
        Ok(Self { reductions, table, touched })
    }

    /// Reduce some records.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     As ``Pipeline.run``: the reduction after each record.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn run(&mut self, py: Python<'_>, batch: &Batch, start: usize, end: usize) -> PyResult<(Option<Batch>, Vec<u64>, usize, bool)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let table = self.table.bind(py);
        let mut missing = |key: Value<'_>| reached(table, key).map_err(|_| Doubt);
        let Progress { out, counts, end, doubtful } = match table.is_empty() {
            true => self.reductions.run(&batch.columns, start, end, None),
            false => self.reductions.run(&batch.columns, start, end, Some(&mut missing)),
        };
        Ok((out.map(|columns| Batch { columns }), counts, end, doubtful))
    }

    /// How many keys are here.
    fn __len__(&mut self) -> usize {
        self.reductions.table().len()
    }

    /// Bring the table up to date. O(changed keys).
    fn settle(&mut self, py: Python<'_>) -> PyResult<()> {
        let (table, touched) = (self.table.bind(py), self.touched.as_ref().map(|keys| keys.bind(py)));
        let mut entries = Entries::default();
        self.reductions.table().hand_over(|key, value| {
            if entries.push(key, value).is_err() {
                std::mem::take(&mut entries).into_table(table, touched)?;
                entries.push(key, value).map_err(|_| PyValueError::new_err("no column can hold the value of a key"))?;
            }
            Ok::<(), PyErr>(())
        })?;
        entries.into_table(table, touched)?;
        if self.reductions.table().len() > KEPT {
            self.reductions.table().clear();
        }
        Ok(())
    }

    /// The same; and from now on the table knows best. O(keys).
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        self.settle(py)?;
        self.reductions.table().clear();
        Ok(())
    }
}

/// Keys and their values on the way into a table of objects.
#[derive(Default)]
struct Entries {
    keys: Builder,
    values: Builder,
}

impl Entries {
    fn push(&mut self, key: Value<'_>, value: Value<'_>) -> Result<(), Refusal> {
        self.keys.push(key)?;
        self.values.push(value).inspect_err(|_| self.keys.truncate(self.values.len()))
    }

    fn into_table(self, table: &Bound<'_, PyDict>, touched: Option<&Bound<'_, PySet>>) -> PyResult<()> {
        let py = table.py();
        let keys = objects(py, &self.keys.finish())?.into_list(py)?;
        let values = objects(py, &self.values.finish())?.into_list(py)?;
        for (key, value) in keys.iter().zip(values) {
            touched.map_or(Ok(()), |touched| touched.add(&key))?;
            table.set_item(key, value)?;
        }
        Ok(())
    }
}

/// What a table has of a key, as a column of one value.
fn reached(table: &Bound<'_, PyDict>, key: Value<'_>) -> PyResult<Option<Column>> {
    let refused = || PyValueError::new_err("no column can hold it");
    let mut keys = Builder::new();
    keys.push(key).map_err(|_| refused())?;
    let keys = objects(table.py(), &keys.finish())?.into_list(table.py())?;
    let Some(value) = table.get_item(keys.get_item(0)?)? else { return Ok(None) };
    gathered(&PyList::new(table.py(), [value])?).map(Some).ok_or_else(refused)
}
