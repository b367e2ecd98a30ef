//! Statements on vectors.

use bumpalo::collections::Vec as Items;

use super::evaluate::Evaluator;
use super::parts::within;
use super::{Exploded, Vector};
use crate::program::{Expr, Known, Statement, Target};
use crate::value::Value;

/// How statements end.
pub(super) enum Flow<'a> {
    Next,
    Return(Vector<'a>),
    /// They have something that only the machine knows.
    Unknown,
}

impl<'a> Evaluator<'a> {
    /// Statements in order. Recursive, as deep as the program.
    pub(super) fn block(&mut self, body: &'a [Statement]) -> Flow<'a> {
        for (at, statement) in body.iter().enumerate() {
            match statement {
                Statement::Set(target, expr) => self.set(target, expr),
                Statement::Return(expr) => return Flow::Return(self.eval(expr)),
                Statement::If(condition, then, other) => match self.branch(condition, then, other, &body[at + 1..]) {
                    Flow::Next => {}
                    flow => return flow,
                },
                _ => return Flow::Unknown,
            }
        }
        Flow::Next
    }

    /// Both branches, where neither is in doubt. One that returns is followed by nothing, and the other by the rest.
    fn branch(&mut self, condition: &'a Expr, then: &'a [Statement], other: &'a [Statement], rest: &'a [Statement]) -> Flow<'a> {
        let (whole, before) = (self.count, self.locals.clone());
        let condition = self.eval(condition);
        let Some(holds) = self.truths(condition) else { return Flow::Unknown };
        if self.count < whole {
            return Flow::Unknown;
        }
        self.depth += 1;
        let first = self.block(then);
        let after = std::mem::replace(&mut self.locals, before);
        let mut second = self.block(other);
        self.depth -= 1;
        if let (Flow::Return(_), Flow::Next) = (&first, &second) {
            second = match self.block(rest) {
                Flow::Next if self.depth == 0 => Flow::Return(Vector::Same(Value::None)),
                Flow::Next => Flow::Unknown, // the end of a branch, behind which the function goes on
                flow => flow,
            };
        }
        if self.count < whole {
            return Flow::Unknown;
        }
        match (first, second) {
            (Flow::Return(one), Flow::Return(two)) => Flow::Return(Vector::either(holds, one, two, self.arena)),
            (Flow::Next, Flow::Next) => self.merge(holds, &after),
            _ => Flow::Unknown,
        }
    }

    /// Locals after one of two branches; these are those after the second.
    fn merge(&mut self, holds: &'a [bool], first: &[Option<Vector<'a>>]) -> Flow<'a> {
        for (local, one) in self.locals.iter_mut().zip(first) {
            *local = match (*one, *local) {
                (Some(one), Some(two)) => Some(Vector::either(holds, one, two, self.arena)),
                (None, None) => None,
                _ => return Flow::Unknown,
            };
        }
        Flow::Next
    }

    /// `for … in …: yield …` at the end.
    pub(super) fn generator(&mut self, body: &'a [Statement]) -> Flow<'a> {
        let Some((Statement::For(target, iterable, inner), before)) = body.split_last() else { return Flow::Unknown };
        let [Statement::Yield(expr)] = &**inner else { return Flow::Unknown };
        if !matches!(self.block(before), Flow::Next) {
            return Flow::Unknown;
        }
        let (whole, lists) = (self.count, self.eval(iterable));
        let Vector::Lists(ends, items) = lists else { return Flow::Unknown };
        if self.count < whole {
            return Flow::Unknown;
        }
        let total = if whole == 0 { 0 } else { ends[whole - 1] as usize };
        let exploded = Exploded::of(lists, whole, self.arena);
        let picked = |vector: &Vector<'a>| vector.pick(exploded.records, self.arena);
        let inputs = self.arena.alloc_slice_fill_iter(self.inputs.iter().map(picked));
        let locals = self.locals.iter().map(|local| local.as_ref().map(picked)).collect();
        let mut inside =
            Evaluator { program: self.program, constants: self.constants, inputs, arena: self.arena, locals, count: total, depth: 0 };
        inside.assign(target, *items);
        let values = inside.eval(expr);
        if inside.count < total {
            return Flow::Unknown;
        }
        Flow::Return(Vector::Lists(ends, self.arena.alloc(values)))
    }

    /// A local, or several, get the values of an expression.
    pub(crate) fn set(&mut self, target: &'a Target, expr: &'a Expr) {
        if let (Target::All(targets), Expr::Apply(_, Known::Split, arguments)) = (target, expr)
            && let Some(fields) = self.split_fields(arguments, targets.len())
        {
            targets.iter().zip(fields).for_each(|(target, &field)| self.assign(target, field));
            return;
        }
        let vector = self.eval(expr);
        self.assign(target, vector);
    }

    /// Recursive, as deep as the target.
    fn assign(&mut self, target: &'a Target, vector: Vector<'a>) {
        match target {
            Target::Local(local) => self.locals[*local as usize] = Some(vector),
            Target::All(targets) => match vector.fields(self.arena) {
                Some(fields) if fields.len() == targets.len() => {
                    targets.iter().zip(fields).for_each(|(target, &field)| self.assign(target, field));
                }
                Some(_) => self.doubt(0),
                None => self.unpack(targets, vector),
            },
        }
    }

    /// What is in values that are neither read by field nor in parts.
    fn unpack(&mut self, targets: &'a [Target], vector: Vector<'a>) {
        let (arena, arity) = (self.arena, targets.len());
        let mut fields: Vec<Items<'a, Value<'a>>> = (0..arity).map(|_| Items::with_capacity_in(self.count, arena)).collect();
        for index in 0..self.count {
            let inside = match vector.get(index, arena) {
                Value::Row(shape, items) if shape.class == 0 => Ok(items),
                value => within(value, arena),
            };
            match inside {
                Ok(items) if items.len() == arity => fields.iter_mut().zip(items).for_each(|(field, item)| field.push(*item)),
                _ => self.doubt(index),
            }
            if self.count <= index {
                break;
            }
        }
        for (target, field) in targets.iter().zip(fields) {
            let field = Vector::of(field.into_bump_slice(), arena);
            self.assign(target, field);
        }
    }
}
