//! What is in a record, at a place or by a name, read where it stands.

use super::{Frame, Input, Machine};
use crate::column::Data;
use crate::program::Expr;
use crate::python::{self, Function as Operation};
use crate::value::{Doubt, Shape, Value};

impl<'a> Machine<'a, '_, '_> {
    /// A parameter of the first function; the value is made once.
    #[inline(never)]
    pub(super) fn input(&mut self, number: u32) -> Value<'a> {
        let input = &mut self.inputs[number as usize];
        match *input {
            Input::Value(value) => value,
            Input::Row(column, row) => {
                let value = column.get(row, self.arena);
                *input = Input::Value(value);
                value
            }
        }
    }

    /// What is at a constant place in a parameter.
    #[inline(never)]
    pub(super) fn field(&mut self, number: u32, at: i64, slow: Operation) -> Result<Value<'a>, Doubt> {
        if let Input::Row(column, row) = self.inputs[number as usize]
            && let Data::Tuples(fields) = column.data()
            && !column.is_none(row)
        {
            let at = place(at, fields.len())?;
            return Ok(fields[at].get(row, self.arena));
        }
        if let Input::Value(Value::Tuple(items)) = self.inputs[number as usize] {
            return Ok(items[place(at, items.len())?]);
        }
        let value = self.input(number);
        self.item(value, at, slow)
    }

    /// An expression of what is in a value, if so many items are; others than tuples, lists and rows are in doubt.
    pub(super) fn unpacked(&mut self, frame: &mut Frame<'a>, parts: &'a (Expr, usize, Expr)) -> Result<Value<'a>, Doubt> {
        let (subject, count, body) = parts;
        if self.has_items(frame, subject, *count)? { self.eval(frame, body) } else { Err(Doubt) }
    }

    /// An expression behind a local that has a value of its own.
    pub(super) fn with_local(&mut self, frame: &mut Frame<'a>, parts: &'a (u32, Expr, Expr)) -> Result<Value<'a>, Doubt> {
        let (local, value, body) = parts;
        frame.locals[*local as usize] = Some(self.eval(frame, value)?);
        self.eval(frame, body)
    }

    /// What is at a constant place in a value.
    #[inline(never)]
    pub(super) fn item(&mut self, value: Value<'a>, at: i64, slow: Operation) -> Result<Value<'a>, Doubt> {
        match value {
            Value::Tuple(items) | Value::List(items) => Ok(items[place(at, items.len())?]),
            Value::Row(Shape { class: 0, .. }, items) => Ok(items[place(at, items.len())?]),
            Value::Object(number) => self.heap()?.item(number, Value::Int(at), self.arena),
            value => slow(self.arena, &[value, Value::Int(at)]),
        }
    }

    /// What is at a constant name in a parameter.
    pub(super) fn input_key(&mut self, number: u32, name: &'a str, slow: Operation) -> Result<Value<'a>, Doubt> {
        if let Some(value) = self.named(number, |shape| shape.key(name)) {
            return Ok(value);
        }
        let value = self.input(number);
        self.key(value, name, slow)
    }

    /// What is at a constant name in a value.
    pub(super) fn key(&mut self, value: Value<'a>, name: &'a str, slow: Operation) -> Result<Value<'a>, Doubt> {
        if let Value::Object(number) = value {
            return self.heap()?.item(number, Value::Text(name), self.arena);
        }
        named_item(value, name, &mut 0, || slow(self.arena, &[value, Value::Text(name)]))
    }

    /// An attribute of a parameter.
    pub(super) fn input_attribute(&mut self, number: u32, name: &str) -> Result<Value<'a>, Doubt> {
        if let Some(value) = self.named(number, |shape| shape.attribute(name)) {
            return Ok(value);
        }
        let value = self.input(number);
        python::attribute(value, name)
    }

    /// A field of a parameter in a column of rows.
    fn named(&self, number: u32, position: impl Fn(&Shape) -> Option<usize>) -> Option<Value<'a>> {
        let Input::Row(column, row) = self.inputs[number as usize] else { return None };
        match column.data() {
            Data::Rows(shape, fields) if !column.is_none(row) => Some(fields[position(shape)?].get(row, self.arena)),
            _ => None,
        }
    }
}

/// What is at a name in a row or a dict; in a dict it is looked for at a place first, which becomes that where it is.
#[inline]
pub(crate) fn named_item<'a>(
    value: Value<'a>,
    name: &str,
    place: &mut usize,
    other: impl FnOnce() -> Result<Value<'a>, Doubt>,
) -> Result<Value<'a>, Doubt> {
    match value {
        Value::Row(shape, items) if shape.class == 0 => shape.position(name).and_then(|at| items.get(at)).copied().ok_or(Doubt),
        Value::Dict(entries) => {
            let is_it = |(key, _): &(Value<'_>, _)| matches!(key, Value::Text(text) if *text == name);
            if let Some(entry) = entries.get(*place).filter(|entry| is_it(entry)) {
                return Ok(entry.1);
            }
            *place = entries.iter().position(is_it).ok_or(Doubt)?;
            Ok(entries[*place].1)
        }
        _ => other(),
    }
}

/// A place counted from the beginning.
#[inline]
pub(super) fn place(at: i64, length: usize) -> Result<usize, Doubt> {
    let place = if at < 0 { at + length as i64 } else { at };
    if (0..length as i64).contains(&place) { Ok(place as usize) } else { Err(Doubt) }
}
