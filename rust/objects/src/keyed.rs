//! Operators with keyed state on batches: the channels of keys, and running reductions.

use penstock_columns::stamps::{Stamped, stamped};
use penstock_columns::{Best, Combine, Fold, KeyedReduce as Reductions, Progress, Router, Value};
use penstock_runtime::key_groups::Channels;
use penstock_runtime::key_type::KeyType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::batches::Batch;
use super::hand_over::objects;
use super::keyed_table::KeyedTable;
use super::pipelines::Program;

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

/// Gives the records of a batch the timestamps that a program returns.
///
/// Args:
///     assigner: takes a record and its timestamp.
///     unset: stands for no timestamp.
///
/// Raises:
///     ValueError: the program takes another number of arguments.
#[pyclass(frozen, module = "penstock._native")]
pub struct TimestampAssigner {
    assigner: penstock_columns::Program,
    unset: Option<i64>,
}

#[pymethods]
impl TimestampAssigner {
    #[new]
    #[pyo3(signature = (assigner, unset))]
    fn new(assigner: &Program, unset: Option<i64>) -> PyResult<Self> {
        let assigner = assigner.functions.clone();
        if assigner.parameters() != 2 {
            return Err(PyValueError::new_err("a timestamp assigner takes a record and its timestamp"));
        }
        Ok(Self { assigner, unset })
    }

    /// Give some records their timestamps.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     The records up to the first that is in doubt; the latest of their timestamps, None without a record; and the place
    ///     behind the last of them.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn run(&self, batch: &Batch, start: usize, end: usize) -> PyResult<(Option<Batch>, Option<i64>, usize)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let unset = self.unset.map_or(Value::None, Value::Int);
        let Stamped { done, latest, end } = stamped(&self.assigner, &batch.columns, start, end, unset);
        Ok((done.map(|columns| Batch { columns }), latest, end))
    }
}

/// A running reduction per key, on columns; what each key has reached is in a table.
///
/// Args:
///     key: gives the key of a record.
///     combine: the name of a fold (sum, min, max, min_by, max_by, min_by_last, max_by_last) and the position of its field; or a program of the value so far and a record.
///     table: the reduction so far by key.
///
/// Raises:
///     ValueError: the fold is another one, or a program takes another number of arguments.
#[pyclass(frozen, module = "penstock._native")]
pub struct KeyedReduce {
    reductions: Reductions,
    table: Py<KeyedTable>,
}

#[derive(FromPyObject)]
enum Combination<'py> {
    Field(String, usize),
    Program(PyRef<'py, Program>),
}

#[pymethods]
impl KeyedReduce {
    #[new]
    fn new(key: &Program, combine: Combination<'_>, table: Py<KeyedTable>) -> PyResult<Self> {
        let refused = || PyValueError::new_err("no fold, or a program with another number of arguments");
        let combine = match combine {
            Combination::Field(fold, position) => match Best::of(&fold, position) {
                Some(best) => Combine::Best(best),
                None => Combine::Field(position, Fold::of(&fold).ok_or_else(refused)?),
            },
            Combination::Program(program) => Combine::Program(program.functions.clone()),
        };
        let reductions = Reductions::new(key.functions.clone(), combine).ok_or_else(refused)?;
        Ok(Self { reductions, table })
    }

    /// Begin a turn of a table that has some of the keys of a store.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first of the turn.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     Keys of these records that are not in the table, each once; and the place behind the last record whose key, and those
    ///     before it, is not in doubt. With these keys loaded, if the store has them, the records up to there can be reduced.
    ///
    /// Raises:
    ///     ValueError: there are not so many records, or the table has all keys there are.
    fn begin<'py>(&self, py: Python<'py>, batch: &Batch, start: usize, end: usize) -> PyResult<(Bound<'py, PyList>, usize)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let mut borrowed = self.table.bind(py).borrow_mut();
        let KeyedTable { table, uses: Some(uses) } = &mut *borrowed else {
            return Err(PyValueError::new_err("the table has all keys there are"));
        };
        let (keys, end) = self.reductions.begin(table, uses, &batch.columns, start, end);
        Ok((objects(py, &keys)?.into_list(py)?, end))
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
    fn run(&self, py: Python<'_>, batch: &Batch, start: usize, end: usize) -> PyResult<(Option<Batch>, Vec<u64>, usize, bool)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let mut table = self.table.bind(py).borrow_mut();
        let Progress { out, counts, end, doubtful } = self.reductions.run(&mut table.table, &batch.columns, start, end);
        table.grow(false);
        Ok((out.map(|columns| Batch { columns }), counts, end, doubtful))
    }
}
