//! Dates, and times without a zone, as Python has them: `date`, `datetime` and `time`.

use std::collections::HashMap;

use penstock_columns::python::{number_of_state, state_of, state_size};
use penstock_columns::value::Unit;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyType};

use super::items::Item;
use super::owned::Objects;

/// Where an object says whether it has a time zone. Behind that are the bytes that it is pickled as.
const HEAD: usize = size_of::<ffi::PyObject>() + size_of::<ffi::Py_hash_t>();

const UNITS: [Unit; 3] = [Unit::Days, Unit::Micros, Unit::Clock];

/// The classes by unit; and whether their objects are laid out here as they have been in all versions of Python.
struct Classes {
    classes: [Py<PyType>; 3],
    readable: bool,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let class = |name: &str| PyResult::Ok(module.getattr(name)?.cast_into::<PyType>()?);
        let classes = [class("date")?, class("datetime")?, class("time")?];
        let mut readable = true;
        for (class, unit) in classes.iter().zip(UNITS) {
            readable &= is_readable(class, unit)?;
        }
        Ok(Classes { classes: classes.map(Bound::unbind), readable })
    })
}

/// Whether what is read of some objects is what they were made of.
fn is_readable(class: &Bound<'_, PyType>, unit: Unit) -> PyResult<bool> {
    if class.getattr("__basicsize__")?.extract::<usize>()? < HEAD + 1 + state_size(unit) + usize::from(unit != Unit::Days) {
        return Ok(false);
    }
    let numbers = match unit {
        Unit::Days => [0, 738_000, 3_652_058],
        Unit::Micros => [0, 738_000 * 86_400_000_000 + 45_296_000_789, 3_652_059 * 86_400_000_000 - 1],
        Unit::Clock => [0, 45_296_000_789, 86_399_999_999],
    };
    for number in numbers {
        // SAFETY: the object is of this class, and so large
        if unsafe { read(made(class, unit, number)?.as_borrowed(), unit) } != Some(number) {
            return Ok(false);
        }
    }
    if unit == Unit::Days {
        return Ok(true);
    }
    let folded = class.getattr("min")?.call_method("replace", (), Some(&[("fold", 1)].into_py_dict(class.py())?))?;
    // SAFETY: the same
    Ok(unsafe { read(folded.as_borrowed(), unit) }.is_none())
}

/// The number of a date or time; `None` where it has a zone or a fold.
///
/// # Safety
///
/// The object is of the unit's class.
unsafe fn read(item: Item<'_, '_>, unit: Unit) -> Option<i64> {
    let size = state_size(unit);
    // SAFETY: so much is behind the head of an object of the class, whose bytes do not change
    unsafe {
        let start = item.as_ptr().cast::<u8>().add(HEAD);
        let (zoned, state) = (*start != 0, start.add(1));
        if unit != Unit::Days && (zoned || *state.add(size) != 0) {
            return None;
        }
        number_of_state(unit, std::slice::from_raw_parts(state, size))
    }
}

/// A date, or a time without zone and fold, of no other class, as a number.
pub fn moment(item: Item<'_, '_>) -> Option<(Unit, i64)> {
    let classes = classes(item.py()).ok().filter(|classes| classes.readable)?;
    // SAFETY: it is an object
    let class = unsafe { ffi::Py_TYPE(item.as_ptr()) }.cast::<ffi::PyObject>();
    let place = classes.classes.iter().position(|known| known.as_ptr() == class)?;
    let unit = UNITS[place];
    // SAFETY: it is of this class
    unsafe { read(item, unit) }.map(|number| (unit, number))
}

/// The same of one unit.
pub fn of_unit(unit: Unit, item: Item<'_, '_>) -> Option<i64> {
    moment(item).filter(|(own, _)| *own == unit).map(|(_, number)| number)
}

fn made<'py>(class: &Bound<'py, PyType>, unit: Unit, number: i64) -> PyResult<Bound<'py, PyAny>> {
    class.call1((PyBytes::new(class.py(), state_of(unit, number, &mut [0; 10])),))
}

fn class_of(py: Python<'_>, unit: Unit) -> PyResult<&Bound<'_, PyType>> {
    Ok(classes(py)?.classes[unit as usize].bind(py))
}

/// The object of a number.
pub fn object<'py>(py: Python<'py>, unit: Unit, number: i64) -> PyResult<Bound<'py, PyAny>> {
    made(class_of(py, unit)?, unit, number)
}

/// The objects of some numbers. Those of equal dates are made once, as there are few different ones, and those of equal times
/// that follow each other.
pub fn objects<'py>(py: Python<'py>, unit: Unit, numbers: &[i64]) -> PyResult<Objects<'py>> {
    let class = class_of(py, unit)?;
    let (mut owners, mut at) = (Vec::new(), Vec::with_capacity(numbers.len()));
    let (mut known, mut last) = (HashMap::new(), None);
    for &number in numbers {
        let place = match unit {
            Unit::Days => *known.entry(number).or_insert(owners.len()),
            _ if last == Some(number) => owners.len() - 1,
            _ => owners.len(),
        };
        if place == owners.len() {
            owners.push(made(class, unit, number)?);
        }
        last = Some(number);
        at.push(owners[place].as_ptr());
    }
    Ok(Objects { at, owners })
}
