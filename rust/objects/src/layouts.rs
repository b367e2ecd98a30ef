//! Layouts, as Python sees them: records of a batch as lines and messages.

use penstock_columns::Layout as Texts;
use penstock_columns::writing::Written;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::batches::Batch;

/// How records are written as text or bytes.
///
/// Args:
///     text: JSON, as ``penstock.runtime.columns.layouts`` makes it.
///
/// Raises:
///     ValueError: the text is not a layout.
#[pyclass(frozen, module = "penstock._native")]
pub struct Layout {
    layout: Texts,
}

#[pymethods]
impl Layout {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let layout = Texts::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { layout })
    }

    /// Some records, one after the other.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///     room: the number of bytes; the record that needs more is the last one. None for any number.
    ///
    /// Returns:
    ///     Their bytes; the place behind the last record in them; and whether the record there is doubtful, so that Python
    ///     writes it.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    #[pyo3(signature = (batch, start, end, room=None))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        start: usize,
        end: usize,
        room: Option<usize>,
    ) -> PyResult<(Bound<'py, PyBytes>, usize, bool)> {
        let mut out = Vec::new();
        let written = self.written(batch, start, end, room, &mut out, |_| {})?;
        Ok((PyBytes::new(py, &out), written.end, written.doubtful))
    }

    /// Some records, each for itself.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     The bytes of each; the rest is as that of ``write``.
    ///
    /// Raises:
    ///     ValueError: there are not so many records.
    fn messages<'py>(&self, py: Python<'py>, batch: &Batch, start: usize, end: usize) -> PyResult<(Bound<'py, PyList>, usize, bool)> {
        self.parts(batch, start, end, |parts| PyList::new(py, parts.map(|part| PyBytes::new(py, part))))
    }

    /// Some records, each as a text.
    ///
    /// Args:
    ///     batch: the records.
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Returns:
    ///     The text of each; the rest is as that of ``write``.
    ///
    /// Raises:
    ///     ValueError: there are not so many records, or the layout is one of bytes.
    fn texts<'py>(&self, py: Python<'py>, batch: &Batch, start: usize, end: usize) -> PyResult<(Bound<'py, PyList>, usize, bool)> {
        self.parts(batch, start, end, |parts| {
            let texts: Vec<_> = parts.map(|part| PyString::from_bytes(py, part)).collect::<PyResult<_>>()?;
            PyList::new(py, texts)
        })
    }
}

impl Layout {
    fn written(
        &self,
        batch: &Batch,
        start: usize,
        end: usize,
        room: Option<usize>,
        out: &mut Vec<u8>,
        ended: impl FnMut(usize),
    ) -> PyResult<Written> {
        if start > end || end > batch.columns.len() {
            return Err(PyValueError::new_err("the batch has fewer records"));
        }
        Ok(self.layout.write(batch.columns.records(), start, end, room, out, ended))
    }

    /// What is made of the bytes of each record.
    fn parts<T>(
        &self,
        batch: &Batch,
        start: usize,
        end: usize,
        make: impl FnOnce(&mut dyn ExactSizeIterator<Item = &[u8]>) -> PyResult<T>,
    ) -> PyResult<(T, usize, bool)> {
        let (mut out, mut ends) = (Vec::new(), vec![0]);
        let written = self.written(batch, start, end, None, &mut out, |end| ends.push(end))?;
        let made = make(&mut ends.windows(2).map(|pair| &out[pair[0]..pair[1]]))?;
        Ok((made, written.end, written.doubtful))
    }
}
