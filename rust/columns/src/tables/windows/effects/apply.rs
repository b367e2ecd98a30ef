//! Changes of accumulators by records.

use bumpalo::Bump;

use super::{Effects, Kind, Op, Step};
use crate::batch::Batch;
use crate::heap::Heap;
use crate::program::{Comparison, Expr};
use crate::value::{Doubt, Value};
use crate::vectors::{Evaluator, Places, Vector, truths};

/// A place in a list.
#[derive(Clone, Copy)]
enum At<'a> {
    Fixed(i64),
    /// By record.
    Of(Vector<'a>),
}

/// What is done, with the values of all records.
enum Action<'a> {
    Sum(At<'a>, Vector<'a>),
    Best(At<'a>, Comparison, Vector<'a>),
    Append(Vector<'a>),
    Add(Vector<'a>),
}

struct Changed<'a> {
    /// The way to the list or set: places that are the same for all records, and the rest.
    fixed: Vec<i64>,
    rest: Vec<At<'a>>,
    action: Action<'a>,
    /// The records that it is done for; all of them if `None`.
    holds: Option<&'a [bool]>,
}

/// Changes with the values of some records.
pub struct Evaluated<'a> {
    changes: Vec<Changed<'a>>,
    lengths: Vec<(Vec<i64>, usize)>,
    arena: &'a Bump,
}

impl Effects {
    /// With the values of some records. Doubt: one of them is in doubt.
    pub fn evaluate<'a>(
        &'a self,
        constants: &'a [Value<'a>],
        batch: &'a Batch,
        start: usize,
        count: usize,
        arena: &'a Bump,
    ) -> Result<Evaluated<'a>, Doubt> {
        let records = Vector::Column(batch.records(), Places::From(start));
        let inputs = arena.alloc([records, Vector::Same(Value::None)]);
        let mut evaluation = Evaluation {
            evaluator: Evaluator::new(&self.program, constants, inputs, count, arena),
            count,
            evaluated: Evaluated { changes: Vec::new(), lengths: Vec::new(), arena },
        };
        evaluation.ops(&self.ops, None)?;
        Ok(evaluation.evaluated)
    }
}

struct Evaluation<'a> {
    evaluator: Evaluator<'a>,
    count: usize,
    evaluated: Evaluated<'a>,
}

impl<'a> Evaluation<'a> {
    /// Recursive, as deep as the program.
    fn ops(&mut self, ops: &'a [Op], holds: Option<&'a [bool]>) -> Result<(), Doubt> {
        for op in ops {
            match op {
                Op::Set(target, expr) => {
                    self.evaluator.set(target, expr);
                    self.sure()?;
                }
                Op::Length(path, length) => self.evaluated.lengths.push((path.clone(), *length)),
                Op::Effect(effect) => {
                    let fixed: Vec<i64> =
                        effect.path.iter().map_while(|step| if let Step::Fixed(at) = step { Some(*at) } else { None }).collect();
                    let rest = effect.path[fixed.len()..].iter().map(|step| self.at(step)).collect::<Result<_, _>>()?;
                    let action = match &effect.kind {
                        Kind::Sum(step, value) => Action::Sum(self.at(step)?, self.eval(value)?),
                        Kind::Best(step, comparison, value) => Action::Best(self.at(step)?, *comparison, self.eval(value)?),
                        Kind::Append(value) => Action::Append(self.eval(value)?),
                        Kind::Add(value) => Action::Add(self.eval(value)?),
                    };
                    self.evaluated.changes.push(Changed { fixed, rest, action, holds });
                }
                Op::If(condition, one, other) => {
                    let arena = self.evaluated.arena;
                    let condition = self.eval(condition)?;
                    let (flags, sure) = truths(condition, self.count, arena);
                    if sure < self.count {
                        return Err(Doubt);
                    }
                    let within = |flag: bool| {
                        let both = |at: usize| flags[at] == flag && holds.is_none_or(|holds| holds[at]);
                        &*arena.alloc_slice_fill_with(self.count, both)
                    };
                    let (first, second) = (within(true), within(false));
                    self.ops(one, Some(first))?;
                    self.ops(other, Some(second))?;
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, step: &'a Step) -> Result<At<'a>, Doubt> {
        match step {
            Step::Fixed(at) => Ok(At::Fixed(*at)),
            Step::Of(expr) => self.eval(expr).map(At::Of),
        }
    }

    fn eval(&mut self, expr: &'a Expr) -> Result<Vector<'a>, Doubt> {
        let vector = self.evaluator.eval(expr).read(self.count, self.evaluated.arena);
        self.sure().map(|()| vector)
    }

    fn sure(&self) -> Result<(), Doubt> {
        if self.evaluator.sure() < self.count { Err(Doubt) } else { Ok(()) }
    }
}

impl At<'_> {
    #[inline]
    fn get(&self, row: usize, arena: &Bump) -> Result<i64, Doubt> {
        match self {
            Self::Fixed(at) => Ok(*at),
            Self::Of(Vector::Ints(places)) => Ok(places[row]),
            Self::Of(places) => match places.get(row, arena) {
                Value::Int(at) => Ok(at),
                _ => Err(Doubt),
            },
        }
    }
}

impl Evaluated<'_> {
    /// Has some records change an accumulator, in order. Doubt: one of them cannot.
    pub fn apply(&self, heap: &mut Heap, root: u32, rows: &[u32]) -> Result<(), Doubt> {
        for (path, length) in &self.lengths {
            let list = heap.within(root, path)?;
            if !heap.is_list(list) || heap.len(list) != *length {
                return Err(Doubt);
            }
        }
        let starts = self.changes.iter().map(|change| heap.within(root, &change.fixed)).collect::<Result<Vec<_>, _>>()?;
        for &row in rows {
            for (change, &start) in self.changes.iter().zip(&starts) {
                if change.holds.is_none_or(|holds| holds[row as usize]) {
                    self.change(heap, change, start, row as usize)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn change(&self, heap: &mut Heap, change: &Changed<'_>, start: u32, row: usize) -> Result<(), Doubt> {
        let arena = self.arena;
        let mut object = start;
        for at in &change.rest {
            object = heap.inner(object, at.get(row, arena)?)?;
        }
        match &change.action {
            Action::Sum(at, values) => heap.sum(object, at.get(row, arena)?, values.get(row, arena)),
            Action::Best(at, comparison, values) => heap.best(object, at.get(row, arena)?, *comparison, values.get(row, arena)),
            Action::Append(values) => heap.append(object, values.get(row, arena)),
            Action::Add(values) => heap.add(object, values.get(row, arena)),
        }
    }
}
