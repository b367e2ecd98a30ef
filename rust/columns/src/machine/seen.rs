//! What can be seen without making a value of it. A value has four words, and one that was just made is in the way of whoever
//! copies it: that takes longer than most of what is done with integers, texts and None.

use super::fields::place;
use super::{Frame, Input, Machine};
use crate::column::{Column, Data, text};
use crate::program::{Binary, Comparison, Expr, Known};
use crate::value::{Doubt, Shape, Value};

impl<'a> Machine<'a, '_, '_> {
    /// A value that lies somewhere; `None` where it has to be made, or is not there.
    #[inline]
    fn lying<'m>(&'m self, frame: &'m Frame<'a>, expr: &Expr) -> Option<&'m Value<'a>> {
        match expr {
            Expr::Local(local) => frame.locals[*local as usize].as_ref(),
            Expr::Input(number) => self.lying_input(*number),
            Expr::Field(number, at, _) => item(self.lying_input(*number)?, *at),
            Expr::Item(container, at, _) => match &**container {
                Expr::Local(local) => item(frame.locals[*local as usize].as_ref()?, *at),
                container => item(self.lying_inside(frame, container)?, *at),
            },
            _ => None,
        }
    }

    /// The same of what has others in it. Recursive, as deep as the expression.
    #[inline(never)]
    fn lying_inside<'m>(&'m self, frame: &'m Frame<'a>, expr: &Expr) -> Option<&'m Value<'a>> {
        self.lying(frame, expr)
    }

    #[inline]
    fn lying_input(&self, number: u32) -> Option<&Value<'a>> {
        match &self.inputs[number as usize] {
            Input::Value(value) => Some(value),
            Input::Row(..) => None,
        }
    }

    /// The column and the row of a field of a parameter.
    #[inline]
    fn in_column(&self, number: u32, at: i64) -> Option<(&'a Column, usize)> {
        let Input::Row(column, row) = self.inputs[number as usize] else { return None };
        let Data::Tuples(fields) = column.data() else { return None };
        if column.is_none(row) { None } else { Some((fields.get(place(at, fields.len()).ok()?)?, row)) }
    }

    /// An integer.
    #[inline]
    fn int(&self, frame: &Frame<'a>, expr: &Expr) -> Option<i64> {
        let value = match expr {
            Expr::Int(number) => return Some(*number),
            Expr::Field(number, at, _) => {
                if let Some((field, row)) = self.in_column(*number, *at) {
                    return match field.data() {
                        Data::Ints(values) if !field.is_none(row) => Some(values[row]),
                        _ => None,
                    };
                }
                self.lying(frame, expr)
            }
            Expr::Apply(..) => return self.applied_int(frame, expr),
            _ => self.lying(frame, expr),
        };
        if let Value::Int(number) = value? { Some(*number) } else { None }
    }

    /// An integer with another sign, or the length of something. Recursive, as deep as the expression.
    #[inline(never)]
    fn applied_int(&self, frame: &Frame<'a>, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Apply(_, Known::Neg, operand) => self.int(frame, operand.first()?)?.checked_neg(),
            Expr::Apply(_, Known::Len, of) => match self.lying(frame, of.first()?)? {
                Value::Tuple(items) | Value::List(items) => Some(items.len() as i64),
                _ => None,
            },
            _ => None,
        }
    }

    /// A text.
    fn text(&self, frame: &Frame<'a>, expr: &'a Expr) -> Option<&'a str> {
        match expr {
            Expr::Text(text) => return Some(text),
            Expr::Field(number, at, _) => {
                if let Some((field, row)) = self.in_column(*number, *at) {
                    return match field.data() {
                        Data::Texts(strings) if !field.is_none(row) => Some(text(strings, row)),
                        _ => None,
                    };
                }
            }
            _ => {}
        }
        if let Value::Text(text) = *self.lying(frame, expr)? { Some(text) } else { None }
    }

    /// Whether a value is None.
    fn is_none(&self, frame: &Frame<'a>, expr: &Expr) -> Option<bool> {
        match expr {
            Expr::Field(number, at, _) => {
                if let Some((field, row)) = self.in_column(*number, *at) {
                    return Some(field.is_none(row));
                }
            }
            Expr::Input(number) => {
                if let Input::Row(column, row) = self.inputs[*number as usize] {
                    return Some(column.is_none(row));
                }
            }
            _ => {}
        }
        self.lying(frame, expr).map(|value| matches!(value, Value::None))
    }

    /// Whether a condition holds.
    pub(super) fn seen(&self, frame: &Frame<'a>, expr: &'a Expr) -> Option<bool> {
        match expr {
            Expr::Compare(comparison, _, operands) => self.compared(frame, *comparison, operands),
            Expr::Apply(_, Known::Is(negated), operands) => match &**operands {
                [value, Expr::None] => Some(self.is_none(frame, value)? != *negated),
                _ => None,
            },
            _ => None,
        }
    }

    /// How two values compare: integers, texts, or tuples of these that are there for nothing else.
    pub(super) fn compared(&self, frame: &Frame<'a>, comparison: Comparison, operands: &'a [Expr; 2]) -> Option<bool> {
        let [left, right] = operands;
        if let Some(left) = self.int(frame, left) {
            return Some(comparison.holds(&left, &self.int(frame, right)?));
        }
        let (Expr::Tuple(left), Expr::Tuple(right)) = (left, right) else {
            return Some(comparison.holds(self.text(frame, left)?, self.text(frame, right)?));
        };
        if left.len() != right.len() {
            return None;
        }
        let mut decided = None;
        for (left, right) in left.iter().zip(right) {
            if let Some(left) = self.int(frame, left) {
                let right = self.int(frame, right)?;
                if decided.is_none() && left != right {
                    decided = Some(comparison.holds(&left, &right));
                }
            } else {
                let (left, right) = (self.text(frame, left)?, self.text(frame, right)?);
                if decided.is_none() && left != right {
                    decided = Some(comparison.holds(left, right));
                }
            }
        }
        Some(decided.unwrap_or_else(|| comparison.holds(&0, &0)))
    }

    /// The result of arithmetic on integers that are at hand and no others.
    pub(super) fn calculated(&self, frame: &Frame<'a>, binary: Binary, operands: &[Expr; 2]) -> Option<i64> {
        let left = self.int(frame, &operands[0])?;
        binary.of_ints(left, self.int(frame, &operands[1])?)
    }

    /// Whether a value has so many items, of those that can be unpacked without doubt.
    pub(super) fn has_items(&mut self, frame: &mut Frame<'a>, subject: &'a Expr, count: usize) -> Result<bool, Doubt> {
        if let Expr::Input(number) = subject
            && let Input::Row(column, row) = self.inputs[*number as usize]
            && let Data::Tuples(fields) = column.data()
        {
            return Ok(fields.len() == count && !column.is_none(row));
        }
        if let Some(value) = self.lying(frame, subject) {
            return has(value, count);
        }
        has(&self.eval(frame, subject)?, count)
    }

    /// Whether Python takes what the expression gives for true. Recursive, as deep as the expression.
    pub(super) fn holds(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Result<bool, Doubt> {
        match expr {
            Expr::And(operands) => return Ok(!self.any(frame, operands, false)?),
            Expr::Or(operands) => return self.any(frame, operands, true),
            Expr::Not(operand) => return Ok(!self.holds(frame, operand)?),
            Expr::Unpacked(parts) => {
                let (subject, count, body) = &**parts;
                return if self.has_items(frame, subject, *count)? { self.holds(frame, body) } else { Err(Doubt) };
            }
            _ => {}
        }
        if let Some(holds) = self.seen(frame, expr) {
            return Ok(holds);
        }
        let value = self.eval(frame, expr)?;
        self.truth(value)
    }

    /// Whether one of the operands holds, or does not; those behind it are not looked at.
    fn any(&mut self, frame: &mut Frame<'a>, operands: &'a [Expr], holding: bool) -> Result<bool, Doubt> {
        for operand in operands {
            if self.holds(frame, operand)? == holding {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the value of an expression somewhere.
    pub(super) fn put_value(&mut self, frame: &mut Frame<'a>, expr: &'a Expr, into: &mut Value<'a>) -> Result<(), Doubt> {
        if let Expr::Field(number, at, _) = expr
            && let Some((field, row)) = self.in_column(*number, *at)
        {
            field.read(row, self.arena, into);
            return Ok(());
        }
        *into = match self.lying(frame, expr) {
            Some(value) => *value,
            None => self.eval(frame, expr)?,
        };
        Ok(())
    }
}

fn has(value: &Value<'_>, count: usize) -> Result<bool, Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) | Value::Row(Shape { class: 0, .. }, items) => Ok(items.len() == count),
        _ => Err(Doubt),
    }
}

/// What is at a place in a tuple, a list or a row.
#[inline]
fn item<'m, 'a>(container: &'m Value<'a>, at: i64) -> Option<&'m Value<'a>> {
    match container {
        Value::Tuple(items) | Value::List(items) | Value::Row(Shape { class: 0, .. }, items) => items.get(place(at, items.len()).ok()?),
        _ => None,
    }
}
