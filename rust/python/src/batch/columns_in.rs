//! Typed columns into records.

use penstock_runtime::columns::{Broken, DEPTH, Kind, RECORD, Reader, TAG, UNKNOWN};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString};

type Objects = Vec<Py<PyAny>>;

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
    let keys = keys.map(|keys| list(py, keys)).transpose()?;
    let values = list(py, objects)?;
    let keys = if key == RECORD { Some(values.get_slice(0, count)) } else { keys };
    if reader.is_empty() { Ok((values, keys, extras)) } else { Err(broken()) }
}

fn broken() -> PyErr {
    PyValueError::new_err("these bytes are no buffer of columns")
}

fn check<T>(read: Result<T, Broken>) -> PyResult<T> {
    read.map_err(|Broken| broken())
}

/// A list that takes over the references.
fn list(py: Python<'_>, objects: Objects) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: a new list has room for as many as it was made for, and takes over each reference
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(objects.len() as ffi::Py_ssize_t))?;
        for (index, object) in objects.into_iter().enumerate() {
            ffi::PyList_SetItem(list.as_ptr(), index as ffi::Py_ssize_t, object.into_ptr());
        }
        Ok(list.cast_into_unchecked())
    }
}

/// The values of a column, and those of its field ``key`` if it has one. Recursive, to [`DEPTH`].
fn column(py: Python<'_>, reader: &mut Reader<'_>, count: usize, key: u8, depth: usize) -> PyResult<(Objects, Option<Objects>)> {
    let (kind, nullable) = check(reader.kind())?;
    if !nullable {
        return present(py, reader, kind, count, key, depth);
    }
    let presence = check(reader.bytes(count))?;
    let some = presence.iter().filter(|&&present| present != 0).count();
    let (values, _) = present(py, reader, kind, some, UNKNOWN, depth)?;
    let mut values = values.into_iter();
    let with_none = presence.iter().map(|&present| if present == 0 { None } else { values.next() });
    Ok((with_none.map(|value| value.unwrap_or_else(|| py.None())).collect(), None))
}

fn present(
    py: Python<'_>,
    reader: &mut Reader<'_>,
    kind: Kind,
    count: usize,
    key: u8,
    depth: usize,
) -> PyResult<(Objects, Option<Objects>)> {
    let objects = match kind {
        Kind::None => (0..count).map(|_| py.None()).collect(),
        Kind::Ints => longs(py, reader, count)?,
        Kind::Floats => {
            let (numbers, _) = check(reader.bytes(count.saturating_mul(8)))?.as_chunks();
            numbers.iter().map(|&bytes| PyFloat::new(py, f64::from_le_bytes(bytes)).into_any().unbind()).collect()
        }
        Kind::Bools => check(reader.bytes(count))?.iter().map(|&flag| PyBool::new(py, flag != 0).to_owned().into_any().unbind()).collect(),
        Kind::Texts => texts(py, reader, count)?,
        Kind::Coded => coded(py, reader, count)?,
        Kind::Bytes => check(reader.strings(count))?.into_iter().map(|bytes| PyBytes::new(py, bytes).into_any().unbind()).collect(),
        Kind::Tuples => return tuples(py, reader, count, key, depth),
    };
    Ok((objects, None))
}

fn texts(py: Python<'_>, reader: &mut Reader<'_>, count: usize) -> PyResult<Objects> {
    let text = |bytes: &[u8]| Ok(PyString::from_bytes(py, bytes).map_err(|_| broken())?.into_any().unbind());
    check(reader.strings(count))?.into_iter().map(text).collect()
}

fn coded(py: Python<'_>, reader: &mut Reader<'_>, count: usize) -> PyResult<Objects> {
    let different = check(reader.count())?;
    let texts = texts(py, reader, different)?;
    let codes = check(reader.ints(count))?.to_vec();
    let text = |code: i64| Ok(usize::try_from(code).ok().and_then(|code| texts.get(code)).ok_or_else(broken)?.clone_ref(py));
    codes.into_iter().map(text).collect()
}

/// Integers; those of one byte share their objects.
fn longs(py: Python<'_>, reader: &mut Reader<'_>, count: usize) -> PyResult<Objects> {
    let ints = check(reader.ints(count))?;
    let object = |value: i64| PyInt::new(py, value).into_any().unbind();
    if ints.width == 0 {
        let shared = object(ints.base);
        return Ok((0..count).map(|_| shared.clone_ref(py)).collect());
    }
    Ok(ints.to_vec().into_iter().map(object).collect())
}

fn tuples(py: Python<'_>, reader: &mut Reader<'_>, count: usize, key: u8, depth: usize) -> PyResult<(Objects, Option<Objects>)> {
    let arity = check(reader.byte())?;
    if depth == 0 {
        return Err(broken());
    }
    let (mut columns, mut keys) = (Vec::with_capacity(arity.into()), None);
    for field in 0..arity {
        let (objects, _) = column(py, reader, count, UNKNOWN, depth - 1)?;
        if field == key {
            keys = Some(objects.iter().map(|object| object.clone_ref(py)).collect());
        }
        columns.push(objects.into_iter());
    }
    let rows = (0..count).map(|_| tuple(py, &mut columns)).collect::<PyResult<_>>()?;
    Ok((rows, keys))
}

/// The next row of some columns.
fn tuple(py: Python<'_>, columns: &mut [impl Iterator<Item = Py<PyAny>>]) -> PyResult<Py<PyAny>> {
    // SAFETY: a new tuple has room for as many as it was made for, takes over each reference, and nobody has seen it
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(columns.len() as ffi::Py_ssize_t))?;
        for (index, column) in columns.iter_mut().enumerate() {
            let value = column.next().ok_or_else(broken)?;
            ffi::PyTuple_SetItem(tuple.as_ptr(), index as ffi::Py_ssize_t, value.into_ptr());
        }
        Ok(tuple.unbind())
    }
}
