//! When a function leaves an accumulator as it is.

use super::{Expr, Function, Program, Statement};

impl Program {
    /// A program of the same parameters that says whether this one, a function of two, may return something else than one
    /// of them, if that can be known before; where it gives no answer nothing is known.
    pub(crate) fn guard(&self, parameter: u32) -> Option<Self> {
        let function = &self.functions[0];
        let (last, conditions) = function.body.split_last()?;
        let mut body = Vec::new();
        for statement in conditions {
            let Statement::If(condition, _, otherwise) = statement else { return None };
            if !otherwise.is_empty() {
                return None;
            }
            body.push(Statement::If(condition.clone(), vec![Statement::Return(Expr::Bool(true))], Vec::new()));
        }
        let Statement::Return(expr) = last else { return None };
        let is_it = |expr: &Expr| matches!(expr, Expr::Input(at) | Expr::Local(at) if *at == parameter);
        let changes = match expr {
            expr if is_it(expr) && !body.is_empty() => Expr::Bool(false),
            Expr::If(parts) if is_it(&parts[2]) => parts[0].clone(),
            Expr::If(parts) if is_it(&parts[1]) => Expr::Not(Box::new(parts[0].clone())),
            _ => return None,
        };
        body.push(Statement::Return(changes));
        let Function { parameters, locals, ref assigned, .. } = *function;
        let first = Function { parameters, locals, body, generator: false, iterator: false, changes: false, assigned: assigned.clone() };
        let functions = std::iter::once(first).chain(self.functions[1..].iter().cloned()).collect();
        Some(Self { functions, constants: self.constants.clone(), ..*self })
    }
}
