//! Results of a function, with their timestamps, for the main output and side outputs.

use bumpalo::Bump;

use super::Processed;
use crate::batch::Batch;
use crate::column::{Builder, Column, Refusal};
use crate::python;
use crate::value::Value;

/// Results in order.
#[derive(Default)]
pub(super) struct Out {
    main: Results,
    /// By tag.
    sides: Vec<Results>,
    /// In which order they came: tag, if it is for a side output, and how many; empty until the first one is for one.
    order: Vec<(Option<u32>, usize)>,
}

/// A place in results to return to.
pub(super) struct Mark {
    main: usize,
    groups: usize,
    last: usize,
}

#[derive(Default)]
struct Results {
    builder: Builder,
    times: Vec<Option<i64>>,
}

impl Out {
    pub(super) fn len(&self) -> usize {
        self.main.times.len() + self.sides.iter().map(|side| side.times.len()).sum::<usize>()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { main: self.main.times.len(), groups: self.order.len(), last: self.order.last().map_or(0, |group| group.1) }
    }

    /// Takes everything behind a mark away.
    pub(super) fn return_to(&mut self, mark: Mark) {
        self.main.truncate(mark.main);
        self.order.truncate(mark.groups);
        if let Some(group) = self.order.last_mut() {
            group.1 = mark.last;
        }
        let mut counts = vec![0; self.sides.len()];
        for &(tag, count) in &self.order {
            counts[tag.map_or(0, |tag| tag as usize)] += if tag.is_some() { count } else { 0 };
        }
        self.sides.iter_mut().zip(counts).for_each(|(side, count)| side.truncate(count));
    }

    /// Adds the result of a function, None or something to go through, and what it gave for side outputs: tag, value, and how
    /// many of the others came before. When it is refused, some of it may be there.
    pub(super) fn push<'a>(
        &mut self,
        result: Value<'a>,
        sides: &[(u32, Value<'a>, usize)],
        time: Option<i64>,
        arena: &'a Bump,
    ) -> Result<(), Refusal> {
        let items = match result {
            Value::None => &[],
            Value::Tuple(items) | Value::List(items) => items,
            Value::Row(..) => return Err(Refusal::Doubt),
            other => python::iterate(arena, other)?,
        };
        let mut done = 0;
        for &(tag, value, before) in sides {
            self.push_main(&items[done..before], time)?;
            done = before;
            self.push_side(tag, value, time)?;
        }
        self.push_main(&items[done..], time)
    }

    fn push_main(&mut self, items: &[Value<'_>], time: Option<i64>) -> Result<(), Refusal> {
        for &item in items {
            self.main.push(item, time)?;
        }
        if !self.order.is_empty() && !items.is_empty() {
            self.note(None, items.len());
        }
        Ok(())
    }

    fn push_side(&mut self, tag: u32, value: Value<'_>, time: Option<i64>) -> Result<(), Refusal> {
        if self.order.is_empty() {
            self.order.push((None, self.main.times.len()));
        }
        let at = tag as usize;
        if at >= self.sides.len() {
            self.sides.resize_with(at + 1, Results::default);
        }
        self.sides[at].push(value, time)?;
        self.note(Some(tag), 1);
        Ok(())
    }

    fn note(&mut self, tag: Option<u32>, count: usize) {
        match self.order.last_mut() {
            Some(group) if group.0 == tag => group.1 += count,
            _ => self.order.push((tag, count)),
        }
    }

    /// All of it, how many records or timers it is of, and whether the next one is doubtful.
    pub(super) fn finish(self, end: usize, doubtful: bool) -> Processed {
        let sides = (0..).zip(self.sides).filter_map(|(tag, side)| Some((tag, side.finish()?))).collect();
        Processed { out: self.main.finish(), sides, order: self.order, end, doubtful }
    }
}

impl Results {
    fn push(&mut self, value: Value<'_>, time: Option<i64>) -> Result<(), Refusal> {
        self.builder.push(value)?;
        self.times.push(time);
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        self.builder.truncate(count);
        self.times.truncate(count);
    }

    /// The batch, if there is anything.
    fn finish(self) -> Option<Batch> {
        if self.times.is_empty() {
            return None;
        }
        let times = self.times.iter().any(Option::is_some).then(|| Column::ints_or_none(&self.times));
        Batch::new(self.builder.finish(), times)
    }
}
