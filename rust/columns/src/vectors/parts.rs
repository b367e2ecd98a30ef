//! Vectors read out of columns, and parts of vectors.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::{Places, Vector, range};
use crate::column::{Column, Data, text};
use crate::python;
use crate::value::{Doubt, Value};

impl<'a> Vector<'a> {
    /// The same, read if it is in a column.
    pub(crate) fn read(self, count: usize, arena: &'a Bump) -> Self {
        let Self::Column(column, places) = self else { return self };
        if column.presence().is_some() {
            return Self::Values(arena.alloc_slice_fill_with(count, |index| column.get(places.at(index), arena)));
        }
        match (column.data(), places) {
            (Data::Ints(values), Places::From(start)) => Self::Ints(&values[start..start + count]),
            (Data::Floats(values), Places::From(start)) => Self::Floats(&values[start..start + count]),
            (Data::Ints(values), _) => Self::Ints(arena.alloc_slice_fill_with(count, |index| values[places.at(index)])),
            (Data::Floats(values), _) => Self::Floats(arena.alloc_slice_fill_with(count, |index| values[places.at(index)])),
            (Data::Bools(values), _) => Self::Bools(arena.alloc_slice_fill_with(count, |index| values.value(places.at(index)))),
            (Data::Texts(strings), _) => Self::Texts(arena.alloc_slice_fill_with(count, |index| text(strings, places.at(index)))),
            (Data::Tuples(fields), _) => {
                Self::Tuples(arena.alloc_slice_fill_iter(fields.iter().map(|field| Self::Column(field, places).read(count, arena))))
            }
            (Data::None, _) => Self::Same(Value::None),
            _ => Self::Values(arena.alloc_slice_fill_with(count, |index| column.get(places.at(index), arena))),
        }
    }

    /// A field of tuples that are not read yet, or are in parts; `None` where there is none.
    pub(super) fn fields(self, arena: &'a Bump) -> Option<&'a [Self]> {
        match self {
            Self::Tuples(fields) => Some(fields),
            Self::Column(column, places) => match column.data() {
                Data::Tuples(fields) if column.presence().is_none() => {
                    Some(arena.alloc_slice_fill_iter(fields.iter().map(|field| Self::Column(field, places))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The same, and the items of lists of as many each.
    pub(super) fn items(self, arena: &'a Bump) -> Option<&'a [Self]> {
        if let Self::Arrays(items) = self { Some(items) } else { self.fields(arena) }
    }

    /// Lists of what is in tuples or lists; `None` where that is not easily known.
    pub(super) fn lists(self, arena: &'a Bump) -> Option<Self> {
        self.items(arena).map(Self::Arrays)
    }

    /// The items of tuples or lists from one place to another, as a slice gives them; `None` where that is not easily known.
    pub(super) fn part(self, start: Self, end: Self, arena: &'a Bump) -> Option<Self> {
        let fields = self.items(arena)?;
        let place = |bound: Self, missing: usize| match bound {
            Self::Same(Value::None) => Some(missing),
            Self::Same(Value::Int(at)) => usize::try_from(at).ok().map(|at| at.min(fields.len())),
            _ => None,
        };
        let (start, end) = (place(start, 0)?, place(end, fields.len())?);
        let part = fields.get(start..end)?;
        Some(if let Self::Arrays(_) = self { Self::Arrays(part) } else { Self::Tuples(part) })
    }

    /// The values at some places, in their order.
    pub(crate) fn pick(self, places: &'a [u32], arena: &'a Bump) -> Self {
        macro_rules! picked {
            ($kind:ident, $values:expr) => {
                Self::$kind(arena.alloc_slice_fill_iter(places.iter().map(|&place| $values[place as usize])))
            };
        }
        match self {
            Self::Same(_) => self,
            Self::Ints(values) => picked!(Ints, values),
            Self::Floats(values) => picked!(Floats, values),
            Self::Bools(values) => picked!(Bools, values),
            Self::Texts(values) => picked!(Texts, values),
            Self::Values(values) => picked!(Values, values),
            Self::Tuples(fields) => Self::Tuples(arena.alloc_slice_fill_iter(fields.iter().map(|field| field.pick(places, arena)))),
            Self::Arrays(items) => Self::Arrays(arena.alloc_slice_fill_iter(items.iter().map(|item| item.pick(places, arena)))),
            Self::Lists(..) => Self::Values(arena.alloc_slice_fill_iter(places.iter().map(|&place| self.get(place as usize, arena)))),
            Self::Column(column, from) => Self::Column(
                column,
                Places::Picked(arena.alloc_slice_fill_iter(places.iter().map(|&place| from.at(place as usize) as u32))),
            ),
        }
    }

    /// For each record one of two values.
    pub(super) fn either(of: &[bool], then: Self, other: Self, arena: &'a Bump) -> Self {
        let (then, other) = (then.read(of.len(), arena), other.read(of.len(), arena));
        macro_rules! chosen {
            ($kind:ident, $one:expr, $two:expr) => {
                Self::$kind(
                    arena.alloc_slice_fill_iter(of.iter().enumerate().map(|(index, &first)| if first { $one(index) } else { $two(index) })),
                )
            };
        }
        match (then, other) {
            (Self::Ints(one), Self::Ints(two)) => chosen!(Ints, |index: usize| one[index], |index: usize| two[index]),
            (Self::Ints(one), Self::Same(Value::Int(two))) => chosen!(Ints, |index: usize| one[index], |_| two),
            (Self::Same(Value::Int(one)), Self::Ints(two)) => chosen!(Ints, |_| one, |index: usize| two[index]),
            (Self::Same(Value::Int(one)), Self::Same(Value::Int(two))) => chosen!(Ints, |_| one, |_| two),
            (Self::Floats(one), Self::Floats(two)) => chosen!(Floats, |index: usize| one[index], |index: usize| two[index]),
            (Self::Bools(one), Self::Bools(two)) => chosen!(Bools, |index: usize| one[index], |index: usize| two[index]),
            (Self::Bools(one), Self::Same(Value::Bool(two))) => chosen!(Bools, |index: usize| one[index], |_| two),
            (Self::Same(Value::Bool(one)), Self::Bools(two)) => chosen!(Bools, |_| one, |index: usize| two[index]),
            (Self::Same(Value::Bool(one)), Self::Same(Value::Bool(two))) => chosen!(Bools, |_| one, |_| two),
            (Self::Texts(one), Self::Texts(two)) => chosen!(Texts, |index: usize| one[index], |index: usize| two[index]),
            (Self::Texts(one), Self::Same(Value::Text(two))) => chosen!(Texts, |index: usize| one[index], |_| two),
            (Self::Same(Value::Text(one)), Self::Texts(two)) => chosen!(Texts, |_| one, |index: usize| two[index]),
            (Self::Same(Value::Text(one)), Self::Same(Value::Text(two))) => chosen!(Texts, |_| one, |_| two),
            (Self::Tuples(one), Self::Tuples(two)) if one.len() == two.len() => {
                Self::Tuples(arena.alloc_slice_fill_iter(one.iter().zip(two).map(|(&one, &two)| Self::either(of, one, two, arena))))
            }
            _ => chosen!(Values, |index| then.get(index, arena), |index| other.get(index, arena)),
        }
    }

    /// Values of one type as a vector of that type.
    pub(super) fn of(values: &'a [Value<'a>], arena: &'a Bump) -> Self {
        macro_rules! narrowed {
            ($kind:ident, $value:ident, $nothing:expr) => {
                if values.iter().all(|value| matches!(value, Value::$value(_))) {
                    let plain = |value: &Value<'a>| if let Value::$value(plain) = value { *plain } else { $nothing };
                    return Self::$kind(arena.alloc_slice_fill_iter(values.iter().map(plain)));
                }
            };
        }
        match values.first() {
            Some(Value::Int(_)) => narrowed!(Ints, Int, 0),
            Some(Value::Float(_)) => narrowed!(Floats, Float, 0.0),
            Some(Value::Bool(_)) => narrowed!(Bools, Bool, false),
            Some(Value::Text(_)) => narrowed!(Texts, Text, ""),
            _ => {}
        }
        Self::Values(values)
    }
}

/// The items of all records, each by itself.
pub(crate) struct Exploded<'a> {
    pub(crate) items: Vector<'a>,
    /// The record that each is from.
    pub(crate) records: &'a [u32],
    /// How many records are not in doubt.
    pub(crate) count: usize,
}

impl<'a> Exploded<'a> {
    /// What is in each of so many values.
    pub(crate) fn of(vector: Vector<'a>, count: usize, arena: &'a Bump) -> Self {
        if let Vector::Lists(ends, items) = vector {
            let total = if count == 0 { 0 } else { ends[count - 1] as usize };
            let mut records = Items::with_capacity_in(total, arena);
            (0..count).for_each(|record| records.extend(range(ends, record).map(|_| record as u32)));
            return Self { items: *items, records: records.into_bump_slice(), count };
        }
        let (mut items, mut records) = (Items::new_in(arena), Items::new_in(arena));
        for record in 0..count {
            let inside = match vector.get(record, arena) {
                Value::Row(..) => Err(Doubt),
                value => within(value, arena),
            };
            let Ok(inside) = inside else {
                return Self { items: Vector::of(items.into_bump_slice(), arena), records: records.into_bump_slice(), count: record };
            };
            items.extend_from_slice(inside);
            records.extend(inside.iter().map(|_| record as u32));
        }
        Self { items: Vector::of(items.into_bump_slice(), arena), records: records.into_bump_slice(), count }
    }
}

/// What is in a value that can be gone through.
pub(super) fn within<'a>(value: Value<'a>, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) => Ok(items),
        value => python::iterate(arena, value),
    }
}

/// Whether a column has a value at every place.
pub(super) fn is_full(column: &Column) -> bool {
    column.presence().is_none() && !matches!(column.data(), Data::None)
}
