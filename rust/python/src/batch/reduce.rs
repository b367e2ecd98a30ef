//! Running reductions per key.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::objects::{Item, long, tuple};

/// A running reduction per key, of a batch of records.
///
/// Args:
///     table: the reduction so far by key; it is brought up to date, also when an error stops it half-way.
///     keys: of the records, in order, each its own canonical form.
///     values: the records.
///     reduce: from the reduction so far and a record to the next; what it raises is passed on.
///     position: the field of plain tuples that ``reduce`` adds up, which is then done here; -1 when it does something else.
///     results: takes the reduction after each record; when an error stops it, those before.
#[pyfunction]
pub fn reduce_by_key<'py>(
    table: &Bound<'py, PyDict>,
    keys: &Bound<'py, PyList>,
    values: &Bound<'py, PyList>,
    reduce: &Bound<'py, PyAny>,
    position: isize,
    results: &Bound<'py, PyList>,
) -> PyResult<()> {
    let py = table.py();
    for (key, value) in keys.iter().zip(values.iter()) {
        let result = match table.get_item(&key)? {
            None => value,
            Some(current) => match sum(py, current.as_borrowed(), value.as_borrowed(), position)? {
                Some(sum) => sum,
                None => reduce.call1((current, value))?,
            },
        };
        table.set_item(&key, &result)?;
        results.append(result)?;
    }
    Ok(())
}

/// The first tuple with the sum of both in one field; `None` where these are no plain tuples that have it.
fn sum<'py>(py: Python<'py>, first: Item<'_, 'py>, second: Item<'_, 'py>, position: isize) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Some(one), Some(other)) = (tuple(first), tuple(second)) else { return Ok(None) };
    if position < 0 || position >= one.len() as isize || position >= other.len() as isize {
        return Ok(None);
    }
    // SAFETY: the indices are below the lengths; a new tuple takes over a reference to each field, and nobody has seen it
    unsafe {
        let added = add(one.get_borrowed_item_unchecked(position as usize), other.get_borrowed_item_unchecked(position as usize))?;
        let result = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(one.len() as ffi::Py_ssize_t))?;
        for index in 0..one.len() as isize {
            let field = ffi::PyTuple_GetItem(one.as_ptr(), index);
            let field = if index == position { added.as_ptr() } else { field };
            ffi::Py_INCREF(field);
            ffi::PyTuple_SetItem(result.as_ptr(), index, field);
        }
        Ok(Some(result))
    }
}

fn add<'py>(one: Item<'_, 'py>, other: Item<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    match long(one).zip(long(other)).and_then(|(one, other)| one.checked_add(other)) {
        Some(sum) => Ok(sum.into_pyobject(one.py())?.into_any()),
        None => one.add(other),
    }
}
