//! Objects into columns.

use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use penstock_columns::column::{DEPTH, Strings};
use penstock_columns::{Column, Data, Shape};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple};

use super::items::{Item, field, items, long, text, tuple};
use super::moments::{moment, of_unit};
use super::shapes::{Class, attribute, class_of, rows};

/// Items of lists in a column at the most.
const MOST_ITEMS: usize = 1 << 24;

/// The column of some objects; `None` where they are not of one plain type, so that equal objects of the same classes would
/// come back.
pub fn gathered(values: &Bound<'_, PyList>) -> Option<Column> {
    column(&items(values), DEPTH)
}

/// A column. Recursive, to [`DEPTH`].
fn column(values: &[Item<'_, '_>], depth: usize) -> Option<Column> {
    let Some(first) = values.iter().find(|value| !value.is_none()) else { return Some(Column::none(values.len())) };
    let presence = BooleanBuffer::collect_bool(values.len(), |index| !values[index].is_none());
    let data = atoms(values, *first).or_else(|| containers(values, *first, depth))?;
    Column::new(data, Some(NullBuffer::new(presence)), values.len())
}

/// Values that hold no others.
fn atoms(values: &[Item<'_, '_>], first: Item<'_, '_>) -> Option<Data> {
    Some(if first.is_exact_instance_of::<PyString>() {
        Data::Texts(Strings::of(all(values, "", text)?.into_iter().map(str::as_bytes))?)
    } else if long(first).is_some() {
        Data::Ints(all(values, 0, long)?.into())
    } else if first.is_exact_instance_of::<PyFloat>() {
        Data::Floats(all(values, 0.0, |value| Some(value.cast_exact::<PyFloat>().ok()?.value()))?.into())
    } else if first.is_exact_instance_of::<PyBool>() {
        let flags = all(values, false, |value| Some(value.cast_exact::<PyBool>().ok()?.is_true()))?;
        Data::Bools(flags.into())
    } else if first.is_exact_instance_of::<PyBytes>() {
        Data::Bytes(Strings::of(all(values, &[][..], bytes)?.into_iter())?)
    } else {
        let (unit, _) = moment(first)?;
        Data::Moments(unit, all(values, 0, |value| of_unit(unit, value))?.into())
    })
}

/// All values, with something else where they are None.
fn all<'a, 'py, T: Clone>(values: &[Item<'a, 'py>], absent: T, convert: impl Fn(Item<'a, 'py>) -> Option<T>) -> Option<Vec<T>> {
    let mut result = Vec::with_capacity(values.len());
    for &value in values {
        result.push(match convert(value) {
            Some(converted) => converted,
            None if value.is_none() => absent.clone(),
            None => return None,
        });
    }
    Some(result)
}

fn bytes<'a>(value: Item<'a, '_>) -> Option<&'a [u8]> {
    // SAFETY: they are bytes, which do not change, and the object is alive
    unsafe {
        if ffi::PyBytes_CheckExact(value.as_ptr()) == 0 {
            return None;
        }
        let start = ffi::PyBytes_AsString(value.as_ptr()).cast();
        Some(std::slice::from_raw_parts(start, ffi::PyBytes_Size(value.as_ptr()) as usize))
    }
}

/// Values that hold others.
fn containers(values: &[Item<'_, '_>], first: Item<'_, '_>, depth: usize) -> Option<Data> {
    let depth = depth.checked_sub(1)?;
    if let Some(first) = tuple(first) {
        return Some(Data::Tuples(tuples(values, first.len(), depth)?));
    }
    if first.is_exact_instance_of::<PyList>() {
        return lists(values, depth);
    }
    let class = first.get_type();
    if class.is(&rows(first.py()).ok()?.class) {
        return of_rows(values, first, depth);
    }
    let class = class_of(first)?;
    Some(Data::Rows(class.shape.clone(), of_class(values, &class, depth)?))
}

fn tuples<'a, 'py>(values: &[Item<'a, 'py>], arity: usize, depth: usize) -> Option<Arc<[Column]>> {
    let tuples: Vec<Option<Borrowed<'a, 'py, PyTuple>>> =
        all(values, None, |value| tuple(value).filter(|tuple| tuple.len() == arity).map(Some))?;
    let none = values.iter().copied().find(|value| value.is_none());
    let fields = |index: usize| {
        let mut fields: Vec<Item<'a, 'py>> = Vec::with_capacity(values.len());
        for tuple in &tuples {
            fields.push(match tuple {
                // SAFETY: all have this many fields
                Some(tuple) => unsafe { field(*tuple, index) },
                None => none?,
            });
        }
        column(&fields, depth)
    };
    (0..arity).map(fields).collect()
}

fn lists(values: &[Item<'_, '_>], depth: usize) -> Option<Data> {
    let (mut ends, mut all) = (vec![0i32], Vec::new());
    for &value in values {
        if !value.is_none() {
            all.extend(items_of(value)?);
        }
        ends.push(i32::try_from(all.len()).ok().filter(|_| all.len() <= MOST_ITEMS)?);
    }
    let items = column(&all, depth)?;
    Some(Data::Lists(OffsetBuffer::new(ends.into()), Arc::new(items)))
}

/// The items of a list that is nothing but a list, which nobody changes meanwhile: no Python code runs.
fn items_of<'a, 'py>(value: Item<'a, 'py>) -> Option<Vec<Item<'a, 'py>>> {
    if !value.is_exact_instance_of::<PyList>() {
        return None;
    }
    // SAFETY: it is a list, the index is below its length, and the list keeps its items alive
    unsafe {
        let at = |index| Borrowed::from_ptr(value.py(), ffi::PyList_GetItem(value.as_ptr(), index));
        Some((0..ffi::PyList_Size(value.as_ptr())).map(at).collect())
    }
}

/// Columns of some fields of each object; those of None are None.
fn fields_of<'a, 'py>(
    values: &[Item<'a, 'py>],
    arity: usize,
    depth: usize,
    fields: impl Fn(Item<'a, 'py>, &mut Vec<Item<'a, 'py>>) -> Option<()>,
) -> Option<Arc<[Column]>> {
    let mut all = Vec::with_capacity(values.len() * arity);
    for (index, &value) in values.iter().enumerate() {
        if value.is_none() {
            all.resize((index + 1) * arity, value);
        } else {
            fields(value, &mut all)?;
        }
        if all.len() != (index + 1) * arity {
            return None;
        }
    }
    let field = |index: usize| column(&all.iter().copied().skip(index).step_by(arity).collect::<Vec<_>>(), depth);
    (0..arity).map(field).collect()
}

fn of_rows<'a, 'py>(values: &[Item<'a, 'py>], first: Item<'a, 'py>, depth: usize) -> Option<Data> {
    let rows = rows(first.py()).ok()?;
    let names = attribute(first, &rows.names)?;
    let shape = Shape { class: 0, names: names_of(names)? };
    let arity = items_of(attribute(first, &rows.values)?)?.len();
    let fields = |value: Item<'a, 'py>| -> Option<Vec<Item<'a, 'py>>> {
        let row = value.get_type().is(&rows.class) && attribute(value, &rows.kind)?.is(&rows.insert);
        let own = if row { attribute(value, &rows.names)? } else { return None };
        if !own.is(names) && names_of(own)? != shape.names {
            return None;
        }
        items_of(attribute(value, &rows.values)?)
    };
    let fields = fields_of(values, arity, depth, |value, all| {
        all.extend(fields(value)?);
        Some(())
    })?;
    Some(Data::Rows(Arc::new(shape), fields))
}

/// The names of a row; `None` where they are no tuple of texts.
#[allow(clippy::option_option, reason = "a row may have no names")]
fn names_of(names: Item<'_, '_>) -> Option<Option<Box<[Box<str>]>>> {
    if names.is_none() {
        return Some(None);
    }
    let names = tuple(names)?;
    // SAFETY: the index is below the length
    let name = |index| text(unsafe { field(names, index) }).map(Into::into);
    (0..names.len()).map(name).collect::<Option<_>>().map(Some)
}

fn of_class(values: &[Item<'_, '_>], class: &Class, depth: usize) -> Option<Arc<[Column]>> {
    fields_of(values, class.names.len(), depth, |value, all| {
        if !value.get_type().is(&class.object) {
            return None;
        }
        if class.slots {
            for name in &class.names {
                all.push(attribute(value, name)?);
            }
            return Some(());
        }
        dictionary_fields(value, class, all)
    })
}

/// The fields of an object that has nothing else in its dictionary.
fn dictionary_fields<'a, 'py>(value: Item<'a, 'py>, class: &Class, all: &mut Vec<Item<'a, 'py>>) -> Option<()> {
    // SAFETY: the object has a dictionary, which it keeps, as the dictionary does what is in it
    unsafe {
        let owned = ffi::PyObject_GenericGetDict(value.as_ptr(), std::ptr::null_mut());
        let dictionary = Bound::from_owned_ptr_or_opt(value.py(), owned)?;
        if !dictionary.is_exact_instance_of::<PyDict>() || ffi::PyDict_Size(owned) as usize != class.names.len() {
            return None;
        }
        for name in &class.names {
            let found = ffi::PyDict_GetItemWithError(owned, name.as_ptr());
            if found.is_null() {
                return None;
            }
            all.push(Borrowed::from_ptr(value.py(), found));
        }
    }
    Some(())
}

/// Timestamps; `None` where one is neither an int of 64 bits nor None.
pub fn times(values: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    let list = match values.cast_exact::<PyList>() {
        Ok(list) => list.clone(),
        Err(_) => values.py().get_type::<PyList>().call1((values,))?.cast_into::<PyList>()?,
    };
    Ok(gathered(&list).filter(|times| matches!(times.data(), Data::Ints(_) | Data::None)))
}
