//! Handles of a list and of a map per key.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};

use super::handle::{Handle, Place, slowly};
use super::table::{is_atom, lookup};
use crate::items::{Item, fields};

/// A list per key.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct ListState;

#[pymethods]
impl ListState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The elements of the current key, in order of addition.
    fn get<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "get", None) };
        let Some(value) = place.table.get(&slot)? else { return Ok(PyTuple::empty(py).try_iter()?.into_any()) };
        let Ok(elements) = value.cast_exact::<PyList>() else { return slowly(handle, "get", None) };
        let copy = elements.get_slice(0, elements.len());
        show_all(place, &slot, &copy)?;
        Ok(copy.try_iter()?.into_any())
    }

    /// Append an element.
    ///
    /// Args:
    ///     value: the element.
    fn add<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let (handle, py) = (slf.as_super(), slf.py());
        let Some((place, slot)) = handle.get().current(py)? else { return slowly(handle, "add", Some(value)).map(drop) };
        let Some(current) = place.table.get(&slot)? else { return place.table.set(&slot, PyList::new(py, [value])?.as_any()) };
        let Ok(elements) = current.cast_exact::<PyList>() else { return slowly(handle, "add", Some(value)).map(drop) };
        elements.append(value)?;
        if place.table.is_tracked() { place.table.set(&slot, elements) } else { Ok(()) }
    }

    /// Have these elements instead.
    ///
    /// Args:
    ///     values: the elements.
    fn update<'py>(slf: &Bound<'py, Self>, values: &Bound<'py, PyAny>) -> PyResult<()> {
        let handle = slf.as_super();
        if let Ok(elements) = values.cast_exact::<PyList>()
            && !elements.is_empty()
            && let Some((place, slot)) = handle.get().current(slf.py())?
        {
            return place.table.set(&slot, &elements.get_slice(0, elements.len()));
        }
        slowly(handle, "update", Some(values)).map(drop)
    }
}

/// A map per key.
#[pyclass(subclass, frozen, extends = Handle, module = "penstock.runtime")]
pub struct MapState;

/// The map of the current key.
enum Found<'a, 'py> {
    /// There is none.
    Nothing(&'a Place, Bound<'py, PyAny>),
    /// It, and the key.
    Entries(&'a Place, Bound<'py, PyAny>, Bound<'py, PyDict>),
    /// Python is to look.
    Unusual,
}

/// The map of the current key, to look for a key of it, if there is one to look for.
fn find<'a, 'py>(handle: &'a Bound<'py, Handle>, key: Option<&Bound<'py, PyAny>>) -> PyResult<Found<'a, 'py>> {
    if !key.is_none_or(|key| is_own(key.as_borrowed(), 2)) {
        return Ok(Found::Unusual);
    }
    let Some((place, slot)) = handle.get().current(handle.py())? else { return Ok(Found::Unusual) };
    Ok(match place.table.get(&slot)? {
        None => Found::Nothing(place, slot),
        Some(value) => match value.cast_into_exact::<PyDict>() {
            Ok(entries) => Found::Entries(place, slot, entries),
            Err(_) => Found::Unusual,
        },
    })
}

/// Whether a key of a map stands for itself: plain data without NaN. Recursive, to a depth.
fn is_own(key: Item<'_, '_>, depth: usize) -> bool {
    if let Ok(number) = key.cast_exact::<PyFloat>() {
        return !number.value().is_nan();
    }
    is_atom(key) || (depth > 0 && key.cast_exact::<PyTuple>().is_ok_and(|tuple| fields(tuple).all(|part| is_own(part, depth - 1))))
}

/// Note that values of the current key may change, if one of them can.
fn show_all<'py>(place: &Place, slot: &Bound<'py, PyAny>, values: &Bound<'py, PyList>) -> PyResult<()> {
    if place.table.is_tracked() {
        for value in values {
            if !place.table.is_frozen(&value)? {
                return place.table.mark(slot);
            }
        }
    }
    Ok(())
}

impl MapState {
    fn listed<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        list: impl Fn(&Bound<'py, PyDict>) -> Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match find(slf.as_super(), None)? {
            Found::Nothing(..) => Ok(PyList::empty(slf.py()).into_any()),
            Found::Unusual => slowly(slf.as_super(), name, None),
            Found::Entries(place, slot, entries) => {
                let parts = list(&entries);
                if name != "keys" {
                    show_all(place, &slot, &parts)?;
                }
                Ok(parts.into_any())
            }
        }
    }
}

#[pymethods]
impl MapState {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyClassInitializer<Self> {
        Handle::below(Self)
    }

    /// The value of a key of the map, None where there is none.
    ///
    /// Args:
    ///     key: the key of the map.
    fn get<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match find(slf.as_super(), Some(key))? {
            Found::Unusual => slowly(slf.as_super(), "get", Some(key)),
            Found::Nothing(..) => Ok(slf.py().None().into_bound(slf.py())),
            Found::Entries(place, slot, entries) => match lookup(&entries, key)? {
                None => Ok(slf.py().None().into_bound(slf.py())),
                Some(value) => {
                    place.table.shown(&slot, &value)?;
                    Ok(value)
                }
            },
        }
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::get(slf, key)
    }

    /// Whether the map has a key.
    ///
    /// Args:
    ///     key: the key of the map.
    fn contains<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<bool> {
        match find(slf.as_super(), Some(key))? {
            Found::Unusual => slowly(slf.as_super(), "contains", Some(key))?.extract(),
            Found::Nothing(..) => Ok(false),
            Found::Entries(_, _, entries) => entries.contains(key),
        }
    }

    fn __contains__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<bool> {
        Self::contains(slf, key)
    }

    /// Set the value of a key of the map.
    ///
    /// Args:
    ///     key: the key of the map.
    ///     value: its value.
    fn put<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match find(slf.as_super(), Some(key))? {
            Found::Unusual => {
                let both = PyDict::new(slf.py());
                both.set_item(key, value)?;
                slowly(slf.as_super(), "put_all", Some(&both)).map(drop)
            }
            Found::Nothing(place, slot) => {
                let entries = PyDict::new(slf.py());
                entries.set_item(key, value)?;
                place.table.set(&slot, &entries)
            }
            Found::Entries(place, slot, entries) => {
                entries.set_item(key, value)?;
                if place.table.is_tracked() { place.table.set(&slot, &entries) } else { Ok(()) }
            }
        }
    }

    fn __setitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        Self::put(slf, key, value)
    }

    /// Remove a key of the map, if it is there.
    ///
    /// Args:
    ///     key: the key of the map.
    fn remove<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<()> {
        match find(slf.as_super(), Some(key))? {
            Found::Unusual => slowly(slf.as_super(), "remove", Some(key)).map(drop),
            Found::Nothing(..) => Ok(()),
            Found::Entries(place, slot, entries) => {
                let known = entries.contains(key)?;
                if known {
                    entries.del_item(key)?;
                }
                if entries.is_empty() {
                    place.table.remove(&slot)
                } else if known && place.table.is_tracked() {
                    place.table.set(&slot, &entries)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn __delitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<()> {
        Self::remove(slf, key)
    }

    /// Whether the map has no key.
    fn is_empty<'py>(slf: &Bound<'py, Self>) -> PyResult<bool> {
        match find(slf.as_super(), None)? {
            Found::Unusual => slowly(slf.as_super(), "is_empty", None)?.extract(),
            Found::Nothing(..) => Ok(true),
            Found::Entries(_, _, entries) => Ok(entries.is_empty()),
        }
    }

    /// The keys of the map, in order of insertion.
    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::listed(slf, "keys", |entries| entries.keys())
    }

    /// The values of the map.
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::listed(slf, "values", |entries| entries.values())
    }

    /// Keys and values of the map.
    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::listed(slf, "items", |entries| entries.items())
    }
}
