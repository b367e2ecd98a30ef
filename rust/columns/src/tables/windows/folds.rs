//! Aggregates that are known by their programs: whole numbers that are added up or compared, each by itself. Their order does
//! not matter, and many can be added at once.

use bumpalo::Bump;

use super::contents::{Aggregate, Contents};
use crate::batch::Batch;
use crate::column::{Column, Data};
use crate::machine::MOST_STEPS;
use crate::program::{Binary, Comparison, Expr, Program, Statement};
use crate::tables::reduce::Fold;
use crate::value::Value;

/// Whether a number is so far from the ends of 64 bits that a few of them can be added.
#[inline]
pub fn is_near(number: i64) -> bool {
    number.unsigned_abs() < FAR
}

/// The first number that is not near.
pub const FAR: u64 = 1 << 60;

/// What an accumulator does with each record.
#[derive(Clone, Debug)]
pub struct Folds {
    /// Its numbers.
    pub parts: Vec<Part>,
    /// Whether it is a tuple of them, or one by itself.
    pub tuple: bool,
}

/// A number of an accumulator.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Before the first record.
    pub first: i64,
    pub fold: Fold,
    source: Source,
}

/// What is added to it, or compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Constant(i64),
    Record,
    Field(i64),
}

/// An operand: the number so far, or what a record has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Own,
    Of(Source),
}

/// The numbers of records that a part takes.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    /// The same for all.
    Same(i64),
    /// By row.
    Each(&'a [i64]),
}

impl Folds {
    /// Those of an aggregate; `None` where it is another one.
    pub fn of(contents: &Contents) -> Option<Self> {
        let Contents::Aggregate(all) = contents else { return None };
        let Aggregate { create, add, .. } = &**all;
        let expr = returned(add)?;
        let arena = Bump::new();
        let first = create.call(create.constants(&arena), &mut [], &arena, &mut MOST_STEPS.clone()).ok()?;
        let (exprs, firsts, tuple) = match (expr, first) {
            (Expr::Tuple(exprs), Value::Tuple(firsts)) if !exprs.is_empty() => (&**exprs, firsts, true),
            (expr, first) => (std::slice::from_ref(expr), std::slice::from_ref(arena.alloc(first)), false),
        };
        if exprs.len() != firsts.len() {
            return None;
        }
        let part = |(at, (expr, first)): (usize, (&Expr, &Value<'_>))| {
            let &Value::Int(first) = first else { return None };
            let first = Some(first).filter(|&first| is_near(first))?;
            let (fold, source) = fold(expr, if tuple { Some(at as i64) } else { None })?;
            Some(Part { first, fold, source })
        };
        let parts = exprs.iter().zip(firsts).enumerate().map(part).collect::<Option<Vec<_>>>()?;
        Some(Self { parts, tuple })
    }

    /// The numbers of all records of a batch; `None` where some are others.
    pub fn numbers<'b>(&self, batch: &'b Batch) -> Option<Vec<Numbers<'b>>> {
        self.parts.iter().map(|part| part.source.numbers(batch.records())).collect()
    }
}

impl Part {
    /// Two numbers as one. Their sum is within 64 bits if both are [near](is_near).
    #[inline]
    pub fn apply(self, old: i64, new: i64) -> i64 {
        match self.fold {
            Fold::Sum => old.wrapping_add(new),
            Fold::Min => old.min(new),
            Fold::Max => old.max(new),
        }
    }
}

impl Source {
    fn numbers(self, records: &Column) -> Option<Numbers<'_>> {
        let column = match self {
            Self::Constant(number) => return Some(Numbers::Same(number)),
            Self::Record => records,
            Self::Field(at) if records.presence().is_none() => {
                let fields = records.fields()?;
                let at = if at < 0 { at + fields.len() as i64 } else { at };
                fields.get(usize::try_from(at).ok()?)?
            }
            Self::Field(_) => return None,
        };
        match column.data() {
            Data::Ints(numbers) if column.presence().is_none() => Some(Numbers::Each(numbers)),
            _ => None,
        }
    }
}

impl Numbers<'_> {
    #[inline]
    pub fn get(self, row: usize) -> i64 {
        match self {
            Self::Same(number) => number,
            Self::Each(numbers) => numbers[row],
        }
    }
}

/// The expression whose value a program returns, if that is all it does.
fn returned(program: &Program) -> Option<&Expr> {
    let function = &program.functions[0];
    match &*function.body {
        [Statement::Return(expr)] if function.assigned.is_empty() => Some(expr),
        _ => None,
    }
}

/// The fold that an expression of a record and an accumulator is; `at`: the place of the number in the accumulator.
fn fold(expr: &Expr, at: Option<i64>) -> Option<(Fold, Source)> {
    let two = |operands: &[Expr; 2]| Some((operand(&operands[0], at)?, operand(&operands[1], at)?));
    let source = |one, other| match (one, other) {
        (Operand::Own, Operand::Of(source)) | (Operand::Of(source), Operand::Own) => Some(source),
        _ => None,
    };
    match expr {
        Expr::Binary(Binary::Add, _, operands) => {
            let (one, other) = two(operands)?;
            Some((Fold::Sum, source(one, other)?))
        }
        Expr::If(parts) => {
            let [Expr::Compare(comparison, _, operands), then, otherwise] = &**parts else { return None };
            let (one, other) = two(operands)?;
            let (then, otherwise) = (operand(then, at)?, operand(otherwise, at)?);
            let larger = match comparison {
                Comparison::Gt | Comparison::Ge => true,
                Comparison::Lt | Comparison::Le => false,
                _ => return None,
            };
            let larger = match (then, otherwise) {
                places if places == (one, other) => larger,
                places if places == (other, one) => !larger,
                _ => return None,
            };
            Some((if larger { Fold::Max } else { Fold::Min }, source(one, other)?))
        }
        _ => None,
    }
}

fn operand(expr: &Expr, at: Option<i64>) -> Option<Operand> {
    match expr {
        Expr::Int(number) => Some(Operand::Of(Source::Constant(*number))),
        Expr::Input(0) => Some(Operand::Of(Source::Record)),
        Expr::Field(0, place, _) => Some(Operand::Of(Source::Field(*place))),
        Expr::Input(1) if at.is_none() => Some(Operand::Own),
        Expr::Field(1, place, _) if at == Some(*place) => Some(Operand::Own),
        _ => None,
    }
}
