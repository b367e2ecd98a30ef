//! What a function's context has for timers.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use super::member::Member;
use super::timers::TimerQueue;
use crate::items::long;

/// Base of the native timer service: timers by event time, of the current key.
///
/// Args:
///     slow: the service in Python, for all that is not as usual.
///     keyed: the keyed state.
///     queue: its timers by event time.
#[pyclass(subclass, frozen, module = "penstock.runtime")]
pub struct TimerService {
    slow: Py<PyAny>,
    keyed: Py<PyAny>,
    slot: Member,
    key: Member,
    queue: Py<TimerQueue>,
}

impl TimerService {
    /// The canonical form of the current key, if there is one, and a time as it should be.
    fn usual<'py>(&self, timestamp: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if long(timestamp.as_borrowed()).is_none() {
            return Ok(None);
        }
        Ok(Some(self.slot.get(self.keyed.bind(timestamp.py()))?).filter(|slot| !slot.is_none()))
    }
}

#[pymethods]
impl TimerService {
    #[new]
    fn new(slow: &Bound<'_, PyAny>, keyed: &Bound<'_, PyAny>, queue: &Bound<'_, TimerQueue>) -> PyResult<Self> {
        let class = keyed.get_type();
        let (slot, key) = (Member::of(&class, "slot")?, Member::of(&class, "current_key")?);
        Ok(Self { slow: slow.clone().unbind(), keyed: keyed.clone().unbind(), slot, key, queue: queue.clone().unbind() })
    }

    /// Have ``on_timer`` called for the current key when the watermark reaches a time.
    ///
    /// Args:
    ///     timestamp: the time.
    fn register_event_time_timer<'py>(&self, timestamp: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = timestamp.py();
        let Some(slot) = self.usual(timestamp)? else {
            return self.slow.bind(py).call_method1("register_event_time_timer", (timestamp,)).map(drop);
        };
        let key = self.key.get(self.keyed.bind(py))?;
        self.queue.bind(py).try_borrow_mut()?.put(timestamp, &slot, &key, py.None().bind(py)).map(drop)
    }

    /// Forget a timer of the current key by event time.
    ///
    /// Args:
    ///     timestamp: the time.
    fn delete_event_time_timer<'py>(&self, timestamp: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = timestamp.py();
        let Some(slot) = self.usual(timestamp)? else {
            return self.slow.bind(py).call_method1("delete_event_time_timer", (timestamp,)).map(drop);
        };
        self.queue.bind(py).try_borrow_mut()?.take(timestamp, &slot, py.None().bind(py))
    }

    /// Have ``on_timer`` called for the current key when the clock reaches a time.
    ///
    /// Args:
    ///     timestamp: the time.
    fn register_processing_time_timer<'py>(&self, timestamp: &Bound<'py, PyAny>) -> PyResult<()> {
        self.slow.bind(timestamp.py()).call_method1("register_processing_time_timer", (timestamp,)).map(drop)
    }

    /// Forget a timer of the current key by the clock.
    ///
    /// Args:
    ///     timestamp: the time.
    fn delete_processing_time_timer<'py>(&self, timestamp: &Bound<'py, PyAny>) -> PyResult<()> {
        self.slow.bind(timestamp.py()).call_method1("delete_processing_time_timer", (timestamp,)).map(drop)
    }

    /// The operator's watermark.
    fn current_watermark<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.slow.bind(py).call_method0("current_watermark")
    }

    /// The machine's clock.
    fn current_processing_time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.slow.bind(py).call_method0("current_processing_time")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.slow.bind(py).repr()?.to_string())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.slow)?;
        visit.call(&self.keyed)
    }
}
