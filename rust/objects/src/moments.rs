//! Dates, and times without a zone, as Python has them: `date` and `datetime`.

use std::collections::HashMap;

use penstock_columns::python::{number_of_state, state_of};
use penstock_columns::value::Unit;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyType};

use super::items::Item;
use super::owned::Objects;

/// Where an object says whether it has a time zone. Behind that are the bytes that it is pickled as.
const HEAD: usize = size_of::<ffi::PyObject>() + size_of::<ffi::Py_hash_t>();

/// The classes; and whether their objects are laid out here as they have been in all versions of Python.
struct Classes {
    date: Py<PyType>,
    datetime: Py<PyType>,
    readable: bool,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let class = |name: &str| PyResult::Ok(module.getattr(name)?.cast_into::<PyType>()?);
        let (date, datetime) = (class("date")?, class("datetime")?);
        let readable = is_readable(&date, &datetime)?;
        Ok(Classes { date: date.unbind(), datetime: datetime.unbind(), readable })
    })
}

/// Whether what is read of some objects is what they were made of.
fn is_readable(date: &Bound<'_, PyType>, datetime: &Bound<'_, PyType>) -> PyResult<bool> {
    let size = |class: &Bound<'_, PyType>| class.getattr("__basicsize__")?.extract::<usize>();
    if size(date)? < HEAD + 5 || size(datetime)? < HEAD + 12 {
        return Ok(false);
    }
    for number in [0, 738_000, 3_652_058] {
        let (day, micros) = (number, number * 86_400_000_000 + 45_296_000_789);
        // SAFETY: the objects are of these classes, and so large
        let same = unsafe {
            read(made(date, Unit::Days, day)?.as_borrowed(), Unit::Days) == Some(day)
                && read(made(datetime, Unit::Micros, micros)?.as_borrowed(), Unit::Micros) == Some(micros)
        };
        if !same {
            return Ok(false);
        }
    }
    let folded = datetime.getattr("min")?.call_method("replace", (), Some(&[("fold", 1)].into_py_dict(date.py())?))?;
    // SAFETY: the same
    Ok(unsafe { read(folded.as_borrowed(), Unit::Micros) }.is_none())
}

/// The number of a date or time; `None` where it has a zone or a fold.
///
/// # Safety
///
/// The object is of the unit's class.
unsafe fn read(item: Item<'_, '_>, unit: Unit) -> Option<i64> {
    // SAFETY: so much is behind the head of an object of the class, whose bytes do not change
    unsafe {
        let start = item.as_ptr().cast::<u8>().add(HEAD);
        let (zoned, state) = (*start != 0, start.add(1));
        match unit {
            Unit::Days => number_of_state(unit, std::slice::from_raw_parts(state, 4)),
            Unit::Micros if zoned || *state.add(10) != 0 => None,
            Unit::Micros => number_of_state(unit, std::slice::from_raw_parts(state, 10)),
        }
    }
}

/// A date, or a time without zone and fold, of no other class, as a number.
pub fn moment(item: Item<'_, '_>) -> Option<(Unit, i64)> {
    let classes = classes(item.py()).ok().filter(|classes| classes.readable)?;
    // SAFETY: it is an object
    let class = unsafe { ffi::Py_TYPE(item.as_ptr()) }.cast::<ffi::PyObject>();
    let unit = match class {
        class if class == classes.date.as_ptr() => Unit::Days,
        class if class == classes.datetime.as_ptr() => Unit::Micros,
        _ => return None,
    };
    // SAFETY: it is of this class
    unsafe { read(item, unit) }.map(|number| (unit, number))
}

/// The same of one unit.
pub fn of_unit(unit: Unit, item: Item<'_, '_>) -> Option<i64> {
    moment(item).filter(|(own, _)| *own == unit).map(|(_, number)| number)
}

fn made<'py>(class: &Bound<'py, PyType>, unit: Unit, number: i64) -> PyResult<Bound<'py, PyAny>> {
    let (state, length) = state_of(unit, number);
    class.call1((PyBytes::new(class.py(), &state[..length]),))
}

fn class_of(py: Python<'_>, unit: Unit) -> PyResult<&Bound<'_, PyType>> {
    let classes = classes(py)?;
    Ok(match unit {
        Unit::Days => classes.date.bind(py),
        Unit::Micros => classes.datetime.bind(py),
    })
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
            Unit::Micros if last == Some(number) => owners.len() - 1,
            Unit::Micros => owners.len(),
        };
        if place == owners.len() {
            owners.push(made(class, unit, number)?);
        }
        last = Some(number);
        at.push(owners[place].as_ptr());
    }
    Ok(Objects { at, owners })
}
