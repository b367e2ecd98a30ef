//! What comes out of windows: records, or what a function of Python is to see.

use bumpalo::Bump;

use super::Spec;
use super::contents::Contents;
use super::entries::Window;
use crate::batch::Batch;
use crate::column::{Builder, Column, Refusal};
use crate::machine::{Input, MOST_STEPS};
use crate::program::Program;
use crate::python;
use crate::value::{Doubt, Value};

/// What has fired, in order.
pub struct Out<'p> {
    /// Whether it is shown with key and window.
    shows: bool,
    /// A function that sees windows, and its constants.
    seeing: Option<(&'p Program, &'p [Value<'p>])>,
    /// Whether it sees a list as it is.
    all: bool,
    /// Whether it is of windows that never end.
    endless: bool,
    builder: Builder,
    times: Vec<i64>,
    items: usize,
}

impl<'p> Out<'p> {
    /// Empty; with the constants of a function in an arena.
    pub fn new(spec: &'p Spec, arena: &'p Bump) -> Self {
        let all = matches!(spec.contents, Contents::Elements);
        Self { endless: false, ..Self::endless(spec.shows, spec.seeing.as_ref(), all, arena) }
    }

    /// The same for windows that never end.
    pub fn endless(shows: bool, seeing: Option<&'p Program>, all: bool, arena: &'p Bump) -> Self {
        let seeing = seeing.map(|program| (program, program.constants(arena)));
        Self { shows, seeing, all, endless: true, builder: Builder::new(), times: Vec::new(), items: 0 }
    }

    pub fn len(&self) -> usize {
        self.builder.len()
    }

    pub fn truncate(&mut self, count: usize) {
        self.builder.truncate(count);
        self.times.truncate(count);
    }

    /// Adds what a window shows. When it is refused, some of it may be there.
    pub fn push<'a>(
        &mut self,
        key: Value<'a>,
        window: Window,
        value: Option<Value<'a>>,
        clears: bool,
        arena: &'a Bump,
    ) -> Result<(), Refusal>
    where
        'p: 'a,
    {
        if !self.shows {
            let Some(value) = value else { return Ok(()) };
            for &result in self.results(key, window, value, arena)? {
                self.builder.push(result)?;
                self.times.push(if self.endless { i64::MAX } else { window.last() });
            }
            return Ok(());
        }
        let (start, end, fires) = (Value::Int(window.start), Value::Int(window.end), Value::Bool(value.is_some()));
        let row = [key, start, end, fires, Value::Bool(clears), value.unwrap_or(Value::None)];
        self.builder.push(Value::Tuple(&row))?;
        if let Some(Value::List(items)) = value {
            self.items += items.len();
        }
        Ok(())
    }

    /// What the function gives for a window, or what is in it.
    fn results<'a>(&self, key: Value<'a>, window: Window, value: Value<'a>, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt>
    where
        'p: 'a,
    {
        let values = std::slice::from_ref(arena.alloc(value));
        let Some((program, constants)) = self.seeing else { return Ok(values) };
        let last = if self.endless { i64::MAX } else { window.last() };
        let times = &*arena.alloc([last, window.start, window.end].map(Value::Int));
        let window = Value::Tuple(if self.endless { &times[..1] } else { times });
        let seen = if self.all { value } else { Value::List(values) };
        let inputs = &mut [Input::Value(key), Input::Value(window), Input::Value(seen)];
        let inputs = if program.parameters() == 2 { &mut inputs[1..] } else { inputs };
        match program.call(constants, inputs, arena, &mut MOST_STEPS.clone())? {
            Value::None => Ok(&[]),
            Value::Tuple(items) | Value::List(items) => Ok(items),
            Value::Row(..) => Err(Doubt),
            other => python::iterate(arena, other),
        }
    }

    /// How much there is: results, and records in them.
    pub fn size(&self) -> usize {
        self.len() + self.items
    }

    /// The batch, if there is anything.
    pub fn finish(self) -> Option<Batch> {
        if self.builder.is_empty() {
            return None;
        }
        let times = (!self.shows).then(|| Column::ints(self.times));
        Batch::new(self.builder.finish(), times)
    }
}
