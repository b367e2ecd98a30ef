//! Objects that are made column by column and put together to records.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The values of a column.
pub struct Objects<'py> {
    /// One by one; none of them is counted as a reference.
    pub at: Vec<*mut ffi::PyObject>,
    /// What keeps them alive.
    pub owners: Vec<Bound<'py, PyAny>>,
}

impl<'py> Objects<'py> {
    /// Each its own object.
    pub fn each(owners: Vec<Bound<'py, PyAny>>) -> Self {
        Self { at: owners.iter().map(Bound::as_ptr).collect(), owners }
    }

    /// All the same one.
    pub fn shared(owner: Bound<'py, PyAny>, count: usize) -> Self {
        Self { at: vec![owner.as_ptr(); count], owners: vec![owner] }
    }

    /// A list of them.
    pub fn list(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        // SAFETY: the owners keep them alive
        listed(py, self.at.len(), self.at.iter().map(|&object| unsafe { Bound::from_borrowed_ptr(py, object) }))
    }

    /// The same list, with the owners' references where there are as many.
    pub fn into_list(self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let each = self.owners.len() == self.at.len() && self.owners.iter().zip(&self.at).all(|(owner, &at)| owner.as_ptr() == at);
        if each { listed(py, self.at.len(), self.owners.into_iter()) } else { self.list(py) }
    }
}

/// A list of objects.
pub fn listed<'py>(py: Python<'py>, count: usize, objects: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
    // SAFETY: a new list has room for as many as it was made for, and takes over a reference to each
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(count as ffi::Py_ssize_t))?;
        for (index, object) in objects.enumerate() {
            ffi::PyList_SetItem(list.as_ptr(), index as ffi::Py_ssize_t, object.into_ptr());
        }
        Ok(list.cast_into_unchecked())
    }
}

/// A row of some columns. Python's collector need not look at it if it need not look at its fields, among which are no
/// dicts: the only ones it may have to look at later.
pub fn tuple<'py>(py: Python<'py>, columns: &[Objects<'py>], row: usize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: every column has this row; a new tuple has room for as many as it was made for, and takes over a reference to
    // each, which the first three forms of it count by themselves
    unsafe {
        let made = match columns {
            [a] => ffi::PyTuple_Pack(1, a.at[row]),
            [a, b] => ffi::PyTuple_Pack(2, a.at[row], b.at[row]),
            [a, b, c] => ffi::PyTuple_Pack(3, a.at[row], b.at[row], c.at[row]),
            _ => ffi::PyTuple_New(columns.len() as ffi::Py_ssize_t),
        };
        let tuple = Bound::from_owned_ptr_or_err(py, made)?;
        if columns.len() > 3 {
            for (index, column) in columns.iter().enumerate() {
                ffi::Py_INCREF(column.at[row]);
                ffi::PyTuple_SetItem(tuple.as_ptr(), index as ffi::Py_ssize_t, column.at[row]);
            }
        }
        if columns.iter().all(|column| ffi::PyObject_GC_IsTracked(column.at[row]) == 0) && !columns.is_empty() {
            ffi::PyObject_GC_UnTrack(tuple.as_ptr().cast());
        }
        Ok(tuple)
    }
}
