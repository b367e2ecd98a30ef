//! Triggers: those of Flink, and compiled ones. What one decides changes nothing by itself.

use std::cmp::Ordering;

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::own::{self, Own};
use crate::machine::{Input, MOST_STEPS};
use crate::program::{Domain, Program};
use crate::python::order;
use crate::tables::kept::Kept;
use crate::tables::windows::entries::Window;
use crate::value::{Doubt, Value};

/// When windows fire.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// Never.
    Never,
    /// At their end.
    AtEnd(Domain),
    /// With so many records.
    Count(i64),
    /// At equal distances of time, the next of which it remembers.
    Every(Domain, i64),
    /// With a record that differs by more than a threshold from the one that fired last, which it remembers.
    Delta(Box<Delta>),
    /// As a program says.
    Own(Box<Own>),
}

/// How much two records differ.
#[derive(Clone, Debug)]
pub struct Delta {
    /// What the difference is compared with: a number.
    pub threshold: Value<'static>,
    /// Gives the difference.
    pub function: Program,
}

/// What a trigger knows when it is asked.
#[derive(Clone, Copy)]
pub struct When<'a> {
    pub window: Window,
    /// What it remembers of the window: of a compiled trigger what each of its states has, None for nothing.
    pub memory: Option<Value<'a>>,
    /// What it remembers of the windows that have become this one.
    pub parts: &'a [Option<Value<'a>>],
    /// The timestamp of the record.
    pub stamp: Option<i64>,
    pub watermark: i64,
    /// By the clock.
    pub now: i64,
    /// Whether the window is still there when event time has come to its end.
    pub stays: bool,
}

/// What is to be done.
pub struct Decision<'a> {
    pub fires: bool,
    pub purges: bool,
    /// Timers: whether they are added, and when.
    pub timers: Items<'a, (Domain, bool, i64)>,
    /// What is remembered from now on, if that is something else.
    pub memory: Option<Option<Kept>>,
    /// The states whose values of other windows are in this one now: a bit for each.
    pub merged: u64,
}

/// A trigger with the constants of a run.
pub struct Asked<'p> {
    trigger: &'p Trigger,
    purges: bool,
    constants: own::Constants<'p>,
}

impl Delta {
    /// Whether the function takes two records.
    pub fn fits(&self) -> bool {
        self.function.parameters() == 2 && !self.function.is_iterator()
    }

    /// Whether the difference of two records is on this side of the threshold.
    pub fn is<'a>(
        &'a self,
        side: Ordering,
        constants: &'a [Value<'a>],
        (one, other): (Value<'a>, Value<'a>),
        arena: &'a Bump,
    ) -> Result<bool, Doubt> {
        let inputs = &mut [Input::Value(one), Input::Value(other)];
        let delta = self.function.call(constants, inputs, arena, &mut MOST_STEPS.clone())?;
        Ok(order(delta, self.threshold)? == Some(side))
    }
}

/// A time that a trigger registers a timer for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The same for all windows.
    At(i64),
    /// The last one in the window.
    Last,
    /// Its start.
    Start,
    /// Its end.
    End,
}

impl Place {
    /// The time for a window.
    pub fn of(self, window: Window) -> i64 {
        match self {
            Self::At(time) => time,
            Self::Last => window.last(),
            Self::Start => window.start,
            Self::End => window.end,
        }
    }
}

impl Trigger {
    /// The timers that it registers for each record that is not late, if it does nothing else then; `event`: whether the time of
    /// windows is that of records.
    pub fn steady(&self, event: bool) -> Option<Vec<(Domain, Place)>> {
        match self {
            Self::Never => Some(Vec::new()),
            Self::AtEnd(domain) if event || *domain == Domain::Clock => Some(vec![(*domain, Place::Last)]),
            Self::Own(own) => own.steady(),
            _ => None,
        }
    }

    /// Whether programs take what they will be given, and spans are positive.
    pub fn fits(&self) -> bool {
        match self {
            Self::Every(_, interval) => *interval > 0,
            Self::Delta(delta) => delta.fits(),
            Self::Own(own) => own.fits(),
            Self::Never | Self::AtEnd(_) | Self::Count(_) => true,
        }
    }
}

impl<'a> Decision<'a> {
    pub fn none(arena: &'a Bump) -> Self {
        Self { fires: false, purges: false, timers: Items::new_in(arena), memory: None, merged: 0 }
    }

    fn fire(arena: &'a Bump, fires: bool) -> Self {
        Self { fires, ..Self::none(arena) }
    }

    fn register(mut self, domain: Domain, time: i64) -> Self {
        self.timers.push((domain, true, time));
        self
    }

    fn remember(mut self, value: Option<Value<'_>>) -> Result<Self, Doubt> {
        self.memory = Some(value.map(Kept::new).transpose()?);
        Ok(self)
    }
}

impl<'p> Asked<'p> {
    /// `purges`: whether a window that fires is emptied, whatever the trigger says.
    pub fn new(trigger: &'p Trigger, purges: bool, arena: &'p Bump) -> Self {
        let constants = match trigger {
            Trigger::Delta(delta) => own::Constants::of_one(delta.function.constants(arena)),
            Trigger::Own(own) => own.constants(arena),
            _ => own::Constants::default(),
        };
        Self { trigger, purges, constants }
    }

    /// A record has come.
    pub fn on_element<'a>(&self, record: Input<'a>, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt>
    where
        'p: 'a,
    {
        let last = when.window.last();
        let decision = match self.trigger {
            Trigger::Never => Decision::none(arena),
            Trigger::AtEnd(Domain::Event) | Trigger::Every(Domain::Event, _) if last <= when.watermark => Decision::fire(arena, true),
            Trigger::AtEnd(domain) => Decision::none(arena).register(*domain, last),
            Trigger::Count(size) => {
                let seen = time_of(when.memory)?.unwrap_or(0).checked_add(1).ok_or(Doubt)?;
                let fires = seen >= *size;
                Decision::fire(arena, fires).remember((!fires).then_some(Value::Int(seen)))?
            }
            Trigger::Every(Domain::Event, interval) => {
                first(Decision::none(arena).register(Domain::Event, last), (Domain::Event, *interval), when.stamp, when)?
            }
            Trigger::Every(Domain::Clock, interval) => first(Decision::none(arena), (Domain::Clock, *interval), Some(when.now), when)?,
            Trigger::Delta(delta) => self.delta(delta, record.value(arena), when, arena)?,
            Trigger::Own(own) => own.on_element(&self.constants, record, when, arena)?,
        };
        Ok(self.purging(decision))
    }

    fn delta<'a>(&self, delta: &'a Delta, record: Value<'a>, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt>
    where
        'p: 'a,
    {
        if matches!(record, Value::None) || !record.is_frozen() {
            return Err(Doubt); // somebody could change it while it is remembered
        }
        let fires = delta.is(Ordering::Greater, self.constants.first(), (when.memory.unwrap_or(record), record), arena)?;
        let decision = Decision::fire(arena, fires);
        if fires || when.memory.is_none() { decision.remember(Some(record)) } else { Ok(decision) }
    }

    /// A timer is due.
    pub fn on_time<'a>(&self, domain: Domain, time: i64, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt>
    where
        'p: 'a,
    {
        let fires = |fires| Decision::fire(arena, fires);
        let decision = match self.trigger {
            Trigger::AtEnd(Domain::Event) if domain == Domain::Event => fires(time == when.window.last()),
            Trigger::AtEnd(Domain::Clock) => fires(domain == Domain::Clock),
            Trigger::Every(Domain::Event, _) if domain == Domain::Event && time == when.window.last() => fires(true),
            Trigger::Every(own, interval) if *own == domain => {
                let decision = fires(time_of(when.memory)? == Some(time));
                let goes_on = decision.fires && (when.watermark < i64::MAX || !when.stays);
                if goes_on { next(decision, domain, time.checked_add(*interval))? } else { decision }
            }
            Trigger::Own(own) => own.on_time(&self.constants, domain, time, when, arena)?,
            _ => Decision::none(arena),
        };
        Ok(self.purging(decision))
    }

    /// What is left of the memory of a window that has become another one, as `on_merge` has decided.
    pub fn left<'a>(&self, memory: Option<Value<'a>>, on_merge: &Decision<'_>, arena: &'a Bump) -> Option<Value<'a>> {
        let (Trigger::Own(_), Some(Value::Tuple(values))) = (self.trigger, memory) else { return None };
        let values = values.iter().enumerate();
        let left = values.map(|(state, &value)| if on_merge.merged >> state & 1 == 0 { value } else { Value::None });
        own::memory_of(arena.alloc_slice_fill_iter(left))
    }

    /// What is remembered of windows that become one, before `on_merge` is called; the memory of that one is the last.
    pub fn merged<'a>(&self, parts: &[Option<Value<'a>>]) -> Result<Option<Value<'a>>, Doubt> {
        if let Trigger::Own(_) = self.trigger {
            return Ok(parts.last().copied().flatten());
        }
        let mut merged = None;
        for &part in parts.iter().flatten() {
            let part = time_of(Some(part))?.unwrap_or(0);
            merged = Some(match (merged, self.trigger) {
                (None, _) => part,
                (Some(other), Trigger::Count(_)) => part.checked_add(other).ok_or(Doubt)?,
                (Some(other), Trigger::Every(..)) => part.min(other),
                (Some(_), _) => return Err(Doubt),
            });
        }
        Ok(merged.map(Value::Int))
    }

    /// Windows have become one; of these `when.memory` is remembered.
    pub fn on_merge<'a>(&self, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt>
    where
        'p: 'a,
    {
        let (decision, last) = (Decision::none(arena), when.window.last());
        Ok(match self.trigger {
            Trigger::AtEnd(Domain::Event) if last > when.watermark => decision.register(Domain::Event, last),
            Trigger::AtEnd(Domain::Clock) if last > when.now => decision.register(Domain::Clock, last),
            Trigger::Count(_) => decision.remember(when.memory)?,
            Trigger::Every(domain, _) => match time_of(when.memory)? {
                Some(time) => decision.register(*domain, time).remember(when.memory)?,
                None => decision,
            },
            Trigger::Own(own) => own.on_merge(&self.constants, when, arena)?,
            _ => decision,
        })
    }

    /// A window is over.
    pub fn clear<'a>(&self, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt>
    where
        'p: 'a,
    {
        let mut decision = match self.trigger {
            Trigger::Own(own) => own.clear(&self.constants, when, arena)?,
            _ => Decision::none(arena).remember(None)?,
        };
        match self.trigger {
            Trigger::AtEnd(domain) => decision.timers.push((*domain, false, when.window.last())),
            Trigger::Every(domain, _) => decision.timers.extend(time_of(when.memory)?.map(|time| (*domain, false, time))),
            _ => {}
        }
        Ok(decision)
    }

    fn purging<'a>(&self, mut decision: Decision<'a>) -> Decision<'a> {
        decision.purges |= self.purges && decision.fires;
        decision
    }
}

/// Waits for the next multiple of an interval, if nothing is waited for.
fn first<'a>(decision: Decision<'a>, (domain, interval): (Domain, i64), now: Option<i64>, when: When<'_>) -> Result<Decision<'a>, Doubt> {
    match now {
        Some(now) if time_of(when.memory)?.is_none() => next(decision, domain, (now - now % interval).checked_add(interval)),
        _ => Ok(decision),
    }
}

fn next(decision: Decision<'_>, domain: Domain, time: Option<i64>) -> Result<Decision<'_>, Doubt> {
    let time = time.ok_or(Doubt)?;
    decision.register(domain, time).remember(Some(Value::Int(time)))
}

/// A time or a number that is remembered.
fn time_of(memory: Option<Value<'_>>) -> Result<Option<i64>, Doubt> {
    match memory {
        None => Ok(None),
        Some(Value::Int(time)) => Ok(Some(time)),
        Some(_) => Err(Doubt),
    }
}
