//! What the function of a keyed stream has besides its arguments: the key, its state, its timers, and the time.

use super::{Frame, Machine};
use crate::program::{Around, Change, Expr};
use crate::value::{Doubt, Value};

/// The key of a record or a timer, and what belongs to it. Changes are to be kept aside until the function has ended without
/// doubt; what is read meanwhile has them.
pub trait Context<'a> {
    /// Something that the function asks of its context.
    fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt>;

    /// What a state has: None, or a list for a state that is one.
    fn state(&mut self, number: u32) -> Result<Value<'a>, Doubt>;

    /// Does something to the state, or to the timers.
    fn change(&mut self, change: Change, value: Value<'a>) -> Result<(), Doubt>;
}

impl<'a> Machine<'a, '_> {
    pub(super) fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt> {
        self.context.as_mut().ok_or(Doubt)?.ask(around)
    }

    pub(super) fn state(&mut self, number: u32) -> Result<Value<'a>, Doubt> {
        self.context.as_mut().ok_or(Doubt)?.state(number)
    }

    pub(super) fn change(&mut self, frame: &mut Frame<'a>, change: Change, expr: &'a Expr) -> Result<(), Doubt> {
        let value = match change {
            Change::Extend(_) | Change::Replace(_) => Value::List(self.items(frame, expr)?),
            _ => self.eval(frame, expr)?,
        };
        self.bounded()?;
        self.context.as_mut().ok_or(Doubt)?.change(change, value)
    }
}
