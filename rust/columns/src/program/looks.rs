//! What functions look at in the documents of JSON that they read, so that the rest is not made.
//!
//! Backwards: what is looked at of an expression is known, and so what is looked at of those in it. Of a variable it is all that
//! is anywhere, whatever the order. What leaves a function, is compared, counted key by key or kept is looked at as a whole.
//! Cost: a walk of the program, and one more for each step by which a variable depends on another that is used before it.

use std::sync::Arc;

use super::{Clause, Expr, Function, Keyed, Known, Statement, Target};
use crate::python::Wanted;

/// Walks at the most; if they are not enough documents are made as a whole.
const MOST_WALKS: usize = 32;

/// Leaves out what is not looked at, if so much is looked at of what the first function returns, and of what it yields. Returns
/// what is looked at of its parameters. Nothing is left out where `None` would be the answer.
pub fn look(functions: &mut Arc<[Function]>, result: &Wanted, yielded: &Wanted) -> Vec<Wanted> {
    let mut all = functions.to_vec();
    let locals = all.iter().map(|function| vec![Wanted::nothing(); function.locals]).collect();
    let results = vec![Wanted::nothing(); all.len()];
    let mut walk = Walk { at: 0, locals, results, yielded: yielded.clone(), has_changed: true };
    walk.give(0, result);
    for _ in 0..MOST_WALKS {
        if !walk.has_changed {
            *functions = all.into();
            return walk.locals.swap_remove(0)[..functions[0].parameters].to_vec();
        }
        walk.has_changed = false;
        for (at, function) in all.iter_mut().enumerate() {
            walk.at = at;
            walk.block(&mut function.body);
        }
    }
    vec![Wanted::All; functions[0].parameters]
}

struct Walk {
    /// The number of the function.
    at: usize,
    /// What is looked at of each local of each function.
    locals: Vec<Vec<Wanted>>,
    /// What is looked at of what each function returns.
    results: Vec<Wanted>,
    /// The same of what the first one yields.
    yielded: Wanted,
    has_changed: bool,
}

fn add(known: &mut Wanted, more: &Wanted, has_changed: &mut bool) {
    let both = known.clone().and(more);
    if both != *known {
        (*known, *has_changed) = (both, true);
    }
}

impl Walk {
    fn give(&mut self, function: usize, wanted: &Wanted) {
        add(&mut self.results[function], wanted, &mut self.has_changed);
    }

    fn look_at(&mut self, local: u32, wanted: &Wanted) {
        add(&mut self.locals[self.at][local as usize], wanted, &mut self.has_changed);
    }

    /// Of what goes into a target. What several targets unpack is looked at as a whole.
    fn of(&self, target: &Target) -> Wanted {
        match target {
            Target::Local(local) => self.locals[self.at][*local as usize].clone(),
            Target::All(_) => Wanted::All,
        }
    }

    /// Recursive, as deep as the program; so are the others.
    fn block(&mut self, body: &mut [Statement]) {
        body.iter_mut().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Set(target, expr) => self.set(target, expr),
            Statement::If(condition, then, other) => {
                self.expr(condition, &Wanted::nothing());
                self.block(then);
                self.block(other);
            }
            Statement::For(target, iterable, body) => {
                let item = self.of(target);
                self.expr(iterable, &Wanted::of_items(item));
                self.block(body);
            }
            Statement::While(condition, body) => {
                self.expr(condition, &Wanted::nothing());
                self.block(body);
            }
            Statement::Return(expr) => {
                let wanted = self.results[self.at].clone();
                self.expr(expr, &wanted);
            }
            Statement::Yield(expr) if self.at == 0 => {
                let wanted = self.yielded.clone();
                self.expr(expr, &wanted);
            }
            Statement::Yield(expr) | Statement::Append(_, expr) | Statement::Side(_, expr) | Statement::Change(_, expr) => self.whole(expr),
            Statement::Put(_, one, other) | Statement::PutEntry(_, one, other) => {
                self.whole(one);
                self.whole(other);
            }
            Statement::InPlace(_, object, values) => {
                self.whole(object);
                self.wholes(values);
            }
            Statement::Break | Statement::Continue | Statement::Forget(..) | Statement::Doubt => {}
        }
    }

    fn set(&mut self, target: &Target, expr: &mut Expr) {
        match (target, expr) {
            (Target::All(targets), Expr::Tuple(items)) if targets.len() == items.len() => {
                for (target, item) in targets.iter().zip(items) {
                    let wanted = self.of(target);
                    self.expr(item, &wanted);
                }
            }
            (target, expr) => {
                let wanted = self.of(target);
                self.expr(expr, &wanted);
            }
        }
    }

    fn whole(&mut self, expr: &mut Expr) {
        self.expr(expr, &Wanted::All);
    }

    fn wholes(&mut self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|expr| self.whole(expr));
    }

    /// An expression of which so much is looked at.
    fn expr(&mut self, expr: &mut Expr, wanted: &Wanted) {
        match expr {
            Expr::Local(local) | Expr::Input(local) => self.look_at(*local, wanted),
            Expr::Field(local, ..) => self.look_at(*local, &Wanted::of_items(wanted.clone())),
            Expr::InputAttribute(local, _) => self.look_at(*local, &Wanted::All),
            Expr::InputKey(local, name, _) => self.look_at(*local, &Wanted::at(name, wanted.clone())),
            Expr::Key(container, name, _) => self.expr(container, &Wanted::at(name, wanted.clone())),
            Expr::Item(container, ..) => self.expr(container, &Wanted::of_items(wanted.clone())),
            Expr::Apply(_, known, arguments) => {
                if let Some(document) = self.applied(*known, arguments, wanted) {
                    *expr = Expr::Loads(Box::new(document), Box::new(wanted.clone()));
                }
            }
            Expr::Loads(document, of_it) => {
                **of_it = wanted.clone();
                self.whole(document);
            }
            _ => self.flow(expr, wanted),
        }
    }

    /// An expression that is one of others.
    fn flow(&mut self, expr: &mut Expr, wanted: &Wanted) {
        match expr {
            Expr::If(parts) => {
                let [condition, then, other] = &mut **parts;
                self.expr(condition, &Wanted::nothing());
                self.expr(then, wanted);
                self.expr(other, wanted);
            }
            Expr::Or(operands) => operands.iter_mut().for_each(|operand| self.expr(operand, wanted)),
            Expr::And(operands) => {
                let last = operands.len() - 1;
                // what an operand before the last one gives is empty
                operands[..last].iter_mut().for_each(|operand| self.expr(operand, &Wanted::nothing()));
                self.expr(&mut operands[last], wanted);
            }
            Expr::Not(operand) => self.expr(operand, &Wanted::nothing()),
            Expr::Let(parts) => {
                let (local, value, body) = &mut **parts;
                self.expr(body, wanted);
                let of_it = self.of(&Target::Local(*local));
                self.expr(value, &of_it);
            }
            Expr::Unpacked(parts) => {
                self.expr(&mut parts.0, &Wanted::of_items(Wanted::nothing()));
                self.expr(&mut parts.2, wanted);
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, wanted),
            Expr::Each(element, clauses) => self.each(element, clauses),
            _ => self.parts(expr),
        }
    }

    /// A function or an operator; if it reads a document, that.
    fn applied(&mut self, known: Known, arguments: &mut [Expr], wanted: &Wanted) -> Option<Expr> {
        match (known, arguments) {
            (Known::Loads, [document]) => {
                self.whole(document);
                return Some(std::mem::replace(document, Expr::None));
            }
            (Known::Get, [container, Expr::Text(key), default @ ..]) => {
                self.expr(container, &Wanted::at(key, wanted.clone()));
                default.iter_mut().for_each(|default| self.expr(default, wanted));
            }
            (Known::In(_), [Expr::Text(key), container]) => self.expr(container, &Wanted::at(key, Wanted::nothing())),
            (Known::Len, [container]) => self.expr(container, &Wanted::of_items(Wanted::nothing())),
            (Known::Kind | Known::Is(_) | Known::Truth, [value, ..]) => self.expr(value, &Wanted::nothing()),
            (_, arguments) => self.wholes(arguments),
        }
        None
    }

    fn call(&mut self, function: usize, arguments: &mut [Expr], wanted: &Wanted) {
        self.give(function, wanted);
        for (parameter, argument) in arguments.iter_mut().enumerate() {
            let of_it = self.locals[function][parameter].clone();
            self.expr(argument, &of_it);
        }
    }

    fn each(&mut self, element: &mut Expr, clauses: &mut [Clause]) {
        self.whole(element);
        for Clause { target, iterable, conditions } in clauses {
            let item = self.of(target);
            self.expr(iterable, &Wanted::of_items(item));
            conditions.iter_mut().for_each(|condition| self.expr(condition, &Wanted::nothing()));
        }
    }

    /// The parts of any other expression, as wholes.
    fn parts(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Tuple(items) | Expr::List(items) | Expr::Row(_, items) | Expr::Concat(items) | Expr::Pattern(_, _, items) => {
                self.wholes(items);
            }
            Expr::Dict(entries) => entries.iter_mut().for_each(|entry| self.wholes(entry)),
            Expr::Binary(_, _, operands) | Expr::Compare(_, _, operands) => self.wholes(&mut operands[..]),
            Expr::Chain(first, rest) => {
                self.whole(first);
                rest.iter_mut().for_each(|(_, operand)| self.whole(operand));
            }
            Expr::Attribute(inner, _)
            | Expr::Object(_, inner)
            | Expr::Format(inner, ..)
            | Expr::InSet(inner, ..)
            | Expr::Entry(_, inner)
            | Expr::HasEntry(_, inner) => self.whole(inner),
            Expr::Lookup(_, key, default) => {
                self.whole(key);
                default.iter_mut().for_each(|default| self.whole(default));
            }
            Expr::Sorted(keyed, other) | Expr::Insorted(keyed, other, _) => {
                self.keyed(keyed);
                self.whole(other);
            }
            Expr::Extreme(_, keyed, default) => {
                self.keyed(keyed);
                default.iter_mut().for_each(|default| self.whole(default));
            }
            _ => {} // there is nothing in it
        }
    }

    fn keyed(&mut self, keyed: &mut Keyed) {
        self.whole(&mut keyed.items);
        if let Some((_, key)) = &mut keyed.key {
            self.whole(key);
        }
    }
}
