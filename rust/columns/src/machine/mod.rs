//! Evaluation of programs. A function walks its tree; values are copied, and what is longer than a number is made in an
//! arena, which the caller resets after some records.
//!
//! Nothing here runs out of stack (a program's depth is checked when it is read), out of memory ([`MOST_BYTES`]) or out of time
//! ([`MOST_STEPS`]): the answer is [`Doubt`] before.

mod context;
mod expressions;
mod fields;
mod keys;
mod objects;
mod seen;

use std::cell::RefCell;

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use crate::column::Column;
use crate::heap::Heap;
use crate::program::{Expr, Function, Program, Statement, Target};
use crate::python;
use crate::value::{Doubt, Value};

pub use self::context::Context;
pub(crate) use self::fields::named_item;

/// Rounds of loops and calls of functions for one record.
pub const MOST_STEPS: u32 = 1_000_000;
/// What is made of one record.
pub const MOST_BYTES: usize = 64 << 20;

/// An argument: a value, or where it is.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// In a column.
    Row(&'a Column, usize),
    /// By itself.
    Value(Value<'a>),
}

impl<'a> Input<'a> {
    /// The value.
    #[inline]
    pub fn value(self, arena: &'a Bump) -> Value<'a> {
        match self {
            Self::Row(column, row) => column.get(row, arena),
            Self::Value(value) => value,
        }
    }
}

impl Program {
    /// The constants that are not in the expressions themselves, for as many calls as the arena lives.
    pub fn constants<'a>(&'a self, arena: &'a Bump) -> &'a [Value<'a>] {
        arena.alloc_slice_fill_iter(self.constants.iter().map(|constant| constant.value(arena)))
    }

    /// Calls the first function. A generator gives a list of what it yields.
    ///
    /// Args: its `constants`; the arguments, which may become values meanwhile; the steps that are left.
    #[inline]
    pub fn call<'a>(
        &'a self,
        constants: &'a [Value<'a>],
        inputs: &mut [Input<'a>],
        arena: &'a Bump,
        steps: &mut u32,
    ) -> Result<Value<'a>, Doubt> {
        self.call_in(None, constants, inputs, arena, steps)
    }

    /// The same in a context, which has the state and the timers of a key.
    #[inline]
    pub fn call_in<'a, 'i>(
        &'a self,
        context: Option<&'i mut (dyn Context<'a> + 'i)>,
        constants: &'a [Value<'a>],
        inputs: &'i mut [Input<'a>],
        arena: &'a Bump,
        steps: &'i mut u32,
    ) -> Result<Value<'a>, Doubt> {
        self.call_with((context, Objects::None), constants, inputs, arena, steps)
    }

    /// The same where [`Value::Object`] is something.
    #[inline]
    pub(crate) fn call_with<'a, 'i>(
        &'a self,
        (context, objects): (Option<&'i mut (dyn Context<'a> + 'i)>, Objects<'_>),
        constants: &'a [Value<'a>],
        inputs: &'i mut [Input<'a>],
        arena: &'a Bump,
        steps: &'i mut u32,
    ) -> Result<Value<'a>, Doubt> {
        let function = &self.functions[0];
        if inputs.len() != function.parameters {
            return Err(Doubt);
        }
        let mut machine = Machine { functions: &self.functions, constants, inputs, context, arena, steps, objects };
        let locals = if function.assigned.is_empty() && function.locals == function.parameters { 0 } else { function.locals };
        let mut frame = Frame::new(locals, arena);
        for &local in &function.assigned {
            frame.locals[local as usize] = Some(machine.inputs[local as usize].value(arena));
        }
        machine.run(function, &mut frame)
    }
}

/// Lists and sets that can be changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Objects<'h> {
    /// There are none.
    None,
    /// These; and whether lists may have them in them, as an accumulator is being made.
    Of(&'h RefCell<&'h mut Heap>, bool),
}

/// Evaluates expressions of a program's first function by themselves.
pub(crate) struct Evaluation<'a> {
    program: &'a Program,
    constants: &'a [Value<'a>],
    arena: &'a Bump,
    frame: Frame<'a>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(program: &'a Program, constants: &'a [Value<'a>], arena: &'a Bump) -> Self {
        Self { program, constants, arena, frame: Frame::new(program.functions[0].locals, arena) }
    }

    /// An expression, where the locals have these values.
    pub(crate) fn eval(
        &mut self,
        expr: &'a Expr,
        inputs: &mut [Input<'a>],
        locals: impl Iterator<Item = Option<Value<'a>>>,
    ) -> Result<Value<'a>, Doubt> {
        self.frame.locals.iter_mut().zip(locals).for_each(|(place, local)| *place = local);
        let (functions, steps) = (&*self.program.functions, &mut MOST_STEPS.clone());
        let (objects, arena) = (Objects::None, self.arena);
        let mut machine = Machine { functions, constants: self.constants, inputs, context: None, arena, steps, objects };
        machine.eval(&mut self.frame, expr)
    }
}

/// What a function has while it runs.
struct Frame<'a> {
    locals: &'a mut [Option<Value<'a>>],
    yields: Items<'a, Value<'a>>,
}

impl<'a> Frame<'a> {
    #[inline]
    fn new(locals: usize, arena: &'a Bump) -> Self {
        let locals = if locals == 0 { &mut [] } else { arena.alloc_slice_fill_copy(locals, None) };
        Self { locals, yields: Items::new_in(arena) }
    }
}

impl Frame<'_> {
    /// Locals, from one to before another, have nothing any more.
    fn forget<'f>(&mut self, start: u32, end: u32) -> Flow<'f> {
        self.locals[start as usize..end as usize].fill(None);
        Flow::Next
    }
}

/// How a statement ends.
enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(Value<'a>),
}

/// A call of a program.
struct Machine<'a, 'i, 'h> {
    functions: &'a [Function],
    constants: &'a [Value<'a>],
    inputs: &'i mut [Input<'a>],
    context: Option<&'i mut (dyn Context<'a> + 'i)>,
    arena: &'a Bump,
    steps: &'i mut u32,
    objects: Objects<'h>,
}

impl<'a> Machine<'a, '_, '_> {
    #[inline]
    fn run(&mut self, function: &'a Function, frame: &mut Frame<'a>) -> Result<Value<'a>, Doubt> {
        if let [Statement::Return(expr)] = &*function.body {
            return self.eval(frame, expr);
        }
        let flow = self.block(frame, &function.body)?;
        if function.generator {
            return Ok(Value::List(std::mem::replace(&mut frame.yields, Items::new_in(self.arena)).into_bump_slice()));
        }
        match flow {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::None),
        }
    }

    /// Once more around a loop, or into a function.
    #[inline]
    fn step(&mut self) -> Result<(), Doubt> {
        *self.steps = self.steps.checked_sub(1).ok_or(Doubt)?;
        self.bounded()
    }

    #[inline]
    fn bounded(&self) -> Result<(), Doubt> {
        if self.arena.allocated_bytes() > MOST_BYTES { Err(Doubt) } else { Ok(()) }
    }

    /// Statements in order. Recursive, as deep as the program.
    fn block(&mut self, frame: &mut Frame<'a>, body: &'a [Statement]) -> Result<Flow<'a>, Doubt> {
        for statement in body {
            let flow = match statement {
                Statement::Set(Target::Local(local), expr) => {
                    frame.locals[*local as usize] = Some(self.eval(frame, expr)?);
                    continue;
                }
                Statement::Set(Target::All(targets), expr) => self.set_all(frame, targets, expr).map(|()| Flow::Next)?,
                Statement::Append(local, expr) => self.append(frame, *local, expr).map(|()| Flow::Next)?,
                Statement::Yield(expr) => {
                    self.emit(frame, expr)?;
                    continue;
                }
                Statement::If(condition, then, other) => {
                    let branch = if self.holds(frame, condition)? { then } else { other };
                    self.block(frame, branch)?
                }
                Statement::For(target, iterable, body) => self.loop_over(frame, target, iterable, body)?,
                Statement::While(condition, body) => self.loop_while(frame, condition, body)?,
                Statement::Put(local, index, value) => self.put(frame, *local, index, value).map(|()| Flow::Next)?,
                Statement::InPlace(change, object, values) => self.change_object(frame, *change, object, values).map(|()| Flow::Next)?,
                Statement::Break => Flow::Break,
                Statement::Continue => Flow::Continue,
                Statement::Return(expr) => Flow::Return(self.eval(frame, expr)?),
                Statement::Side(tag, value) => self.side(frame, *tag, value).map(|()| Flow::Next)?,
                Statement::Change(change, value) => self.change(frame, *change, value).map(|()| Flow::Next)?,
                Statement::PutEntry(state, key, value) => self.put_entry(frame, *state, key, value).map(|()| Flow::Next)?,
                Statement::Forget(start, end) => frame.forget(*start, *end),
                Statement::Doubt => return Err(Doubt),
            };
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// `a, b = c`, and `a, b = c, d` without the tuple.
    fn set_all(&mut self, frame: &mut Frame<'a>, targets: &'a [Target], expr: &'a Expr) -> Result<(), Doubt> {
        match expr {
            Expr::Tuple(items) if items.len() == targets.len() => {
                let values = self.arena.alloc_slice_try_fill_with(items.len(), |index| self.eval(frame, &items[index]))?;
                targets.iter().zip(&*values).try_for_each(|(target, &value)| self.assign(frame, target, value))
            }
            expr => {
                let value = self.eval(frame, expr)?;
                self.unpack(frame, targets, value)
            }
        }
    }

    #[inline]
    fn emit(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Result<(), Doubt> {
        let value = self.eval(frame, expr)?;
        self.alone(&[value])?;
        frame.yields.push(value);
        Ok(())
    }

    /// Gives a local list an item more. The list before it stays as it is, as others may have it.
    fn append(&mut self, frame: &mut Frame<'a>, local: u32, expr: &'a Expr) -> Result<(), Doubt> {
        if let Some(Value::Object(number)) = frame.locals[local as usize] {
            let item = self.eval(frame, expr)?;
            return self.heap()?.append(number, item);
        }
        let Some(Value::List(old)) = frame.locals[local as usize] else { return Err(Doubt) };
        let item = self.eval(frame, expr)?;
        self.alone(&[item])?;
        self.bounded()?;
        let mut items = Items::with_capacity_in(old.len() + 1, self.arena);
        items.extend_from_slice_copy(old);
        items.push(item);
        frame.locals[local as usize] = Some(Value::List(items.into_bump_slice()));
        Ok(())
    }

    fn loop_over(
        &mut self,
        frame: &mut Frame<'a>,
        target: &'a Target,
        iterable: &'a Expr,
        body: &'a [Statement],
    ) -> Result<Flow<'a>, Doubt> {
        let before = self.begin_loop();
        let items = self.items(frame, iterable)?;
        self.lock();
        for &item in items {
            self.step()?;
            self.assign(frame, target, item)?;
            match self.block(frame, body)? {
                Flow::Break => break,
                Flow::Return(value) => {
                    self.end_loop(before);
                    return Ok(Flow::Return(value));
                }
                Flow::Next | Flow::Continue => {}
            }
        }
        self.end_loop(before);
        Ok(Flow::Next)
    }

    fn loop_while(&mut self, frame: &mut Frame<'a>, condition: &'a Expr, body: &'a [Statement]) -> Result<Flow<'a>, Doubt> {
        while self.holds(frame, condition)? {
            self.step()?;
            match self.block(frame, body)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    /// The values of something to loop over.
    fn items(&mut self, frame: &mut Frame<'a>, iterable: &'a Expr) -> Result<&'a [Value<'a>], Doubt> {
        match self.eval(frame, iterable)? {
            Value::Tuple(items) | Value::List(items) => Ok(items),
            Value::Object(number) => self.heap()?.items(number, self.arena),
            value => {
                let items = python::iterate(self.arena, value)?;
                self.bounded().map(|()| items)
            }
        }
    }

    /// Recursive, as deep as the target.
    #[inline]
    fn assign(&mut self, frame: &mut Frame<'a>, target: &'a Target, value: Value<'a>) -> Result<(), Doubt> {
        match target {
            Target::Local(local) => {
                frame.locals[*local as usize] = Some(value);
                Ok(())
            }
            Target::All(targets) => self.unpack(frame, targets, value),
        }
    }

    fn unpack(&mut self, frame: &mut Frame<'a>, targets: &'a [Target], value: Value<'a>) -> Result<(), Doubt> {
        let items = match value {
            Value::Tuple(items) | Value::List(items) => items,
            Value::Row(shape, items) if shape.class == 0 => items,
            Value::Object(number) => self.heap()?.items(number, self.arena)?,
            value => python::iterate(self.arena, value)?,
        };
        if items.len() != targets.len() {
            return Err(Doubt);
        }
        targets.iter().zip(items).try_for_each(|(target, &item)| self.assign(frame, target, item))
    }
}

/// Whether Python takes a value for true.
#[inline]
pub(crate) fn truth(value: Value<'_>) -> Result<bool, Doubt> {
    match value {
        Value::Bool(flag) => Ok(flag),
        value => python::truth(value),
    }
}

#[cfg(test)]
mod tests;
