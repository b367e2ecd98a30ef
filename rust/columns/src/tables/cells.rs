//! Columns whose values can be replaced: what a table knows of its keys.

mod fields;
mod memory;

use std::sync::Arc;

use bumpalo::Bump;
use ecow::EcoString;

use crate::column::{DEPTH, Refusal};
use crate::value::{Shape, Unit, Value, outside};

/// Items of a list at the most: a list is read and compared as a whole whenever it changes.
const MOST_ITEMS: usize = 64;

/// Values of one type by number, and None among them. The first one that is not None decides on the type.
#[derive(Debug)]
pub struct Cells {
    data: Data,
    /// Which are None; empty while none is, or all are.
    absent: Vec<bool>,
    count: usize,
    /// Bytes of texts, bytes and lists that are elsewhere in memory.
    outside: usize,
    depth: usize,
    /// Whether lists can be here; none of them in another one.
    lists: bool,
}

#[derive(Debug)]
enum Data {
    None,
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<EcoString>),
    Bytes(Vec<Box<[u8]>>),
    Moments(Unit, Vec<i64>),
    Tuples(Vec<Cells>),
    Rows(Arc<Shape>, Vec<Cells>),
    /// Each with its items; and what is known of the type of all items, without values.
    Lists(Vec<Cells>, Box<Cells>),
}

impl Default for Cells {
    fn default() -> Self {
        Self::within(DEPTH, false)
    }
}

impl Cells {
    fn within(depth: usize, lists: bool) -> Self {
        Self { data: Data::None, absent: Vec::new(), count: 0, outside: 0, depth, lists }
    }

    /// Among which lists can be: what nobody but this table has.
    pub fn with_lists() -> Self {
        Self::within(DEPTH, true)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a value behind the last; when it is refused nothing has changed. Recursive, to the depth of a column.
    pub fn push(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        if matches!(self.data, Data::None) && !matches!(value, Value::None) {
            self.decide(value)?;
        }
        match (&mut self.data, value) {
            (Data::None, Value::None) => {}
            (Data::Bools(values), Value::Bool(value)) => values.push(value),
            (Data::Ints(values), Value::Int(value)) => values.push(value),
            (Data::Floats(values), Value::Float(value)) => values.push(value),
            (Data::Texts(values), Value::Text(value)) => values.push(value.into()),
            (Data::Bytes(values), Value::Bytes(value)) => values.push(value.into()),
            (Data::Moments(unit, values), Value::Moment(moment)) => values.push(unit.number(moment).ok_or(Refusal::Misfit)?),
            (Data::Tuples(fields), Value::Tuple(items)) if fields.len() == items.len() => push_all(fields, items)?,
            (Data::Rows(shape, fields), Value::Row(other, items)) if **shape == *other && fields.len() == items.len() => {
                push_all(fields, items)?;
            }
            (_, Value::None) => {
                self.push_absent();
                return Ok(());
            }
            (Data::Lists(lists, kind), Value::List(items)) => {
                admits_items(kind, items).then_some(()).ok_or(Refusal::Doubt)?;
                let mut list = kind.empty();
                list.replace(items);
                self.outside += list.memory();
                lists.push(list);
            }
            (_, Value::Moment(moment)) if moment.number().is_none() => return Err(Refusal::Doubt),
            (_, Value::Dict(_) | Value::List(_) | Value::Object(_)) => return Err(Refusal::Doubt),
            _ => return Err(Refusal::Misfit),
        }
        if !self.absent.is_empty() {
            self.absent.push(false);
        }
        self.outside += outside(value);
        self.count += 1;
        Ok(())
    }

    fn push_absent(&mut self) {
        match &mut self.data {
            Data::None => {}
            Data::Bools(values) => values.push(false),
            Data::Ints(values) | Data::Moments(_, values) => values.push(0),
            Data::Floats(values) => values.push(0.0),
            Data::Texts(values) => values.push(EcoString::default()),
            Data::Bytes(values) => values.push(Box::default()),
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter_mut().for_each(Self::push_absent),
            Data::Lists(lists, kind) => lists.push(kind.empty()),
        }
        if !matches!(self.data, Data::None) {
            self.absent.resize(self.count, false);
            self.absent.push(true);
        }
        self.count += 1;
    }

    /// Takes the type of a value; so far all are None.
    fn decide(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        let (count, depth, lists) = (self.count, self.depth, self.lists);
        let fields = |arity: usize| match depth.checked_sub(1) {
            Some(depth) => Ok((0..arity).map(|_| Self { count, ..Self::within(depth, lists) }).collect()),
            None => Err(Refusal::Doubt),
        };
        self.data = match value {
            Value::List(_) if lists && depth > 0 => {
                let kind = Self::within(depth - 1, false);
                Data::Lists((0..count).map(|_| kind.empty()).collect(), Box::new(kind))
            }
            Value::None | Value::Dict(_) | Value::List(_) | Value::Object(_) => return Err(Refusal::Doubt),
            Value::Bool(_) => Data::Bools(vec![false; count]),
            Value::Int(_) => Data::Ints(vec![0; count]),
            Value::Float(_) => Data::Floats(vec![0.0; count]),
            Value::Text(_) => Data::Texts(vec![EcoString::default(); count]),
            Value::Bytes(_) => Data::Bytes(vec![Box::default(); count]),
            Value::Moment(moment) => Data::Moments(moment.number().ok_or(Refusal::Doubt)?.0, vec![0; count]),
            Value::Tuple(items) => Data::Tuples(fields(items.len())?),
            Value::Row(shape, items) if shape.fits(items.len()) => Data::Rows(Arc::new(shape.clone()), fields(items.len())?),
            Value::Row(..) => return Err(Refusal::Doubt),
        };
        self.absent = vec![true; count];
        Ok(())
    }

    /// Whether a value could replace any of these. Recursive, to the depth of a column.
    pub fn fits(&self, value: Value<'_>) -> bool {
        let all = |fields: &[Self], items: &[Value<'_>]| {
            fields.len() == items.len() && fields.iter().zip(items).all(|(field, &item)| field.fits(item))
        };
        match (&self.data, value) {
            (_, Value::None)
            | (Data::Bools(_), Value::Bool(_))
            | (Data::Ints(_), Value::Int(_))
            | (Data::Floats(_), Value::Float(_))
            | (Data::Texts(_), Value::Text(_))
            | (Data::Bytes(_), Value::Bytes(_)) => true,
            (Data::Moments(unit, _), Value::Moment(moment)) => unit.number(moment).is_some(),
            (Data::Tuples(fields), Value::Tuple(items)) => all(fields, items),
            (Data::Rows(shape, fields), Value::Row(other, items)) => **shape == *other && all(fields, items),
            (Data::Lists(_, kind), Value::List(items)) => items.len() <= MOST_ITEMS && items.iter().all(|&item| kind.fits(item)),
            _ => false,
        }
    }

    /// Whether a value fits once the types that nothing has decided on yet are its own; then it does. Recursive, to the depth
    /// of a column.
    #[inline]
    pub fn admits(&mut self, value: Value<'_>) -> bool {
        if matches!(self.data, Data::None) && !matches!(value, Value::None) && self.decide(value).is_err() {
            return false;
        }
        let all = |fields: &mut [Self], items: &[Value<'_>]| {
            fields.len() == items.len() && fields.iter_mut().zip(items).all(|(field, &item)| field.admits(item))
        };
        match (&mut self.data, value) {
            (Data::Tuples(fields), Value::Tuple(items)) => all(fields, items),
            (Data::Rows(shape, fields), Value::Row(other, items)) => **shape == *other && all(fields, items),
            (Data::Lists(_, kind), Value::List(items)) => admits_items(kind, items),
            _ => self.fits(value),
        }
    }

    /// Replaces a value by another one that [fits](Self::fits).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn set(&mut self, index: usize, value: Value<'_>) {
        match (&mut self.data, value) {
            (Data::Bools(values), Value::Bool(value)) => values[index] = value,
            (Data::Ints(values), Value::Int(value)) => values[index] = value,
            (Data::Floats(values), Value::Float(value)) => values[index] = value,
            (Data::Texts(values), Value::Text(text)) if values[index] != text => {
                self.outside = self.outside + outside(value) - outside(Value::Text(&values[index]));
                values[index] = text.into();
            }
            (Data::Moments(unit, values), Value::Moment(moment)) => values[index] = unit.number(moment).unwrap_or_default(),
            (Data::Bytes(values), Value::Bytes(bytes)) if *values[index] != *bytes => {
                self.outside = self.outside + bytes.len() - values[index].len();
                values[index] = bytes.into();
            }
            (Data::Tuples(fields), Value::Tuple(items)) | (Data::Rows(_, fields), Value::Row(_, items)) => {
                fields.iter_mut().zip(items).for_each(|(field, &item)| field.set(index, item));
            }
            (Data::Lists(lists, _), Value::List(items)) => {
                let before = lists[index].memory();
                lists[index].replace(items);
                self.outside = self.outside + lists[index].memory() - before;
            }
            (Data::Lists(lists, kind), Value::None) => {
                self.outside -= lists[index].memory();
                lists[index] = kind.empty();
            }
            _ => {}
        }
        let absent = matches!(value, Value::None) && !matches!(self.data, Data::None);
        if absent && self.absent.is_empty() {
            self.absent = vec![false; self.count];
        }
        if !self.absent.is_empty() {
            self.absent[index] = absent;
        }
    }

    /// Replaces a field of a tuple or row by a value that fits.
    ///
    /// # Panics
    ///
    /// There are not so many values, or fields.
    #[inline]
    pub fn set_field(&mut self, index: usize, position: usize, value: Value<'_>) {
        if let Data::Tuples(fields) | Data::Rows(_, fields) = &mut self.data {
            fields[position].set(index, value);
        }
    }

    /// A value; what it has around it is made in the arena.
    ///
    /// # Panics
    ///
    /// There are not so many.
    #[inline]
    pub fn get<'a>(&'a self, index: usize, arena: &'a Bump) -> Value<'a> {
        if !self.absent.is_empty() && self.absent[index] {
            return Value::None;
        }
        let all = |fields: &'a [Self]| {
            let values = arena.alloc_slice_fill_copy(fields.len(), Value::None);
            values.iter_mut().zip(fields).for_each(|(value, field)| field.read(index, arena, value));
            &*values
        };
        match &self.data {
            Data::None => Value::None,
            Data::Bools(values) => Value::Bool(values[index]),
            Data::Ints(values) => Value::Int(values[index]),
            Data::Floats(values) => Value::Float(values[index]),
            Data::Texts(values) => Value::Text(&values[index]),
            Data::Bytes(values) => Value::Bytes(&values[index]),
            Data::Moments(unit, values) => Value::Moment(unit.moment(values[index])),
            Data::Tuples(fields) => Value::Tuple(all(fields)),
            Data::Rows(shape, fields) => Value::Row(shape, all(fields)),
            Data::Lists(lists, _) => {
                let list = &lists[index];
                Value::List(arena.alloc_slice_fill_iter((0..list.count).map(|item| list.get(item, arena))))
            }
        }
    }

    /// Puts a value somewhere, as [`get`](Self::get) gives it: without a copy of what was just made.
    #[inline]
    fn read<'a>(&'a self, index: usize, arena: &'a Bump, into: &mut Value<'a>) {
        match &self.data {
            Data::Ints(values) if self.absent.is_empty() => *into = Value::Int(values[index]),
            Data::Texts(values) if self.absent.is_empty() => *into = Value::Text(&values[index]),
            _ => *into = self.get(index, arena),
        }
    }

    /// Whether a value is of the same type as another one and the same: a float by its bits.
    ///
    /// # Panics
    ///
    /// There are not so many.
    #[inline]
    pub fn holds(&self, index: usize, value: Value<'_>) -> bool {
        if !self.absent.is_empty() && self.absent[index] {
            return matches!(value, Value::None);
        }
        let all = |fields: &[Self], items: &[Value<'_>]| {
            fields.len() == items.len() && fields.iter().zip(items).all(|(field, &item)| field.holds(index, item))
        };
        match (&self.data, value) {
            (Data::None, Value::None) => true,
            (Data::Bools(values), Value::Bool(value)) => values[index] == value,
            (Data::Ints(values), Value::Int(value)) => values[index] == value,
            (Data::Floats(values), Value::Float(value)) => values[index].to_bits() == value.to_bits(),
            (Data::Texts(values), Value::Text(value)) => values[index] == value,
            (Data::Bytes(values), Value::Bytes(value)) => *values[index] == *value,
            (Data::Moments(unit, values), Value::Moment(moment)) => unit.number(moment) == Some(values[index]),
            (Data::Tuples(fields), Value::Tuple(items)) => all(fields, items),
            (Data::Rows(shape, fields), Value::Row(other, items)) => **shape == *other && all(fields, items),
            (Data::Lists(lists, _), Value::List(items)) => {
                let list = &lists[index];
                list.count == items.len() && items.iter().enumerate().all(|(at, &item)| list.holds(at, item))
            }
            _ => false,
        }
    }

    /// The integers, if it has nothing else.
    pub fn ints(&self) -> Option<&[i64]> {
        match &self.data {
            Data::Ints(values) if self.absent.is_empty() => Some(values),
            _ => None,
        }
    }

    /// Moves the last value to a place and takes the last place away.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn swap_remove(&mut self, index: usize) {
        match &mut self.data {
            Data::None => {}
            Data::Bools(values) => drop(values.swap_remove(index)),
            Data::Ints(values) | Data::Moments(_, values) => drop(values.swap_remove(index)),
            Data::Floats(values) => drop(values.swap_remove(index)),
            Data::Texts(values) => self.outside -= outside(Value::Text(&values.swap_remove(index))),
            Data::Bytes(values) => self.outside -= values.swap_remove(index).len(),
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter_mut().for_each(|field| field.swap_remove(index)),
            Data::Lists(lists, _) => self.outside -= lists.swap_remove(index).memory(),
        }
        if !self.absent.is_empty() {
            self.absent.swap_remove(index);
        }
        self.count -= 1;
    }

    /// Takes all values away, and the type.
    pub fn clear(&mut self) {
        *self = self.empty();
    }

    /// The same kind without values and without a type.
    fn empty(&self) -> Self {
        Self::within(self.depth, self.lists)
    }

    /// Has these values, which fit, in place of those before. A list that has grown is added to.
    fn replace(&mut self, items: &[Value<'_>]) {
        if self.count > items.len() || !(0..self.count).all(|at| self.holds(at, items[at])) {
            self.clear();
        }
        for &item in &items[self.count..] {
            let pushed = self.push(item);
            debug_assert!(pushed.is_ok(), "it fits");
        }
    }
}

/// Whether all of some items are, or can be, of the type that is known of them.
fn admits_items(kind: &mut Cells, items: &[Value<'_>]) -> bool {
    items.len() <= MOST_ITEMS && items.iter().all(|&item| kind.admits(item))
}

/// Adds a field to each, or to none.
fn push_all(fields: &mut [Cells], items: &[Value<'_>]) -> Result<(), Refusal> {
    for index in 0..fields.len() {
        if let Err(refusal) = fields[index].push(items[index]) {
            fields[..index].iter_mut().for_each(Cells::pop);
            return Err(refusal);
        }
    }
    Ok(())
}

impl Cells {
    fn pop(&mut self) {
        self.swap_remove(self.count - 1);
    }
}
