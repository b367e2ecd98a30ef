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
                Statement::If(condition, then, other) if matches!(&**then, [Statement::Doubt]) && other.is_empty() => {
                    let condition = self.eval(condition);
                    let Some(holds) = self.truths(condition) else { return Flow::Unknown };
                    if let Some(index) = holds.iter().position(|holds| *holds) {
                        self.doubt(index);
                    }
                }
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
            Target::All(targets) => match vector.items(self.arena) {
                Some(items) if items.len() == targets.len() => {
                    targets.iter().zip(items).for_each(|(target, &item)| self.assign(target, item));
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

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use crate::column::Builder;
    use crate::machine::{Input, MOST_STEPS};
    use crate::program::Program;
    use crate::value::Value;
    use crate::vectors::{Vector, evaluate};

    /// What a function gives for some records, up to the first in doubt; the same as record by record.
    fn results(body: &str, records: &[Value<'_>]) -> Vec<String> {
        let text = format!(r#"{{"v": 1, "functions": [{{"params": 1, "locals": 4, "body": {body}}}]}}"#);
        let (program, mut builder, arena) = (Program::parse(&text).expect("it is a program"), Builder::new(), Bump::new());
        records.iter().for_each(|&record| builder.push(record).expect("they are of one type"));
        let column = builder.finish();
        let constants = program.constants(&arena);
        let (vector, sure) = evaluate(&program, constants, arena.alloc([Vector::from((&column, 0))]), column.len(), &arena);
        let call = |row| program.call(constants, &mut [Input::Row(&column, row)], &arena, &mut MOST_STEPS.clone());
        let one_by_one: Vec<String> = (0..column.len()).map_while(|row| Some(format!("{:?}", call(row).ok()?))).collect();
        assert_eq!((0..sure).map(|row| format!("{:?}", vector.get(row, &arena))).collect::<Vec<_>>(), one_by_one);
        one_by_one
    }

    #[test]
    fn records_are_taken_apart() {
        let records = [1, 2].map(|number| [Value::Int(number), Value::Text("a"), Value::Float(0.5)]);
        let records = records.each_ref().map(|record| Value::Tuple(record));
        let body = |least: u8| {
            format!(
                r#"[["set", 1, ["builtin", "list", ["local", 0]]],
                    ["if", ["compare", ["builtin", "len", ["local", 1]], "lt", ["const", {least}]], [["doubt"]], []],
                    ["set", 2, ["index", ["local", 1], ["const", 0]]], ["set", 3, ["slice", ["local", 1], ["const", 1], null, null]],
                    ["return", ["tuple", ["local", 2], ["local", 3], ["index", ["local", 3], ["const", -1]],
                        ["builtin", "len", ["local", 3]], ["slice", ["local", 1], ["const", 3], null, null],
                        ["builtin", "tuple", ["local", 3]], ["builtin", "list", ["local", 3]]]]]"#
            )
        };
        let rest = r#"[Text("a"), Float(0.5)]"#;
        let expected = format!("Tuple([Int(1), List({rest}), Float(0.5), Int(2), List([]), Tuple({rest}), List({rest})])");
        assert_eq!(results(&body(3), &records)[0], expected);
        assert!(results(&body(4), &records).is_empty());
    }

    #[test]
    fn doubt_ends_at_the_first_record_that_it_is_of() {
        let body = r#"[["if", ["compare", ["local", 0], "lt", ["const", 0]], [["doubt"]], []], ["return", ["local", 0]]]"#;
        assert_eq!(results(body, &[3, 1, -2, 4].map(Value::Int)), ["Int(3)", "Int(1)"]);
    }
}
