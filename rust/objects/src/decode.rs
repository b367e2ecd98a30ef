//! Typed columns into records.

use penstock_columns::value::Unit;
use penstock_runtime::columns::{Broken, DEPTH, Kind, RECORD, Reader, TAG, UNKNOWN};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString};

use super::moments::objects;
use super::owned::{Objects, tuple};

/// The values of a column, and those of the field that is the key, if it has one.
type Read<'py> = PyResult<(Objects<'py>, Option<Objects<'py>>)>;

/// The records in typed columns.
///
/// Args:
///     data: what ``encode_columns`` or ``columns.encode`` has made.
///
/// Returns:
///     The records, their keys (None where they are not known), and the bytes that travelled with them.
///
/// Raises:
///     ValueError: these bytes are something else.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "it is a tuple in Python")]
pub fn decode_columns<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<(Bound<'py, PyList>, Option<Bound<'py, PyList>>, Bound<'py, PyBytes>)> {
    let mut reader = Reader::new(data);
    let (tag, key) = (check(reader.byte())?, check(reader.byte())?);
    if tag != TAG {
        return Err(broken());
    }
    let count = check(reader.count())?;
    let length = check(reader.length())?;
    let extras = PyBytes::new(py, check(reader.bytes(length))?);
    let (objects, keys) = column(py, &mut reader, count, key, DEPTH)?;
    if !reader.is_empty() {
        return Err(broken());
    }
    let keys = if key == RECORD { Some(&objects) } else { keys.as_ref() };
    let keys = keys.map(|keys| keys.list(py)).transpose()?;
    Ok((objects.into_list(py)?, keys, extras))
}

/// The error of bytes that are no buffer.
pub fn broken() -> PyErr {
    PyValueError::new_err("these bytes are no buffer of columns")
}

fn check<T>(read: Result<T, Broken>) -> PyResult<T> {
    read.map_err(|Broken| broken())
}

/// The values of a column, and those of its field ``key`` if it has one. Recursive, to [`DEPTH`].
fn column<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize, key: u8, depth: usize) -> Read<'py> {
    let (kind, nullable) = check(reader.kind())?;
    if !nullable {
        return present(py, reader, kind, count, key, depth);
    }
    let presence = check(reader.bytes(count))?;
    let some = presence.iter().filter(|&&present| present != 0).count();
    let (mut objects, _) = present(py, reader, kind, some, UNKNOWN, depth)?;
    let none = py.None().into_bound(py);
    let mut values = objects.at.into_iter();
    let value = |&present: &u8| if present == 0 { None } else { values.next() };
    objects.at = presence.iter().map(value).map(|value| value.unwrap_or(none.as_ptr())).collect();
    objects.owners.push(none);
    Ok((objects, None))
}

fn present<'py>(py: Python<'py>, reader: &mut Reader<'_>, kind: Kind, count: usize, key: u8, depth: usize) -> Read<'py> {
    let objects = match kind {
        Kind::None => Objects::shared(py.None().into_bound(py), count),
        Kind::Ints => longs(py, reader, count)?,
        Kind::Floats => {
            let (numbers, _) = check(reader.bytes(count.saturating_mul(8)))?.as_chunks();
            Objects::each(numbers.iter().map(|&bytes| PyFloat::new(py, f64::from_le_bytes(bytes)).into_any()).collect())
        }
        Kind::Bools => {
            let flag = |&byte: &u8| PyBool::new(py, byte != 0).to_owned().into_any();
            Objects::each(check(reader.bytes(count))?.iter().map(flag).collect())
        }
        Kind::Texts => Objects::each(texts(py, reader, count)?),
        Kind::Coded => coded(py, reader, count)?,
        Kind::Bytes => {
            let bytes = check(reader.strings(count))?;
            Objects::each(bytes.into_iter().map(|bytes| PyBytes::new(py, bytes).into_any()).collect())
        }
        Kind::Days => moments(py, reader, count, Unit::Days)?,
        Kind::Times => moments(py, reader, count, Unit::Micros)?,
        Kind::Clocks => moments(py, reader, count, Unit::Clock)?,
        Kind::Tuples => return tuples(py, reader, count, key, depth),
    };
    Ok((objects, None))
}

fn texts<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut result = Vec::with_capacity(count);
    for bytes in check(reader.strings(count))? {
        result.push(PyString::from_bytes(py, bytes).map_err(|_| broken())?.into_any());
    }
    Ok(result)
}

fn coded<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize) -> PyResult<Objects<'py>> {
    let different = check(reader.count())?;
    let owners = texts(py, reader, different)?;
    let mut at = Vec::with_capacity(count);
    for code in check(reader.ints(count))?.to_vec() {
        let text = usize::try_from(code).ok().and_then(|code| owners.get(code));
        at.push(text.ok_or_else(broken)?.as_ptr());
    }
    Ok(Objects { at, owners })
}

fn longs<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize) -> PyResult<Objects<'py>> {
    let ints = check(reader.ints(count))?;
    let object = |value: i64| PyInt::new(py, value).into_any();
    if ints.width == 0 {
        return Ok(Objects::shared(object(ints.base), count));
    }
    Ok(Objects::each(ints.to_vec().into_iter().map(object).collect()))
}

fn moments<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize, unit: Unit) -> PyResult<Objects<'py>> {
    let since = check(reader.ints(count))?.to_vec();
    let numbers: Vec<i64> = since.into_iter().map(|number| number.saturating_add(unit.epoch())).collect();
    if numbers.iter().all(|&number| unit.has(number)) { objects(py, unit, &numbers) } else { Err(broken()) }
}

fn tuples<'py>(py: Python<'py>, reader: &mut Reader<'_>, count: usize, key: u8, depth: usize) -> Read<'py> {
    let arity = check(reader.byte())?;
    if depth == 0 {
        return Err(broken());
    }
    let mut columns = Vec::with_capacity(arity.into());
    for _ in 0..arity {
        columns.push(column(py, reader, count, UNKNOWN, depth - 1)?.0);
    }
    let mut rows = Vec::with_capacity(count);
    for index in 0..count {
        rows.push(tuple(py, &columns, index)?);
    }
    let keys = (key < arity).then(|| columns.swap_remove(key.into()));
    Ok((Objects::each(rows), keys))
}
