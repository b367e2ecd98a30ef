//! Accumulators that are changed in place, as Python has them.

use std::collections::HashSet;

use penstock_columns::Tree;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};

use super::items::{long, text};
use super::moments::{moment, object};

/// How deep lists may be nested.
const DEPTH: usize = 64;

/// The object of an accumulator. Recursive, to its depth.
pub fn object_of<'py>(py: Python<'py>, tree: &Tree) -> PyResult<Bound<'py, PyAny>> {
    let all = |items: &[Tree]| items.iter().map(|item| object_of(py, item)).collect::<PyResult<Vec<_>>>();
    Ok(match tree {
        Tree::None => py.None().into_bound(py),
        Tree::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Tree::Int(number) => PyInt::new(py, *number).into_any(),
        Tree::Float(number) => PyFloat::new(py, *number).into_any(),
        Tree::Text(text) => PyString::new(py, text).into_any(),
        Tree::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Tree::Moment(unit, number) => object(py, *unit, *number)?,
        Tree::Tuple(items) => PyTuple::new(py, all(items)?)?.into_any(),
        Tree::List(items) => PyList::new(py, all(items)?)?.into_any(),
        Tree::Dict(entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(key, value)| dict.set_item(object_of(py, key)?, object_of(py, value)?))?;
            dict.into_any()
        }
        Tree::Set(items) => {
            let set = PySet::empty(py)?; // one by one, so that its order is that of a set which has been added to
            items.iter().try_for_each(|item| set.add(object_of(py, item)?))?;
            set.into_any()
        }
    })
}

/// Accumulators out of objects; `None` where one has something else in it, or a list or set is in two places.
pub fn trees_of(objects: &Bound<'_, PyList>) -> Option<Vec<Tree>> {
    let mut known = HashSet::new();
    objects.iter().map(|object| tree_of(&object, &mut known, DEPTH)).collect()
}

/// Recursive, to a fixed depth.
fn tree_of(object: &Bound<'_, PyAny>, known: &mut HashSet<usize>, depth: usize) -> Option<Tree> {
    let depth = depth.checked_sub(1)?;
    if let Some(atom) = atom_of(object) {
        return Some(atom);
    }
    if object.is_exact_instance_of::<PyInt>() {
        return long(object.as_borrowed()).map(Tree::Int);
    }
    if object.is_exact_instance_of::<PyString>() {
        return text(object.as_borrowed()).map(|text| Tree::Text(text.into()));
    }
    if let Ok(items) = object.cast_exact::<PyTuple>() {
        return items.iter().map(|item| tree_of(&item, known, depth)).collect::<Option<_>>().map(Tree::Tuple);
    }
    if !known.insert(object.as_ptr() as usize) {
        return None;
    }
    if let Ok(items) = object.cast_exact::<PyList>() {
        return items.iter().map(|item| tree_of(&item, known, depth)).collect::<Option<_>>().map(Tree::List);
    }
    if let Ok(entries) = object.cast_exact::<PyDict>() {
        let entry =
            |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((tree_of(&key, known, depth)?, tree_of(&value, known, depth)?));
        return entries.iter().map(entry).collect::<Option<_>>().map(Tree::Dict);
    }
    let items = object.cast_exact::<PySet>().ok()?;
    items.iter().map(|item| tree_of(&item, known, depth)).collect::<Option<_>>().map(Tree::Set)
}

/// What is always a tree and holds nothing.
fn atom_of(object: &Bound<'_, PyAny>) -> Option<Tree> {
    if object.is_none() {
        return Some(Tree::None);
    }
    if let Ok(flag) = object.cast_exact::<PyBool>() {
        return Some(Tree::Bool(flag.is_true()));
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return Some(Tree::Float(number.value()));
    }
    if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        return Some(Tree::Bytes(bytes.as_bytes().into()));
    }
    moment(object.as_borrowed()).map(|(unit, number)| Tree::Moment(unit, number))
}
