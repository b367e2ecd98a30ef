//! The time to live of a state: the few values that each access looks at, and the handle of one value per key.

use std::mem::take;
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::handle::{Handle, Place, slowly};
use super::table::lookup;
use crate::items::{Item, field, items, long, tuple};

/// Base of the native time to live: `sweep`.
#[pyclass(subclass, frozen, module = "penstock.runtime")]
pub struct Lifetime {
    rule: OnceLock<Rule>,
    sweeping: Mutex<Sweeping>,
}

/// What does not change.
struct Rule {
    /// The clock.
    now: Py<PyAny>,
    millis: i64,
    /// Whether reading is an access too.
    renews: bool,
    /// Whether an expired value is shown once more.
    shows: bool,
    /// How many values each access looks at.
    size: i64,
}

/// How far it has come.
#[derive(Default)]
struct Sweeping {
    /// How many values may be looked at now.
    credit: i64,
    /// The keys of the values to look at, and the next one; empty when all have been.
    slots: Option<Py<PyList>>,
    next: usize,
}

impl Lifetime {
    fn rule(&self) -> PyResult<&Rule> {
        self.rule.get().ok_or_else(|| PyRuntimeError::new_err("this time to live has not begun"))
    }

    /// The time.
    fn clock(&self, py: Python<'_>) -> PyResult<i64> {
        self.rule()?.now.bind(py).call0()?.extract()
    }

    fn sweeping(&self) -> std::sync::MutexGuard<'_, Sweeping> {
        self.sweeping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a stored value says of its age; `None` if it is not a value with its time.
fn stamp(stored: Item<'_, '_>) -> Option<i64> {
    // SAFETY: there are two fields
    tuple(stored).filter(|pair| pair.len() == 2).and_then(|pair| long(unsafe { field(pair, 1) }))
}

/// Whether all that is stored lives, and how many values it counts for; `None` if that is for Python to say.
fn living(stored: Item<'_, '_>, over: i64) -> Option<i64> {
    let lives = |value: Item<'_, '_>| stamp(value).is_some_and(|stamp| stamp > over);
    if let Ok(elements) = stored.cast_exact::<PyList>() {
        let elements = items(&elements);
        return elements.iter().all(|element| lives(*element)).then_some(elements.len() as i64).filter(|count| *count > 0);
    }
    if let Ok(entries) = stored.cast_exact::<PyDict>() {
        return entries.iter().all(|(_, entry)| lives(entry.as_borrowed())).then_some(entries.len() as i64).filter(|count| *count > 0);
    }
    lives(stored).then_some(1)
}

#[pymethods]
impl Lifetime {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> Self {
        Self { rule: OnceLock::new(), sweeping: Mutex::default() }
    }

    /// Take the rules.
    fn _begin(&self, now: Py<PyAny>, millis: i64, renews: bool, shows: bool, size: i64) {
        let _ = self.rule.set(Rule { now, millis, renews, shows, size });
    }

    #[getter(_credit)]
    fn credit(&self) -> i64 {
        self.sweeping().credit
    }

    #[setter(_credit)]
    fn set_credit(&self, credit: i64) {
        self.sweeping().credit = credit;
    }

    /// The keys of the values that this round still looks at.
    fn _rest<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let at = self.sweeping();
        at.slots.as_ref().map_or_else(Vec::new, |slots| slots.bind(py).iter().skip(at.next).collect())
    }

    /// Go on with these.
    fn _resume(&self, slots: Py<PyList>) {
        let mut at = self.sweeping();
        (at.slots, at.next) = (Some(slots), 0);
    }

    /// Look at the next few values, of any key.
    fn sweep(slf: &Bound<'_, Self>) -> PyResult<()> {
        sweep(slf).map(drop)
    }
}

/// The same; returns the time, if it was needed.
fn sweep(life: &Bound<'_, Lifetime>) -> PyResult<Option<i64>> {
    let (py, own) = (life.py(), life.get());
    let rule = own.rule()?;
    let Some((slots, mut next)) = own.next_slots(life, rule)? else { return Ok(None) };
    let table = life.getattr(intern!(py, "_table"))?.cast_into::<PyDict>()?;
    let (mut now, mut credit) = (None, own.sweeping().credit);
    while next < slots.len() {
        credit -= 1;
        let slot = slots.get_item(next)?;
        next += 1;
        if let Some(stored) = lookup(&table, &slot)? {
            let time = match now {
                Some(time) => time,
                None => *now.insert(own.clock(py)?),
            };
            match living(stored.as_borrowed(), time.saturating_sub(rule.millis)) {
                Some(length) => credit -= length - 1,
                None => {
                    own.sweeping().credit = credit;
                    life.call_method1(intern!(py, "_revise"), (slot,))?;
                    credit = own.sweeping().credit;
                }
            }
        }
        if credit <= 0 {
            break;
        }
    }
    let mut at = own.sweeping();
    (at.slots, at.next, at.credit) = (Some(slots.unbind()), next, credit);
    Ok(now)
}

impl Lifetime {
    /// The keys of the values to look at now, and where to go on; `None` if none is to be, or Python has done it.
    fn next_slots<'py>(&self, life: &Bound<'py, Self>, rule: &Rule) -> PyResult<Option<(Bound<'py, PyList>, usize)>> {
        let py = life.py();
        let (slots, next) = {
            let mut at = self.sweeping();
            at.credit = at.credit.min(0) + rule.size;
            if at.credit <= 0 {
                return Ok(None);
            }
            (at.slots.take(), take(&mut at.next))
        };
        if let Some(slots) = slots.map(|slots| slots.into_bound(py)).filter(|slots| next < slots.len()) {
            return Ok(Some((slots, next)));
        }
        let fresh = life.call_method0(intern!(py, "_slots"))?;
        if fresh.is_none() {
            life.call_method0(intern!(py, "_sweep_places"))?;
            return Ok(None);
        }
        Ok(Some((fresh.cast_into::<PyList>()?, 0)))
    }
}

/// One value per key, that expires.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct LivingValueState;

impl LivingValueState {
    /// What a stored value shows now.
    fn shown<'py>(
        life: &Bound<'py, Lifetime>,
        place: &Place,
        slot: &Bound<'py, PyAny>,
        stored: &Bound<'py, PyAny>,
        now: i64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, rule) = (life.py(), life.get().rule()?);
        let Some((pair, stamp)) = stored.cast_exact::<PyTuple>().ok().zip(stamp(stored.as_borrowed())) else { return Ok(None) };
        let value = pair.get_item(0)?;
        if stamp.saturating_add(rule.millis) <= now {
            place.table.remove(slot)?;
            return Ok(Some(if rule.shows { value } else { py.None().into_bound(py) }));
        }
        if rule.renews {
            place.table.set(slot, (&value, now).into_pyobject(py)?.as_any())?;
        }
        place.table.shown(slot, stored)?;
        Ok(Some(value))
    }
}

#[pymethods]
impl LivingValueState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The value of the current key, if it has not expired.
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, py) = (slf.as_super(), slf.py());
        let life = slf.getattr(intern!(py, "_life"))?;
        let (Ok(life), true) = (life.cast::<Lifetime>(), handle.get().current(py)?.is_some()) else { return slowly(handle, "value", None) };
        let now = sweep(life)?;
        let Some((place, slot)) = handle.get().current(py)? else { return Ok(py.None().into_bound(py)) };
        let Some(stored) = place.table.get(&slot)? else { return Ok(py.None().into_bound(py)) };
        let now = now.map_or_else(|| life.get().clock(py), Ok)?;
        match Self::shown(life, place, &slot, &stored, now)? {
            Some(value) => Ok(value),
            None => slowly(handle, "value", None),
        }
    }

    /// Set the value of the current key; None clears it.
    ///
    /// Args:
    ///     value: the value.
    fn update<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let (handle, py) = (slf.as_super(), slf.py());
        let life = slf.getattr(intern!(py, "_life"))?;
        let (Ok(life), true) = (life.cast::<Lifetime>(), handle.get().current(py)?.is_some()) else {
            return slowly(handle, "update", Some(value)).map(drop);
        };
        let now = sweep(life)?;
        let Some((place, slot)) = handle.get().current(py)? else { return Ok(()) };
        if value.is_none() {
            return place.table.remove(&slot);
        }
        let now = now.map_or_else(|| life.get().clock(py), Ok)?;
        place.table.set(&slot, (value, now).into_pyobject(py)?.as_any())
    }
}
