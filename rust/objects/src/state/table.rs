//! The table of a state: a dict by key, which may note what changes (`penstock.runtime.state.tracked_tables`).

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};

use super::member::Member;
use crate::items::{Item, field};

/// To what depth tuples in tuples are looked at.
const DEPTH: usize = 4;

/// A table of values by key.
pub struct Table {
    dict: Py<PyDict>,
    changes: Option<Changes>,
    frozen: Py<PyAny>,
}

/// Where a table notes its changes.
struct Changes {
    /// The keys.
    changed: Member,
    /// All tables with changes.
    dirty: Py<PyDict>,
    /// Its name there.
    place: Py<PyAny>,
}

impl Table {
    /// A dict, or a `TrackedTable`; `frozen` is the function that says whether a value cannot change.
    pub fn of(dict: &Bound<'_, PyDict>, frozen: &Bound<'_, PyAny>) -> PyResult<Self> {
        let changes = if dict.is_exact_instance_of::<PyDict>() {
            None
        } else {
            let class = dict.get_type();
            let (dirty, place) = (Member::of(&class, "_dirty")?.get(dict)?, Member::of(&class, "_place")?.get(dict)?);
            Some(Changes { changed: Member::of(&class, "changed")?, dirty: dirty.cast_into::<PyDict>()?.unbind(), place: place.unbind() })
        };
        Ok(Self { dict: dict.clone().unbind(), changes, frozen: frozen.clone().unbind() })
    }

    /// Whether this is its dict.
    pub fn is(&self, dict: &Bound<'_, PyAny>) -> bool {
        self.dict.is(dict)
    }

    /// Whether changes are noted.
    pub fn is_tracked(&self) -> bool {
        self.changes.is_some()
    }

    /// All keys, as a list.
    pub fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.dict.bind(py).keys()
    }

    /// The value of a key.
    pub fn get<'py>(&self, slot: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        lookup(self.dict.bind(slot.py()), slot)
    }

    /// Set the value of a key.
    pub fn set(&self, slot: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let dict = self.dict.bind(slot.py());
        if let Some(changes) = &self.changes {
            let changed = changes.changed.get(dict)?.cast_into::<PySet>()?;
            if changed.is_empty() {
                changes.dirty.bind(slot.py()).set_item(&changes.place, dict)?;
            }
            changed.add(slot)?;
        }
        dict.set_item(slot, value)
    }

    /// Remove a key, if it is there.
    pub fn remove(&self, slot: &Bound<'_, PyAny>) -> PyResult<()> {
        let dict = self.dict.bind(slot.py());
        if dict.contains(slot)? {
            self.mark(slot)?;
            dict.del_item(slot)?;
        }
        Ok(())
    }

    /// Note that what a key has may change, if changes are noted and it can.
    pub fn shown(&self, slot: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.changes.is_some() && !self.is_frozen(value)? { self.mark(slot) } else { Ok(()) }
    }

    /// Note a key that is there, if changes are noted.
    pub fn mark(&self, slot: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(changes) = &self.changes else { return Ok(()) };
        let dict = self.dict.bind(slot.py());
        changes.dirty.bind(slot.py()).set_item(&changes.place, dict)?;
        changes.changed.get(dict)?.cast_into::<PySet>()?.add(slot)
    }

    /// Whether a value cannot change.
    pub fn is_frozen(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match plain(value.as_borrowed(), DEPTH + 1) {
            Some(frozen) => Ok(frozen),
            None => self.frozen.bind(value.py()).call1((value,))?.extract(),
        }
    }

    /// For Python's collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.dict)?;
        self.changes.as_ref().map_or(Ok(()), |changes| visit.call(&changes.dirty))
    }
}

/// The value of a key of a dict.
pub fn lookup<'py>(dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = dict.py();
    // SAFETY: both are objects; what comes back is borrowed, or null with or without an error
    unsafe {
        let value = ffi::PyDict_GetItemWithError(dict.as_ptr(), key.as_ptr());
        match Bound::from_borrowed_ptr_or_opt(py, value) {
            None if !ffi::PyErr_Occurred().is_null() => Err(PyErr::fetch(py)),
            value => Ok(value),
        }
    }
}

/// Whether a value of a usual type cannot change; `None` for other types, and what is deeper. Recursive, to a depth.
fn plain(value: Item<'_, '_>, depth: usize) -> Option<bool> {
    if is_atom(value) {
        return Some(true);
    }
    if value.is_exact_instance_of::<PyList>() || value.is_exact_instance_of::<PyDict>() || value.is_exact_instance_of::<PySet>() {
        return Some(false);
    }
    let tuple = value.cast_exact::<PyTuple>().ok().filter(|_| depth > 0)?;
    for index in 0..tuple.len() {
        // SAFETY: the index is below the length
        if !plain(unsafe { field(tuple.as_borrowed(), index) }, depth - 1)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether it is a text, a number, a truth value, bytes or None, and nothing else.
pub fn is_atom(value: Item<'_, '_>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_none()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyBytes>()
}
