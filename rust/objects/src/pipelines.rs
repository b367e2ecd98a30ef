//! Programs and pipelines, as Python sees them.

use penstock_columns::python::runs_on;
use penstock_columns::{Accumulator as Accumulating, Batch as Columns, Column, Data, Pipeline as Stages, Program as Functions, Stage};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::batches::Batch;
use super::shapes::class_named;

/// A function of Python, translated.
///
/// Args:
///     text: JSON, as ``penstock.compiler`` writes it.
///     classes: those whose objects it makes, each with the names of its attributes, by the number that they have in it.
///
/// Raises:
///     ValueError: the text is not a program, or calls something that is not known here; or objects of a class are more than
///         their attributes.
#[pyclass(frozen, module = "penstock._native")]
pub struct Program {
    /// The same without Python.
    pub functions: Functions,
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (text, classes=None))]
    fn new(py: Python<'_>, text: &str, classes: Option<Vec<(Bound<'_, PyType>, Vec<String>)>>) -> PyResult<Self> {
        runs_on(py.version_info().minor);
        let mut shapes = Vec::new();
        for (class, names) in classes.iter().flatten() {
            let refused = || PyValueError::new_err(format!("objects of {class} are more than their attributes"));
            shapes.push(class_named(class, names).ok_or_else(refused)?.shape.as_ref().clone());
        }
        let functions = Functions::parse_with(text, &shapes).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { functions })
    }

    /// How many arguments the function takes.
    #[getter]
    fn parameters(&self) -> usize {
        self.functions.parameters()
    }
}

/// Translated functions, one behind the other.
///
/// Args:
///     stages: kind (``map``, ``filter`` or ``flat_map``) and program of each.
///
/// Raises:
///     ValueError: a kind is another one, or a function does not take one argument, or gives an iterator and is no flat map.
#[pyclass(frozen, module = "penstock._native")]
pub struct Pipeline {
    stages: Stages,
}

#[pymethods]
impl Pipeline {
    #[new]
    fn new(stages: Vec<(String, PyRef<'_, Program>)>) -> PyResult<Self> {
        let mut all = Vec::with_capacity(stages.len());
        for (kind, program) in stages {
            let stage = Stage::of(&kind).ok_or_else(|| PyValueError::new_err(format!("{kind:?} is not a kind of stage")))?;
            all.push((stage, program.functions.clone()));
        }
        let refused = || PyValueError::new_err("these functions cannot be stages of a pipeline");
        Ok(Self { stages: Stages::new(all).ok_or_else(refused)? })
    }

    /// Run some records through the stages, depth first.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     What came out, with the timestamps of the records that it came from, or None where nothing did; how many records
    ///     each stage gave; the place behind the last record that is done; and whether the record there is doubtful, so that
    ///     Python decides. If it is not, and there is one, the next call begins with it.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn run(&self, batch: &Batch, start: usize, end: usize) -> PyResult<(Option<Batch>, Vec<u64>, usize, bool)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let progress = self.stages.run(&batch.columns, start, end);
        Ok((progress.out.map(|columns| Batch { columns }), progress.counts, progress.end, progress.doubtful))
    }
}

/// A translated function that keeps values from record to record: it takes them and a record, and gives them as a tuple.
///
/// Args:
///     program: the function; the record is its last argument.
///
/// Raises:
///     ValueError: it takes no argument, or gives an iterator.
#[pyclass(frozen, module = "penstock._native")]
pub struct Accumulator {
    function: Accumulating,
}

#[pymethods]
impl Accumulator {
    #[new]
    fn new(program: &Program) -> PyResult<Self> {
        let refused = || PyValueError::new_err("this function cannot keep values");
        Ok(Self { function: Accumulating::new(program.functions.clone()).ok_or_else(refused)? })
    }

    /// Take some records.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///     kept: the values that are kept, as the only record of a batch, a tuple.
    ///
    /// Returns:
    ///     The values as they are then, likewise, and the place behind the last record that is done; a record there is
    ///     doubtful, so that Python decides.
    ///
    /// Raises:
    ///     ValueError: there are not so many records, or another number of values.
    fn run(&self, batch: &Batch, start: usize, end: usize, kept: &Batch) -> PyResult<(Batch, usize)> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        let refused = || PyValueError::new_err("these are not the values that the function keeps");
        let values = kept.columns.records();
        let fields = values.fields().filter(|fields| fields.len() == self.function.kept() && values.len() == 1).ok_or_else(refused)?;
        let (kept, done) = self.function.run(&batch.columns, start, end, fields);
        let kept = Column::new(Data::Tuples(kept.into()), None, 1).and_then(|kept| Columns::new(kept, None));
        Ok((Batch { columns: kept.ok_or_else(refused)? }, done))
    }
}
