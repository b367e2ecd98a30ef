//! Values of Python that last: what the state of a key has, read where it lies.

use std::mem::size_of;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::fetch::fetch_all;
use crate::column::DEPTH;
use crate::value::{Doubt, Shape, Unit, Value};

/// A value that is kept. It takes about 32 bytes for each value in it, and its texts.
#[derive(Debug)]
pub struct Kept(Form);

#[derive(Debug)]
enum Form {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Moment(Unit, i64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    /// Its items are the first values of the tree, so that nothing of it is read before it is asked for.
    Tuple(Tree),
    Tree(Tree),
}

const _: () = assert!(size_of::<Kept>() == 24);

/// A value with others in it: itself, unless it is a tuple; then those in it, pairs of dicts, and the bytes of texts. What
/// points from one part of the memory into another stays right wherever the tree is moved, as the memory stays, and nothing
/// in it changes.
struct Tree {
    start: NonNull<u64>,
    /// How much memory there is.
    words: u32,
    /// The values in the one that all are in.
    count: u32,
}

// SAFETY: the memory belongs to the tree, and all it points to lies in it, or lasts as long as the process.
unsafe impl Send for Tree {}
// SAFETY: the same, and nothing in it changes.
unsafe impl Sync for Tree {}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: `new` took it from a vector of this capacity.
        drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), 0, self.words as usize) });
    }
}

/// The shapes of rows that were ever kept in this process, each once: there are as many as types of rows in programs.
static SHAPES: Mutex<Vec<&'static Shape>> = Mutex::new(Vec::new());

fn lasting(shape: &Shape) -> &'static Shape {
    let mut known = SHAPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.iter().find(|&&known| std::ptr::eq(known, shape) || known == shape) {
        return known;
    }
    let lasting: &'static Shape = Box::leak(Box::new(shape.clone()));
    known.push(lasting);
    lasting
}

impl Kept {
    /// Keeps a value. Doubt: it nests too deeply. O(its size).
    pub fn new(value: Value<'_>) -> Result<Self, Doubt> {
        Ok(Self(match value {
            Value::None => Form::None,
            Value::Bool(value) => Form::Bool(value),
            Value::Int(value) => Form::Int(value),
            Value::Float(value) => Form::Float(value),
            Value::Text(text) => Form::Text(text.into()),
            Value::Bytes(bytes) => Form::Bytes(bytes.into()),
            Value::Tuple(_) => Form::Tuple(Tree::new(value)?),
            Value::Moment(moment) => {
                let (unit, number) = moment.number().ok_or(Doubt)?;
                Form::Moment(unit, number)
            }
            value => Form::Tree(Tree::new(value)?),
        }))
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        match &self.0 {
            Form::None => Value::None,
            Form::Bool(value) => Value::Bool(*value),
            Form::Int(value) => Value::Int(*value),
            Form::Float(value) => Value::Float(*value),
            Form::Moment(unit, number) => Value::Moment(unit.moment(*number)),
            Form::Text(text) => Value::Text(text),
            Form::Bytes(bytes) => Value::Bytes(bytes),
            Form::Tuple(tree) => Value::Tuple(tree.items()),
            Form::Tree(tree) => tree.root(),
        }
    }

    /// How much memory it takes elsewhere, in bytes.
    pub fn memory(&self) -> usize {
        match &self.0 {
            Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Moment(..) => 0,
            Form::Text(text) => text.len() + ALLOCATED,
            Form::Bytes(bytes) => bytes.len() + ALLOCATED,
            Form::Tuple(tree) | Form::Tree(tree) => tree.words as usize * WORD + ALLOCATED,
        }
    }

    /// Has the value come closer from memory, while something else is done.
    #[inline]
    pub fn fetch(&self) {
        if let Form::Tuple(tree) | Form::Tree(tree) = &self.0 {
            fetch_all(tree.start.as_ptr(), tree.words as usize);
        }
    }

    /// Whether a value is this one itself, and not only equal.
    #[inline]
    pub fn is(&self, value: Value<'_>) -> bool {
        match (&self.0, value) {
            (Form::Tuple(tree), Value::Tuple(items)) => std::ptr::eq(tree.items(), items),
            (Form::Tree(tree), Value::Row(_, items)) => matches!(tree.root(), Value::Row(_, own) if std::ptr::eq(own, items)),
            _ => false,
        }
    }
}

/// How much there is in a value.
#[derive(Default)]
struct Sizes {
    values: usize,
    pairs: usize,
    bytes: usize,
}

impl Sizes {
    /// Adds those of a value. Recursive, to the depth of a column.
    fn add(&mut self, value: Value<'_>, depth: usize) -> Result<(), Doubt> {
        match value {
            Value::Text(text) => self.bytes += text.len(),
            Value::Bytes(bytes) => self.bytes += bytes.len(),
            Value::Tuple(items) | Value::List(items) | Value::Row(_, items) => {
                let depth = depth.checked_sub(1).ok_or(Doubt)?;
                self.values += items.len();
                items.iter().try_for_each(|&item| self.add(item, depth))?;
            }
            Value::Dict(entries) => {
                let depth = depth.checked_sub(1).ok_or(Doubt)?;
                self.pairs += entries.len();
                entries.iter().try_for_each(|&(key, value)| self.add(key, depth).and_then(|()| self.add(value, depth)))?;
            }
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
            Value::Moment(moment) if moment.number().is_some() => {}
            Value::Object(_) | Value::Moment(_) => return Err(Doubt),
        }
        Ok(())
    }
}

const WORD: usize = size_of::<u64>();
/// Bytes that the allocator takes for a piece of memory.
const ALLOCATED: usize = 16;

impl Tree {
    fn new(value: Value<'_>) -> Result<Self, Doubt> {
        let (own, count) = match value {
            Value::Tuple(items) => (0, items.len()),
            _ => (1, 0),
        };
        let mut sizes = Sizes { values: own, ..Sizes::default() };
        sizes.add(value, DEPTH)?;
        let of_values = sizes.values * size_of::<Value<'static>>();
        let of_pairs = sizes.pairs * size_of::<(Value<'static>, Value<'static>)>();
        let words = (of_values + of_pairs + sizes.bytes).div_ceil(WORD);
        let memory = Vec::<u64>::with_capacity(words);
        let words = u32::try_from(memory.capacity()).map_err(|_| Doubt)?;
        let start = NonNull::new(std::mem::ManuallyDrop::new(memory).as_mut_ptr()).ok_or(Doubt)?;
        let tree = Self { start, words, count: count as u32 }; // there are fewer values than words
        let start = tree.start.as_ptr().cast::<u8>();
        // SAFETY: the memory has room for all parts, one behind the other; those of words are as aligned as it is.
        unsafe {
            let (pairs, bytes) = (start.add(of_values), start.add(of_values + of_pairs));
            let mut writer = Writer { values: start.cast::<Value<'static>>().add(own), pairs: pairs.cast(), bytes };
            let root = writer.write(value);
            if own > 0 {
                start.cast::<Value<'static>>().write(root);
            }
        }
        Ok(tree)
    }

    /// The value, where it is no tuple.
    #[inline]
    fn root(&self) -> Value<'_> {
        // SAFETY: the first part of the memory is the value itself, which lives as long as this.
        unsafe { self.start.cast::<Value<'_>>().read() }
    }

    /// Its items, where it is one.
    #[inline]
    fn items(&self) -> &[Value<'_>] {
        // SAFETY: so many values are the first part of the memory, and live as long as this.
        unsafe { std::slice::from_raw_parts(self.start.cast::<Value<'_>>().as_ptr(), self.count as usize) }
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tree").field("words", &self.words).field("count", &self.count).finish()
    }
}

/// Writes a value into memory that has room for it.
struct Writer {
    values: *mut Value<'static>,
    pairs: *mut (Value<'static>, Value<'static>),
    bytes: *mut u8,
}

impl Writer {
    /// Writes what is in a value, and gives the value that points to it. Recursive, to the depth of a column.
    ///
    /// # Safety
    ///
    /// There is room for it. What is given lives no longer than the memory, which is not changed.
    unsafe fn write(&mut self, value: Value<'_>) -> Value<'static> {
        match value {
            Value::None | Value::Object(_) => Value::None, // the last one is in doubt before
            Value::Bool(value) => Value::Bool(value),
            Value::Int(value) => Value::Int(value),
            Value::Float(value) => Value::Float(value),
            Value::Moment(moment) => Value::Moment(moment),
            // SAFETY: they are the bytes of a text.
            Value::Text(text) => Value::Text(unsafe { std::str::from_utf8_unchecked(self.write_bytes(text.as_bytes())) }),
            // SAFETY: there is room.
            Value::Bytes(bytes) => Value::Bytes(unsafe { self.write_bytes(bytes) }),
            // SAFETY: there is room.
            Value::Tuple(items) => Value::Tuple(unsafe { self.write_items(items) }),
            // SAFETY: there is room.
            Value::List(items) => Value::List(unsafe { self.write_items(items) }),
            // SAFETY: there is room.
            Value::Row(shape, items) => Value::Row(lasting(shape), unsafe { self.write_items(items) }),
            Value::Dict(entries) => {
                // SAFETY: there is room, and nothing else is written there.
                unsafe {
                    let place = self.pairs;
                    self.pairs = place.add(entries.len());
                    for (at, &(key, value)) in entries.iter().enumerate() {
                        let pair = (self.write(key), self.write(value));
                        place.add(at).write(pair);
                    }
                    Value::Dict(std::slice::from_raw_parts(place, entries.len()))
                }
            }
        }
    }

    /// # Safety
    ///
    /// As of [`write`](Self::write).
    unsafe fn write_items(&mut self, items: &[Value<'_>]) -> &'static [Value<'static>] {
        // SAFETY: there is room, and nothing else is written there.
        unsafe {
            let place = self.values;
            self.values = place.add(items.len());
            for (at, &item) in items.iter().enumerate() {
                let item = self.write(item);
                place.add(at).write(item);
            }
            std::slice::from_raw_parts(place, items.len())
        }
    }

    /// # Safety
    ///
    /// As of [`write`](Self::write).
    unsafe fn write_bytes(&mut self, bytes: &[u8]) -> &'static [u8] {
        // SAFETY: there is room, and nothing else is written there.
        unsafe {
            let place = self.bytes;
            self.bytes = place.add(bytes.len());
            place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            std::slice::from_raw_parts(place, bytes.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_the_same() {
        let shape = Shape { class: 0, names: Some(["a".into(), "b".into()].into()) };
        let fields = [Value::Text("x"), Value::Tuple(&[Value::Bytes(b"yz"), Value::None, Value::Float(-0.0)])];
        let dict = [(Value::Int(1), Value::List(&[Value::Bool(true), Value::Text("é")])), (Value::Text(""), Value::Tuple(&[]))];
        let items = [Value::Row(&shape, &fields), Value::Dict(&dict), Value::Int(i64::MIN)];
        for value in items.into_iter().chain([Value::List(&items), Value::None, Value::Text("a text"), Value::Dict(&[])]) {
            let kept = Kept::new(value).expect("it is not deep");
            let moved = Box::new(kept);
            assert_eq!(format!("{:?}", moved.value()), format!("{value:?}"));
        }
    }

    #[test]
    fn only_the_same_object_is_it() {
        let value = Value::Tuple(&[Value::Int(1)]);
        let kept = Kept::new(value).expect("it is not deep");
        assert!(kept.is(kept.value()) && !kept.is(value));
    }

    #[test]
    fn what_nests_deeply_is_in_doubt() {
        let arena = bumpalo::Bump::new();
        let deep = (0..100_000).fold(Value::None, |value, _| Value::List(arena.alloc_slice_copy(&[value])));
        assert!(Kept::new(deep).is_err());
    }
}
