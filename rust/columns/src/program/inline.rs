//! Small functions, put where they are called: without a frame of their own, and with what is in their arguments read where it
//! stands.
//!
//! The parameters of such a function become the arguments, where these are at hand; others are locals of the caller. What a
//! function unpacks first becomes the items of what it unpacks, once it is known that there are as many.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::expressions::at_place;
use super::parse::Scope;
use super::words::{at_once, comparison, operator};
use super::{Comparison, Expr, Statement, Target};
use crate::json::{Malformed, list, malformed, number};
use crate::python::Function as Operation;

/// Functions inside of each other.
const MOST_WITHIN: usize = 4;
/// Parts of the JSON of a function.
const MOST_PARTS: usize = 300;
/// Parts of all functions that are put into one.
pub(super) const MOST_TOGETHER: usize = 10_000;

/// A function while it is read in the place of its call.
pub(super) struct Inlined {
    function: usize,
    /// Its first local among those of the caller.
    pub base: u32,
    /// How many locals it has.
    pub locals: usize,
    /// What its parameters are, and what it unpacks.
    pub known: BTreeMap<u32, Expr>,
}

/// What a function that is one expression consists of.
struct Parts<'j> {
    /// The places of what it unpacks, and the parameter that this is in.
    unpacked: Option<(&'j [Json], u32)>,
    result: &'j Json,
}

impl<'j> Parts<'j> {
    fn of(body: &'j [Json], parameters: usize) -> Option<Self> {
        let (set, last) = match body {
            [last] => (None, last),
            [set, last] => (Some(set), last),
            _ => return None,
        };
        let result = if last[0] == "return" { &last[1] } else { return None };
        let unpacked = match set {
            None => None,
            Some(set) if set[0] == "set" && set[2][0] == "local" => {
                let (targets, from) = (set[1].as_array()?, set[2][1].as_u64()?);
                let fits = targets.iter().all(|target| target.as_u64().is_some_and(|target| target >= parameters as u64));
                Some((&**targets, u32::try_from(from).ok().filter(|&from| fits && (from as usize) < parameters)?))
            }
            Some(_) => return None,
        };
        Some(Self { unpacked, result })
    }
}

/// Whether an expression is at hand, and can stand in several places of a function that does not know the caller's locals.
fn is_at_hand(expr: &Expr) -> bool {
    matches!(expr, Expr::Input(_) | Expr::Local(_) | Expr::Int(_) | Expr::Float(_) | Expr::Bool(_) | Expr::None | Expr::Text(_))
}

/// How many parts a function has, up to one more than there may be.
fn parts(json: &Json, so_far: usize) -> usize {
    match json {
        _ if so_far > MOST_PARTS => so_far,
        Json::Array(items) => items.iter().fold(so_far + 1, |so_far, item| parts(item, so_far)),
        Json::Object(entries) => entries.values().fold(so_far + 1, |so_far, item| parts(item, so_far)),
        _ => so_far + 1,
    }
}

/// Whether a function changes a list or a dict that a local has.
fn changes_locals(json: &Json) -> bool {
    let is_change = matches!(json[0].as_str(), Some("append" | "put" | "change"));
    is_change || json.as_array().is_some_and(|items| items.iter().any(changes_locals))
}

/// A comparison; what its operands are unpacked from is looked at before.
pub(super) fn compared(comparison: Comparison, slow: Operation, left: Expr, right: Expr) -> Expr {
    let mut subjects = Vec::new();
    let mut inner = |mut operand: Expr| {
        while let Expr::Unpacked(parts) = operand {
            let (subject, count, body) = *parts;
            subjects.push((subject, count));
            operand = body;
        }
        operand
    };
    let operands = Box::new([inner(left), inner(right)]);
    let whole = Expr::Compare(comparison, slow, operands);
    subjects.into_iter().rev().fold(whole, |body, (subject, count)| Expr::Unpacked(Box::new((subject, count, body))))
}

/// Whether an expression does no more than to take something out of what is at hand, so that it can as well be done twice.
pub(super) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Field(..) => true,
        Expr::Item(container, ..) => is_place(container),
        expr => is_at_hand(expr),
    }
}

/// A chain of comparisons as one of each two neighbours; those in between are [places](is_place).
pub(super) fn pairwise(first: Expr, rest: Vec<(&str, Expr)>) -> Result<Expr, Malformed> {
    let mut left = first;
    let mut pairs = Vec::with_capacity(rest.len());
    for (name, right) in rest {
        let known = at_once(name).ok_or_else(|| malformed(format!("{name:?} is no comparison")))?;
        pairs.push(compared(known, comparison(name)?, left, right.clone()));
        left = right;
    }
    Ok(Expr::And(pairs.into()))
}

impl Scope<'_> {
    /// The expression that a function gives for some arguments; `None` where it is to be called.
    pub(super) fn inlined(&mut self, function: usize, arguments: &[Expr]) -> Option<Expr> {
        let body = list(&self.functions[function]["body"]).ok()?;
        let parts = Parts::of(body, arguments.len())?;
        if self.signatures[function].iterator || changes_locals(parts.result) {
            return None;
        }
        self.within(function, |scope, base| {
            let (mut known, mut lets) = (BTreeMap::new(), Vec::new());
            for (at, argument) in (0..).zip(arguments) {
                if is_at_hand(argument) {
                    known.insert(at, argument.clone());
                } else {
                    known.insert(at, Expr::Local(base + at));
                    lets.push((base + at, argument.clone()));
                }
            }
            let subject = parts.unpacked.map(|(targets, from)| (targets, known[&from].clone()));
            if let Some((targets, subject)) = &subject {
                if !matches!(subject, Expr::Input(_) | Expr::Local(_)) {
                    return None;
                }
                let index = operator("index").ok()?;
                for (at, target) in (0..).zip(*targets) {
                    known.insert(number(target).ok()? as u32, at_place(subject.clone(), at, index));
                }
            }
            scope.known_within(known);
            let mut result = scope.expr(parts.result).ok()?;
            if let Some((targets, subject)) = subject {
                result = Expr::Unpacked(Box::new((subject, targets.len(), result)));
            }
            Some(lets.into_iter().rev().fold(result, |body, (local, value)| Expr::Let(Box::new((local, value, body)))))
        })
    }

    /// The statements of a call of a function that gives nothing, whose result goes into a local; `None` where it is to be called.
    pub(super) fn inlined_block(&mut self, json: &Json) -> Result<Option<Vec<Statement>>, Malformed> {
        let (Some("set"), Some(_), Some("call")) = (json[0].as_str(), json[1].as_u64(), json[2][0].as_str()) else { return Ok(None) };
        let call = list(&json[2])?;
        let Some((function, arguments)) = call[1..].split_first() else { return Ok(None) };
        let Some(function) = number(function).ok().filter(|&function| function < self.functions.len()) else { return Ok(None) };
        let body = list(&self.functions[function]["body"])?;
        let signature = self.signatures[function];
        if signature.generator || signature.returns || signature.parameters != arguments.len() || body.iter().any(changes_locals) {
            return Ok(None);
        }
        let arguments = self.all(arguments)?;
        let statements = self.within(function, |scope, base| {
            let locals = locals_of(scope, function);
            let (mut known, mut statements) = (BTreeMap::new(), vec![Statement::Forget(base, base + locals)]);
            for (at, argument) in (0..).zip(&arguments) {
                if is_at_hand(argument) {
                    known.insert(at, argument.clone());
                } else {
                    statements.push(Statement::Set(Target::Local(base + at), argument.clone()));
                    known.insert(at, Expr::Local(base + at));
                }
            }
            scope.known_within(known);
            statements.extend(scope.block(body).ok()?);
            Some(statements)
        });
        let Some(mut statements) = statements else { return Ok(None) };
        statements.push(Statement::Set(self.target(&json[1])?, Expr::None));
        Ok(Some(statements))
    }

    fn known_within(&mut self, known: BTreeMap<u32, Expr>) {
        if let Some(inlined) = self.within.last_mut() {
            inlined.known = known;
        }
    }

    /// Reads a function in the place of a call; `read` takes its first local. Nothing has happened where it gives nothing.
    fn within<T>(&mut self, function: usize, read: impl FnOnce(&mut Self, u32) -> Option<T>) -> Option<T> {
        let size = parts(&self.functions[function]["body"], 0);
        let again = self.within.iter().any(|inlined| inlined.function == function);
        if again || self.within.len() >= MOST_WITHIN || size > MOST_PARTS || size > self.room {
            return None;
        }
        let locals = locals_of(self, function) as usize;
        let before = (self.depth, self.constants.len(), self.nesting.own, self.nesting.calls.len(), self.more, self.room);
        let (loops, generator, passing) = (std::mem::take(&mut self.loops), self.generator, std::mem::take(&mut self.passing));
        self.generator = false;
        let base = u32::try_from(self.own_locals + self.more).ok()?;
        self.more += locals;
        self.room -= size;
        self.within.push(Inlined { function, base, locals, known: BTreeMap::new() });
        let result = read(self, base);
        self.within.pop();
        (self.loops, self.generator, self.passing) = (loops, generator, passing);
        if result.is_none() {
            let calls;
            let constants;
            (self.depth, constants, self.nesting.own, calls, self.more, self.room) = before;
            self.constants.truncate(constants);
            self.nesting.calls.truncate(calls);
        }
        result
    }
}

/// How many locals a function has.
fn locals_of(scope: &Scope<'_>, function: usize) -> u32 {
    scope.functions[function]["locals"].as_u64().and_then(|locals| u32::try_from(locals).ok()).unwrap_or(0)
}
