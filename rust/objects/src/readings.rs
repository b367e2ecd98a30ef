//! Readings, as Python sees them: messages and rows of files as a batch of records.

use penstock_columns::Batch as Columns;
use penstock_columns::Column;
use penstock_columns::CsvRows as Rows;
use penstock_columns::Reading as Formats;
use penstock_columns::reading::Stop;
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
        Ok((batch(records)?, start + count))
    }

    /// The records of blocks of Avro.
    ///
    /// Args:
    ///     blocks: what is in each, and how many records.
    ///
    /// Returns:
    ///     The records, without timestamps; None where one is doubtful.
    fn blocks(&self, blocks: Vec<(Bound<'_, PyBytes>, usize)>) -> PyResult<Option<Batch>> {
        let parts = blocks.iter().map(|(data, count)| (data.as_bytes(), *count));
        self.reading.blocks(parts).map(batch).transpose()
    }

    /// The records of the lines of a text, until one is doubtful; lines of whitespace have none.
    ///
    /// Args:
    ///     data: the text.
    ///     start: where the first line begins that is read.
    ///
    /// Returns:
    ///     The records, without timestamps; how many lines have been read; and where the next one begins: if there is one,
    ///     Python reads it.
    ///
    /// Raises:
    ///     ValueError: there are not so many bytes.
    fn lines(&self, data: &[u8], start: usize) -> PyResult<(Batch, usize, usize)> {
        if start > data.len() {
            return Err(PyValueError::new_err("there are fewer bytes"));
        }
        let (records, count, end) = self.reading.lines(data, start);
        Ok((batch(records)?, count, end))
    }
}

/// The rows of a CSV file as records. Its bytes are added as they are read.
///
/// Args:
///     text: JSON, as ``penstock.connectors.formats.csv`` makes it.
///
/// Raises:
///     ValueError: the text does not say what the rows are.
#[pyclass(module = "penstock._native")]
pub struct CsvRows {
    rows: Rows,
}

#[pymethods]
impl CsvRows {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Ok(Self { rows: Rows::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))? })
    }

    /// Add bytes of the file.
    ///
    /// Args:
    ///     data: the next bytes; none at the end of the file.
    ///
    /// Returns:
    ///     Whether all bytes are UTF-8.
    fn add(&mut self, data: &[u8]) -> bool {
        self.rows.add(data)
    }

    /// How many bytes wait to be read.
    #[getter]
    fn waiting(&self) -> usize {
        self.rows.waiting()
    }

    /// The next records.
    ///
    /// Args:
    ///     most: how many.
    ///
    /// Returns:
    ///     The records, without timestamps; and why there are no more: ``full``; ``data``, there are no more bytes; ``doubt``,
    ///     Python reads the texts of the next row; ``broken``, Python reads all rows from there on.
    fn read(&mut self, most: usize) -> PyResult<(Batch, &'static str)> {
        let (records, stop) = self.rows.read(most);
        Ok((batch(records)?, name_of(stop)))
    }

    /// The next rows as texts.
    ///
    /// Args:
    ///     most: how many.
    ///
    /// Returns:
    ///     The fields of the rows; and why there are no more, as for ``read``.
    fn texts(&mut self, most: usize) -> (Vec<Vec<String>>, &'static str) {
        let (rows, stop) = self.rows.texts(most);
        (rows, name_of(stop))
    }

    /// Pass over rows.
    ///
    /// Args:
    ///     most: how many.
    ///
    /// Returns:
    ///     How many there were; and why there are no more, as for ``read``.
    fn skip(&mut self, most: usize) -> (usize, &'static str) {
        let (count, stop) = self.rows.skip(most);
        (count, name_of(stop))
    }
}

fn name_of(stop: Stop) -> &'static str {
    match stop {
        Stop::Full => "full",
        Stop::Data => "data",
        Stop::Doubt => "doubt",
        Stop::Broken => "broken",
    }
}

fn batch(records: Column) -> PyResult<Batch> {
    let columns = Columns::new(records, None).ok_or_else(|| PyValueError::new_err("the records are no batch"))?;
    Ok(Batch { columns })
}
