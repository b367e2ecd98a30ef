//! Values of Python while a function is evaluated on a record.

use bumpalo::Bump;
use ecow::EcoString;

/// Native code cannot vouch for the result of a record: the Python function decides, with its result or its exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt;

/// A value of Python. What is longer than a number lies in the input's columns, in the program, or in the arena of the record.
#[derive(Clone, Copy, Debug)]
#[repr(u64)] // a tag of one byte is copied apart from what is behind it, which then waits for both
pub enum Value<'a> {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int` of 64 bits; others are doubtful.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `str` without lone surrogates.
    Text(&'a str),
    /// A `bytes`.
    Bytes(&'a [u8]),
    /// A `tuple`.
    Tuple(&'a [Value<'a>]),
    /// A `list`; it cannot be changed here.
    List(&'a [Value<'a>]),
    /// A `dict` in the order of its keys, which differ.
    Dict(&'a [(Value<'a>, Value<'a>)]),
    /// A `Row`, or an object of a dataclass.
    Row(&'a Shape, &'a [Value<'a>]),
    /// A `list` or a `set` of a [heap](crate::heap::Heap): the machine alone knows what is in it.
    Object(u32),
    /// What the module `datetime` has.
    Moment(Moment),
}

impl Value<'_> {
    /// Whether nobody can change it. Recursive, as deep as the value.
    pub fn is_frozen(self) -> bool {
        match self {
            Self::Tuple(items) => items.iter().all(|item| item.is_frozen()),
            Self::List(_) | Self::Dict(_) | Self::Row(..) | Self::Object(_) => false,
            _ => true,
        }
    }
}

/// A `datetime`, `date`, `time` or `timedelta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Moment {
    /// A `datetime`: microseconds since the year 1 began, by its own clock; and the seconds that this clock is ahead of UTC, if
    /// it is known.
    At(i64, Option<i32>),
    /// A `date`: days since the year 1 began.
    Day(i64),
    /// A `time` without a time zone: microseconds since midnight.
    Clock(i64),
    /// A `timedelta`, in microseconds.
    Span(i64),
}

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// The days that there are: those of the years 1 to 9999.
pub const DAYS: i64 = 3_652_059;
/// The day on which 1970 began.
pub const EPOCH: i64 = 719_162;

/// What the numbers of a column of dates or times are; a column has no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Those of a `date`: days since the year 1 began.
    Days,
    /// Those of a `datetime` without a time zone: microseconds since the year 1 began.
    Micros,
    /// Those of a `time` without a time zone: microseconds since midnight.
    Clock,
}

impl Unit {
    /// The date or time of a number.
    #[inline]
    pub fn moment(self, number: i64) -> Moment {
        match self {
            Self::Days => Moment::Day(number),
            Self::Micros => Moment::At(number, None),
            Self::Clock => Moment::Clock(number),
        }
    }

    /// The number of a date or time; `None` where it is none of these.
    #[inline]
    pub fn number(self, moment: Moment) -> Option<i64> {
        moment.number().filter(|(own, _)| *own == self).map(|(_, number)| number)
    }

    /// Whether there is a date or time of this number.
    pub fn has(self, number: i64) -> bool {
        match self {
            Self::Days => (0..DAYS).contains(&number),
            Self::Micros => (0..DAYS * DAY).contains(&number),
            Self::Clock => (0..DAY).contains(&number),
        }
    }

    /// The number from which others count: that of 1970-01-01, or of midnight.
    pub fn epoch(self) -> i64 {
        match self {
            Self::Days => EPOCH,
            Self::Micros => EPOCH * DAY,
            Self::Clock => 0,
        }
    }
}

impl Moment {
    /// The number that a column has of it; `None` where no column does.
    #[inline]
    pub fn number(self) -> Option<(Unit, i64)> {
        match self {
            Self::Day(day) => Some((Unit::Days, day)),
            Self::At(local, None) => Some((Unit::Micros, local)),
            Self::Clock(rest) => Some((Unit::Clock, rest)),
            Self::At(_, Some(_)) | Self::Span(_) => None,
        }
    }
}

impl Value<'_> {
    /// The same value, all of it in the arena. Recursive, as deep as the value.
    pub fn copied(self, arena: &Bump) -> Value<'_> {
        let all = |items: &[Value<'_>]| &*arena.alloc_slice_fill_iter(items.iter().map(|item| item.copied(arena)));
        match self {
            Self::None => Value::None,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(text) => Value::Text(arena.alloc_str(text)),
            Self::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
            Self::Tuple(items) => Value::Tuple(all(items)),
            Self::List(items) => Value::List(all(items)),
            Self::Dict(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.copied(arena), value.copied(arena)));
                Value::Dict(arena.alloc_slice_fill_iter(entries))
            }
            Self::Row(shape, items) => Value::Row(arena.alloc(shape.clone()), all(items)),
            Self::Moment(moment) => Value::Moment(moment),
            Self::Object(number) => Value::Object(number),
        }
    }
}

/// What fields an object has, and of which class it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of the class where objects are made; 0 for a `Row`.
    pub class: u32,
    /// The names of its fields; `None` for a `Row` without names.
    pub names: Option<Box<[Box<str>]>>,
}

/// What a `Row` has besides its fields: a field that is called so is no attribute.
const OF_ROWS: [&str; 7] = ["as_dict", "get_fields_by_names", "get_row_kind", "of_kind", "of_values", "set_field_names", "set_row_kind"];

impl Shape {
    /// The number that a `dict` has in place of a class; the names are its keys.
    pub const DICT: u32 = u32::MAX;

    /// Whether it is that of a `dict`: a column has such rows, a value is a [`Value::Dict`].
    pub fn is_dict(&self) -> bool {
        self.class == Self::DICT
    }

    /// Whether an object of so many fields can have it.
    pub fn fits(&self, fields: usize) -> bool {
        self.names.as_ref().is_none_or(|names| names.len() == fields)
    }

    /// Where the field of this name is.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.as_ref()?.iter().position(|own| **own == *name)
    }

    /// The field that a `Row` or a `dict` has at a key.
    pub fn key(&self, name: &str) -> Option<usize> {
        if self.class == 0 || self.is_dict() { self.position(name) } else { None }
    }

    /// The field that an attribute of this name is.
    pub fn attribute(&self, name: &str) -> Option<usize> {
        let hidden = self.class == 0 && (name.starts_with('_') || OF_ROWS.contains(&name));
        if hidden || self.is_dict() { None } else { self.position(name) }
    }
}

/// Bytes of a text, or of bytes, that are elsewhere in memory: those of a short text are not.
pub fn outside(value: Value<'_>) -> usize {
    match value {
        Value::Text(text) if text.len() > EcoString::INLINE_LIMIT => text.len() + 2 * size_of::<usize>(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}
