//! Records on their way into the windows of their keys.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::Spec;
use super::assigner::{Assigner, java_order, panes};
use super::contents::Ready;
use super::entries::{Entries, Window};
use super::out::Out;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::machine::Input;
use crate::tables::reduce::field;
use crate::value::{Doubt, Value};

/// What has become of a record.
pub(super) enum Fate {
    /// It is in its windows, or belongs to none.
    Taken,
    /// It is too late.
    Late,
}

/// What a window will have in it.
enum Next<'a> {
    /// The integer in a field.
    Int(usize, i64),
    Whole(Value<'a>),
    /// A record more.
    Record(Value<'a>),
    /// An accumulator that is changed in place.
    Root(u32),
}

/// A run while it goes.
pub(super) struct Run<'r> {
    pub(super) spec: &'r Spec,
    pub(super) ready: &'r Ready<'r>,
    pub(super) entries: &'r mut Entries,
    pub(super) watermark: i64,
    pub(super) now: Option<i64>,
    pub(super) out: Out<'r>,
    /// The number of the record, where all are kept.
    pub(super) kept: Option<u32>,
}

impl<'r> Run<'r> {
    /// A record with this key. When it is refused nothing has changed but what is out.
    pub(super) fn record<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<Fate, Refusal>
    where
        'r: 'a,
    {
        let fate = self.record_into(batch, row, key, arena);
        self.entries.settle(fate.is_ok());
        fate
    }

    fn record_into<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<Fate, Refusal>
    where
        'r: 'a,
    {
        let hash = self.entries.hash(key)?;
        let time = self.now.or_else(|| batch.time(row)).ok_or(Doubt)?;
        let record = Input::Row(batch.records(), row);
        self.kept = None;
        let taken = match self.spec.assigner {
            Assigner::Panes { size, slide, offset } => {
                let windows = panes(time, size, slide, offset)?;
                self.add_to_panes(windows, hash, key, record, arena)?
            }
            Assigner::Sessions { gap } => {
                let window = Window { start: time, end: time.checked_add(gap).ok_or(Doubt)? };
                self.add_to_session(window, hash, key, record, arena)?
            }
        };
        let late = !taken && time.checked_add(self.spec.lateness).is_some_and(|time| time <= self.watermark);
        Ok(if late { Fate::Late } else { Fate::Taken })
    }

    /// Puts a record into windows; whether any of them is not over.
    fn add_to_panes<'a>(
        &mut self,
        windows: impl Iterator<Item = Window>,
        hash: u64,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<bool, Refusal>
    where
        'r: 'a,
    {
        let mut steps = Items::new_in(arena);
        for window in windows {
            if self.entries.cleanup(window) <= self.watermark {
                continue;
            }
            let (number, fires) = (self.entries.find(hash, key, window), window.last() <= self.watermark);
            let next = self.next(number, fires, key, record, arena)?;
            if fires {
                let contents = match next {
                    Next::Whole(value) => value,
                    Next::Record(record) => self.entries.list(number.into_iter(), record, arena),
                    Next::Int(..) | Next::Root(_) => return Err(Refusal::Doubt),
                };
                self.out.push(key, window, Some(self.ready.result(contents, arena)?), false, arena)?;
            }
            steps.push((number, window, next));
        }
        let taken = !steps.is_empty();
        for (number, window, next) in steps {
            let number = number.unwrap_or_else(|| self.entries.create(hash, key, window, window));
            self.put(number, &next);
        }
        Ok(taken)
    }

    /// What will be in a window after a record.
    #[inline]
    fn next<'a>(
        &mut self,
        number: Option<usize>,
        fires: bool,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Doubt>
    where
        'r: 'a,
    {
        if let (Some((position, fold)), Some(number), false) = (self.ready.folded(), number, fires)
            && let Some(old) = self.entries.field_int(number, position)
            && let new @ Value::Int(_) = field(record, position, arena)?
            && let Value::Int(value) = fold.apply(Value::Int(old), new, arena)?
        {
            return Ok(Next::Int(position, value));
        }
        if self.entries.objects.is_some() {
            let (current, ready) = (number.and_then(|number| self.entries.root(number)), self.ready);
            let root = self.entries.with_heap(|heap| ready.change(current, record, heap, arena))?;
            let admitted = number.is_some() || self.entries.admits(key, Value::None);
            return if admitted { Ok(Next::Root(root)) } else { Err(Doubt) };
        }
        if self.ready.keeps_all() {
            let record = record.value(arena);
            return if self.entries.admits(key, Value::List(&[record])) { Ok(Next::Record(record)) } else { Err(Doubt) };
        }
        let current = number.and_then(|number| self.entries.value(number, arena));
        let value = self.ready.add(current, record, arena)?.copied(arena);
        let admitted = if number.is_some() { self.entries.admits_value(value) } else { self.entries.admits(key, value) };
        if admitted { Ok(Next::Whole(value)) } else { Err(Doubt) }
    }

    /// Puts into a window what will be there, and registers its timers.
    #[inline]
    fn put(&mut self, number: usize, next: &Next<'_>) {
        match *next {
            Next::Int(position, value) => self.entries.set_field(number, position, Value::Int(value)),
            Next::Whole(value) => self.entries.set(number, value),
            Next::Root(root) => self.entries.set_root(number, root),
            Next::Record(record) => {
                let record = *self.kept.get_or_insert_with(|| self.entries.keep(record));
                self.entries.add(number, record);
            }
        }
        if self.entries.window(number).last() > self.watermark {
            self.entries.register_end(number);
        }
        self.entries.register_cleanup(number);
    }

    /// Puts a record into the session that its own window and those that touch it become; whether that is not over.
    fn add_to_session<'a>(&mut self, window: Window, hash: u64, key: Value<'a>, record: Input<'a>, arena: &'a Bump) -> Result<bool, Refusal>
    where
        'r: 'a,
    {
        let mut parts = Items::new_in(arena);
        for number in self.entries.of_key(hash, key) {
            let other = self.entries.window(number);
            if other.start <= window.end && other.end >= window.start {
                parts.push((other, number));
            }
        }
        let whole =
            parts.iter().fold(window, |whole, (part, _)| Window { start: whole.start.min(part.start), end: whole.end.max(part.end) });
        if parts.iter().all(|&(part, _)| part == whole) && parts.len() < 2 {
            return self.add_to_panes(std::iter::once(whole), hash, key, record, arena);
        }
        let limit = self.now.unwrap_or(self.watermark);
        if self.entries.cleanup(whole) <= limit || parts.iter().any(|&(part, _)| part == whole) {
            return Err(Refusal::Doubt);
        }
        let more = usize::from(parts.iter().all(|&(part, _)| part != window));
        let size = parts.len() + more;
        java_order(&mut parts, size);
        self.merge(whole, &parts, hash, key, record, arena)?;
        Ok(true)
    }

    /// Sessions become one, with a record. What is in the others is merged in order, and then with what is in the first.
    fn merge<'a>(
        &mut self,
        whole: Window,
        parts: &[(Window, usize)],
        hash: u64,
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<(), Refusal>
    where
        'r: 'a,
    {
        let next = self.next_merged(parts, key, record, arena)?;
        let (first, _) = parts.split_first().ok_or(Doubt)?;
        if whole.last() <= self.watermark {
            let contents = match next {
                Next::Record(record) => self.entries.list(parts.iter().map(|part| part.1), record, arena),
                Next::Whole(value) => value,
                Next::Int(..) | Next::Root(_) => return Err(Refusal::Doubt),
            };
            self.out.push(key, whole, Some(self.ready.result(contents, arena)?), false, arena)?;
        }
        let number = self.entries.create(hash, key, whole, self.entries.kept(first.1));
        if whole.last() > self.watermark {
            self.entries.register_end(number);
        }
        self.entries.hand_on(first.1, number);
        self.replace(parts, number);
        self.put(number, &next);
        Ok(())
    }

    /// Windows are over, as they have become another one.
    fn replace(&mut self, parts: &[(Window, usize)], number: usize) {
        for &(_, part) in parts {
            self.entries.unregister(part);
        }
        for &(_, part) in parts {
            if self.ready.keeps_all() {
                self.entries.pass_on(part, number);
            }
            self.entries.empty(part);
            self.entries.retire(part);
        }
    }

    /// What will be in a session that others become, after a record.
    fn next_merged<'a>(
        &mut self,
        parts: &[(Window, usize)],
        key: Value<'a>,
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<Next<'a>, Refusal>
    where
        'r: 'a,
    {
        let (first, others) = parts.split_first().ok_or(Doubt)?;
        if self.ready.keeps_all() {
            return Ok(self.next(Some(first.1), true, key, record, arena)?);
        }
        let contents = |number: usize| Some(self.entries.value(number, arena)?.copied(arena));
        let mut merged = None;
        for &(_, other) in others {
            merged = self.joined(merged, contents(other), arena)?;
        }
        merged = self.joined(contents(first.1), merged, arena)?;
        let value = self.ready.add(merged, record, arena)?.copied(arena);
        if self.entries.admits(key, value) { Ok(Next::Whole(value)) } else { Err(Refusal::Doubt) }
    }

    fn joined<'a>(&self, one: Option<Value<'a>>, other: Option<Value<'a>>, arena: &'a Bump) -> Result<Option<Value<'a>>, Doubt>
    where
        'r: 'a,
    {
        match (one, other) {
            (Some(one), Some(other)) => self.ready.merge(one, other, arena).map(Some),
            _ => Ok(one.or(other)),
        }
    }
}
