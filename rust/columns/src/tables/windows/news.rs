//! What the state in Python does not know of the windows here; and how they come from there.

use bumpalo::Bump;

use super::entries::{CHANGED, CLEANS, DEAD, ENDS, Entries, FULL, GONE, KNOWN, LISTED, Window};
use super::moves::id;
use crate::batch::Batch;
use crate::column::{Builder, Refusal};
use crate::heap::Tree;
use crate::tables::timers::Timer;
use crate::value::{Doubt, Value};

/// Rows of a batch at the most.
const MOST_ROWS: usize = 1 << 16;

/// What has changed since the last time. Each is to be applied before the next one.
#[derive(Debug, Default)]
pub struct News {
    /// Windows with nothing in them any more: key, start, end.
    pub removed: Vec<Batch>,
    /// What is in windows: key, start, end, contents.
    pub values: Vec<Batch>,
    /// Of which of these Python has contents.
    pub known: Vec<bool>,
    /// What is in these windows, where accumulators are changed in place; then there is None in `values`.
    pub contents: Vec<Tree>,
    /// Windows that merge and are over: key, start, end.
    pub unlisted: Vec<Batch>,
    /// New windows that merge: key, start, end, and start and end of the one under whose name the contents are.
    pub listed: Vec<Batch>,
    /// Whether `timers` are all timers, as they are in the heap, or what has been done with them.
    pub all: bool,
    /// Whether it was added, time, key, start, end.
    pub timers: Vec<Batch>,
}

/// Tuples that become batches.
#[derive(Default)]
pub(in crate::tables) struct Rows {
    builder: Builder,
    done: Vec<Batch>,
}

impl Rows {
    pub fn push(&mut self, fields: &[Value<'_>]) -> Result<(), Doubt> {
        if self.builder.len() == MOST_ROWS {
            self.end();
        }
        match self.builder.push(Value::Tuple(fields)) {
            Ok(()) => Ok(()),
            Err(Refusal::Misfit) if !self.builder.is_empty() => {
                self.end();
                self.builder.push(Value::Tuple(fields)).map_err(|_| Doubt)
            }
            Err(_) => Err(Doubt),
        }
    }

    fn end(&mut self) {
        let builder = std::mem::take(&mut self.builder);
        if !builder.is_empty() {
            self.done.extend(Batch::new(builder.finish(), None));
        }
    }

    pub fn finish(mut self) -> Vec<Batch> {
        self.end();
        self.done
    }
}

impl Entries {
    /// What Python does not know. It counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<News, Doubt> {
        let news = self.gathered()?;
        for &number in &self.gone {
            self.flags[number as usize] &= !(KNOWN | LISTED);
            self.free.push(number);
        }
        for &number in &self.changed {
            let flags = &mut self.flags[number as usize];
            *flags &= !(CHANGED | KNOWN | if *flags & DEAD != 0 { LISTED } else { 0 });
            if *flags & GONE == 0 {
                let listed = self.merging && *flags & DEAD == 0;
                *flags |= if *flags & FULL != 0 { KNOWN } else { 0 } | if listed { LISTED } else { 0 };
            }
        }
        self.changed.clear();
        self.gone.clear();
        self.moves.clear();
        self.outgrown = false;
        Ok(news)
    }

    fn gathered(&self) -> Result<News, Doubt> {
        let [mut removed, mut values, mut unlisted, mut listed, mut timers] = [(); 5].map(|()| Rows::default());
        let (mut arena, mut contents, mut known) = (Bump::new(), Vec::new(), Vec::new());
        let live = |number: &&u32| self.flags[**number as usize] & GONE == 0;
        for &number in self.gone.iter().chain(self.changed.iter().filter(live)) {
            let (number, flags) = (number as usize, self.flags[number as usize]);
            let (key, window, kept) = (self.key(number, &arena), self.windows[number], self.kept(number));
            let [start, end, kept_start, kept_end] = [window.start, window.end, kept.start, kept.end].map(Value::Int);
            contents.extend(self.tree(number));
            known.extend(self.is_full(number).then_some(flags & KNOWN != 0));
            match self.value(number, &arena) {
                Some(Value::Object(_)) => values.push(&[key, kept_start, kept_end, Value::None])?,
                Some(value) => values.push(&[key, kept_start, kept_end, value])?,
                None if flags & KNOWN != 0 => removed.push(&[key, kept_start, kept_end])?,
                None => {}
            }
            let over = flags & (GONE | DEAD) != 0;
            if over && flags & LISTED != 0 {
                unlisted.push(&[key, start, end])?;
            } else if !over && flags & LISTED == 0 && self.merging {
                listed.push(&[key, start, end, kept_start, kept_end])?;
            }
            arena.reset();
        }
        let mut move_of = |added: bool, id: u32| {
            let number = (id >> 1) as usize;
            let window = self.windows[number];
            let time = if id & 1 == 0 { window.last() } else { self.cleanup(window) };
            let row = [Value::Bool(added), Value::Int(time), self.key(number, &arena), Value::Int(window.start), Value::Int(window.end)];
            timers.push(&row)
        };
        if self.outgrown {
            self.timers.all().iter().try_for_each(|timer| move_of(true, timer.id))?;
        } else {
            self.moves.iter().try_for_each(|&(added, id)| move_of(added, id))?;
        }
        let [removed, values, unlisted, listed, timers] = [removed, values, unlisted, listed, timers].map(Rows::finish);
        Ok(News { removed, values, known, contents, unlisted, listed, all: self.outgrown, timers })
    }

    /// Takes the state of Python, in the form of [`News`]; all timers, as they are in the heap. Nothing is here before.
    /// Doubt: something of it cannot be here.
    pub fn load(&mut self, listed: &[Batch], values: &[Batch], timers: &[Batch], contents: &[Tree]) -> Result<(), Doubt> {
        let mut arena = Bump::new();
        each(listed, &mut arena, |fields, _| {
            let &[key, start, end, kept_start, kept_end] = fields else { return Err(Doubt) };
            let number = self.made(key, window(start, end)?, window(kept_start, kept_end)?)?;
            self.flags[number] |= LISTED;
            Ok(())
        })?;
        self.load_values(values, contents, &mut arena)?;
        self.settle(true);
        self.load_timers(timers, &mut arena)?;
        for &number in &self.changed {
            self.flags[number as usize] &= !CHANGED;
        }
        self.changed.clear();
        Ok(())
    }

    fn load_values(&mut self, values: &[Batch], contents: &[Tree], arena: &mut Bump) -> Result<(), Doubt> {
        let mut contents = contents.iter();
        each(values, arena, |fields, _| {
            let &[key, start, end, value] = fields else { return Err(Doubt) };
            let kept = window(start, end)?;
            let hash = self.hash(key)?;
            let number = if self.merging {
                self.of_key(hash, key).find(|&number| self.kept(number) == kept).ok_or(Doubt)?
            } else {
                self.made(key, kept, kept)?
            };
            if let Some(tree) = contents.next() {
                let root = self.with_heap(|heap| heap.borrow_mut().plant(tree))?;
                self.set_root(number, root);
            } else {
                if self.objects.is_some() || !self.admits(key, value) {
                    return Err(Doubt);
                }
                self.set(number, value);
            }
            self.flags[number] |= KNOWN;
            Ok(())
        })
    }

    fn load_timers(&mut self, timers: &[Batch], arena: &mut Bump) -> Result<(), Doubt> {
        each(timers, arena, |fields, _| {
            let &[Value::Int(time), key, start, end] = fields else { return Err(Doubt) };
            let window = window(start, end)?;
            let number = match self.find(self.hash(key)?, key, window) {
                Some(number) => number,
                None if self.merging => return Err(Doubt),
                None => self.made(key, window, window)?,
            };
            let which = if time == window.last() { ENDS } else { CLEANS };
            if (which == CLEANS && time != self.cleanup(window)) || self.flags[number] & which != 0 {
                return Err(Doubt);
            }
            self.flags[number] |= which;
            self.timers.fill(Timer { time, id: id(number, which) });
            Ok(())
        })
    }

    pub(super) fn made(&mut self, key: Value<'_>, window: Window, kept: Window) -> Result<usize, Doubt> {
        let hash = self.hash(key)?;
        match self.find(hash, key, window) {
            Some(number) => Ok(number),
            None if self.admits(key, Value::None) => Ok(self.create(hash, key, window, kept)),
            None => Err(Doubt),
        }
    }
}

pub(super) fn window(start: Value<'_>, end: Value<'_>) -> Result<Window, Doubt> {
    match (start, end) {
        (Value::Int(start), Value::Int(end)) => Ok(Window { start, end }),
        _ => Err(Doubt),
    }
}

/// Each row of some batches of tuples.
pub(in crate::tables) fn each(
    batches: &[Batch],
    arena: &mut Bump,
    mut take: impl FnMut(&[Value<'_>], &Bump) -> Result<(), Doubt>,
) -> Result<(), Doubt> {
    for batch in batches {
        for row in 0..batch.len() {
            let Value::Tuple(fields) = batch.records().get(row, arena) else { return Err(Doubt) };
            take(fields, arena)?;
            arena.reset();
        }
    }
    Ok(())
}
