//! What handles have in common, and the handle of one value per key.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::member::Member;
use super::table::Table;

/// The state behind a handle, and its table for all keys without a namespace.
pub struct Place {
    /// The keyed state.
    keyed: Py<PyAny>,
    /// Of its current key.
    slot: Member,
    /// The values.
    pub table: Table,
    /// The class whose methods do the same in Python.
    slow: Py<PyType>,
}

impl Place {
    /// The canonical form of the current key; `None` without one, which Python is to refuse.
    pub fn slot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(Some(self.slot.get(self.keyed.bind(py))?).filter(|slot| !slot.is_none()))
    }
}

/// Base of the native handles: what belongs to the current key, in a table that is a dict.
#[pyclass(subclass, frozen, module = "penstock.runtime")]
pub struct Handle {
    place: OnceLock<Place>,
    /// Whether the table of the place is what the handle shows.
    plain: AtomicBool,
}

impl Handle {
    /// A handle that shows nothing yet.
    pub fn empty() -> Self {
        Self { place: OnceLock::new(), plain: AtomicBool::new(false) }
    }

    /// A handle of a kind of its own, that shows nothing yet.
    pub fn below<H: pyo3::PyClass<BaseType = Self>>(handle: H) -> PyClassInitializer<H> {
        PyClassInitializer::from(Self::empty()).add_subclass(handle)
    }

    /// The place that it shows; `None` for that of a window.
    pub fn place(&self) -> Option<&Place> {
        if self.plain.load(Ordering::Relaxed) { self.place.get() } else { None }
    }

    /// Place and current key, if there are both.
    pub fn current<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<Option<(&'a Place, Bound<'py, PyAny>)>> {
        let Some(place) = self.place() else { return Ok(None) };
        Ok(place.slot(py)?.map(|slot| (place, slot)))
    }
}

/// What the Python method of this name does.
pub fn slowly<'py>(handle: &Bound<'py, Handle>, name: &str, argument: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let place = handle.get().place.get().ok_or_else(|| PyRuntimeError::new_err("this handle shows no state"))?;
    let method = place.slow.bind(handle.py()).getattr(name)?;
    match argument {
        None => method.call1((handle,)),
        Some(argument) => method.call1((handle, argument)),
    }
}

#[pymethods]
impl Handle {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> Self {
        Self::empty()
    }

    /// Show what a table has.
    ///
    /// Args:
    ///     keyed: the keyed state.
    ///     table: a dict; anything else is left to the Python methods.
    ///     slow: the class that has them.
    ///     frozen: says whether a value cannot change.
    fn _show(
        &self,
        keyed: &Bound<'_, PyAny>,
        table: &Bound<'_, PyAny>,
        slow: &Bound<'_, PyType>,
        frozen: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if self.place.get().is_none()
            && let Ok(dict) = table.cast::<PyDict>()
        {
            let slot = Member::of(&keyed.get_type(), "slot")?;
            let place = Place { keyed: keyed.clone().unbind(), slot, table: Table::of(dict, frozen)?, slow: slow.clone().unbind() };
            let _ = self.place.set(place);
        }
        let same = self.place.get().is_some_and(|place| place.table.is(table));
        self.plain.store(same, Ordering::Relaxed);
        Ok(())
    }

    /// Forget what belongs to the current key.
    fn clear<'py>(slf: &Bound<'py, Self>) -> PyResult<()> {
        match slf.get().current(slf.py())? {
            Some((place, slot)) => place.table.remove(&slot),
            None => slowly(slf, "clear", None).map(drop),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Some(place) = self.place.get() else { return Ok(()) };
        visit.call(&place.keyed)?;
        place.table.traverse(&visit)
    }
}

/// One value per key.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct ValueState;

#[pymethods]
impl ValueState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The value of the current key; a copy of the default where there is none.
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, py) = (slf.as_super(), slf.py());
        if let Some((place, slot)) = handle.get().current(py)? {
            if let Some(value) = place.table.get(&slot)? {
                place.table.shown(&slot, &value)?;
                return Ok(value);
            }
            if slf.getattr(intern!(py, "default"))?.is_none() {
                return Ok(py.None().into_bound(py));
            }
        }
        slowly(handle, "value", None)
    }

    /// Set the value of the current key; None clears it.
    ///
    /// Args:
    ///     value: the value.
    fn update<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let handle = slf.as_super();
        match handle.get().current(slf.py())? {
            Some((place, slot)) if value.is_none() => place.table.remove(&slot),
            Some((place, slot)) => place.table.set(&slot, value),
            None => slowly(handle, "update", Some(value)).map(drop),
        }
    }
}
