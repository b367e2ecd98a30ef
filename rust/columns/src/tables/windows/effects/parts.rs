//! Which variables of a function are parts of its accumulator, and which expressions are of the record alone.

use super::{Effect, Kind, Op, Step};
use crate::program::{Expr, Known, Target};

/// A part of the accumulator.
pub struct Part {
    pub path: Vec<Step>,
    /// Whether a variable has it, so that it is what was there when the variable was assigned.
    pub is_named: bool,
}

/// Variables that are parts of the accumulator; the accumulator itself is the second parameter.
pub struct Parts {
    named: Vec<Option<Vec<Step>>>,
    /// Places whose value is read from a variable.
    reads: Vec<Vec<Step>>,
}

const ACCUMULATOR: u32 = 1;

impl Parts {
    pub fn new(locals: usize) -> Self {
        let mut named = vec![None; locals];
        named[ACCUMULATOR as usize] = Some(Vec::new());
        Self { named, reads: Vec::new() }
    }

    /// A variable becomes a part, which is at the same place for all records. Each variable is one thing.
    pub fn name(&mut self, local: u32, path: Vec<Step>) -> Option<()> {
        if path.iter().any(|step| matches!(step, Step::Of(_))) {
            return None;
        }
        let place = &mut self.named[local as usize];
        match place {
            Some(known) if !are_same(known, &path) => return None,
            _ => *place = Some(path),
        }
        Some(())
    }

    /// A variable becomes something of the record.
    pub fn forget(&self, target: &Target) -> Option<()> {
        match target {
            Target::Local(local) => self.named[*local as usize].is_none().then_some(()),
            Target::All(targets) => targets.iter().try_for_each(|target| self.forget(target)),
        }
    }

    /// The value of a variable is read as what is at a place now.
    pub fn note_read(&mut self, path: Vec<Step>) {
        self.reads.push(path);
    }

    /// The part of the accumulator that an expression is. Recursive, as deep as the program.
    pub fn of(&self, expr: &Expr) -> Option<Part> {
        let inner = |container: &Expr, step: Step| {
            let mut path = self.of(container)?.path;
            path.push(step);
            Some(Part { path, is_named: false })
        };
        match expr {
            Expr::Local(local) | Expr::Input(local) => {
                let path = self.named[*local as usize].clone()?;
                Some(Part { is_named: !path.is_empty(), path })
            }
            Expr::Field(local, at, _) => inner(&Expr::Input(*local), Step::Fixed(*at)),
            Expr::Item(container, at, _) => inner(container, Step::Fixed(*at)),
            Expr::Apply(_, Known::Index, arguments) => match &**arguments {
                [container, index] => inner(container, self.step(index)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// A place that the record says.
    pub fn step(&self, index: &Expr) -> Option<Step> {
        if let Expr::Int(at) = index { Some(Step::Fixed(*at)) } else { self.record(index).map(Step::Of) }
    }

    /// An expression, if it is of the record alone.
    pub fn record(&self, expr: &Expr) -> Option<Expr> {
        self.is_of_record(expr).then(|| expr.clone())
    }

    /// Recursive, as deep as the program.
    fn is_of_record(&self, expr: &Expr) -> bool {
        let all = |parts: &[Expr]| parts.iter().all(|part| self.is_of_record(part));
        match expr {
            Expr::None | Expr::Bool(_) | Expr::Int(_) | Expr::Float(_) | Expr::Text(_) | Expr::Constant(_) => true,
            Expr::Local(local) => self.named[*local as usize].is_none(),
            Expr::Input(input) | Expr::Field(input, ..) | Expr::InputAttribute(input, _) | Expr::InputKey(input, ..) => *input == 0,
            Expr::If(parts) => all(&parts[..]),
            Expr::And(parts) | Expr::Or(parts) | Expr::Tuple(parts) | Expr::Concat(parts) | Expr::Apply(_, _, parts) => all(parts),
            Expr::Not(part)
            | Expr::Item(part, ..)
            | Expr::Key(part, ..)
            | Expr::Attribute(part, _)
            | Expr::Format(part, ..)
            | Expr::Loads(part, _)
            | Expr::InSet(part, ..) => self.is_of_record(part),
            Expr::Binary(_, _, parts) => all(&parts[..]),
            Expr::Compare(_, _, parts) => all(&parts[..]),
            Expr::Lookup(_, key, default) => self.is_of_record(key) && default.as_ref().is_none_or(|default| self.is_of_record(default)),
            _ => false,
        }
    }

    /// Whether each place that a variable has the value of is changed by the reading change alone, and no list that is unpacked
    /// grows.
    pub fn are_apart(&self, ops: &[Op]) -> bool {
        let (mut changed, mut unpacked) = (Vec::new(), Vec::new());
        gather(ops, &mut changed, &mut unpacked);
        let is_alone = |read: &Vec<Step>| changed.iter().filter(|place| may_meet(place, read)).count() == 1;
        let grows = |path: &Vec<Step>| changed.iter().any(|place| place.len() == path.len() && may_meet(place, path));
        self.reads.iter().all(is_alone) && !unpacked.iter().any(grows)
    }
}

/// The places that are changed, and those that are unpacked. Recursive, as deep as the program.
fn gather(ops: &[Op], changed: &mut Vec<Vec<Step>>, unpacked: &mut Vec<Vec<Step>>) {
    for op in ops {
        match op {
            Op::Set(..) => {}
            Op::Length(path, _) => unpacked.push(path.iter().map(|&at| Step::Fixed(at)).collect()),
            Op::Effect(Effect { path, kind }) => {
                let mut place = path.clone();
                if let Kind::Sum(step, _) | Kind::Best(step, ..) = kind {
                    place.push(step.clone());
                }
                changed.push(place);
            }
            Op::If(_, one, other) => {
                gather(one, changed, unpacked);
                gather(other, changed, unpacked);
            }
        }
    }
}

/// Whether one place may be the other, or within it.
fn may_meet(one: &[Step], other: &[Step]) -> bool {
    let differ = |(one, other): (&Step, &Step)| matches!((one, other), (Step::Fixed(one), Step::Fixed(other)) if one != other && (*one < 0) == (*other < 0));
    !one.iter().zip(other).any(differ)
}

/// Whether two places are known to be the same.
pub fn are_same(one: &[Step], other: &[Step]) -> bool {
    let same = |(one, other): (&Step, &Step)| match (one, other) {
        (Step::Fixed(one), Step::Fixed(other)) => one == other,
        (Step::Of(one), Step::Of(other)) => are_same_exprs(one, other),
        _ => false,
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Whether two expressions of a record are known to give the same.
pub fn are_same_exprs(one: &Expr, other: &Expr) -> bool {
    match (one, other) {
        (Expr::Local(one), Expr::Local(other)) | (Expr::Input(one), Expr::Input(other)) => one == other,
        (Expr::Int(one), Expr::Int(other)) => one == other,
        (Expr::Field(input, one, _), Expr::Field(same, other, _)) => input == same && one == other,
        (Expr::Item(one, at, _), Expr::Item(other, place, _)) => at == place && are_same_exprs(one, other),
        _ => false,
    }
}
