//! Readings, as Python sees them: messages as a batch of records.

use penstock_columns::Batch as Columns;
use penstock_columns::Reading as Formats;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::batches::Batch;

/// How messages are read as records.
///
/// Args:
///     text: JSON, as ``penstock.runtime.columns.layouts`` makes it.
///
/// Raises:
///     ValueError: the text does not say what messages are.
#[pyclass(frozen, module = "penstock._native")]
pub struct Reading {
    reading: Formats,
}

#[pymethods]
impl Reading {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let reading = Formats::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { reading })
    }

    /// The records of some messages, until one is doubtful.
    ///
    /// Args:
    ///     messages: bytes, or None.
    ///     start: the first one that is read.
    ///
    /// Returns:
    ///     The records, without timestamps; and the place behind the last message in them: if there is one, Python reads it.
    ///
    /// Raises:
    ///     ValueError: there are not so many.
    fn read(&self, messages: &Bound<'_, PyList>, start: usize) -> PyResult<(Batch, usize)> {
        if start > messages.len() {
            return Err(PyValueError::new_err("there are fewer messages"));
        }
        let rest: Vec<Bound<'_, PyAny>> = messages.iter().skip(start).collect();
        let bytes = rest.iter().map(|message| message.cast::<PyBytes>().ok().map(|message| message.as_bytes()));
        let (records, count) = self.reading.read(bytes);
        let columns = Columns::new(records, None).ok_or_else(|| PyValueError::new_err("the records are no batch"))?;
        Ok((Batch { columns }, start + count))
    }
}
