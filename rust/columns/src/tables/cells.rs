//! Columns whose values can be replaced: what a table knows of its keys.

use std::sync::Arc;

use bumpalo::Bump;
use compact_str::CompactString;

use crate::column::{Column, DEPTH, Data as Columns, Refusal};
use crate::value::{Shape, Value};

/// Values of one type by number, and None among them. The first one that is not None decides on the type.
#[derive(Debug)]
pub struct Cells {
    data: Data,
    /// Which are None; empty while none is, or all are.
    absent: Vec<bool>,
    count: usize,
    depth: usize,
}

#[derive(Debug)]
enum Data {
    None,
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<CompactString>),
    Bytes(Vec<Box<[u8]>>),
    Tuples(Vec<Cells>),
    Rows(Arc<Shape>, Vec<Cells>),
}

impl Default for Cells {
    fn default() -> Self {
        Self::within(DEPTH)
    }
}

impl Cells {
    fn within(depth: usize) -> Self {
        Self { data: Data::None, absent: Vec::new(), count: 0, depth }
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
            (Data::Tuples(fields), Value::Tuple(items)) if fields.len() == items.len() => push_all(fields, items)?,
            (Data::Rows(shape, fields), Value::Row(other, items)) if **shape == *other && fields.len() == items.len() => {
                push_all(fields, items)?;
            }
            (_, Value::None) => {
                self.push_absent();
                return Ok(());
            }
            (_, Value::Dict(_) | Value::List(_)) => return Err(Refusal::Doubt),
            _ => return Err(Refusal::Misfit),
        }
        if !self.absent.is_empty() {
            self.absent.push(false);
        }
        self.count += 1;
        Ok(())
    }

    fn push_absent(&mut self) {
        match &mut self.data {
            Data::None => {}
            Data::Bools(values) => values.push(false),
            Data::Ints(values) => values.push(0),
            Data::Floats(values) => values.push(0.0),
            Data::Texts(values) => values.push(CompactString::default()),
            Data::Bytes(values) => values.push(Box::default()),
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter_mut().for_each(Self::push_absent),
        }
        if !matches!(self.data, Data::None) {
            self.absent.resize(self.count, false);
            self.absent.push(true);
        }
        self.count += 1;
    }

    /// Takes the type of a value; so far all are None.
    fn decide(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        let (count, depth) = (self.count, self.depth);
        let fields = |arity: usize| match depth.checked_sub(1) {
            Some(depth) => Ok((0..arity).map(|_| Self { count, ..Self::within(depth) }).collect()),
            None => Err(Refusal::Doubt),
        };
        self.data = match value {
            Value::None | Value::Dict(_) | Value::List(_) => return Err(Refusal::Doubt),
            Value::Bool(_) => Data::Bools(vec![false; count]),
            Value::Int(_) => Data::Ints(vec![0; count]),
            Value::Float(_) => Data::Floats(vec![0.0; count]),
            Value::Text(_) => Data::Texts(vec![CompactString::default(); count]),
            Value::Bytes(_) => Data::Bytes(vec![Box::default(); count]),
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
            (Data::Tuples(fields), Value::Tuple(items)) => all(fields, items),
            (Data::Rows(shape, fields), Value::Row(other, items)) => **shape == *other && all(fields, items),
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
            _ => self.fits(value),
        }
    }

    /// The integer in a field of a tuple or row, if there is one.
    #[inline]
    pub fn field_int(&self, index: usize, position: usize) -> Option<i64> {
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &self.data else { return None };
        let field = fields.get(position)?;
        let is_absent = |cells: &Self| !cells.absent.is_empty() && cells.absent[index];
        match &field.data {
            Data::Ints(values) if !is_absent(self) && !is_absent(field) => Some(values[index]),
            _ => None,
        }
    }

    /// The same, to be replaced.
    #[inline]
    pub fn field_int_mut(&mut self, index: usize, position: usize) -> Option<&mut i64> {
        match self.present_field_mut(index, position)? {
            Data::Ints(values) => values.get_mut(index),
            _ => None,
        }
    }

    /// The float in a field of a tuple or row, if there is one, to be replaced.
    #[inline]
    pub fn field_float_mut(&mut self, index: usize, position: usize) -> Option<&mut f64> {
        match self.present_field_mut(index, position)? {
            Data::Floats(values) => values.get_mut(index),
            _ => None,
        }
    }

    #[inline]
    fn present_field_mut(&mut self, index: usize, position: usize) -> Option<&mut Data> {
        let is_absent = |cells: &Self| !cells.absent.is_empty() && cells.absent[index];
        if is_absent(self) {
            return None;
        }
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &mut self.data else { return None };
        fields.get_mut(position).filter(|field| !is_absent(field)).map(|field| &mut field.data)
    }

    /// A field of a tuple or row, if there is one.
    #[inline]
    pub fn field<'a>(&'a self, index: usize, position: usize, arena: &'a Bump) -> Option<Value<'a>> {
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &self.data else { return None };
        Some(fields.get(position)?.get(index, arena))
    }

    /// Whether these are tuples or rows as in a column, none absent, whose fields hold neither tuples nor rows.
    pub fn has_shape(&self, column: &Column) -> bool {
        let fields = match (&self.data, column.data()) {
            (Data::Tuples(fields), Columns::Tuples(_)) => fields,
            (Data::Rows(shape, fields), Columns::Rows(other, _)) if shape == other => fields,
            _ => return false,
        };
        let flat = |field: &Self| !matches!(field.data, Data::Tuples(_) | Data::Rows(..));
        self.absent.is_empty() && column.fields().is_some_and(|others| others.len() == fields.len()) && fields.iter().all(flat)
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
            (Data::Texts(values), Value::Text(value)) if values[index] != value => values[index] = value.into(),
            (Data::Bytes(values), Value::Bytes(value)) if *values[index] != *value => values[index] = value.into(),
            (Data::Tuples(fields), Value::Tuple(items)) | (Data::Rows(_, fields), Value::Row(_, items)) => {
                fields.iter_mut().zip(items).for_each(|(field, &item)| field.set(index, item));
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
        let all = |fields: &'a [Self]| &*arena.alloc_slice_fill_iter(fields.iter().map(|field| field.get(index, arena)));
        match &self.data {
            Data::None => Value::None,
            Data::Bools(values) => Value::Bool(values[index]),
            Data::Ints(values) => Value::Int(values[index]),
            Data::Floats(values) => Value::Float(values[index]),
            Data::Texts(values) => Value::Text(&values[index]),
            Data::Bytes(values) => Value::Bytes(&values[index]),
            Data::Tuples(fields) => Value::Tuple(all(fields)),
            Data::Rows(shape, fields) => Value::Row(shape, all(fields)),
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
            (Data::Tuples(fields), Value::Tuple(items)) => all(fields, items),
            (Data::Rows(shape, fields), Value::Row(other, items)) => **shape == *other && all(fields, items),
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
            Data::Ints(values) => drop(values.swap_remove(index)),
            Data::Floats(values) => drop(values.swap_remove(index)),
            Data::Texts(values) => drop(values.swap_remove(index)),
            Data::Bytes(values) => drop(values.swap_remove(index)),
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter_mut().for_each(|field| field.swap_remove(index)),
        }
        if !self.absent.is_empty() {
            self.absent.swap_remove(index);
        }
        self.count -= 1;
    }

    /// Takes all values away, and the type.
    pub fn clear(&mut self) {
        *self = Self::within(self.depth);
    }
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
