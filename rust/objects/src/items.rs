//! Looking at the objects of a batch, without a call of Python code and without a reference count.

use penstock_runtime::columns::{RECORD, UNKNOWN};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

/// An object that something else keeps alive.
pub type Item<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// The objects of a list, which must not change while they are looked at: nothing else may reach it, or no Python code run.
pub fn items<'a, 'py>(list: &'a Bound<'py, PyList>) -> Vec<Item<'a, 'py>> {
    // SAFETY: the index is below the length, and the list keeps its items alive
    let at = |index| unsafe { Borrowed::from_ptr(list.py(), ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t)) };
    (0..list.len()).map(at).collect()
}

/// The fields of a tuple.
pub fn fields<'a, 'py>(tuple: Borrowed<'a, 'py, PyTuple>) -> impl Iterator<Item = Item<'a, 'py>> {
    // SAFETY: the index is below the length
    (0..tuple.len()).map(move |index| unsafe { field(tuple, index) })
}

/// A field of a tuple.
///
/// # Safety
///
/// The index is below the length.
pub unsafe fn field<'a, 'py>(tuple: Borrowed<'a, 'py, PyTuple>, index: usize) -> Item<'a, 'py> {
    // SAFETY: as the caller says; and a tuple keeps its fields
    unsafe { Borrowed::from_ptr(tuple.py(), ffi::PyTuple_GetItem(tuple.as_ptr(), index as ffi::Py_ssize_t)) }
}

/// An int that is nothing but an int, if it has at most 64 bits.
pub fn long(item: Item<'_, '_>) -> Option<i64> {
    // SAFETY: it is an object
    if unsafe { ffi::PyLong_CheckExact(item.as_ptr()) } == 0 {
        return None;
    }
    let mut overflow = 0;
    // SAFETY: it is an int, so this cannot fail but by overflow
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(item.as_ptr(), &mut overflow) };
    (overflow == 0).then_some(value)
}

/// A str that is nothing but a str, if UTF-8 can express it.
pub fn text<'a>(item: Item<'a, '_>) -> Option<&'a str> {
    let mut length = 0;
    // SAFETY: it is a str, which keeps its UTF-8, and that is valid
    unsafe {
        if ffi::PyUnicode_CheckExact(item.as_ptr()) == 0 {
            return None;
        }
        let start = ffi::PyUnicode_AsUTF8AndSize(item.as_ptr(), &mut length);
        if start.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(std::str::from_utf8_unchecked(std::slice::from_raw_parts(start.cast(), length as usize)))
    }
}

/// Tuples inside each other, where these are looked through.
const DEPTH: usize = 3;

/// Whether no record can change: each is a text, a number, a truth value, bytes, None, or a tuple of them.
///
/// Args:
///     values: the records.
#[pyfunction]
pub fn are_immutable(values: &Bound<'_, PyList>) -> bool {
    items(values).into_iter().all(|value| immutable(value, DEPTH))
}

/// The same for one record.
///
/// Args:
///     value: the record.
#[pyfunction]
pub fn is_immutable(value: &Bound<'_, PyAny>) -> bool {
    immutable(value.as_borrowed(), DEPTH)
}

/// Recursive, to a fixed depth.
fn immutable(value: Item<'_, '_>, depth: usize) -> bool {
    atom(value) || (depth > 0 && tuple(value).is_some_and(|tuple| fields(tuple).all(|field| immutable(field, depth - 1))))
}

/// A tuple that is nothing but a tuple.
pub fn tuple<'a, 'py>(item: Item<'a, 'py>) -> Option<Borrowed<'a, 'py, PyTuple>> {
    // SAFETY: it is a tuple
    unsafe { (ffi::PyTuple_CheckExact(item.as_ptr()) != 0).then(|| item.cast_unchecked()) }
}

fn atom(item: Item<'_, '_>) -> bool {
    // SAFETY: it is an object
    let other = || unsafe {
        ffi::PyFloat_CheckExact(item.as_ptr()) != 0 || ffi::PyBool_Check(item.as_ptr()) != 0 || ffi::PyBytes_CheckExact(item.as_ptr()) != 0
    };
    own_form(item) || other()
}

fn own_form(item: Item<'_, '_>) -> bool {
    // SAFETY: it is an object
    unsafe { ffi::PyUnicode_CheckExact(item.as_ptr()) != 0 || ffi::PyLong_CheckExact(item.as_ptr()) != 0 || item.is_none() }
}

/// Whether every key is its own canonical form as an undeclared type: a text, an int, or a tuple of texts, ints and Nones.
///
/// Args:
///     keys: the keys.
#[pyfunction]
pub fn are_own_forms(keys: &Bound<'_, PyList>) -> bool {
    items(keys).into_iter().all(|key| (own_form(key) && !key.is_none()) || tuple(key).is_some_and(|tuple| fields(tuple).all(own_form)))
}

/// Which field of its record each key is, the very object.
///
/// Args:
///     keys: of the records, in order.
///     values: the records.
///
/// Returns:
///     The field of plain tuples; 254 when each record is its own key; 255 when it is neither.
#[pyfunction]
pub fn key_field(keys: &Bound<'_, PyList>, values: &Bound<'_, PyList>) -> u8 {
    let (keys, values) = (items(keys), items(values));
    let (Some(key), Some(value)) = (keys.first(), values.first()) else { return UNKNOWN };
    if keys.len() != values.len() {
        return UNKNOWN;
    }
    let all = |own: &dyn Fn(Item<'_, '_>, Item<'_, '_>) -> bool| keys.iter().zip(&values).all(|(key, value)| own(*key, *value));
    if key.is(*value) {
        return if all(&|key, value| key.is(value)) { RECORD } else { UNKNOWN };
    }
    // SAFETY: the index is below the length
    let has = |tuple: Borrowed<'_, '_, PyTuple>, at: usize, key: Item<'_, '_>| at < tuple.len() && unsafe { field(tuple, at) }.is(key);
    let is_field = |at: usize| all(&|key, value| tuple(value).is_some_and(|tuple| has(tuple, at, key)));
    let arity = tuple(*value).map_or(0, |tuple| tuple.len().min(RECORD.into()));
    (0..arity).find(|&at| is_field(at)).map_or(UNKNOWN, |at| at as u8)
}

/// About how many bytes some records will take, as the Python function of this name counts them.
///
/// Args:
///     values: the records.
///
/// Returns:
///     The sum, None when a record is neither plain nor a tuple of what is plain.
#[pyfunction]
pub fn text_size(values: &Bound<'_, PyList>) -> Option<usize> {
    items(values).into_iter().map(|value| size(value, DEPTH)).sum()
}

/// Recursive, to a fixed depth.
fn size(value: Item<'_, '_>, depth: usize) -> Option<usize> {
    match tuple(value).filter(|_| depth > 0) {
        Some(tuple) => fields(tuple).map(|field| size(field, depth - 1)).sum(),
        None => atom_size(value),
    }
}

fn atom_size(item: Item<'_, '_>) -> Option<usize> {
    if let Ok(text) = item.cast_exact::<PyString>() {
        return text.len().ok(); // characters
    }
    if let Ok(bytes) = item.cast_exact::<PyBytes>() {
        return Some(bytes.as_bytes().len());
    }
    atom(item).then_some(8)
}
