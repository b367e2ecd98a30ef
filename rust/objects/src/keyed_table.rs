//! Values by key in native code, as the state of an operator in Python sees them.

use penstock_columns::{Table, Uses, section};
use penstock_runtime::key_type::KeyType;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::gather::gathered;
use super::hand_over::objects;

type Lists<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

/// Values by key, of plain types. It knows which have changed since they were written.
///
/// Args:
///     partly: whether it has some of the keys of a store, and not all there are; then it knows which were used lately.
#[pyclass(module = "penstock._native")]
pub struct KeyedTable {
    /// The same without Python.
    pub table: Table,
    /// Where it has some of the keys of a store.
    pub uses: Option<Uses>,
}

impl KeyedTable {
    /// Notes the keys that have come; `stored` says whether the store has something of them.
    pub fn grow(&mut self, stored: bool) {
        if let Some(uses) = &mut self.uses {
            uses.grow(self.table.len(), stored);
        }
    }

    fn uses(&mut self) -> PyResult<(&mut Table, &mut Uses)> {
        let Self { table, uses } = self;
        Ok((table, uses.as_mut().ok_or_else(|| PyValueError::new_err("the table has all keys there are"))?))
    }
}

/// Some keys of a table in an order.
#[pyclass(frozen, module = "penstock._native")]
pub struct KeyOrder {
    numbers: Vec<u32>,
    /// Key groups and the places behind their last keys.
    groups: Vec<(u32, usize)>,
}

impl KeyOrder {
    /// The numbers of some places, which a table has.
    fn part(&self, table: &Table, start: usize, end: usize) -> PyResult<&[u32]> {
        let outside = || PyIndexError::new_err("there are not so many keys");
        let numbers = self.numbers.get(start..end).ok_or_else(outside)?;
        if numbers.iter().all(|&number| (number as usize) < table.len()) { Ok(numbers) } else { Err(outside()) }
    }

    fn check(&self, table: &Table) -> PyResult<()> {
        self.part(table, 0, self.numbers.len()).map(drop)
    }
}

#[pymethods]
impl KeyOrder {
    /// How many keys there are.
    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    /// The key groups that have keys, in order, and for each the place behind its last key, if they are in this order.
    #[getter]
    fn groups(&self) -> Vec<(u32, usize)> {
        self.groups.clone()
    }
}

#[pymethods]
impl KeyedTable {
    #[new]
    #[pyo3(signature = (partly=false))]
    fn new(partly: bool) -> Self {
        Self { table: Table::default(), uses: partly.then(Uses::default) }
    }

    /// How many keys there are.
    fn __len__(&self) -> usize {
        self.table.len()
    }

    /// How much memory it takes, in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.table.memory()
    }

    /// How many keys have changed since the last ``written``.
    #[getter]
    fn changes(&self) -> usize {
        self.table.changed().len()
    }

    /// How many keys there are that the store has nothing of.
    #[getter]
    fn fresh(&self) -> usize {
        self.uses.as_ref().map_or(0, Uses::fresh)
    }

    /// Count no key as changed any more: the store has them as they are. O(changes).
    fn written(&mut self) {
        if let Some(uses) = &mut self.uses {
            uses.store(self.table.changed());
        }
        self.table.written();
    }

    /// Forget all keys.
    fn clear(&mut self) {
        self.table.clear();
        self.uses = self.uses.is_some().then(Uses::default);
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
        let loaded = self.table.load(&keys, &values);
        self.grow(true);
        loaded
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

    /// The keys that have changed, of all or of some. O(changes, or these).
    ///
    /// Args:
    ///     among: some keys.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    #[pyo3(signature = (among=None))]
    fn changed(&self, among: Option<&KeyOrder>) -> PyResult<KeyOrder> {
        let numbers = match among {
            None => self.table.changed().to_vec(),
            Some(order) => {
                order.check(&self.table)?;
                order.numbers.iter().copied().filter(|&number| self.table.is_changed(number as usize)).collect()
            }
        };
        Ok(KeyOrder { numbers, groups: Vec::new() })
    }

    /// The keys that are to leave a table which takes more than so many bytes, so that it takes half of them: those that were
    /// used longest ago. O(keys).
    ///
    /// Raises:
    ///     ValueError: the table has all keys there are.
    fn idle(&mut self, bytes: usize) -> PyResult<KeyOrder> {
        let (table, uses) = self.uses()?;
        Ok(KeyOrder { numbers: uses.idle(table, bytes), groups: Vec::new() })
    }

    /// Take keys out, and give back their memory. O(keys of the table).
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    ///     ValueError: the table has all keys there are.
    fn forget(&mut self, order: &KeyOrder) -> PyResult<()> {
        let (table, uses) = self.uses()?;
        order.check(table)?;
        uses.forget(table, &order.numbers);
        Ok(())
    }

    /// Whether the store has something of the keys of some places of an order.
    ///
    /// Args:
    ///     order: the order.
    ///     start: the first place.
    ///     end: the one behind the last.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    ///     ValueError: the table has all keys there are.
    fn stored(&mut self, order: &KeyOrder, start: usize, end: usize) -> PyResult<Vec<bool>> {
        let (table, uses) = self.uses()?;
        Ok(order.part(table, start, end)?.iter().map(|&number| uses.is_stored(number)).collect())
    }

    /// Keys and values of some places of an order.
    ///
    /// Args:
    ///     order: the order.
    ///     start: the first place.
    ///     end: the one behind the last.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    ///     ValueError: together they would take more than 2 GiB of texts.
    fn part<'py>(&self, py: Python<'py>, order: &KeyOrder, start: usize, end: usize) -> PyResult<Lists<'py>> {
        listed(py, &self.table, order.part(&self.table, start, end)?)
    }

    /// The section of a state file that has the keys and values of some places of an order, if the table is that of its only
    /// state.
    ///
    /// Args:
    ///     order: the order.
    ///     start: the first place.
    ///     end: the one behind the last.
    ///     names: the section's namespaces, pickled.
    ///
    /// Returns:
    ///     The section; None where a key or value has a class that a pickle would name.
    ///
    /// Raises:
    ///     IndexError: there are not so many.
    fn section<'py>(
        &self,
        py: Python<'py>,
        order: &KeyOrder,
        start: usize,
        end: usize,
        names: &[u8],
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let numbers = order.part(&self.table, start, end)?;
        Ok(section(&self.table, numbers, names).map(|section| PyBytes::new(py, &section)))
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
