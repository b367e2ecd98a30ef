//! Records into typed columns.

use penstock_columns::exchange::kind_of as kind_of_moments;
use penstock_columns::value::Unit;
use penstock_runtime::columns::{DEPTH, Kind, MAX_COUNT, NULLABLE, TAG, ints, strings, texts};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::items::{Item, field, items, long, text, tuple};
use super::moments::{moment, of_unit};

/// Records as typed columns.
///
/// Args:
///     values: the records.
///     key: what ``key_field`` says of their keys.
///     extras: bytes that travel with them.
///
/// Returns:
///     The bytes, as ``columns.encode`` makes them; None when the records are not of one plain type.
#[pyfunction]
pub fn encode_columns<'py>(values: &Bound<'py, PyList>, key: u8, extras: &[u8]) -> Option<Bound<'py, PyBytes>> {
    let values_of = items(values);
    let mut out = Vec::with_capacity(64 + extras.len() + values_of.len() * 8);
    out.extend([TAG, key]);
    out.extend(u32::try_from(values_of.len()).ok().filter(|_| values_of.len() <= MAX_COUNT)?.to_le_bytes());
    out.extend(u32::try_from(extras.len()).ok()?.to_le_bytes());
    out.extend(extras);
    column(&mut out, &values_of, DEPTH)?;
    Some(PyBytes::new(values.py(), &out))
}

/// Writes a column; `None` when the values are not of one type. Recursive, to [`DEPTH`].
fn column(out: &mut Vec<u8>, values: &[Item<'_, '_>], depth: usize) -> Option<()> {
    if !values.iter().any(|value| value.is_none()) {
        return present(out, values, 0, &[], depth);
    }
    let presence: Vec<u8> = values.iter().map(|value| u8::from(!value.is_none())).collect();
    let some: Vec<Item<'_, '_>> = values.iter().copied().filter(|value| !value.is_none()).collect();
    present(out, &some, NULLABLE, &presence, depth)
}

fn present(out: &mut Vec<u8>, values: &[Item<'_, '_>], nullable: u8, presence: &[u8], depth: usize) -> Option<()> {
    let Some(first) = values.first() else {
        out.push(Kind::None as u8);
        return Some(());
    };
    let kind = kind_of(*first)?;
    if kind == Kind::Texts {
        let items = all(values, |value| text(value).map(str::as_bytes))?;
        texts(out, (nullable, presence), items.iter().copied(), |out| strings(out, &items));
        return Some(());
    }
    out.push(kind as u8 | nullable);
    out.extend(presence);
    match kind {
        Kind::Ints if values.iter().all(|value| value.is(first)) => ints(out, [long(*first)?].into_iter()),
        Kind::Ints => ints(out, all(values, long)?.iter().copied()),
        Kind::Floats => {
            let items = all(values, |value| Some(value.cast_exact::<PyFloat>().ok()?.value()))?;
            items.iter().for_each(|item| out.extend(item.to_le_bytes()));
        }
        Kind::Bools => out.extend(all(values, |value| Some(u8::from(value.cast_exact::<PyBool>().ok()?.is_true())))?),
        Kind::Bytes => {
            let items = all(values, |value| Some(value.cast_exact::<PyBytes>().ok()?.to_owned()))?;
            strings(out, &items.iter().map(|item| item.as_bytes()).collect::<Vec<_>>());
        }
        Kind::Days => moments(out, values, Unit::Days)?,
        Kind::Times => moments(out, values, Unit::Micros)?,
        Kind::Clocks => moments(out, values, Unit::Clock)?,
        _ => tuples(out, values, depth)?,
    }
    Some(())
}

/// What a column that begins with this object can be; `None` where that is nothing plain.
fn kind_of(first: Item<'_, '_>) -> Option<Kind> {
    if first.is_exact_instance_of::<PyString>() {
        Some(Kind::Texts)
    } else if first.is_exact_instance_of::<PyInt>() {
        Some(Kind::Ints)
    } else if first.is_exact_instance_of::<PyFloat>() {
        Some(Kind::Floats)
    } else if first.is_exact_instance_of::<PyBool>() {
        Some(Kind::Bools)
    } else if first.is_exact_instance_of::<PyBytes>() {
        Some(Kind::Bytes)
    } else if first.is_exact_instance_of::<PyTuple>() {
        Some(Kind::Tuples)
    } else {
        moment(first).map(|(unit, _)| kind_of_moments(unit))
    }
}

fn all<'a, 'py, T>(values: &[Item<'a, 'py>], convert: impl Fn(Item<'a, 'py>) -> Option<T>) -> Option<Vec<T>> {
    let mut result = Vec::with_capacity(values.len());
    for &value in values {
        result.push(convert(value)?);
    }
    Some(result)
}

fn moments(out: &mut Vec<u8>, values: &[Item<'_, '_>], unit: Unit) -> Option<()> {
    let number = |value| of_unit(unit, value).map(|number| number - unit.epoch());
    ints(out, all(values, number)?.into_iter());
    Some(())
}

fn tuples(out: &mut Vec<u8>, values: &[Item<'_, '_>], depth: usize) -> Option<()> {
    let tuples = all(values, tuple)?;
    let arity = tuples.first()?.len();
    if tuples.iter().any(|tuple| tuple.len() != arity) {
        return None;
    }
    out.push(u8::try_from(arity).ok().filter(|_| depth > 0)?);
    for index in 0..arity {
        // SAFETY: all have this many fields
        let values: Vec<Item<'_, '_>> = tuples.iter().map(|&tuple| unsafe { field(tuple, index) }).collect();
        column(out, &values, depth - 1)?;
    }
    Some(())
}
