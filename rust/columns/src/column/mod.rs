//! Columns: values of one type, one after the other, in buffers that slices share.
//!
//! ```text
//! Data::None              nothing but None
//! Data::Bools … Bytes     the values; where one is None something stands in its place
//! Data::Moments           dates or times, as numbers
//! Data::Tuples            a column per field, all as long as this one
//! Data::Rows              the same with a shape, also that of a dict
//! Data::Lists             where each list begins and ends in the column of all items
//! ```
//!
//! Values nest to [`DEPTH`].

mod arrow;
mod builder;
mod select;

use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use bumpalo::Bump;

use crate::value::{Shape, Unit, Value};

pub use builder::{Builder, Refusal};

/// Tuples, rows and lists inside of each other; deeper ones are no columns.
pub const DEPTH: usize = 8;

/// Texts or bytes: where each begins and ends.
#[derive(Clone, Debug)]
pub struct Strings {
    offsets: OffsetBuffer<i32>,
    bytes: Buffer,
    /// Where it is known which are equal.
    codes: Option<Codes>,
}

/// A number for each of some strings. Those of one number are equal.
#[derive(Clone, Debug)]
pub struct Codes {
    /// The numbers.
    pub numbers: ScalarBuffer<u32>,
    /// They are all below it.
    pub end: u32,
}

impl Strings {
    /// `None` where the offsets are beyond the bytes.
    pub fn new(offsets: OffsetBuffer<i32>, bytes: Buffer) -> Option<Self> {
        let end = usize::try_from(*offsets.last()?).ok()?;
        (end <= bytes.len()).then_some(Self { offsets, bytes, codes: None })
    }

    /// Which lie one behind the other: each begins where the one before ends. `None` where one would end before it begins, or
    /// beyond the bytes.
    pub fn packed(ends: Vec<i32>, bytes: Buffer) -> Option<Self> {
        let first = *ends.first()?;
        let fits = first >= 0 && ends.is_sorted();
        if fits { Self::new(OffsetBuffer::new(ends.into()), bytes) } else { None }
    }

    /// The strings at some places of others that differ, in this order; which of them are equal stays known. `None` where there is
    /// no such place, or beyond 2 GiB.
    pub fn coded(different: &[&[u8]], places: Vec<u32>) -> Option<Self> {
        let end = u32::try_from(different.len()).ok().filter(|&end| places.iter().all(|&place| place < end))?;
        let strings = Self::of(places.iter().map(|&place| different[place as usize]))?;
        Some(Self { codes: Some(Codes { numbers: places.into(), end }), ..strings })
    }

    /// Which are equal, where that is known.
    pub fn codes(&self) -> Option<&Codes> {
        self.codes.as_ref()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of one.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Where each begins, and the last ends.
    pub fn offsets(&self) -> &OffsetBuffer<i32> {
        &self.offsets
    }

    /// All bytes, also those of others.
    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Whether each is UTF-8.
    fn are_texts(&self) -> bool {
        let (start, end) = (self.offsets[0] as usize, self.offsets[self.len()] as usize);
        if self.bytes[start..end].is_ascii() {
            return true;
        }
        let whole = std::str::from_utf8(&self.bytes[start..end]);
        whole.is_ok_and(|text| self.offsets.iter().all(|&offset| text.is_char_boundary(offset as usize - start)))
    }
}

/// What a column consists of.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the head of this file says it")]
pub enum Data {
    None,
    Bools(BooleanBuffer),
    Ints(ScalarBuffer<i64>),
    Floats(ScalarBuffer<f64>),
    Texts(Strings),
    Bytes(Strings),
    Moments(Unit, ScalarBuffer<i64>),
    Tuples(Arc<[Column]>),
    Rows(Arc<Shape>, Arc<[Column]>),
    Lists(OffsetBuffer<i32>, Arc<Column>),
}

/// Values of one type, and None among them.
#[derive(Clone, Debug)]
pub struct Column {
    data: Data,
    presence: Option<NullBuffer>,
    count: usize,
}

impl Column {
    /// A column of so many values. `None` where lengths do not agree, texts are not UTF-8, there is no such date, or values nest
    /// too deeply. O(bytes of the texts).
    pub fn new(data: Data, presence: Option<NullBuffer>, count: usize) -> Option<Self> {
        let fits = match &data {
            Data::None => true,
            Data::Bools(values) => values.len() == count,
            Data::Ints(values) => values.len() == count,
            Data::Floats(values) => values.len() == count,
            Data::Texts(strings) => strings.len() == count && strings.are_texts(),
            Data::Bytes(strings) => strings.len() == count,
            Data::Moments(unit, numbers) => numbers.len() == count && numbers.iter().all(|&number| unit.has(number)),
            Data::Tuples(fields) => fields.iter().all(|field| field.count == count),
            Data::Rows(shape, fields) => shape.fits(fields.len()) && fields.iter().all(|field| field.count == count),
            Data::Lists(offsets, items) => offsets.len() == count + 1 && offsets.last().is_some_and(|&end| end as usize <= items.count),
        };
        let present = presence.as_ref().is_none_or(|presence| presence.len() == count);
        let column = Self::unchecked(data, presence, count);
        (fits && present && column.depth() <= DEPTH).then_some(column)
    }

    /// The same where it is known that all agrees.
    fn unchecked(data: Data, presence: Option<NullBuffer>, count: usize) -> Self {
        let presence = presence.filter(|presence| presence.null_count() > 0 && !matches!(data, Data::None));
        Self { data, presence, count }
    }

    /// Nothing but None.
    pub fn none(count: usize) -> Self {
        Self { data: Data::None, presence: None, count }
    }

    /// Integers, each present.
    pub fn ints(values: Vec<i64>) -> Self {
        let count = values.len();
        Self { data: Data::Ints(values.into()), presence: None, count }
    }

    /// Integers, and None among them.
    pub fn ints_or_none(values: &[Option<i64>]) -> Self {
        let numbers: ScalarBuffer<i64> = values.iter().map(|value| value.unwrap_or(0)).collect();
        let presence: BooleanBuffer = values.iter().map(Option::is_some).collect();
        if presence.count_set_bits() == 0 {
            return Self::none(values.len());
        }
        Self::unchecked(Data::Ints(numbers), Some(NullBuffer::new(presence)), values.len())
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What it consists of.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Which values are not None; `None` where this is the data's matter or none is.
    pub fn presence(&self) -> Option<&NullBuffer> {
        self.presence.as_ref()
    }

    /// Whether a value is None.
    #[inline]
    pub fn is_none(&self, row: usize) -> bool {
        match &self.presence {
            Some(presence) => presence.is_null(row),
            None => matches!(self.data, Data::None),
        }
    }

    /// How many containers are around the innermost values.
    pub fn depth(&self) -> usize {
        match &self.data {
            Data::Tuples(fields) | Data::Rows(_, fields) => 1 + fields.iter().map(Self::depth).max().unwrap_or(0),
            Data::Lists(_, items) => 1 + items.depth(),
            _ => 0,
        }
    }

    /// Whether lists are in it.
    pub fn has_lists(&self) -> bool {
        match &self.data {
            Data::Lists(..) => true,
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter().any(Self::has_lists),
            _ => false,
        }
    }

    /// The columns of its fields, if it is of tuples or rows; not of dicts, whose fields have no places.
    #[inline]
    pub fn fields(&self) -> Option<&[Self]> {
        match &self.data {
            Data::Rows(shape, _) if shape.is_dict() => None,
            _ => self.parts(),
        }
    }

    /// The same, and of dicts.
    #[inline]
    fn parts(&self) -> Option<&[Self]> {
        match &self.data {
            Data::Tuples(fields) | Data::Rows(_, fields) => Some(fields),
            _ => None,
        }
    }

    /// A value; what it has around it is made in the arena. Recursive, to [`DEPTH`].
    #[inline]
    pub fn get<'a>(&'a self, row: usize, arena: &'a Bump) -> Value<'a> {
        if self.is_none(row) {
            return Value::None;
        }
        match &self.data {
            Data::None => Value::None,
            Data::Bools(values) => Value::Bool(values.value(row)),
            Data::Ints(values) => Value::Int(values[row]),
            Data::Floats(values) => Value::Float(values[row]),
            Data::Texts(strings) => Value::Text(text(strings, row)),
            Data::Bytes(strings) => Value::Bytes(strings.get(row)),
            Data::Moments(unit, numbers) => Value::Moment(unit.moment(numbers[row])),
            _ => self.container(row, arena),
        }
    }

    /// Puts a value somewhere, as [`get`](Self::get) gives it: without a copy of what was just made.
    #[inline]
    pub(crate) fn read<'a>(&'a self, row: usize, arena: &'a Bump, into: &mut Value<'a>) {
        if self.is_none(row) {
            *into = Value::None;
            return;
        }
        match &self.data {
            Data::Ints(values) => *into = Value::Int(values[row]),
            Data::Texts(strings) => *into = Value::Text(text(strings, row)),
            _ => *into = self.get(row, arena),
        }
    }

    #[inline(never)]
    fn container<'a>(&'a self, row: usize, arena: &'a Bump) -> Value<'a> {
        let all = |fields: &'a [Self]| {
            let values = arena.alloc_slice_fill_copy(fields.len(), Value::None);
            values.iter_mut().zip(fields).for_each(|(value, field)| field.read(row, arena, value));
            &*values
        };
        match &self.data {
            Data::Tuples(fields) => Value::Tuple(all(fields)),
            Data::Rows(shape, fields) if shape.is_dict() => {
                let keys = shape.names.iter().flatten().map(|name| Value::Text(name));
                Value::Dict(arena.alloc_slice_fill_iter(keys.zip(all(fields).iter().copied()).collect::<Vec<_>>()))
            }
            Data::Rows(shape, fields) => Value::Row(shape, all(fields)),
            Data::Lists(offsets, items) => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                Value::List(arena.alloc_slice_fill_iter(range.map(|item| items.get(item, arena))))
            }
            _ => Value::None,
        }
    }
}

/// A text of a column of texts.
#[inline]
pub(crate) fn text(strings: &Strings, row: usize) -> &str {
    // SAFETY: a column of texts has been made of texts, or it was checked that each is one
    unsafe { std::str::from_utf8_unchecked(strings.get(row)) }
}

/// About how many bytes a value takes: the length of its texts and bytes, and 8 for each other field of tuples. Recursive, to
/// [`DEPTH`].
pub fn text_size(column: &Column, row: usize) -> usize {
    match &column.data {
        _ if column.is_none(row) => 8,
        Data::Texts(strings) => text(strings, row).chars().count(),
        Data::Bytes(strings) => strings.get(row).len(),
        Data::Tuples(fields) => fields.iter().map(|field| text_size(field, row)).sum(),
        _ => 8,
    }
}

#[cfg(test)]
mod tests;
