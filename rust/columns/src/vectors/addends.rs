//! What a function adds to values that it keeps, for many records at a time.

use bumpalo::Bump;

use super::{Evaluator, Vector};
use crate::program::{Binary, Expr, Program, Statement, Target};
use crate::value::Value;

/// A statement of a function that only adds to what it keeps.
#[derive(Clone, Copy)]
enum Step<'p> {
    /// A kept value grows by what does not depend on kept ones.
    Add(u32, &'p Expr),
    /// A local gets such a value, or several what is in it.
    Set(&'p Target, &'p Expr),
}

fn step(statement: &Statement, kept: usize) -> Option<Step<'_>> {
    match statement {
        Statement::Set(Target::Local(local), expr) if (*local as usize) < kept => match expr {
            Expr::Binary(Binary::Add, _, operands) if matches!(operands[0], Expr::Local(of) if of == *local) => {
                Some(Step::Add(*local, &operands[1]))
            }
            _ => None,
        },
        Statement::Set(target, expr) => Some(Step::Set(target, expr)),
        _ => None,
    }
}

/// The locals that something is assigned to; `None` where there are targets inside of others.
fn places(target: &Target) -> Option<impl Iterator<Item = u32> + '_> {
    let targets = match target {
        Target::Local(_) => std::slice::from_ref(target),
        Target::All(targets) => targets,
    };
    let local = |target: &Target| if let Target::Local(local) = target { Some(*local) } else { None };
    targets.iter().all(|target| local(target).is_some()).then(|| targets.iter().filter_map(local))
}

/// Whether an expression is known not to ask for kept values. Recursive, as deep as the program.
fn is_free(expr: &Expr, kept: usize) -> bool {
    match expr {
        Expr::None | Expr::Bool(_) | Expr::Int(_) | Expr::Float(_) | Expr::Text(_) | Expr::Constant(_) => true,
        Expr::Local(of) | Expr::Input(of) | Expr::Field(of, ..) | Expr::InputAttribute(of, _) | Expr::InputKey(of, ..) => {
            *of as usize >= kept
        }
        Expr::Binary(_, _, operands) | Expr::Compare(_, _, operands) => operands.iter().all(|operand| is_free(operand, kept)),
        Expr::If(parts) => parts.iter().all(|part| is_free(part, kept)),
        Expr::And(parts) | Expr::Or(parts) | Expr::Tuple(parts) | Expr::Apply(_, _, parts) => parts.iter().all(|part| is_free(part, kept)),
        Expr::Let(parts) => parts.0 as usize >= kept && is_free(&parts.1, kept) && is_free(&parts.2, kept),
        Expr::Unpacked(parts) => is_free(&parts.0, kept) && is_free(&parts.2, kept),
        Expr::Not(operand) | Expr::Item(operand, ..) | Expr::Attribute(operand, _) | Expr::Loads(operand, _) => is_free(operand, kept),
        _ => false,
    }
}

/// Whether a program only adds to the values that its first parameters are, to each once at the most, and gives them.
pub(crate) fn only_adds(program: &Program, kept: usize) -> bool {
    let [body @ .., Statement::Return(Expr::Tuple(results))] = &program.functions[0].body[..] else { return false };
    let same = |(at, result): (usize, &Expr)| matches!(result, Expr::Local(of) | Expr::Input(of) if *of as usize == at);
    let mut grown = vec![false; kept];
    let adds = body.iter().all(|statement| match step(statement, kept) {
        Some(Step::Add(value, addend)) => !std::mem::replace(&mut grown[value as usize], true) && is_free(addend, kept),
        Some(Step::Set(target, expr)) => {
            places(target).is_some_and(|mut places| places.all(|at| at as usize >= kept)) && is_free(expr, kept)
        }
        None => false,
    });
    adds && results.len() == kept && results.iter().enumerate().all(same)
}

/// The values that such a program keeps behind so many records, and how many of these are not in doubt; `None` where that is
/// not a matter of whole numbers alone, or of floats.
pub(crate) fn grown<'a>(
    program: &'a Program,
    constants: &'a [Value<'a>],
    inputs: &'a [Vector<'a>],
    count: usize,
    arena: &'a Bump,
) -> Option<(Vec<Value<'a>>, usize)> {
    let kept = inputs.len() - 1;
    let mut evaluator = Evaluator::new(program, constants, inputs, count, arena);
    let mut addends = Vec::with_capacity(kept);
    for step in program.functions[0].body.iter().filter_map(|statement| step(statement, kept)) {
        match step {
            Step::Add(value, expr) => addends.push((value as usize, evaluator.eval(expr))),
            Step::Set(Target::Local(local), expr) => evaluator.locals[*local as usize] = Some(evaluator.eval(expr)),
            Step::Set(target, expr) => {
                let fields = evaluator.eval(expr).fields(arena)?;
                let locals: Vec<u32> = places(target)?.collect();
                if fields.len() != locals.len() {
                    return None;
                }
                locals.iter().zip(fields).for_each(|(&local, &field)| evaluator.locals[local as usize] = Some(field));
            }
        }
    }
    let mut values: Vec<Value<'a>> = inputs[..kept].iter().map(|input| input.get(0, arena)).collect();
    let count = addends
        .iter()
        .try_fold(evaluator.count, |count, &(at, addend)| sum(values[at], addend.read(count, arena), count).map(|(_, sure)| sure))?;
    for (at, addend) in addends {
        values[at] = sum(values[at], addend.read(count, arena), count)?.0;
    }
    Some((values, count))
}

/// A value with so many more added, in their order, up to the first that leaves 64 bits; `None` where Python might do something
/// else than to add numbers of the type of the value.
fn sum<'a>(value: Value<'a>, addend: Vector<'a>, count: usize) -> Option<(Value<'a>, usize)> {
    match (value, addend) {
        (Value::Int(first), Vector::Same(Value::Int(step))) => {
            let most = step.checked_mul(i64::try_from(count).ok()?).and_then(|total| first.checked_add(total));
            most.map(|total| (Value::Int(total), count))
        }
        (Value::Int(first), Vector::Ints(steps)) => {
            let mut total = first;
            for (index, &step) in steps[..count].iter().enumerate() {
                match total.checked_add(step) {
                    Some(next) => total = next,
                    None => return Some((Value::Int(total), index)),
                }
            }
            Some((Value::Int(total), count))
        }
        (Value::Float(first), Vector::Same(Value::Float(step))) => Some((Value::Float((0..count).fold(first, |sum, _| sum + step)), count)),
        (Value::Float(first), Vector::Floats(steps)) => {
            Some((Value::Float(steps[..count].iter().fold(first, |sum, step| sum + step)), count))
        }
        _ => None,
    }
}
