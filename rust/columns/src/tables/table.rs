//! Values by key.

use bumpalo::Bump;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

use penstock_runtime::key_type::KeyType;

use super::cells::Cells;
use crate::column::{Builder, Column, Refusal};
use crate::router::key_group;
use crate::value::{Doubt, Moment, Value};

/// Keys, each with a value, by number; which of them have changed is known. O(1) per look-up; a key and a value take what
/// their [`Cells`] take, and about five bytes.
#[derive(Debug)]
pub struct Table {
    pub(super) keys: Cells,
    pub(super) values: Cells,
    index: HashTable<u32>,
    hasher: FixedState,
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// For how many keys there is room: a quarter more than there were.
    room: usize,
}

impl Default for Table {
    fn default() -> Self {
        let (keys, values) = (Cells::default(), Cells::default());
        let hasher = hasher();
        Self { keys, values, index: HashTable::new(), hasher, changed: Vec::new(), is_changed: Vec::new(), room: 0 }
    }
}

impl Table {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        let places = self.index.allocation_size() + self.is_changed.capacity() + self.changed.capacity() * size_of::<u32>();
        self.keys.memory() + self.values.memory() + places
    }

    /// The hash of a key. A key is a text, an integer, a date, a time, or a tuple of these and of None, as then equality is the
    /// same in Python and in Java; others are in doubt.
    #[inline]
    pub fn hash(&self, key: Value<'_>) -> Result<u64, Doubt> {
        hash_of(&self.hasher, key)
    }

    /// The number of a key.
    #[inline]
    pub fn find(&self, hash: u64, key: Value<'_>) -> Option<usize> {
        self.index.find(hash, |&number| self.keys.holds(number as usize, key)).map(|&number| number as usize)
    }

    /// The same for a key that is an integer.
    #[inline]
    pub fn find_int(&self, hash: u64, key: i64) -> Option<usize> {
        let keys = self.keys.ints()?;
        self.index.find(hash, |&number| keys[number as usize] == key).map(|&number| number as usize)
    }

    /// A key by number.
    pub fn key<'a>(&'a self, number: usize, arena: &'a Bump) -> Value<'a> {
        self.keys.get(number, arena)
    }

    /// The value of a key by number.
    #[inline]
    pub fn value<'a>(&'a self, number: usize, arena: &'a Bump) -> Value<'a> {
        self.values.get(number, arena)
    }

    /// The values of all keys, by number.
    pub fn values(&self) -> &Cells {
        &self.values
    }

    /// Gives a key that is not here a value; `changed` says whether that is news. When it is refused nothing has changed.
    pub fn insert(&mut self, hash: u64, key: Value<'_>, value: Value<'_>, changed: bool) -> Result<usize, Refusal> {
        let number = self.keys.len();
        let short = u32::try_from(number).map_err(|_| Refusal::Doubt)?;
        if number >= self.room {
            let more = (number / 4).max(64);
            self.keys.reserve(more);
            self.values.reserve(more);
            self.is_changed.reserve_exact(more);
            self.room = number + more;
        }
        self.keys.push(key)?;
        if let Err(refusal) = self.values.push(value) {
            self.keys.swap_remove(number);
            return Err(refusal);
        }
        self.is_changed.push(false);
        let (keys, hasher) = (&self.keys, &self.hasher);
        let arena = Bump::new();
        let again = |&number: &u32| hash_of(hasher, keys.get(number as usize, &arena)).unwrap_or_default();
        self.index.insert_unique(hash, short, again);
        if changed {
            self.mark(number);
        }
        Ok(number)
    }

    /// Whether values are tuples or rows like those of a column, with something in each, of fields that a column can hold
    /// whatever is in them; so it is where there are no values yet.
    pub fn has_shape(&self, records: &Column) -> bool {
        self.values.is_empty() || self.values.has_shape(records)
    }

    /// Whether a value could replace that of any key.
    #[inline]
    pub fn fits(&self, value: Value<'_>) -> bool {
        self.values.fits(value)
    }

    /// Replaces the value of a key by one that [fits](Self::fits).
    #[inline]
    pub fn set(&mut self, number: usize, value: Value<'_>) {
        self.values.set(number, value);
        self.mark(number);
    }

    /// Replaces a field of the value of a key, a tuple or row, by one that fits.
    #[inline]
    pub fn set_field(&mut self, number: usize, position: usize, value: Value<'_>) {
        self.values.set_field(number, position, value);
        self.mark(number);
    }

    #[inline]
    fn mark(&mut self, number: usize) {
        if !self.is_changed[number] {
            self.is_changed[number] = true;
            self.changed.push(number as u32);
        }
    }

    /// The numbers of the keys that have changed since [`written`](Self::written), in the order of their first changes.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Whether a key has changed since then.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn is_changed(&self, number: usize) -> bool {
        self.is_changed[number]
    }

    /// Counts a key as changed.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn touch(&mut self, number: usize) {
        self.mark(number);
    }

    /// Counts no key as changed any more. O(changed).
    pub fn written(&mut self) {
        for number in std::mem::take(&mut self.changed) {
            self.is_changed[number as usize] = false;
        }
    }

    /// Gives the keys of a column the values of another, without counting them as changed; whether all of them could be
    /// given; if not, some were. O(keys).
    pub fn load(&mut self, keys: &Column, values: &Column) -> bool {
        let mut arena = Bump::new();
        (0..keys.len().min(values.len())).all(|row| {
            arena.reset();
            self.put(keys.get(row, &arena), values.get(row, &arena)).is_ok()
        })
    }

    /// The numbers of the keys of a column; `None` where one is not here. O(keys).
    pub fn numbers(&self, keys: &Column) -> Option<Vec<u32>> {
        let mut arena = Bump::new();
        let number = |row: usize| {
            arena.reset();
            let key = keys.get(row, &arena);
            Some(self.find(self.hash(key).ok()?, key)? as u32)
        };
        (0..keys.len()).map(number).collect()
    }

    /// Some keys and their values. `None` where together they would take more than 2 GiB of texts. O(keys).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn columns(&self, numbers: &[u32]) -> Option<(Column, Column)> {
        let (mut keys, mut values, mut arena) = (Builder::new(), Builder::new(), Bump::new());
        for &number in numbers {
            keys.push(self.keys.get(number as usize, &arena)).ok()?;
            values.push(self.values.get(number as usize, &arena)).ok()?;
            arena.reset();
        }
        Some((keys.finish(), values.finish()))
    }

    /// Some numbers in the order of the key groups of their keys, with these; `None` where a key has none here. O(n log n).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn by_key_group(&self, numbers: &[u32], key_type: &KeyType, max_parallelism: u32) -> Option<Vec<(u32, u32)>> {
        let mut arena = Bump::new();
        let group = |&number: &u32| {
            arena.reset();
            Some((key_group(self.keys.get(number as usize, &arena), key_type, max_parallelism).ok()?, number))
        };
        let mut pairs: Vec<(u32, u32)> = numbers.iter().map(group).collect::<Option<_>>()?;
        pairs.sort_unstable();
        Some(pairs)
    }

    /// Gives a key a value, without counting it as changed. When it is refused nothing has changed. O(1).
    pub fn put(&mut self, key: Value<'_>, value: Value<'_>) -> Result<usize, Refusal> {
        let hash = self.hash(key)?;
        let Some(number) = self.find(hash, key) else { return self.insert(hash, key, value, false) };
        if !self.fits(value) {
            return Err(Refusal::Misfit);
        }
        self.values.set(number, value);
        Ok(number)
    }

    /// Takes away the keys for whose numbers a flag is not set, and gives back their memory; the others get new numbers, in
    /// their order. O(keys).
    pub fn retain(&mut self, stay: &[bool]) {
        let mut others = Self::default();
        let mut arena = Bump::new();
        for number in (0..self.len()).filter(|&number| stay[number]) {
            let (key, value) = (self.keys.get(number, &arena), self.values.get(number, &arena));
            let hash = hash_of(&self.hasher, key).unwrap_or_default();
            let kept = others.insert(hash, key, value, self.is_changed[number]);
            debug_assert!(kept.is_ok(), "it was here");
            arena.reset();
        }
        *self = others;
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What hashes keys.
pub(super) fn hasher() -> FixedState {
    FixedState::with_seed(0x70_65_6e_73_74_6f_63_6b)
}

#[inline]
pub(super) fn hash_of(hasher: &FixedState, key: Value<'_>) -> Result<u64, Doubt> {
    let mut hasher = hasher.build_hasher();
    match key {
        Value::Int(value) => hasher.write_i64(value),
        Value::Text(text) => hasher.write(text.as_bytes()),
        Value::Moment(moment) => write_moment(&mut hasher, moment)?,
        Value::Tuple(fields) => {
            for &field in fields {
                match field {
                    Value::Int(value) => hasher.write_i64(value),
                    Value::Text(text) => {
                        hasher.write(text.as_bytes());
                        hasher.write_u8(0xff);
                    }
                    Value::None => hasher.write_u8(0xfe),
                    Value::Moment(moment) => write_moment(&mut hasher, moment)?,
                    _ => return Err(Doubt),
                }
            }
        }
        _ => return Err(Doubt),
    }
    Ok(hasher.finish())
}

fn write_moment(hasher: &mut impl Hasher, moment: Moment) -> Result<(), Doubt> {
    let (unit, number) = moment.number().ok_or(Doubt)?;
    hasher.write_u8(unit as u8);
    hasher.write_i64(number);
    Ok(())
}
