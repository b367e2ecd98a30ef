//! Handles of one value per key into which others are folded.

use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::handle::{Handle, slowly};

/// The error that stands around what a user's function has raised.
fn around(error: PyErr, handle: &Bound<'_, Handle>) -> PyErr {
    let py = handle.py();
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    match handle.call_method0(intern!(py, "_failure")) {
        Err(other) => other,
        Ok(outer) => {
            let cause = error.clone_ref(py).into_value(py);
            // SAFETY: both are exceptions; the context takes over a reference
            unsafe { ffi::PyException_SetContext(outer.as_ptr(), cause.into_ptr()) };
            let outer = PyErr::from_value(outer);
            outer.set_cause(py, Some(error));
            outer
        }
    }
}

/// A running reduction per key.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct ReducingState;

#[pymethods]
impl ReducingState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The reduction of the current key, None where nothing was added.
    fn get<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "get", None) };
        let Some(value) = place.table.get(&slot)? else { return Ok(py.None().into_bound(py)) };
        place.table.shown(&slot, &value)?;
        Ok(value)
    }

    /// Reduce a value into what the current key has.
    ///
    /// Args:
    ///     value: the value.
    fn add<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "add", Some(value)).map(drop) };
        let Some(current) = place.table.get(&slot)? else { return place.table.set(&slot, value) };
        let result = slf.getattr(intern!(py, "_reduce"))?.call1((current, value)).map_err(|error| around(error, handle))?;
        store(handle, &result)
    }
}

/// A running aggregation per key.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct AggregatingState;

#[pymethods]
impl AggregatingState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The result for the current key, None where nothing was added.
    fn get<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "get", None) };
        let Some(accumulator) = place.table.get(&slot)? else { return Ok(py.None().into_bound(py)) };
        let result = slf.getattr(intern!(py, "_function"))?.call_method1(intern!(py, "get_result"), (accumulator,))?;
        if place.table.is_tracked()
            && let Some(accumulator) = place.table.get(&slot)?
        {
            place.table.shown(&slot, &accumulator)?;
        }
        Ok(result)
    }

    /// Add a value to what the current key has.
    ///
    /// Args:
    ///     value: the value.
    fn add<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "add", Some(value)).map(drop) };
        let (current, function) = (place.table.get(&slot)?, slf.getattr(intern!(py, "_function"))?);
        let added = || {
            let current = current.map_or_else(|| function.call_method0(intern!(py, "create_accumulator")), Ok)?;
            function.call_method1(intern!(py, "add"), (value, current))
        };
        let result = added().map_err(|error| around(error, handle))?;
        store(handle, &result)
    }
}

/// Set the value of the key that is current now, after a call of the user's function.
fn store<'py>(handle: &Bound<'py, Handle>, value: &Bound<'py, PyAny>) -> PyResult<()> {
    match handle.get().current(handle.py())? {
        Some((place, slot)) => place.table.set(&slot, value),
        None => slowly(handle, "_write", Some(value)).map(drop),
    }
}
