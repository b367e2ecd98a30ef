//! What tells the timers of a queue apart.

use pyo3::prelude::*;

use super::timers::Timer;

/// What names a timer.
pub struct Name<'a, 'py> {
    /// When the timer fires.
    pub time: &'a Bound<'py, PyAny>,
    slot: &'a Bound<'py, PyAny>,
    namespace: &'a Bound<'py, PyAny>,
    /// Of all three.
    pub hash: u64,
}

impl<'a, 'py> Name<'a, 'py> {
    /// The name of a timer of a time, the canonical form of a key, and a window or None.
    pub fn of(time: &'a Bound<'py, PyAny>, slot: &'a Bound<'py, PyAny>, namespace: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let mixed = [time, slot, namespace].into_iter().try_fold(0_u64, |mixed, part| {
            let hash = (mixed.rotate_left(29) ^ part.hash()? as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            PyResult::Ok(hash ^ (hash >> 32))
        })?;
        Ok(Self { time, slot, namespace, hash: mixed })
    }

    /// Whether a timer has this name.
    pub fn is_of(&self, timer: &Timer) -> PyResult<bool> {
        let py = self.time.py();
        if timer.hash != self.hash {
            return Ok(false);
        }
        for (part, own) in [(self.time, &timer.time), (self.slot, &timer.slot), (self.namespace, &timer.namespace)] {
            if !part.is(own) && !part.eq(own.bind(py))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
