//! Records on their way into the windows of their keys.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::Spec;
use super::assigner::{Assigner, java_order, panes};
use super::contents::Ready;
use super::entries::{Entries, Window};
use super::next::Next;
use super::out::Out;
use super::takes::Takes;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::machine::{Input, MOST_STEPS};
use crate::value::{Doubt, Value};

/// What has become of a record.
pub(super) enum Fate {
    /// It is in its windows, or belongs to none.
    Taken,
    /// It is too late.
    Late,
}

/// A run while it goes.
pub(super) struct Run<'r> {
    pub(super) spec: &'r Spec,
    /// The constants of the function that gives keys.
    pub(super) of_key: &'r [Value<'r>],
    pub(super) ready: &'r Ready<'r>,
    pub(super) entries: &'r mut Entries,
    pub(super) watermark: i64,
    pub(super) now: Option<i64>,
    pub(super) out: Out<'r>,
    /// The number of the record, where all are kept.
    pub(super) kept: Option<u32>,
}

impl<'r> Takes<'r> for Run<'r> {
    fn entries(&mut self) -> &mut Entries {
        self.entries
    }

    fn out(&mut self) -> &mut Out<'r> {
        &mut self.out
    }

    fn take_one(&mut self, batch: &Batch, row: usize, arena: &Bump) -> Result<Fate, Refusal> {
        let key = self.spec.key.call(self.of_key, &mut [Input::Row(batch.records(), row)], arena, &mut MOST_STEPS.clone())?;
        let fate = self.record(batch, row, key, arena);
        self.entries.settle(fate.is_ok());
        fate
    }

    fn settle_together(&mut self) {}
}

impl<'r> Run<'r> {
    /// A record with this key. When it is refused nothing has changed but what is out.
    fn record<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<Fate, Refusal>
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
            Assigner::Counted { .. } | Assigner::Global => return Err(Refusal::Doubt), // they have no end to fire at
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
            let next = self.entries.next(self.ready, number, fires, key, record, arena)?;
            if fires {
                let shown = self.shown(next, number.into_iter(), arena)?;
                self.out.push(key, window, Some(shown), false, arena)?;
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

    /// What a window shows at once that lives on; `numbers`: the windows whose records come before a new one.
    fn shown<'a>(&mut self, next: Next<'a>, numbers: impl Iterator<Item = usize>, arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'r: 'a,
    {
        let ready = self.ready;
        match next {
            Next::Whole(value) => ready.result(value, arena),
            Next::Record(record) => ready.result(self.entries.list(numbers, record, arena).copied(arena), arena),
            Next::Root(root) => self.entries.with_heap(|heap| ready.result_of(root, true, heap, arena)),
            Next::Int(..) => Err(Doubt),
        }
    }

    /// Puts into a window what will be there, and registers its timers.
    #[inline]
    fn put(&mut self, number: usize, next: &Next<'_>) {
        self.entries.put(number, next, &mut self.kept);
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
        let (whole, mut parts) = self.entries.touching(window, hash, key, arena);
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
        let next = self.entries.next_merged(self.ready, parts, key, record, arena)?;
        let (first, _) = parts.split_first().ok_or(Doubt)?;
        if whole.last() <= self.watermark {
            let shown = self.shown(next, parts.iter().map(|part| part.1), arena)?;
            self.out.push(key, whole, Some(shown), false, arena)?;
        }
        let number = self.entries.create(hash, key, whole, self.entries.kept(first.1));
        if whole.last() > self.watermark {
            self.entries.register_end(number);
        }
        self.entries.hand_on(first.1, number);
        if let Next::Root(root) = next {
            self.entries.hand_on_root(root, parts);
        }
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
            self.entries.pass_on(part, number);
            self.entries.empty(part);
            self.entries.retire(part);
        }
    }
}
