//! Records on their way into windows, and timers: what becomes of the windows of a key. All of it is known before anything
//! changes.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::TriggerSpec;
use super::evictor::Evictor;
use super::state::State;
use super::trigger::{Asked, Decision, Place, When};
use crate::batch::Batch;
use crate::column::Refusal;
use crate::machine::{Input, MOST_STEPS};
use crate::program::Domain;
use crate::tables::kept::Kept;
use crate::tables::windows::Spec;
use crate::tables::windows::assigner::{Assigner, java_order, numbered, panes};
use crate::tables::windows::contents::{Contents, Ready};
use crate::tables::windows::entries::{ASKED, DEAD, Entries, Window};
use crate::tables::windows::next::Next;
use crate::tables::windows::out::Out;
use crate::tables::windows::run::Fate;
use crate::tables::windows::takes::Takes;
use crate::value::{Doubt, Value};

/// A run while it goes.
pub(super) struct Run<'r> {
    pub spec: &'r TriggerSpec,
    /// The constants of the function that gives keys.
    pub of_key: &'r [Value<'r>],
    pub ready: &'r Ready<'r>,
    pub trigger: &'r Asked<'r>,
    /// With its constants.
    pub evictor: Option<(&'r Evictor, &'r [Value<'r>])>,
    pub state: &'r mut State,
    /// The watermark, and the time of the clock.
    pub times: (i64, i64),
    pub out: Out<'r>,
    /// The timers that the trigger registers for each record, if it does nothing else.
    steady: Vec<(Domain, Place)>,
}

impl<'r> Takes<'r> for Run<'r> {
    fn entries(&mut self) -> &mut Entries {
        &mut self.state.entries
    }

    fn out(&mut self) -> &mut Out<'r> {
        &mut self.out
    }

    fn take_one(&mut self, batch: &Batch, row: usize, arena: &Bump) -> Result<Fate, Refusal> {
        let key = &self.spec.windows.key;
        let key = key.call(self.of_key, &mut [Input::Row(batch.records(), row)], arena, &mut MOST_STEPS.clone())?;
        let fate = self.record(batch, row, key, arena);
        self.state.entries.settle(fate.is_ok());
        fate
    }

    fn settle_together(&mut self) {
        self.enter_all();
    }
}

/// What becomes of a window with a record.
struct Step<'a> {
    window: Window,
    number: Option<usize>,
    merged: Option<Merged<'a>>,
    next: Next<'a>,
    decision: Decision<'a>,
    /// The records that an evictor leaves.
    left: Option<&'a [Value<'a>]>,
}

/// What becomes of the windows that become another one.
struct Merged<'a> {
    parts: Items<'a, (Window, usize)>,
    on_merge: Decision<'a>,
    clears: Items<'a, Decision<'a>>,
}

/// A record with its key.
#[derive(Clone, Copy)]
struct Record<'a> {
    input: Input<'a>,
    stamp: Option<i64>,
    key: Value<'a>,
    hash: u64,
}

impl<'r> Run<'r> {
    /// With the constants of functions in an arena.
    pub fn new(
        spec: &'r TriggerSpec,
        (ready, trigger): (&'r Ready<'r>, &'r Asked<'r>),
        state: &'r mut State,
        times: (i64, i64),
        arena: &'r Bump,
    ) -> Self {
        let evictor = spec.evictor.as_ref().map(|evictor| (evictor, evictor.constants(arena)));
        let Spec { assigner, contents, shows, seeing, .. } = &spec.windows;
        let all = matches!(contents, Contents::Elements);
        let out = if assigner.is_timed() { Out::new(&spec.windows, arena) } else { Out::endless(*shows, seeing.as_ref(), all, arena) };
        let (steady, of_key) = (spec.steady().unwrap_or_default(), spec.windows.key.constants(arena));
        Self { spec, of_key, ready, trigger, evictor, state, times, out, steady }
    }

    /// Windows to which something has come at once: their triggers do the same for each record.
    fn enter_all(&mut self) {
        let Self { state, spec, .. } = self;
        let Some(entered) = state.entries.entered.take() else { return };
        for &number in &entered {
            let number = number as usize;
            let window = state.entries.window(number);
            for &(domain, place) in &self.steady {
                state.queues.add(domain, number, place.of(window));
            }
            let cleanup = state.entries.cleanup(window);
            if cleanup < i64::MAX {
                state.queues.add(spec.cleans(), number, cleanup);
            }
            state.release(number);
        }
        state.entries.entered = Some(Vec::new());
    }

    fn is_over(&self, window: Window) -> bool {
        self.spec.event && self.state.entries.cleanup(window) <= self.times.0
    }

    /// A record with this key. When it is refused nothing has changed but what is out.
    fn record<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<Fate, Refusal>
    where
        'r: 'a,
    {
        let record = Record { input: Input::Row(batch.records(), row), stamp: batch.time(row), key, hash: self.state.entries.hash(key)? };
        let time = if self.spec.event { record.stamp } else { Some(self.times.1) }.ok_or(Doubt)?;
        let (mut steps, mut counted) = (Items::new_in(arena), None);
        match self.spec.windows.assigner {
            Assigner::Panes { size, slide, offset } => {
                for window in panes(time, size, slide, offset)? {
                    if !self.is_over(window) {
                        steps.push(self.step(window, record, None, arena)?);
                    }
                }
            }
            Assigner::Sessions { gap } => {
                let window = Window { start: time, end: time.checked_add(gap).ok_or(Doubt)? };
                steps.extend(self.session(window, record, arena)?);
            }
            Assigner::Counted { size, slide } => {
                let (number, place) = self.state.place_of(key)?;
                for window in numbered(place, size, slide) {
                    steps.push(self.step(window, record, None, arena)?);
                }
                counted = Some((number, place + 1));
            }
            Assigner::Global => steps.push(self.step(Window::GLOBAL, record, None, arena)?),
        }
        let taken = !steps.is_empty();
        let mut kept = None;
        for step in steps {
            self.apply(step, record, &mut kept);
        }
        if let Some((number, count)) = counted {
            self.state.seen.set(number, Value::Int(count));
        }
        let late = !taken && self.spec.event && time.checked_add(self.spec.windows.lateness).is_some_and(|time| time <= self.times.0);
        Ok(if late { Fate::Late } else { Fate::Taken })
    }

    /// What becomes of the session that a record's own window and those that touch it become, unless that is over.
    fn session<'a>(&mut self, window: Window, record: Record<'a>, arena: &'a Bump) -> Result<Option<Step<'a>>, Refusal>
    where
        'r: 'a,
    {
        let (whole, mut parts) = self.state.entries.touching(window, record.hash, record.key, arena);
        let (watermark, now) = self.times;
        if parts.iter().all(|&(part, _)| part == whole) && parts.len() < 2 {
            return match (self.is_over(whole), parts.is_empty()) {
                (true, true) => Ok(None),
                (true, false) => Err(Refusal::Doubt),
                (false, _) => self.step(whole, record, None, arena).map(Some),
            };
        }
        let limit = if self.spec.event { watermark } else { now };
        if self.state.entries.cleanup(whole) <= limit || parts.iter().any(|&(part, _)| part == whole) {
            return Err(Refusal::Doubt);
        }
        let size = parts.len() + usize::from(parts.iter().all(|&(part, _)| part != window));
        java_order(&mut parts, size);
        self.step(whole, record, Some(parts), arena).map(Some)
    }

    /// What becomes of a window; `parts`: those that become it.
    fn step<'a>(
        &mut self,
        window: Window,
        record: Record<'a>,
        parts: Option<Items<'a, (Window, usize)>>,
        arena: &'a Bump,
    ) -> Result<Step<'a>, Refusal>
    where
        'r: 'a,
    {
        let number = self.state.find(record.hash, record.key, window)?;
        let mut when = When { stamp: record.stamp, ..self.when(number, window, arena) };
        let merged = parts.map(|parts| self.merged(&mut when, parts, arena)).transpose()?;
        let decision = self.trigger.on_element(record.input, when, arena)?;
        let added = self.added(record, arena);
        let entries = &mut self.state.entries;
        let next = match &merged {
            Some(merged) => entries.next_merged(self.ready, &merged.parts, record.key, added, arena)?,
            None => entries.next(self.ready, number, decision.fires, record.key, added, arena)?,
        };
        let mut left = None;
        if decision.fires {
            let numbers: &[usize] = match (&merged, number) {
                (Some(merged), _) => arena.alloc_slice_fill_iter(merged.parts.iter().map(|&(_, part)| part)),
                (None, Some(number)) => arena.alloc([number]),
                (None, None) => &[],
            };
            let shown = self.shown(next, numbers, !decision.purges, arena)?;
            left = self.admitted(record.key, shown.left)?;
            self.out.push(record.key, window, Some(shown.value), false, arena)?;
        }
        Ok(Step { window, number, merged, next, decision, left })
    }

    /// The record as a window has it.
    fn added<'a>(&self, record: Record<'a>, arena: &'a Bump) -> Input<'a> {
        if !self.evictor.is_some_and(|(evictor, _)| evictor.is_timed()) {
            return record.input;
        }
        let time = record.stamp.map_or(Value::None, Value::Int);
        Input::Value(Value::Tuple(arena.alloc([record.input.value(arena), time])))
    }

    /// What a trigger knows of a window that may be a new one.
    fn when<'a>(&self, number: Option<usize>, window: Window, arena: &'a Bump) -> When<'a> {
        let memory = number.and_then(|number| self.state.memory.get(number)).map(|memory| memory.copied(arena));
        let stays = !self.spec.event || self.state.entries.cleanup(window) == i64::MAX;
        When { window, memory, parts: &[], stamp: None, watermark: self.times.0, now: self.times.1, stays }
    }

    /// What becomes of windows that become another one, and what is remembered of that.
    fn merged<'a>(&self, when: &mut When<'a>, parts: Items<'a, (Window, usize)>, arena: &'a Bump) -> Result<Merged<'a>, Doubt>
    where
        'r: 'a,
    {
        let memories = parts.iter().map(|&(part, number)| self.when(Some(number), part, arena).memory);
        let memories = &*arena.alloc_slice_fill_iter(memories.chain(std::iter::once(when.memory)).collect::<Vec<_>>());
        when.memory = self.trigger.merged(memories)?;
        let on_merge = self.trigger.on_merge(When { parts: &memories[..parts.len()], ..*when }, arena)?;
        if let Some(memory) = &on_merge.memory {
            when.memory = memory.as_ref().map(|memory| memory.value().copied(arena));
        }
        let mut clears = Items::with_capacity_in(parts.len(), arena);
        for (&(part, _), &memory) in parts.iter().zip(memories) {
            let memory = self.trigger.left(memory, &on_merge, arena);
            let mut clear = self.trigger.clear(When { memory, ..self.when(None, part, arena) }, arena)?;
            if clear.memory.is_none() {
                clear.memory = Some(memory.map(Kept::new).transpose()?);
            }
            clears.push(clear);
        }
        Ok(Merged { parts, on_merge, clears })
    }

    fn apply(&mut self, step: Step<'_>, record: Record<'_>, kept: &mut Option<u32>) {
        let Self { state, spec, .. } = self;
        let Step { window, number, merged, next, decision, left } = step;
        let name = merged.as_ref().and_then(|merged| merged.parts.first()).map_or(window, |&(_, first)| state.entries.kept(first));
        let name = match number.filter(|&number| state.entries.flags[number] & DEAD == 0) {
            Some(number) => state.entries.kept(number),
            None => name,
        };
        let number = state.open(number, record.hash, record.key, window, name);
        if let (Some(merged), Next::Root(root)) = (&merged, next) {
            state.entries.hand_on_root(root, &merged.parts);
        }
        if let Some(merged) = merged {
            apply_merged(state, spec.cleans(), merged, number);
        }
        let purges = decision.purges;
        match left {
            _ if purges => state.entries.empty(number),
            Some([]) => state.entries.empty(number),
            Some(left) => state.entries.set(number, Value::List(left)),
            None => state.entries.put(number, &next, kept),
        }
        state.follow(number, decision);
        let cleanup = state.entries.cleanup(window);
        if cleanup < i64::MAX {
            state.queues.add(spec.cleans(), number, cleanup);
        }
        state.release(number);
    }

    /// A timer of a window fires. When it is refused nothing has changed but what is out.
    pub fn fire(&mut self, domain: Domain, number: usize, time: i64, arena: &Bump) -> Result<(), Refusal> {
        if self.state.entries.flags[number] & DEAD != 0 {
            self.state.queues.poll(domain); // it has become another window, and the trigger has left a timer behind
            self.state.release(number);
            return Ok(());
        }
        let window = self.state.entries.window(number);
        let mut when = self.when(Some(number), window, arena);
        let decision = self.trigger.on_time(domain, time, when, arena)?;
        if let Some(memory) = &decision.memory {
            when.memory = memory.as_ref().map(|memory| memory.value().copied(arena));
        }
        let cleans = domain == self.spec.cleans() && time == self.state.entries.cleanup(window);
        let clear = if cleans { Some(self.trigger.clear(when, arena)?) } else { None };
        let key = self.state.entries.key(number, arena).copied(arena);
        let goes_on = !decision.purges && !cleans;
        let shown = if decision.fires { self.contents(number, goes_on, arena)? } else { None };
        let left = self.admitted(key, shown.as_ref().and_then(|shown| shown.left))?;
        let clears = cleans && self.spec.windows.clears;
        if shown.is_some() || clears {
            self.out.push(key, window, shown.map(|shown| shown.value), clears, arena)?;
        }
        self.apply_fired(domain, number, decision, left, clear);
        Ok(())
    }

    fn apply_fired(
        &mut self,
        domain: Domain,
        number: usize,
        decision: Decision<'_>,
        left: Option<&[Value<'_>]>,
        clear: Option<Decision<'_>>,
    ) {
        let state = &mut *self.state;
        state.queues.poll(domain);
        state.entries.flags[number] &= !ASKED;
        match left {
            _ if decision.purges => state.entries.empty(number),
            Some([]) => state.entries.empty(number),
            Some(left) => state.entries.set(number, Value::List(left)),
            None => {}
        }
        state.follow(number, decision);
        if let Some(clear) = clear {
            state.follow(number, clear);
            state.bury(number);
        }
        state.release(number);
    }
}

/// Windows have become another one.
fn apply_merged(state: &mut State, domain: Domain, merged: Merged<'_>, number: usize) {
    if let Some(&(_, first)) = merged.parts.first() {
        state.entries.hand_on(first, number);
    }
    state.follow(number, merged.on_merge);
    for (&(window, part), clear) in merged.parts.iter().zip(merged.clears) {
        state.follow(part, clear);
        state.queues.remove(domain, part, state.entries.cleanup(window));
    }
    for &(_, part) in &merged.parts {
        state.entries.pass_on(part, number);
        state.bury(part);
        state.release(part);
    }
}
