//! Running sums, minima and maxima per key, of records that are plain tuples.

use std::collections::HashMap;

use penstock_runtime::columns::{Broken, Kind, Reader, TAG};
use penstock_runtime::folds::{Fold, Key, Slot, Slots};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString, PyTuple};

use super::decode::broken;
use super::items::{Item, field, items, long, text, tuple};
use super::owned::listed;

/// Records whose slots are looked up before anything is done with them.
const GROUP: usize = 64;

/// Slots that stay when the table has been brought up to date; if there are more, all are forgotten, as they would take
/// about as much memory as the table.
const KEPT: usize = 1 << 17;

/// What a slot knows of its key besides the value.
struct Rest {
    /// The key.
    key: Py<PyAny>,
    /// Of its first record.
    first: First,
}

/// The first record of a key.
enum First {
    /// A tuple of so many fields, all of which are the key but the value.
    Key(usize),
    /// Anything else: the record itself.
    Record(Py<PyTuple>),
}

/// A cache in front of a table of reductions: keys whose records are plain tuples with an integer in one field.
///
/// While a key is here the table does not know it, or knows an old value; `settle` and `flush` write back what has
/// changed. Keys and values that do not fit go through the table and the Python function, so the results are always the
/// same. Who changes the table by himself flushes before.
///
/// Args:
///     table: the reduction so far by key.
///     kind: sum, min or max.
///     position: the field.
///     reduce: what does the same for records that do not fit; what it raises is passed on.
///     touched: takes each key as soon as the table has a new value of it; None where nobody asks.
#[pyclass(module = "penstock.runtime")]
pub struct KeyedFold {
    table: Py<PyDict>,
    fold: Fold,
    position: usize,
    reduce: Py<PyAny>,
    touched: Option<Py<PySet>>,
    slots: Slots<Rest>,
}

#[pymethods]
impl KeyedFold {
    #[new]
    #[pyo3(signature = (table, kind, position, reduce, touched=None))]
    fn new(table: Py<PyDict>, kind: &str, position: usize, reduce: Py<PyAny>, touched: Option<Py<PySet>>) -> PyResult<Self> {
        let fold = Fold::of(kind).ok_or_else(|| PyValueError::new_err("a fold is a sum, min or max"))?;
        Ok(Self { table, fold, position, reduce, touched, slots: Slots::default() })
    }

    /// Reduce a batch of records.
    ///
    /// Args:
    ///     keys: of the records, in order, each its own canonical form.
    ///     values: the records.
    ///     results: takes the reduction after each record; when an error stops it, those before.
    fn add<'py>(&mut self, keys: &Bound<'py, PyList>, values: &Bound<'py, PyList>, results: &Bound<'py, PyList>) -> PyResult<()> {
        // what stands between two records may run Python code, which can reach neither list: the caller gives them away
        let (keys, values) = (items(keys), items(values));
        for (keys, values) in keys.chunks(GROUP).zip(values.chunks(GROUP)) {
            self.slots.touch(keys.iter().filter_map(|key| plain_key(*key)));
            for (key, value) in keys.iter().zip(values) {
                let result = match self.folded(*key, *value)? {
                    Some(result) => result,
                    None => self.reduced(*key, *value)?,
                };
                results.append(result)?;
            }
        }
        Ok(())
    }

    /// Reduce a buffer of pairs, a text that is the key and an integer, without making records of it.
    ///
    /// A key that occurs in it several times is looked up once.
    ///
    /// Args:
    ///     data: a buffer of typed columns.
    ///
    /// Returns:
    ///     The reduction after each record, in order. None if the buffer holds something else, or what has been reached does
    ///     not fit; then nothing has been done.
    ///
    /// Raises:
    ///     ValueError: these bytes are no buffer.
    fn add_columns<'py>(&mut self, py: Python<'py>, data: &[u8]) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(pairs) = Pairs::read(data, self.position).map_err(|Broken| broken())? else { return Ok(None) };
        let mut keys = Vec::with_capacity(pairs.texts.len());
        let mut reached = Vec::with_capacity(pairs.texts.len());
        for text in &pairs.texts {
            let Some((object, before)) = self.reached(py, text)? else { return Ok(None) };
            keys.push(object);
            reached.push(before);
        }
        let mut values = Vec::with_capacity(pairs.codes.len());
        for (&code, &number) in pairs.codes.iter().zip(&pairs.numbers) {
            let next = match reached[code] {
                None => Some(number),
                Some(before) => self.fold.apply(before, number),
            };
            if next.is_none() {
                return Ok(None);
            }
            reached[code] = next;
            values.extend(next);
        }
        for ((text, object), value) in pairs.texts.iter().zip(&keys).zip(reached) {
            let (Some(value), key) = (value, Key::Text(text)) else { continue };
            if self.slots.update(key, |_| Some(value)).is_none() {
                self.slots.insert(key, value, Rest { key: object.clone().unbind(), first: First::Key(2) });
            }
        }
        let position = self.position;
        let result = |(&code, value): (&usize, i64)| repeated(keys[code].as_borrowed(), 2, position, value);
        let results: Vec<_> = pairs.codes.iter().zip(values).map(result).collect::<PyResult<_>>()?;
        listed(py, results.len(), results.into_iter()).map(Some)
    }

    /// Bring the table up to date. O(changed keys, and at most so many slots as are kept).
    fn settle(&mut self, py: Python<'_>) -> PyResult<()> {
        let (table, position) = (self.table.bind(py), self.position);
        let touched = self.touched.as_ref().map(|keys| keys.bind(py));
        self.slots.hand_over(|slot| {
            let key = slot.rest.key.bind(py);
            touched.map_or(Ok(()), |keys| keys.add(key))?;
            table.set_item(key, whole(py, position, slot)?)
        })?;
        if self.slots.len() > KEPT {
            self.slots.clear();
        }
        Ok(())
    }

    /// The same; and from now on the table knows best. O(slots).
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        self.settle(py)?;
        self.slots.clear();
        Ok(())
    }
}

impl KeyedFold {
    /// The reduction after a record that fits.
    fn folded<'py>(&mut self, key: Item<'_, 'py>, value: Item<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(plain) = plain_key(key) else { return Ok(None) };
        let Some((record, number)) = self.fitting(value) else { return Ok(None) };
        let (fold, position) = (self.fold, self.position);
        let Some(slot) = self.slots.update(plain, |current| fold.apply(current, number)) else {
            return if self.slots.get(plain).is_some() { Ok(None) } else { self.first(key, plain, record, number) };
        };
        let next = slot.value();
        match &slot.rest.first {
            First::Key(fields) if *fields == record.len() && only_key(record, key, position) => replaced(record, position, next).map(Some),
            First::Key(fields) => repeated(key, *fields, position, next).map(Some),
            First::Record(first) => replaced(first.bind(record.py()).as_borrowed(), position, next).map(Some),
        }
    }

    /// The same for a key that has no slot: it gets one, if what the table has of it fits.
    fn first<'py>(
        &mut self,
        key: Item<'_, 'py>,
        plain: Key<'_>,
        record: Borrowed<'_, 'py, PyTuple>,
        number: i64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let Some(current) = self.table.bind(py).get_item(key)? else {
            self.slots.insert(plain, number, rest(record, key, self.position));
            return Ok(Some(record.to_owned().into_any()));
        };
        let Some((before, value)) = self.fitting(current.as_borrowed()) else { return Ok(None) };
        let Some(next) = self.fold.apply(value, number) else { return Ok(None) };
        self.slots.insert(plain, next, rest(before, key, self.position));
        replaced(before, self.position, next).map(Some)
    }

    /// A key as an object, and what it has reached, None for nothing yet; `None` if that is not an integer beside the key.
    fn reached<'py>(&mut self, py: Python<'py>, wanted: &str) -> PyResult<Option<(Bound<'py, PyAny>, Option<i64>)>> {
        if let Some(slot) = self.slots.get(Key::Text(wanted)) {
            return Ok(matches!(slot.rest.first, First::Key(2)).then(|| (slot.rest.key.bind(py).clone(), Some(slot.value()))));
        }
        let object = PyString::new(py, wanted).into_any();
        let Some(current) = self.table.bind(py).get_item(&object)? else { return Ok(Some((object, None))) };
        let Some((before, value)) = self.fitting(current.as_borrowed()) else { return Ok(None) };
        // SAFETY: there are two fields
        let same = before.len() == 2 && text(unsafe { field(before, 1 - self.position) }) == Some(wanted);
        Ok(same.then_some((object, Some(value))))
    }

    /// The reduction after a record by the table and the Python function.
    fn reduced<'py>(&mut self, key: Item<'_, 'py>, value: Item<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let table = self.table.bind(py);
        self.touched.as_ref().map_or(Ok(()), |keys| keys.bind(py).add(key))?;
        if let Some(slot) = plain_key(key).and_then(|plain| self.slots.remove(plain)).filter(Slot::has_changed) {
            table.set_item(key, whole(py, self.position, &slot)?)?;
        }
        let result = match table.get_item(key)? {
            None => value.to_owned(),
            Some(current) => self.reduce.bind(py).call1((current, value))?,
        };
        table.set_item(key, &result)?;
        Ok(result)
    }

    /// A record as a plain tuple, and the integer in its field.
    fn fitting<'a, 'py>(&self, value: Item<'a, 'py>) -> Option<(Borrowed<'a, 'py, PyTuple>, i64)> {
        let record = tuple(value).filter(|record| self.position < record.len())?;
        // SAFETY: the position is below the length
        long(unsafe { field(record, self.position) }).map(|number| (record, number))
    }
}

/// The columns of a buffer of pairs.
struct Pairs<'a> {
    /// Different keys.
    texts: Vec<&'a str>,
    /// Of each record, the index of its key.
    codes: Vec<usize>,
    /// Of each record, the integer.
    numbers: Vec<i64>,
}

impl<'a> Pairs<'a> {
    /// The columns, if they are a text that is the key and an integer at the position, and nothing travels with them.
    fn read(data: &'a [u8], position: usize) -> Result<Option<Self>, Broken> {
        let mut reader = Reader::new(data);
        let (tag, key, count, extras) = (reader.byte()?, reader.byte()?, reader.count()?, reader.length()?);
        if tag != TAG || position > 1 || usize::from(key) != 1 - position || extras > 0 {
            return Ok(None);
        }
        if reader.kind()? != (Kind::Tuples, false) || reader.byte()? != 2 {
            return Ok(None);
        }
        let (mut keys, mut numbers) = (None, None);
        for column in 0..2 {
            match (reader.kind()?, column == position) {
                ((Kind::Ints, false), true) => numbers = Some(reader.ints(count)?.to_vec()),
                ((Kind::Texts, false), false) => keys = Some(distinct(reader.strings(count)?)),
                ((Kind::Coded, false), false) => {
                    let different = reader.count()?;
                    let texts = reader.strings(different)?;
                    keys = Some((texts, indices(reader.ints(count)?.to_vec(), different)?));
                }
                _ => return Ok(None),
            }
        }
        let (Some((texts, codes)), Some(numbers), true) = (keys, numbers, reader.is_empty()) else { return Err(Broken) };
        let texts = texts.into_iter().map(std::str::from_utf8).collect::<Result<_, _>>().map_err(|_| Broken)?;
        Ok(Some(Self { texts, codes, numbers }))
    }
}

/// The different texts among some, and of each the index of its equal among these.
fn distinct(texts: Vec<&[u8]>) -> (Vec<&[u8]>, Vec<usize>) {
    let (mut first, mut codes) = (Vec::with_capacity(texts.len()), Vec::with_capacity(texts.len()));
    let mut known = HashMap::with_capacity(texts.len());
    for text in texts {
        codes.push(*known.entry(text).or_insert_with(|| {
            first.push(text);
            first.len() - 1
        }));
    }
    (first, codes)
}

fn indices(codes: Vec<i64>, different: usize) -> Result<Vec<usize>, Broken> {
    let index = |code| usize::try_from(code).ok().filter(|&code| code < different).ok_or(Broken);
    codes.into_iter().map(index).collect()
}

fn plain_key<'a>(key: Item<'a, '_>) -> Option<Key<'a>> {
    text(key).map(Key::Text).or_else(|| long(key).map(Key::Long))
}

fn only_key(record: Borrowed<'_, '_, PyTuple>, key: Item<'_, '_>, position: usize) -> bool {
    // SAFETY: the index is below the length
    (0..record.len()).all(|index| index == position || unsafe { field(record, index) }.is(key))
}

fn rest(record: Borrowed<'_, '_, PyTuple>, key: Item<'_, '_>, position: usize) -> Rest {
    let first = if only_key(record, key, position) { First::Key(record.len()) } else { First::Record(record.to_owned().unbind()) };
    Rest { key: key.to_owned().unbind(), first }
}

/// The whole record of a slot.
fn whole<'py>(py: Python<'py>, position: usize, slot: &Slot<Rest>) -> PyResult<Bound<'py, PyAny>> {
    match &slot.rest.first {
        First::Key(fields) => repeated(slot.rest.key.bind(py).as_borrowed(), *fields, position, slot.value()),
        First::Record(first) => replaced(first.bind(py).as_borrowed(), position, slot.value()),
    }
}

/// A tuple with another integer in one field.
fn replaced<'py>(record: Borrowed<'_, 'py, PyTuple>, position: usize, value: i64) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the index is below the length
    made(record.py(), record.len(), position, value, |index| unsafe { field(record, index) }.as_ptr())
}

/// A tuple of the key and an integer.
fn repeated<'py>(key: Item<'_, 'py>, fields: usize, position: usize, value: i64) -> PyResult<Bound<'py, PyAny>> {
    made(key.py(), fields, position, value, |_| key.as_ptr())
}

fn made(
    py: Python<'_>,
    fields: usize,
    position: usize,
    value: i64,
    at: impl Fn(usize) -> *mut ffi::PyObject,
) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: a new tuple takes over a reference to each field, and nobody has seen it before it has all of them
    unsafe {
        let number = Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromLongLong(value))?;
        let result = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(fields as ffi::Py_ssize_t))?;
        for index in 0..fields {
            let item = if index == position { number.as_ptr() } else { at(index) };
            ffi::Py_INCREF(item);
            ffi::PyTuple_SetItem(result.as_ptr(), index as ffi::Py_ssize_t, item);
        }
        Ok(result)
    }
}
