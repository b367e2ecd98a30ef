//! What the function of a keyed stream has besides its arguments: the key, its state, its timers, and the time.

use super::{Frame, Machine};
use crate::program::{Around, Asked, Change, Expr, Part};
use crate::value::{Doubt, Value};

/// The key of a record or a timer, and what belongs to it. Changes are to be kept aside until the function has ended without
/// doubt; what is read meanwhile has them. A context that does not say otherwise has no state, no timers and no side outputs.
pub trait Context<'a> {
    /// Something that the function asks of its context.
    fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt>;

    /// What a state has: None, or a list for a state that is one.
    fn state(&mut self, _number: u32) -> Result<Value<'a>, Doubt> {
        Err(Doubt)
    }

    /// Whether a state has something.
    fn has(&mut self, _state: u32, _asked: Asked) -> Result<bool, Doubt> {
        Err(Doubt)
    }

    /// What it had then.
    fn shown(&mut self, _state: u32) -> Result<Value<'a>, Doubt> {
        Err(Doubt)
    }

    /// What a map has for a key.
    fn entry(&mut self, _state: u32, _key: Value<'a>) -> Result<Option<Value<'a>>, Doubt> {
        Err(Doubt)
    }

    /// Whether a map has no keys.
    fn has_no_entries(&mut self, _state: u32) -> Result<bool, Doubt> {
        Err(Doubt)
    }

    /// A list of what is in a map, in order.
    fn entries(&mut self, _state: u32, _part: Part) -> Result<Value<'a>, Doubt> {
        Err(Doubt)
    }

    /// Sets what a map has for a key, or removes the key.
    fn put_entry(&mut self, _state: u32, _key: Value<'a>, _value: Option<Value<'a>>) -> Result<(), Doubt> {
        Err(Doubt)
    }

    /// Does something to the state, or to the timers.
    fn change(&mut self, _change: Change, _value: Value<'a>) -> Result<(), Doubt> {
        Err(Doubt)
    }

    /// Takes a result for a side output, and how many other results came before it.
    fn side(&mut self, _tag: u32, _value: Value<'a>, _before: usize) -> Result<(), Doubt> {
        Err(Doubt)
    }
}

impl<'a> Machine<'a, '_, '_> {
    pub(super) fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt> {
        self.context.as_mut().ok_or(Doubt)?.ask(around)
    }

    pub(super) fn state(&mut self, number: u32) -> Result<Value<'a>, Doubt> {
        self.context.as_mut().ok_or(Doubt)?.state(number)
    }

    /// The value of an expression that asks for more than what a state has.
    #[inline(never)]
    pub(super) fn of_state(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Result<Value<'a>, Doubt> {
        match expr {
            Expr::Held(state, asked) => self.context.as_mut().ok_or(Doubt)?.has(*state, *asked).map(Value::Bool),
            Expr::Shown(state) => self.context.as_mut().ok_or(Doubt)?.shown(*state),
            Expr::Entry(state, key) => Ok(self.entry(frame, *state, key)?.unwrap_or(Value::None)),
            Expr::HasEntry(state, key) => Ok(Value::Bool(self.entry(frame, *state, key)?.is_some())),
            Expr::NoEntries(state) => self.has_no_entries(*state),
            Expr::Entries(state, part) => self.entries(*state, *part),
            _ => Err(Doubt),
        }
    }

    fn entry(&mut self, frame: &mut Frame<'a>, state: u32, key: &'a Expr) -> Result<Option<Value<'a>>, Doubt> {
        let key = self.eval(frame, key)?;
        self.context.as_mut().ok_or(Doubt)?.entry(state, key)
    }

    fn has_no_entries(&mut self, state: u32) -> Result<Value<'a>, Doubt> {
        self.context.as_mut().ok_or(Doubt)?.has_no_entries(state).map(Value::Bool)
    }

    fn entries(&mut self, state: u32, part: Part) -> Result<Value<'a>, Doubt> {
        let entries = self.context.as_mut().ok_or(Doubt)?.entries(state, part)?;
        self.bounded().map(|()| entries)
    }

    #[inline(never)]
    pub(super) fn put_entry(&mut self, frame: &mut Frame<'a>, state: u32, key: &'a Expr, value: &'a Expr) -> Result<(), Doubt> {
        let (key, value) = (self.eval(frame, key)?, self.eval(frame, value)?);
        self.bounded()?;
        self.context.as_mut().ok_or(Doubt)?.put_entry(state, key, Some(value))
    }

    pub(super) fn change(&mut self, frame: &mut Frame<'a>, change: Change, expr: &'a Expr) -> Result<(), Doubt> {
        let value = match change {
            Change::Extend(_) | Change::Replace(_) => Value::List(self.items(frame, expr)?),
            _ => self.eval(frame, expr)?,
        };
        self.bounded()?;
        self.context.as_mut().ok_or(Doubt)?.change(change, value)
    }

    pub(super) fn side(&mut self, frame: &mut Frame<'a>, tag: u32, expr: &'a Expr) -> Result<(), Doubt> {
        let (value, before) = (self.eval(frame, expr)?, frame.yields.len());
        self.context.as_mut().ok_or(Doubt)?.side(tag, value, before)
    }
}
