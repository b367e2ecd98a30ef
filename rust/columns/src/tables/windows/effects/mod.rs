//! Accumulators that are changed in place by functions that are known as a row of changes: to add to a number, to keep the
//! larger one, to add to a set or a list, at places that the record says. What a change needs of the records is evaluated for
//! many of them at a time; then each record changes its accumulator, in order.

mod apply;
mod change;
mod parts;

use self::parts::Parts;
use super::contents::Contents;
use crate::program::{Binary, Comparison, Expr, InPlace, Program, Statement, Target};

pub use self::apply::Evaluated;

/// Changes that loops make of one at the most.
const MOST_STEPS: usize = 64;

/// Where something is in an accumulator.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Fixed(i64),
    /// Where an expression of the record says.
    Of(Expr),
}

/// What becomes of an accumulator with a record.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// To the number at a place something is added.
    Sum(Step, Expr),
    /// The number at a place becomes another one, if that compares so with it.
    Best(Step, Comparison, Expr),
    /// To a list.
    Append(Expr),
    /// To a set.
    Add(Expr),
}

/// A change of the list or set at a place.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub path: Vec<Step>,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A local gets a value of the record.
    Set(Target, Expr),
    /// A list is unpacked: it must have so many items.
    Length(Vec<i64>, usize),
    Effect(Effect),
    /// Changes of some records only.
    If(Expr, Vec<Op>, Vec<Op>),
}

/// What a function does with each record.
#[derive(Clone, Debug)]
pub struct Effects {
    program: Program,
    ops: Vec<Op>,
}

impl Effects {
    /// Those of an aggregate that changes its accumulators in place; `None` where its function does something else, too.
    pub fn of(contents: &Contents) -> Option<Self> {
        let Contents::Aggregate(all) = contents else { return None };
        let function = &all.add.functions[0];
        if !all.add.changes() || function.parameters != 2 || function.assigned.contains(&0) {
            return None;
        }
        let mut reader = Reader { parts: Parts::new(function.locals), steps: 0 };
        let (last, body) = function.body.split_last()?;
        let Statement::Return(result) = last else { return None };
        let mut ops = Vec::new();
        reader.block(body, &mut ops, false)?;
        let returned = reader.parts.of(result)?.path.is_empty();
        (returned && reader.parts.are_apart(&ops)).then(|| Self { program: all.add.clone(), ops })
    }
}

/// Reads a function.
struct Reader {
    parts: Parts,
    steps: usize,
}

impl Reader {
    /// Recursive, as deep as the program.
    fn block(&mut self, body: &[Statement], ops: &mut Vec<Op>, within: bool) -> Option<()> {
        body.iter().try_for_each(|statement| self.statement(statement, ops, within))
    }

    fn statement(&mut self, statement: &Statement, ops: &mut Vec<Op>, within: bool) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        match statement {
            Statement::Set(target, expr) if !within => self.set(target, expr, ops),
            Statement::Append(local, value) => self.push(&Expr::Local(*local), Kind::Append(self.parts.record(value)?), ops),
            Statement::Put(local, index, value) => self.put(&Expr::Local(*local), index, value, ops),
            Statement::InPlace(InPlace::Append, list, values) => self.push(list, Kind::Append(self.parts.record(values.first()?)?), ops),
            Statement::InPlace(InPlace::Add, set, values) => self.push(set, Kind::Add(self.parts.record(values.first()?)?), ops),
            Statement::InPlace(InPlace::Put | InPlace::AddTo, list, values) => match &values[..] {
                [index, value] => self.put(list, index, value, ops),
                _ => None,
            },
            Statement::If(condition, then, other) => self.branch(condition, then, other, ops),
            Statement::For(target, Expr::Tuple(items) | Expr::List(items), body) if !within => items.iter().try_for_each(|item| {
                self.set(target, item, ops)?;
                self.block(body, ops, within)
            }),
            _ => None,
        }
    }

    /// A local becomes a part of the accumulator, or a value of the record.
    fn set(&mut self, target: &Target, expr: &Expr, ops: &mut Vec<Op>) -> Option<()> {
        let Some(part) = self.parts.of(expr) else {
            ops.push(Op::Set(target.clone(), self.parts.record(expr)?));
            return self.parts.forget(target);
        };
        match target {
            Target::Local(local) => self.parts.name(*local, part.path),
            Target::All(targets) => {
                let path: Option<Vec<i64>> =
                    part.path.iter().map(|step| if let Step::Fixed(at) = step { Some(*at) } else { None }).collect();
                ops.push(Op::Length(path?, targets.len()));
                for (at, target) in targets.iter().enumerate() {
                    let Target::Local(local) = target else { return None };
                    let path = part.path.iter().cloned().chain([Step::Fixed(at as i64)]).collect();
                    self.parts.name(*local, path)?;
                }
                Some(())
            }
        }
    }

    fn push(&mut self, container: &Expr, kind: Kind, ops: &mut Vec<Op>) -> Option<()> {
        let path = self.parts.of(container)?.path;
        ops.push(Op::Effect(Effect { path, kind }));
        Some(())
    }

    /// `list[index] = list[index] + value`.
    fn put(&mut self, list: &Expr, index: &Expr, value: &Expr, ops: &mut Vec<Op>) -> Option<()> {
        let Expr::Binary(Binary::Add, _, operands) = value else { return None };
        let step = self.parts.step(index)?;
        let (old, new) = if self.parts.of(&operands[0]).is_some() { (&operands[0], &operands[1]) } else { (&operands[1], &operands[0]) };
        self.is_old(list, &step, old)?;
        self.push(list, Kind::Sum(step, self.parts.record(new)?), ops)
    }

    /// Whether an expression is what is at a place of a list; if not, `None`.
    fn is_old(&mut self, list: &Expr, step: &Step, old: &Expr) -> Option<()> {
        let (mut path, part) = (self.parts.of(list)?.path, self.parts.of(old)?);
        path.push(step.clone());
        if !parts::are_same(&path, &part.path) {
            return None;
        }
        if part.is_named {
            self.parts.note_read(path);
        }
        Some(())
    }

    fn branch(&mut self, condition: &Expr, then: &[Statement], other: &[Statement], ops: &mut Vec<Op>) -> Option<()> {
        if let Some(condition) = self.parts.record(condition) {
            let (mut one, mut two) = (Vec::new(), Vec::new());
            self.block(then, &mut one, true)?;
            self.block(other, &mut two, true)?;
            ops.push(Op::If(condition, one, two));
            return Some(());
        }
        let (Expr::Compare(comparison, _, operands), []) = (condition, other) else { return None };
        let (list, index, value) = match then {
            [Statement::Put(local, index, value)] => (&Expr::Local(*local), index, value),
            [Statement::InPlace(InPlace::Put, list, values)] => (list, values.first()?, values.get(1)?),
            _ => return None,
        };
        let (comparison, new, old) = match &**operands {
            [new, old] if self.parts.of(old).is_some() => (*comparison, new, old),
            [old, new] => (turned(*comparison), new, old),
        };
        let step = self.parts.step(index)?;
        self.is_old(list, &step, old)?;
        let new = self.parts.record(new).filter(|new| parts::are_same_exprs(new, value))?;
        self.push(list, Kind::Best(step, comparison, new), ops)
    }
}

/// The comparison with its sides exchanged.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        same => same,
    }
}
