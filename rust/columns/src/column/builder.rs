//! Columns while they are made of values.

use std::sync::Arc;

use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, OffsetBuffer};

use super::{Column, DEPTH, Data, Strings};
use crate::value::{Shape, Unit, Value};

/// Why a value has not been added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is of another type than those before it; a new column could begin with it.
    Misfit,
    /// No column can hold it.
    Doubt,
}

impl From<crate::value::Doubt> for Refusal {
    fn from(_: crate::value::Doubt) -> Self {
        Self::Doubt
    }
}

/// Bytes of texts that room is made for before they are there, at the most.
const MOST_ROOM: usize = 1 << 20;

/// Takes values and makes a column of them. The first one that is not None decides on the type.
#[derive(Debug)]
pub struct Builder {
    slots: Slots,
    presence: NullBufferBuilder,
    /// How many values came before the one that decided.
    decided: usize,
    depth: usize,
    /// How many values there will probably be.
    expected: usize,
}

/// The values so far.
#[derive(Debug)]
enum Slots {
    None,
    Bools(BooleanBufferBuilder),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Bytes),
    Bytes(Bytes),
    Moments(Unit, Vec<i64>),
    Tuples(Vec<Builder>),
    Rows(Arc<Shape>, Vec<Builder>),
    Lists(Vec<i32>, Box<Builder>),
}

/// Texts or bytes so far.
#[derive(Debug)]
struct Bytes {
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Bytes {
    /// So many, each empty.
    fn empty(count: usize) -> Self {
        let mut ends = Vec::with_capacity((count + 1).max(64));
        ends.resize(count + 1, 0);
        Self { ends, bytes: Vec::new() }
    }

    #[inline]
    fn push(&mut self, item: &[u8]) -> Result<(), Refusal> {
        let end = i32::try_from(self.bytes.len() + item.len()).map_err(|_| Refusal::Misfit)?;
        self.bytes.extend_from_slice(item);
        self.ends.push(end);
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        self.ends.truncate(count + 1);
        self.bytes.truncate(self.ends[count] as usize);
    }

    fn finish(self) -> Strings {
        Strings { offsets: OffsetBuffer::new(self.ends.into()), bytes: self.bytes.into(), codes: None }
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Without values.
    pub fn new() -> Self {
        Self::within(DEPTH)
    }

    /// Whose values may nest to this depth.
    fn within(depth: usize) -> Self {
        Self { slots: Slots::None, presence: NullBufferBuilder::new(0), decided: 0, depth, expected: 0 }
    }

    /// Makes room for as many values as there will probably be, when the first ones are there.
    pub fn expect(&mut self, count: usize) {
        self.expected = count;
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.presence.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value; when it is refused nothing has changed. Recursive, to the depth of a column.
    #[inline]
    pub fn push(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        match (&mut self.slots, value) {
            (Slots::Ints(values), Value::Int(value)) => values.push(value),
            (Slots::Floats(values), Value::Float(value)) => values.push(value),
            (Slots::Texts(texts), Value::Text(text)) => texts.push(text.as_bytes())?,
            (Slots::Tuples(fields), Value::Tuple(items)) if fields.len() == items.len() => push_all(fields, items)?,
            _ => return self.push_other(value),
        }
        self.presence.append_non_null();
        Ok(())
    }

    fn push_other(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        match (&mut self.slots, value) {
            (_, Value::None) => {
                self.push_absent();
                return Ok(());
            }
            (_, Value::Dict(_) | Value::Object(_)) => return Err(Refusal::Doubt),
            (Slots::None, _) => {
                self.decide(value)?;
                return self.push(value).inspect_err(|_| self.slots = Slots::None);
            }
            (Slots::Bools(values), Value::Bool(value)) => values.append(value),
            (Slots::Bytes(all), Value::Bytes(bytes)) => all.push(bytes)?,
            (slots, Value::Moment(moment)) => {
                let (own, number) = moment.number().ok_or(Refusal::Doubt)?;
                match slots {
                    Slots::Moments(unit, numbers) if *unit == own => numbers.push(number),
                    _ => return Err(Refusal::Misfit),
                }
            }
            (Slots::Rows(shape, fields), Value::Row(other, items)) if **shape == *other && fields.len() == items.len() => {
                push_all(fields, items)?;
            }
            (Slots::Lists(ends, all), Value::List(items)) => push_items(ends, all, items)?,
            _ => return Err(Refusal::Misfit),
        }
        self.presence.append_non_null();
        Ok(())
    }

    /// Adds integers, or none of them.
    pub fn extend_ints(&mut self, values: &[i64]) -> Result<(), Refusal> {
        self.begin(Value::Int(0))?;
        let Slots::Ints(all) = &mut self.slots else { return Err(Refusal::Misfit) };
        all.reserve(values.len().max(self.expected.saturating_sub(all.len())));
        all.extend_from_slice(values);
        self.presence.append_n_non_nulls(values.len());
        Ok(())
    }

    /// Adds floats, or none of them.
    pub fn extend_floats(&mut self, values: &[f64]) -> Result<(), Refusal> {
        self.begin(Value::Float(0.0))?;
        let Slots::Floats(all) = &mut self.slots else { return Err(Refusal::Misfit) };
        all.extend_from_slice(values);
        self.presence.append_n_non_nulls(values.len());
        Ok(())
    }

    /// Adds texts, or none of them.
    pub fn extend_texts(&mut self, values: &[&str]) -> Result<(), Refusal> {
        self.begin(Value::Text(""))?;
        let Slots::Texts(all) = &mut self.slots else { return Err(Refusal::Misfit) };
        let before = all.ends.len();
        let bytes: usize = values.iter().map(|text| text.len()).sum();
        let more = self.expected.saturating_sub(before - 1).max(values.len());
        let alike = bytes / values.len().max(1) * more * 9 / 8;
        all.ends.reserve(more);
        all.bytes.reserve(if more > values.len() { alike.min(MOST_ROOM).max(bytes) } else { bytes });
        if let Err(refusal) = values.iter().try_for_each(|text| all.push(text.as_bytes())) {
            all.truncate(before - 1);
            return Err(refusal);
        }
        self.presence.append_n_non_nulls(values.len());
        Ok(())
    }

    /// Adds so many tuples, whose fields a function adds, or none of them. The function may leave some fields longer than others
    /// when it fails.
    pub fn extend_tuples(
        &mut self,
        arity: usize,
        count: usize,
        into: impl FnOnce(&mut [Self]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.len();
        let undecided = matches!(self.slots, Slots::None);
        self.begin(Value::Tuple(&vec![Value::None; arity]))?;
        let Slots::Tuples(fields) = &mut self.slots else { return Err(Refusal::Misfit) };
        if fields.len() != arity {
            return Err(Refusal::Misfit);
        }
        if let Err(refusal) = into(fields) {
            fields.iter_mut().for_each(|field| field.truncate(before));
            if undecided {
                self.slots = Slots::None;
            }
            return Err(refusal);
        }
        self.presence.append_n_non_nulls(count);
        Ok(())
    }

    /// Takes the type of a value if nothing has decided on one.
    fn begin(&mut self, like: Value<'_>) -> Result<(), Refusal> {
        if matches!(self.slots, Slots::None) { self.decide(like) } else { Ok(()) }
    }

    /// Takes the type of a value; so far all are None.
    fn decide(&mut self, value: Value<'_>) -> Result<(), Refusal> {
        let (count, depth, expected) = (self.len(), self.depth, self.expected);
        let fields = |arity: usize| match depth.checked_sub(1) {
            Some(depth) => Ok((0..arity).map(|_| Self { expected, ..Self::absent(count, depth) }).collect()),
            None => Err(Refusal::Doubt),
        };
        self.slots = match value {
            Value::None | Value::Dict(_) | Value::Object(_) => return Err(Refusal::Doubt),
            Value::Bool(_) => {
                let mut values = BooleanBufferBuilder::new(count + 64);
                values.append_n(count, false);
                Slots::Bools(values)
            }
            Value::Int(_) => Slots::Ints(vec![0; count]),
            Value::Float(_) => Slots::Floats(vec![0.0; count]),
            Value::Text(_) => Slots::Texts(Bytes::empty(count)),
            Value::Bytes(_) => Slots::Bytes(Bytes::empty(count)),
            Value::Moment(moment) => Slots::Moments(moment.number().ok_or(Refusal::Doubt)?.0, vec![0; count]),
            Value::Tuple(items) => Slots::Tuples(fields(items.len())?),
            Value::Row(shape, items) if shape.fits(items.len()) => Slots::Rows(Arc::new(shape.clone()), fields(items.len())?),
            Value::Row(..) => return Err(Refusal::Doubt),
            Value::List(_) => Slots::Lists(vec![0; count + 1], Box::new(Self::within(depth.checked_sub(1).ok_or(Refusal::Doubt)?))),
        };
        self.decided = count;
        Ok(())
    }

    /// So many that are None.
    fn absent(count: usize, depth: usize) -> Self {
        let mut builder = Self::within(depth);
        builder.presence.append_n_nulls(count);
        builder
    }

    /// Adds None.
    pub fn push_absent(&mut self) {
        match &mut self.slots {
            Slots::None => {}
            Slots::Bools(values) => values.append(false),
            Slots::Ints(values) | Slots::Moments(_, values) => values.push(0),
            Slots::Floats(values) => values.push(0.0),
            Slots::Texts(all) | Slots::Bytes(all) => all.ends.push(all.bytes.len() as i32),
            Slots::Tuples(fields) | Slots::Rows(_, fields) => fields.iter_mut().for_each(Self::push_absent),
            Slots::Lists(ends, items) => ends.push(items.len() as i32),
        }
        self.presence.append_null();
    }

    /// Takes back all values but the first ones, and the type if these do not decide on it.
    pub fn truncate(&mut self, count: usize) {
        if count >= self.len() {
            return;
        }
        self.presence.truncate(count);
        if count <= self.decided {
            self.slots = Slots::None;
        }
        match &mut self.slots {
            Slots::None => {}
            Slots::Bools(values) => values.truncate(count),
            Slots::Ints(values) | Slots::Moments(_, values) => values.truncate(count),
            Slots::Floats(values) => values.truncate(count),
            Slots::Texts(all) | Slots::Bytes(all) => all.truncate(count),
            Slots::Tuples(fields) | Slots::Rows(_, fields) => fields.iter_mut().for_each(|field| field.truncate(count)),
            Slots::Lists(ends, items) => {
                ends.truncate(count + 1);
                items.truncate(ends[count] as usize);
            }
        }
    }

    /// The column.
    pub fn finish(mut self) -> Column {
        let count = self.len();
        let all = |fields: Vec<Self>| fields.into_iter().map(Self::finish).collect();
        let data = match self.slots {
            Slots::None => return Column::none(count),
            Slots::Bools(mut values) => Data::Bools(values.finish()),
            Slots::Ints(values) => Data::Ints(values.into()),
            Slots::Floats(values) => Data::Floats(values.into()),
            Slots::Texts(texts) => Data::Texts(texts.finish()),
            Slots::Bytes(bytes) => Data::Bytes(bytes.finish()),
            Slots::Moments(unit, numbers) => Data::Moments(unit, numbers.into()),
            Slots::Tuples(fields) => Data::Tuples(all(fields)),
            Slots::Rows(shape, fields) => Data::Rows(shape, all(fields)),
            Slots::Lists(ends, items) => Data::Lists(OffsetBuffer::new(ends.into()), Arc::new(items.finish())),
        };
        Column::unchecked(data, self.presence.finish(), count)
    }

    /// Adds the value of another column, without making it where it nests.
    #[inline]
    pub fn copy(&mut self, column: &Column, row: usize) -> Result<(), Refusal> {
        if let (Slots::Tuples(fields), Data::Tuples(columns), None) = (&mut self.slots, &column.data, &column.presence)
            && fields.len() == columns.len()
        {
            let count = self.presence.len();
            for (index, (field, column)) in fields.iter_mut().zip(columns.iter()).enumerate() {
                if let Err(refusal) = field.copy(column, row) {
                    fields[..index].iter_mut().for_each(|field| field.truncate(count));
                    return Err(refusal);
                }
            }
            self.presence.append_non_null();
            return Ok(());
        }
        match (&column.data, column.is_none(row)) {
            (_, true) | (Data::None, _) => self.push(Value::None),
            (Data::Bools(values), _) => self.push(Value::Bool(values.value(row))),
            (Data::Ints(values), _) => self.push(Value::Int(values[row])),
            (Data::Floats(values), _) => self.push(Value::Float(values[row])),
            (Data::Texts(strings), _) => self.push(Value::Text(super::text(strings, row))),
            (Data::Bytes(strings), _) => self.push(Value::Bytes(strings.get(row))),
            (Data::Moments(unit, numbers), _) => self.push(Value::Moment(unit.moment(numbers[row]))),
            _ => self.push(column.get(row, &bumpalo::Bump::new())),
        }
    }
}

/// Adds a field to each of some builders, or to none.
#[inline]
fn push_all(fields: &mut [Builder], items: &[Value<'_>]) -> Result<(), Refusal> {
    for index in 0..fields.len() {
        if let Err(refusal) = fields[index].push(items[index]) {
            let count = fields[index].len();
            fields[..index].iter_mut().for_each(|field| field.truncate(count));
            return Err(refusal);
        }
    }
    Ok(())
}

fn push_items(ends: &mut Vec<i32>, all: &mut Builder, items: &[Value<'_>]) -> Result<(), Refusal> {
    let count = all.len();
    let end = i32::try_from(count + items.len()).map_err(|_| Refusal::Misfit)?;
    for &item in items {
        if let Err(refusal) = all.push(item) {
            all.truncate(count);
            return Err(refusal);
        }
    }
    ends.push(end);
    Ok(())
}
