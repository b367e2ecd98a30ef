//! Values by key in native code, as the state of an operator in Python sees them.

use penstock_columns::Table;
use penstock_runtime::key_type::KeyType;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::gather::gathered;
use super::hand_over::objects;

type Lists<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

/// Values by key, of plain types. It knows which have changed since they were written.
#[pyclass(module = "penstock._native")]
#[derive(Default)]
pub struct KeyedTable {
    /// The same without Python.
    pub table: Table,
}

/// Some keys of a table in the order of their key groups.
#[pyclass(frozen, module = "penstock._native")]
pub struct KeyOrder {
    numbers: Vec<u32>,
    /// Key groups and the places behind their last keys.
    groups: Vec<(u32, usize)>,
}

#[pymethods]
impl KeyOrder {
    /// The key groups that have keys, in order, and for each the place behind its last key.
    #[getter]
    fn groups(&self) -> Vec<(u32, usize)> {
        self.groups.clone()
    }
}

#[pymethods]
impl KeyedTable {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// How many keys there are.
    fn __len__(&self) -> usize {
        self.table.len()
    }

    /// How much memory it takes, in bytes, but for long texts and what lists have.
    #[getter]
    fn memory(&self) -> usize {
        self.table.memory()
    }

    /// How many keys have changed since the last ``written``.
    #[getter]
    fn changes(&self) -> usize {
        self.table.changed().len()
    }

    /// Count no key as changed any more. O(changes).
    fn written(&mut self) {
        self.table.written();
    }

    /// Forget all keys.
    fn clear(&mut self) {
        self.table.clear();
    }

    /// Give some keys their values, without counting them as changed.
    ///
    /// Args:
    ///     keys: the keys.
    ///     values: their values.
    ///
    /// Returns:
    ///     Whether all of them can be here; if not, some are.
    fn load(&mut self, keys: &Bound<'_, PyList>, values: &Bound<'_, PyList>) -> bool {
        let (Some(keys), Some(values)) = (gathered(keys), gathered(values)) else { return false };
        self.table.load(&keys, &values)
    }

    /// Count some keys as changed.
    ///
    /// Returns:
    ///     Whether all are here; if not, none is counted.
    fn touch(&mut self, keys: &Bound<'_, PyList>) -> bool {
        let Some(numbers) = gathered(keys).and_then(|keys| self.table.numbers(&keys)) else { return false };
        numbers.into_iter().for_each(|number| self.table.touch(number as usize));
        true
    }

    /// Sort keys by their key groups. O(n log n) in the keys.
    ///
    /// Args:
    ///     key_type: code of the declared type of the key (``key_types.native_code``).
    ///     max_parallelism: number of key groups.
    ///     besides: keys that are wanted besides those that have changed; None for all there are.
    ///
    /// Returns:
    ///     The order, to be used before anything changes; None where a key has no key group here, or is not in the table.
    ///
    /// Raises:
    ///     ValueError: the code is none, or there is no key group.
    #[pyo3(signature = (key_type, max_parallelism, besides=None))]
    fn order(&self, key_type: &[u8], max_parallelism: u32, besides: Option<&Bound<'_, PyList>>) -> PyResult<Option<KeyOrder>> {
        let key_type = KeyType::parse(key_type).filter(|_| max_parallelism > 0);
        let key_type = key_type.ok_or_else(|| PyValueError::new_err("no code of a key type, or no key groups"))?;
        let chosen = match besides {
            None => (0..self.table.len() as u32).collect(),
            Some(keys) => {
                let Some(mut numbers) = gathered(keys).and_then(|keys| self.table.numbers(&keys)) else { return Ok(None) };
                numbers.extend(self.table.changed());
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
        };
        Ok(self.table.by_key_group(&chosen, &key_type, max_parallelism).map(|pairs| {
            let mut groups: Vec<(u32, usize)> = Vec::new();
            for (place, &(group, _)) in pairs.iter().enumerate() {
                match groups.last_mut() {
                    Some((last, end)) if *last == group => *end = place + 1,
                    _ => groups.push((group, place + 1)),
                }
            }
            KeyOrder { numbers: pairs.into_iter().map(|(_, number)| number).collect(), groups }
        }))
    }

    /// Keys and values of some places of an order.
    ///
    /// Args:
    ///     order: what ``order`` gave.
    ///     start: the first place.
    ///     end: the one behind the last.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    ///     ValueError: together they would take more than 2 GiB of texts.
    fn part<'py>(&self, py: Python<'py>, order: &KeyOrder, start: usize, end: usize) -> PyResult<Lists<'py>> {
        let outside = || PyIndexError::new_err("there are not so many keys");
        let numbers = order.numbers.get(start..end).ok_or_else(outside)?;
        if numbers.iter().any(|&number| number as usize >= self.table.len()) {
            return Err(outside());
        }
        listed(py, &self.table, numbers)
    }

    /// The keys and values from one number to before another: numbers are below the length.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    ///     ValueError: together they would take more than 2 GiB of texts.
    fn items<'py>(&self, py: Python<'py>, start: usize, end: usize) -> PyResult<Lists<'py>> {
        if start > end || end > self.table.len() {
            return Err(PyIndexError::new_err("there are not so many keys"));
        }
        listed(py, &self.table, &(start as u32..end as u32).collect::<Vec<_>>())
    }

    /// The keys that have changed. O(changes).
    fn changed_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Ok(listed(py, &self.table, self.table.changed())?.0)
    }
}

fn listed<'py>(py: Python<'py>, table: &Table, numbers: &[u32]) -> PyResult<Lists<'py>> {
    let refused = || PyValueError::new_err("no column can hold the values of so many keys");
    let (keys, values) = table.columns(numbers).ok_or_else(refused)?;
    Ok((objects(py, &keys)?.into_list(py)?, objects(py, &values)?.into_list(py)?))
}
