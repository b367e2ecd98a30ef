//! Batches of columns, as Python sees them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use penstock_columns::batch::Stamps;
use penstock_columns::column::text_size;
use penstock_columns::filling::{Limits, Looks};
use penstock_columns::lines::lines;
use penstock_columns::{Batch as Columns, Column, Data, Shape, exchange};
use penstock_runtime::columns::Broken;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice};

use super::capsules;
use super::decode::broken;
use super::gather::{gathered, times};
use super::hand_over::objects;

/// Records of one plain type in columns, with their timestamps. It never changes, and reads as a sequence of objects.
#[pyclass(frozen, sequence, module = "penstock._native")]
pub struct Batch {
    /// The same without Python.
    pub columns: Columns,
}

/// Timestamps of many records, as they travel.
#[derive(FromPyObject)]
enum Packed<'py> {
    Times(Bound<'py, PyBytes>),
    Runs(Vec<(usize, Option<i64>)>),
}

#[pymethods]
impl Batch {
    /// The columns of some objects. O(objects).
    ///
    /// Args:
    ///     values: the objects.
    ///     times: their timestamps.
    ///
    /// Returns:
    ///     The batch; None when the objects are not of one plain type, or would not come back as equal objects of the same
    ///     classes.
    ///
    /// Raises:
    ///     ValueError: there are not as many timestamps as objects.
    #[staticmethod]
    #[pyo3(signature = (values, times=None))]
    fn of(values: &Bound<'_, PyList>, times: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let Some(records) = gathered(values) else { return Ok(None) };
        Self::with(records, times)
    }

    /// The records of a buffer of typed columns.
    ///
    /// Args:
    ///     data: what ``encode_columns`` or ``encode`` has made.
    ///
    /// Returns:
    ///     The batch, without timestamps; what is known of the key; the bytes that travelled with them.
    ///
    /// Raises:
    ///     ValueError: these bytes are something else.
    #[staticmethod]
    fn of_buffer<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(Self, u8, Bound<'py, PyBytes>)> {
        let (records, key, extras) = exchange::decode(data).map_err(|Broken| broken())?;
        let columns = Columns::new(records, None).ok_or_else(broken)?;
        Ok((Self { columns }, key, PyBytes::new(py, extras)))
    }

    /// The lines of a text in UTF-8.
    ///
    /// Args:
    ///     data: the text; it begins with a line.
    ///
    /// Returns:
    ///     The lines, without their ends, which are line feeds, with a carriage return or without; None when the bytes are not UTF-8.
    #[staticmethod]
    fn of_lines(data: &[u8]) -> Option<Self> {
        Some(Self { columns: Columns::new(lines(data)?, None)? })
    }

    /// The records whose fields are the columns of an Arrow batch.
    ///
    /// Args:
    ///     columns: the Arrow batch, of any library.
    ///     names: of the fields of rows; None for tuples.
    ///     single: whether the only column has the records themselves.
    ///
    /// Returns:
    ///     The batch, which shares the memory of numbers and texts; None when it cannot have such columns.
    ///
    /// Raises:
    ///     ValueError: there are not as many names as columns, or several columns for single values.
    #[staticmethod]
    #[pyo3(signature = (columns, names=None, single=false))]
    fn of_arrow(columns: &Bound<'_, PyAny>, names: Option<Vec<String>>, single: bool) -> PyResult<Option<Self>> {
        let batch = capsules::read_batch(columns)?;
        let (width, count) = (batch.num_columns(), batch.num_rows());
        if names.as_ref().is_some_and(|names| names.len() != width) || (single && width != 1) {
            return Err(PyValueError::new_err("there are not as many columns as fields"));
        }
        let Some(fields) = batch.columns().iter().map(|column| Column::of_arrow(column)).collect::<Option<Vec<Column>>>() else {
            return Ok(None);
        };
        let records = match names {
            _ if single => fields.into_iter().next(),
            None => Column::new(Data::Tuples(fields.into()), None, count),
            Some(names) => {
                let names = Some(names.into_iter().map(String::into_boxed_str).collect());
                Column::new(Data::Rows(Arc::new(Shape { class: 0, names }), fields.into()), None, count)
            }
        };
        Ok(records.and_then(|records| Columns::new(records, None)).map(|columns| Self { columns }))
    }

    /// The records of some batches, one after the other.
    ///
    /// Args:
    ///     parts: the batches.
    ///
    /// Returns:
    ///     The batch; None when they are of different types, or larger together than a batch can be.
    #[staticmethod]
    fn concat(parts: Vec<PyRef<'_, Self>>) -> Option<Self> {
        let parts: Vec<&Columns> = parts.iter().map(|part| &part.columns).collect();
        Some(Self { columns: Columns::concat(&parts)? })
    }

    fn __len__(&self) -> usize {
        self.columns.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let part = slice.indices(self.columns.len() as isize)?;
            let rows: Vec<usize> = (0..part.slicelength as isize).map(|at| (part.start + at * part.step) as usize).collect();
            let taken = if part.step == 1 && part.slicelength > 0 {
                self.columns.records().slice(part.start as usize, part.start as usize + part.slicelength)
            } else {
                self.columns.records().take(&rows).ok_or_else(too_large)?
            };
            return Ok(objects(py, &taken)?.into_list(py)?.into_any());
        }
        let (at, count) = (index.extract::<isize>()?, self.columns.len() as isize);
        let at = if at < 0 { at + count } else { at };
        if !(0..count).contains(&at) {
            return Err(PyIndexError::new_err("the batch has fewer records"));
        }
        objects(py, &self.columns.records().slice(at as usize, at as usize + 1))?.list(py)?.get_item(0)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.objects(py, 0, None)?.try_iter()?.into_any())
    }

    /// The records as objects, made anew. O(records).
    ///
    /// Args:
    ///     start: the first.
    ///     end: the one behind the last; that of the batch if missing.
    ///
    /// Raises:
    ///     ValueError: there are not so many.
    #[pyo3(signature = (start=0, end=None))]
    fn objects<'py>(&self, py: Python<'py>, start: usize, end: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let (start, end) = self.range(start, end)?;
        objects(py, &self.columns.records().slice(start, end))?.into_list(py)
    }

    /// Some of the records, without a copy.
    ///
    /// Args:
    ///     start: the first.
    ///     end: the one behind the last.
    ///
    /// Raises:
    ///     ValueError: there are not so many.
    fn slice(&self, start: usize, end: usize) -> PyResult<Self> {
        let (start, end) = self.range(start, Some(end))?;
        Ok(Self { columns: self.columns.slice(start, end) })
    }

    /// The records at some places.
    ///
    /// Args:
    ///     indices: the places, in any order.
    ///
    /// Raises:
    ///     ValueError: there are not so many.
    fn take(&self, indices: Vec<usize>) -> PyResult<Self> {
        Ok(Self { columns: self.columns.take(&indices).ok_or_else(beyond)? })
    }

    /// The timestamps; None when no record has one.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        self.columns.times().map(|times| objects(py, times)?.into_list(py)).transpose()
    }

    /// The same records with other timestamps.
    ///
    /// Args:
    ///     times: the timestamps, or None.
    ///
    /// Raises:
    ///     ValueError: there are not as many as records, or one is neither an int of 64 bits nor None.
    fn with_times(&self, times: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::with(self.columns.records().clone(), times)?.ok_or_else(|| PyValueError::new_err("timestamps are ints of 64 bits or None"))
    }

    /// Whether records have timestamps.
    #[getter]
    fn timed(&self) -> bool {
        self.columns.times().is_some()
    }

    /// The timestamp of a record; None when it has none.
    ///
    /// Args:
    ///     row: its place.
    ///
    /// Raises:
    ///     ValueError: there are not so many.
    fn time(&self, row: usize) -> PyResult<Option<i64>> {
        if row < self.columns.len() { Ok(self.columns.time(row)) } else { Err(beyond()) }
    }

    /// The timestamps as ``penstock.runtime.buffers.stamps.pack`` has them. O(records).
    ///
    /// Returns:
    ///     Runs of equal ones, each with the place of its first record; or the bytes of an array of 64-bit integers.
    fn stamps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.columns.stamps() {
            Stamps::Runs(runs) => Ok(PyList::new(py, runs)?.into_any()),
            Stamps::Times(times) => {
                let mut bytes = Vec::with_capacity(size_of_val(&*times));
                times.iter().for_each(|time| bytes.extend_from_slice(&time.to_ne_bytes()));
                Ok(PyBytes::new(py, &bytes).into_any())
            }
        }
    }

    /// The same records with timestamps out of what ``stamps`` gives.
    ///
    /// Args:
    ///     stamps: runs of equal ones, or the bytes of an array.
    ///
    /// Raises:
    ///     ValueError: there are not as many as records.
    fn with_stamps(&self, stamps: Packed<'_>) -> PyResult<Self> {
        let stamps = match stamps {
            Packed::Runs(runs) => Stamps::Runs(runs),
            Packed::Times(bytes) => {
                let (times, _) = bytes.as_bytes().as_chunks();
                Stamps::Times(times.iter().map(|&time| i64::from_ne_bytes(time)).collect())
            }
        };
        Ok(Self { columns: self.columns.with_stamps(stamps).ok_or_else(beyond)? })
    }

    /// About how many bytes some records take, as ``penstock.runtime.buffers.codec.text_size`` counts them.
    ///
    /// Args:
    ///     start: the first.
    ///     end: the one behind the last.
    ///     step: from one to the next.
    ///
    /// Raises:
    ///     ValueError: there are not so many, or the step is zero.
    fn text_size(&self, start: usize, end: usize, step: usize) -> PyResult<usize> {
        let (start, end) = self.range(start, Some(end))?;
        if step == 0 {
            return Err(PyValueError::new_err("the step is zero"));
        }
        Ok((start..end).step_by(step).map(|row| text_size(self.columns.records(), row)).sum())
    }

    /// Looks at how large the records are that wait for a buffer, as ``Filling.full`` does: up to the last of this batch, or
    /// to before the look that finds the buffer full.
    ///
    /// Args:
    ///     first: how many records wait in front of these, all of them looked at.
    ///     looks: how many wait at the next look; how many did at the last one, and about how many bytes these have.
    ///     limits: records and bytes of a full buffer; how many records are between two looks at the most; every how many
    ///         records one is looked at.
    ///
    /// Returns:
    ///     The looks as they are then, and about how many bytes a record has by the last of them; 0 where there was none.
    ///
    /// Raises:
    ///     ValueError: not all of those in front were looked at, or none is.
    fn look(
        &self,
        first: usize,
        looks: (usize, usize, usize),
        limits: (usize, usize, usize, usize),
    ) -> PyResult<(usize, usize, usize, usize)> {
        let ((mark, count, bytes), (records, most_bytes, look, every)) = (looks, limits);
        if count < first || every == 0 {
            return Err(PyValueError::new_err("records in front of the batch were not looked at"));
        }
        let limits = Limits { records, bytes: most_bytes, look, every };
        let Looks { mark, count, bytes, mean } = Looks { mark, count, bytes, mean: 0 }.go_on(self.columns.records(), first, limits);
        Ok((mark, count, bytes, mean))
    }

    /// The records as a buffer of typed columns.
    ///
    /// Args:
    ///     key: what ``key_field`` says of their keys.
    ///     extras: bytes that travel with them.
    ///
    /// Returns:
    ///     The bytes that ``encode_columns`` makes of the objects; None when the format does not have such columns.
    fn encode<'py>(&self, py: Python<'py>, key: u8, extras: &[u8]) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, &exchange::encode(self.columns.records(), key, extras)?))
    }

    /// The fields of the records as the columns of a batch of pyarrow.
    ///
    /// Args:
    ///     names: of the fields; None where the records are single values, for which the column has an empty name.
    ///
    /// Returns:
    ///     The batch, which shares the memory of numbers and texts; None where records have other fields, one is None,
    ///     or a field has values inside of values.
    fn to_arrow<'py>(&self, py: Python<'py>, names: Option<Vec<String>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(batch) = arrow_batch(self.columns.records(), names) else { return Ok(None) };
        capsules::to_pyarrow(py, batch).map(Some)
    }

    fn __repr__(&self) -> String {
        format!("<Batch of {} records>", self.columns.len())
    }
}

impl Batch {
    fn with(records: Column, values: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let times = match values {
            None => None,
            Some(values) => match times(values)? {
                Some(times) => Some(times),
                None => return Ok(None),
            },
        };
        match Columns::new(records, times) {
            Some(columns) => Ok(Some(Self { columns })),
            None => Err(PyValueError::new_err("there are not as many timestamps as records")),
        }
    }

    fn range(&self, start: usize, end: Option<usize>) -> PyResult<(usize, usize)> {
        let end = end.unwrap_or(self.columns.len());
        if start <= end && end <= self.columns.len() { Ok((start, end)) } else { Err(beyond()) }
    }
}

/// The fields of records as a batch of Arrow.
fn arrow_batch(records: &Column, names: Option<Vec<String>>) -> Option<RecordBatch> {
    let (names, columns) = match (names, records.data()) {
        (None, _) => (vec![String::new()], std::slice::from_ref(records)),
        _ if records.presence().is_some() => return None,
        (Some(names), Data::Tuples(fields)) if names.len() == fields.len() => (names, &**fields),
        (Some(names), Data::Rows(shape, fields)) if shape.class == 0 && names.len() == fields.len() => {
            let same = |own: &[Box<str>]| own.iter().zip(&names).all(|(own, name)| **own == *name);
            shape.names.as_deref().is_none_or(same).then_some((names, &**fields))?
        }
        _ => return None,
    };
    let columns: Vec<ArrayRef> = columns.iter().map(Column::to_arrow).collect::<Option<_>>()?;
    let fields = names.into_iter().zip(&columns).map(|(name, column)| Field::new(name, column.data_type().clone(), true));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).ok()
}

fn beyond() -> PyErr {
    PyValueError::new_err("the batch has fewer records")
}

fn too_large() -> PyErr {
    PyValueError::new_err("these records are too large together")
}
