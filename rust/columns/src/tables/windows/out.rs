//! What comes out of windows: records, or what a function of Python is to see.

use super::entries::Window;
use crate::batch::Batch;
use crate::column::{Builder, Column, Refusal};
use crate::value::Value;

/// What has fired, in order.
pub struct Out {
    /// Whether it is shown with key and window.
    shows: bool,
    builder: Builder,
    times: Vec<i64>,
    items: usize,
}

impl Out {
    pub fn new(shows: bool) -> Self {
        Self { shows, builder: Builder::new(), times: Vec::new(), items: 0 }
    }

    pub fn len(&self) -> usize {
        self.builder.len()
    }

    pub fn truncate(&mut self, count: usize) {
        self.builder.truncate(count);
        self.times.truncate(count);
    }

    /// Adds what a window shows. When it is refused nothing has changed.
    pub fn push(&mut self, key: Value<'_>, window: Window, value: Option<Value<'_>>, clears: bool) -> Result<(), Refusal> {
        if !self.shows {
            let Some(value) = value else { return Ok(()) };
            self.builder.push(value)?;
            self.times.push(window.last());
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
