//! The windows of all keys, what is in them, and their timers; and what of it the state in Python does not know yet.

use bumpalo::Bump;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

pub use super::assigner::Window;
use super::elements::Elements;
use super::folds::Folds;
use super::moves::id;
use super::roots::Roots;
use crate::column::Column;
use crate::tables::cells::Cells;
use crate::tables::table::{hash_of, hasher};
use crate::tables::timers::Timers;
use crate::value::{Doubt, Value};

/// Windows at the most: two timers of each have a number of 32 bits.
const MOST: usize = 1 << 30;

/// Something is in the window.
pub(super) const FULL: u16 = 1;
/// Its timer at its end waits.
pub(super) const ENDS: u16 = 2;
/// Its timer at the end of its lateness waits, which is another time.
pub(super) const CLEANS: u16 = 4;
/// It is among the changed ones.
pub(super) const CHANGED: u16 = 8;
/// Python's tables have contents of it.
pub(super) const KNOWN: u16 = 16;
/// Python's set of the windows that merge has it.
pub(super) const LISTED: u16 = 32;
/// It is over.
pub(super) const GONE: u16 = 64;
/// Something else belongs to it, as timers of a trigger do.
pub(super) const HELD: u16 = 128;
/// It has become another window, and something still belongs to it.
pub(super) const DEAD: u16 = 256;
/// Its trigger was asked, and all timers that it registers wait.
pub(super) const ASKED: u16 = 512;

/// Windows of keys by number, in a slab; numbers come back when nobody asks for them any more. O(1) per look-up.
#[derive(Debug)]
pub struct Entries {
    pub(super) keys: Cells,
    pub(super) values: Cells,
    /// What is in the windows instead of a value.
    pub(super) elements: Option<Elements>,
    /// Lists and sets in the windows instead of a value.
    pub(super) objects: Option<Roots>,
    pub(super) windows: Vec<Window>,
    /// The window under whose name Python has the contents, where windows merge.
    pub(super) kept: Vec<Window>,
    pub(super) hashes: Vec<u64>,
    pub(super) flags: Vec<u16>,
    index: HashTable<u32>,
    hasher: FixedState,
    pub(super) free: Vec<u32>,
    pub(super) timers: Timers,
    lateness: i64,
    pub(super) merging: bool,
    pub(super) full: usize,
    pub(super) changed: Vec<u32>,
    /// Windows that are over, and that `moves` or Python's tables have.
    pub(super) gone: Vec<u32>,
    /// What has been done with timers: whether each was added, and its id.
    pub(super) moves: Vec<(bool, u32)>,
    /// Whether there were more moves than timers, so that all timers are handed over instead.
    pub(super) outgrown: bool,
    /// Whether somebody else has numbers of windows that are over.
    pub(super) asked_for: bool,
    /// Windows whose trigger is to be asked, where each has one of its own.
    pub(super) entered: Option<Vec<u32>>,
}

impl Entries {
    /// Of windows that live on for some time after their end. Whether they merge: then they are found by key. Whether all
    /// records are in them, or one value; and whether that may be a list.
    pub fn new(lateness: i64, merging: bool, elements: bool, lists: bool) -> Self {
        Self {
            keys: Cells::default(),
            values: if lists { Cells::with_lists() } else { Cells::default() },
            elements: elements.then(Elements::default),
            objects: None,
            windows: Vec::new(),
            kept: Vec::new(),
            hashes: Vec::new(),
            flags: Vec::new(),
            index: HashTable::new(),
            hasher: hasher(),
            free: Vec::new(),
            timers: Timers::default(),
            lateness,
            merging,
            full: 0,
            changed: Vec::new(),
            gone: Vec::new(),
            moves: Vec::new(),
            outgrown: false,
            asked_for: false,
            entered: None,
        }
    }

    /// How many windows have something in them.
    pub fn full(&self) -> usize {
        self.full
    }

    /// How much memory all of it takes, in bytes. O(windows, and items of accumulators).
    pub fn memory(&self) -> usize {
        let elements = self.elements.as_ref().map_or(0, Elements::memory);
        let objects = self.objects.as_ref().map_or(0, |roots| roots.heap.memory() + roots.numbers.capacity() * size_of::<u32>());
        let windows = (self.windows.capacity() + self.kept.capacity()) * size_of::<Window>();
        let entries = windows + self.hashes.capacity() * size_of::<u64>() + self.flags.capacity() * size_of::<u16>();
        let numbers = self.free.capacity() + self.changed.capacity() + self.gone.capacity();
        let moves = self.moves.capacity() * size_of::<(bool, u32)>() + numbers * size_of::<u32>();
        let values = self.keys.memory() + self.values.memory() + elements + objects;
        values + entries + self.index.allocation_size() + moves + self.timers.memory()
    }

    /// The timers.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// The hash of a key. A key is a text, an integer, or a tuple of these and of None; others are in doubt.
    #[inline]
    pub fn hash(&self, key: Value<'_>) -> Result<u64, Doubt> {
        hash_of(&self.hasher, key)
    }

    #[inline]
    fn place(&self, hash: u64, start: i64) -> u64 {
        if self.merging { hash } else { hash ^ (start as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) }
    }

    /// The number of a window of a key.
    #[inline]
    pub fn find(&self, hash: u64, key: Value<'_>, window: Window) -> Option<usize> {
        let is_it = |&number: &u32| self.windows[number as usize] == window && self.keys.holds(number as usize, key);
        self.index.find(self.place(hash, window.start), is_it).map(|&number| number as usize)
    }

    /// All windows of a key, where they merge.
    pub fn of_key<'e>(&'e self, hash: u64, key: Value<'e>) -> impl Iterator<Item = usize> + 'e {
        let numbers = self.index.iter_hash(hash).map(|&number| number as usize);
        numbers.filter(move |&number| self.flags[number] & DEAD == 0 && self.keys.holds(number, key))
    }

    /// Whether a window of this key can be here, with this in it.
    pub fn admits(&mut self, key: Value<'_>, value: Value<'_>) -> bool {
        (self.flags.len() < MOST || !self.free.is_empty()) && self.keys.admits(key) && self.admits_value(value)
    }

    /// Whether this can be in a window.
    #[inline]
    pub fn admits_value(&mut self, value: Value<'_>) -> bool {
        match (&mut self.elements, value) {
            (Some(elements), Value::List(records)) => records.iter().all(|&record| elements.admits(record)),
            (Some(_), value) => matches!(value, Value::None),
            (None, value) => self.values.admits(value),
        }
    }

    /// Makes a window of a key that is [admitted](Self::admits); nothing is in it.
    pub fn create(&mut self, hash: u64, key: Value<'_>, window: Window, kept: Window) -> usize {
        let place = self.place(hash, window.start);
        let number = match self.free.pop() {
            Some(number) => {
                let number = number as usize;
                self.keys.set(number, key);
                (self.windows[number], self.hashes[number]) = (window, place);
                self.flags[number] &= CHANGED; // it is among these already
                number
            }
            None => {
                let number = self.flags.len();
                let pushed = self.keys.push(key).and_then(|()| self.values.push(Value::None));
                debug_assert!(pushed.is_ok(), "it is admitted");
                self.windows.push(window);
                self.hashes.push(place);
                self.flags.push(0);
                number
            }
        };
        if self.merging {
            self.kept.resize(self.flags.len(), kept);
            self.kept[number] = kept;
        }
        let hashes = &self.hashes;
        self.index.insert_unique(place, number as u32, |&number| hashes[number as usize]);
        self.note(number);
        number
    }

    /// A window.
    #[inline]
    pub fn window(&self, number: usize) -> Window {
        self.windows[number]
    }

    /// The window under whose name Python has the contents.
    pub fn kept(&self, number: usize) -> Window {
        if self.merging { self.kept[number] } else { self.windows[number] }
    }

    /// The key of a window.
    pub fn key<'a>(&'a self, number: usize, arena: &'a Bump) -> Value<'a> {
        self.keys.get(number, arena)
    }

    /// What is in a window, if anything is.
    #[inline]
    pub fn value<'a>(&'a self, number: usize, arena: &'a Bump) -> Option<Value<'a>> {
        (self.flags[number] & FULL != 0).then(|| match &self.elements {
            Some(elements) => elements.list(std::iter::once(number), None, arena),
            None => self.root(number).map_or_else(|| self.values.get(number, arena), Value::Object),
        })
    }

    /// Whether something is in a window.
    #[inline]
    pub fn is_full(&self, number: usize) -> bool {
        self.flags[number] & FULL != 0
    }

    /// Whether there is a place for so many windows more.
    pub fn has_room(&self, more: usize) -> bool {
        self.flags.len() + more < MOST
    }

    /// The integer that is in a window, or in a field of the tuple there.
    #[inline]
    pub fn number(&self, number: usize, position: Option<usize>) -> Option<i64> {
        match position {
            None => self.values.int(number),
            Some(position) => self.values.field_int(number, position),
        }
    }

    /// Adds numbers to those in a window, or to the first ones if nothing is in it. They are known to fit.
    pub fn fold(&mut self, number: usize, folds: &Folds, numbers: &[i64]) {
        let full = self.is_full(number);
        let new = folds.parts.iter().zip(numbers).enumerate().map(|(at, (part, &new))| {
            let known = if full { self.number(number, folds.tuple.then_some(at)) } else { None };
            Value::Int(part.apply(known.unwrap_or(part.first), new))
        });
        if !folds.tuple {
            let value = { new }.next().unwrap_or(Value::None);
            self.set(number, value);
            return;
        }
        let new: Vec<_> = new.collect();
        if full {
            new.iter().enumerate().for_each(|(at, &value)| self.set_field(number, at, value));
        } else {
            self.set(number, Value::Tuple(&new));
        }
    }

    /// The integer in a field of what is in a window.
    #[inline]
    pub fn field_int(&self, number: usize, position: usize) -> Option<i64> {
        if self.flags[number] & FULL == 0 { None } else { self.values.field_int(number, position) }
    }

    /// Puts something admitted into a window, in place of what was there.
    pub fn set(&mut self, number: usize, value: Value<'_>) {
        if let (Some(elements), Value::List(records)) = (&mut self.elements, value) {
            elements.clear(number);
            for &record in records {
                let record = elements.keep(record);
                elements.add(number, record);
            }
        } else {
            self.values.set(number, value);
        }
        self.fill(number);
    }

    pub(super) fn fill(&mut self, number: usize) {
        if self.flags[number] & FULL == 0 {
            self.flags[number] |= FULL;
            self.full += 1;
        }
        self.note(number);
    }

    /// Keeps an admitted record, for windows that it will be added to.
    pub fn keep(&mut self, record: Value<'_>) -> u32 {
        self.elements.as_mut().map_or(0, |elements| elements.keep(record))
    }

    /// Adds a kept record to a window.
    pub fn add(&mut self, number: usize, record: u32) {
        if let Some(elements) = &mut self.elements {
            elements.add(number, record);
        }
        self.fill(number);
    }

    /// Replaces a field of what is in a window.
    #[inline]
    pub fn set_field(&mut self, number: usize, position: usize, value: Value<'_>) {
        self.values.set_field(number, position, value);
        self.note(number);
    }

    /// Whether records like those of a column, and no others, are or can be in windows.
    pub fn has_alike(&self, records: &Column) -> bool {
        self.elements.is_none() && (self.flags.is_empty() || self.values.is_alike(records))
    }

    #[inline]
    pub(super) fn note(&mut self, number: usize) {
        if self.flags[number] & CHANGED == 0 {
            self.flags[number] |= CHANGED;
            self.changed.push(number as u32);
        }
    }

    /// When a window is over for good.
    #[inline]
    pub fn cleanup(&self, window: Window) -> i64 {
        window.last().saturating_add(self.lateness)
    }

    /// Registers a window's timer at its end.
    #[inline]
    pub fn register_end(&mut self, number: usize) {
        self.register(number, ENDS, self.windows[number].last());
    }

    /// Registers a window's timer at the end of its lateness, if that ever comes.
    #[inline]
    pub fn register_cleanup(&mut self, number: usize) {
        let (last, time) = (self.windows[number].last(), self.cleanup(self.windows[number]));
        if time < i64::MAX {
            self.register(number, if time == last { ENDS } else { CLEANS }, time);
        }
    }

    /// A window is over: what is in it is forgotten, and its timer at the end.
    pub fn clear(&mut self, number: usize) {
        self.empty(number);
        if self.flags[number] & ENDS != 0 {
            self.flags[number] &= !ENDS;
            self.timers.remove(id(number, ENDS));
            self.moved(false, id(number, ENDS));
        }
        self.retire(number);
    }

    /// A window is no more; what Python has of it is what another one will have there.
    pub fn hand_on(&mut self, from: usize, to: usize) {
        self.flags[to] |= self.flags[from] & KNOWN;
        self.flags[from] &= !KNOWN;
    }

    /// Forgets what is in a window.
    pub fn empty(&mut self, number: usize) {
        if self.flags[number] & FULL != 0 {
            self.drop_root(number);
            self.flags[number] &= !FULL;
            self.full -= 1;
            if let Some(elements) = &mut self.elements {
                elements.clear(number);
            }
            self.note(number);
        }
    }

    /// Forgets a window, unless something is in it or a timer waits.
    pub fn retire(&mut self, number: usize) {
        if self.flags[number] & (FULL | ENDS | CLEANS | HELD | GONE) != 0 {
            return;
        }
        if let Ok(entry) = self.index.find_entry(self.hashes[number], |&other| other as usize == number) {
            entry.remove();
        }
        self.flags[number] |= GONE;
        if self.asked_for || !self.moves.is_empty() || self.flags[number] & (KNOWN | LISTED) != 0 {
            self.gone.push(number as u32);
        } else {
            self.free.push(number as u32);
        }
    }
}
