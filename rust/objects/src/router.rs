//! Which channel a key leaves through.

use penstock_columns::router::hash_of_moment;
use penstock_columns::value::Unit;
use penstock_runtime::hash;
use penstock_runtime::key_groups::Channels;
use penstock_runtime::key_type::{DEPTH, KeyType};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList};

use super::items::{Item, field as field_of, fields, items, key_field, long, text, tuple};
use super::moments::{moment, of_unit};

/// Channels and their records, with their timestamps, if these are known.
type Parts<'py> = Vec<(u32, Bound<'py, PyList>, Option<Bound<'py, PyList>>)>;

/// Flink's longest tuple.
const MAX_ARITY: usize = 25;

/// Sends the records of a batch to the subtasks that own their keys.
///
/// Args:
///     key_type: code of the declared type of the key (``key_types.native_code``).
///     max_parallelism: number of key groups.
///     channels: number of subtasks.
///
/// Raises:
///     ValueError: the code is none, or one of the numbers is zero.
#[pyclass(frozen, module = "penstock.runtime")]
pub struct KeyRouter {
    key_type: KeyType,
    channels: Channels,
}

#[pymethods]
impl KeyRouter {
    #[new]
    fn new(key_type: &[u8], max_parallelism: u32, channels: u32) -> PyResult<Self> {
        match KeyType::parse(key_type) {
            Some(key_type) if max_parallelism > 0 && channels > 0 => {
                Ok(Self { key_type, channels: Channels::new(max_parallelism, channels) })
            }
            _ => Err(PyValueError::new_err("no code of a key type, or nothing to route to")),
        }
    }

    /// Distribute records to channels. O(records + channels).
    ///
    /// Args:
    ///     keys: of the records, in order.
    ///     values: the records.
    ///     assign: gives the channel of a key that is not plain data; what it raises is passed on.
    ///     times: the timestamps of the records, if they have any.
    ///
    /// Returns:
    ///     Channel, records and timestamps, in order, for each channel that gets some; and what ``key_field`` says of all
    ///     records.
    ///
    /// Raises:
    ///     ValueError: there are not as many keys, or timestamps, as records.
    #[pyo3(signature = (keys, values, assign, times=None))]
    fn split<'py>(
        &self,
        keys: &Bound<'py, PyList>,
        values: &Bound<'py, PyList>,
        assign: &Bound<'py, PyAny>,
        times: Option<&Bound<'py, PyList>>,
    ) -> PyResult<(Parts<'py>, u8)> {
        if keys.len() != values.len() {
            return Err(PyValueError::new_err("there are not as many keys as records"));
        }
        let field = key_field(keys, values);
        Ok((self.parts(items(keys).into_iter(), values, assign, times)?, field))
    }

    /// The same where a field of the records is the key.
    ///
    /// Args:
    ///     field: its position.
    ///     values: the records.
    ///     assign, times: as for ``split``.
    ///
    /// Returns:
    ///     Channel, records and timestamps; None, where some records are not plain tuples with such a field.
    #[pyo3(signature = (field, values, assign, times=None))]
    fn split_by_field<'py>(
        &self,
        field: usize,
        values: &Bound<'py, PyList>,
        assign: &Bound<'py, PyAny>,
        times: Option<&Bound<'py, PyList>>,
    ) -> PyResult<Option<Parts<'py>>> {
        let key = |value| {
            let record = tuple(value).filter(|record| field < record.len())?;
            // SAFETY: the position is below the length
            Some(unsafe { field_of(record, field) })
        };
        let keys: Option<Vec<_>> = items(values).into_iter().map(key).collect();
        keys.map(|keys| self.parts(keys.into_iter(), values, assign, times)).transpose()
    }
}

impl KeyRouter {
    fn parts<'a, 'py>(
        &self,
        keys: impl Iterator<Item = Item<'a, 'py>>,
        values: &'a Bound<'py, PyList>,
        assign: &Bound<'py, PyAny>,
        times: Option<&'a Bound<'py, PyList>>,
    ) -> PyResult<Parts<'py>> {
        let (py, values, times) = (values.py(), items(values), times.map(items));
        if times.as_ref().is_some_and(|times| times.len() != values.len()) {
            return Err(PyValueError::new_err("there are not as many timestamps as records"));
        }
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new(); self.channels.count() as usize];
        for (at, key) in keys.enumerate() {
            let channel = match hash_of(key, &self.key_type, DEPTH) {
                Some(hash) => self.channels.of_hash(hash),
                None => assign.call1((key,))?.extract()?,
            };
            chosen.get_mut(channel as usize).ok_or_else(|| PyValueError::new_err("no such channel"))?.push(at);
        }
        let part = |items: &[Item<'a, 'py>], rows: &[usize]| PyList::new(py, rows.iter().map(|&row| items[row]));
        let filled = chosen.iter().enumerate().filter(|(_, rows)| !rows.is_empty());
        let parts = filled.map(|(channel, rows)| {
            let stamps = times.as_ref().map(|times| part(times, rows)).transpose()?;
            Ok((channel as u32, part(&values, rows)?, stamps))
        });
        parts.collect()
    }
}

/// The Java hash code of plain data. Recursive, to [`DEPTH`].
fn hash_of(key: Item<'_, '_>, key_type: &KeyType, depth: usize) -> Option<i32> {
    match key_type {
        KeyType::Undeclared => undeclared(key, depth),
        KeyType::Text => text(key).map(hash::text),
        KeyType::Integer(bits) => long(key).filter(|value| value >> (bits - 1) == value >> 63).map(|value| value as i32),
        KeyType::Long => long(key).map(hash::long),
        KeyType::Boolean => key.cast_exact::<PyBool>().ok().map(|flag| hash::boolean(flag.is_true())),
        KeyType::Double => double(key).map(hash::double),
        KeyType::Float => double(key).map(hash::float),
        KeyType::Date => of_unit(Unit::Days, key).map(|day| hash_of_moment(Unit::Days, day)),
        KeyType::Timestamp => of_unit(Unit::Micros, key).map(|time| hash_of_moment(Unit::Micros, time)),
        KeyType::Time => of_unit(Unit::Clock, key).map(|time| hash_of_moment(Unit::Clock, time)),
        KeyType::Tuple(types) => {
            let tuple = tuple(key).filter(|tuple| tuple.len() == types.len())?;
            folded(fields(tuple).zip(types).map(|(field, field_type)| nullable(field, |field| hash_of(field, field_type, depth - 1))))
        }
    }
}

fn undeclared(key: Item<'_, '_>, depth: usize) -> Option<i32> {
    if let Some(text) = text(key) {
        return Some(hash::text(text));
    }
    if let Some(value) = long(key) {
        return Some(hash::long(value));
    }
    if let Some(tuple) = tuple(key) {
        let followed = depth > 0 && tuple.len() <= MAX_ARITY;
        return followed.then(|| folded(fields(tuple).map(|field| nullable(field, |field| undeclared(field, depth - 1))))).flatten();
    }
    let other = || moment(key).map(|(unit, number)| hash_of_moment(unit, number));
    double(key).map(hash::double).or_else(|| hash_of(key, &KeyType::Boolean, depth)).or_else(other)
}

fn folded(mut hashes: impl Iterator<Item = Option<i32>>) -> Option<i32> {
    hashes.try_fold(0, |so_far, field| Some(hash::fold(so_far, field?)))
}

fn nullable(field: Item<'_, '_>, hash: impl FnOnce(Item<'_, '_>) -> Option<i32>) -> Option<i32> {
    if field.is_none() { Some(0) } else { hash(field) }
}

fn double(key: Item<'_, '_>) -> Option<f64> {
    key.cast_exact::<PyFloat>().ok().map(|number| number.value())
}
