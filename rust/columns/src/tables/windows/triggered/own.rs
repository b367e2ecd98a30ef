//! Triggers of the program, compiled: they know the window, the watermark and the clock, and register timers.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::trigger::{Decision, Place, When};
use crate::machine::{Context, Input, MOST_STEPS};
use crate::program::{Around, Asked, Change, Domain, Expr, Part, Program, Statement};
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// States of a trigger at the most.
const MOST_STATES: usize = 64;

/// The methods of a trigger. All but the first may be missing: then they do nothing.
#[derive(Clone, Debug)]
pub struct Own {
    /// Takes a record, its timestamp or None, and the window.
    pub on_element: Program,
    /// Takes the time of a timer, and the window.
    pub on_event_time: Option<Program>,
    /// The same by the clock.
    pub on_processing_time: Option<Program>,
    /// Takes the window that others have become.
    pub on_merge: Option<Program>,
    /// Takes the window that is over.
    pub clear: Option<Program>,
}

/// The constants of its methods.
#[derive(Clone, Copy, Default)]
pub struct Constants<'p>([&'p [Value<'p>]; 5]);

impl<'p> Constants<'p> {
    pub fn of_one(constants: &'p [Value<'p>]) -> Self {
        Self([constants, &[], &[], &[], &[]])
    }

    pub fn first(&self) -> &'p [Value<'p>] {
        self.0[0]
    }
}

impl Own {
    /// Whether methods take what they will be given.
    pub fn fits(&self) -> bool {
        let takes = |program: &Program, parameters| program.parameters() == parameters && !program.is_iterator();
        let others = [(&self.on_event_time, 2), (&self.on_processing_time, 2), (&self.on_merge, 1), (&self.clear, 1)];
        let few = self.programs().all(|program| program.states() <= MOST_STATES && program.states() == self.states());
        few && takes(&self.on_element, 3)
            && others.iter().all(|(program, count)| program.as_ref().is_none_or(|program| takes(program, *count)))
    }

    /// The timers that it registers for each record, if it does nothing else then.
    pub fn steady(&self) -> Option<Vec<(Domain, Place)>> {
        let (last, statements) = self.on_element.functions[0].body.split_last()?;
        let Statement::Return(Expr::Int(0)) = last else { return None };
        let timer = |statement: &Statement| {
            let Statement::Change(Change::Register(domain), time) = statement else { return None };
            Some((*domain, place(time)?))
        };
        statements.iter().map(timer).collect()
    }

    fn programs(&self) -> impl Iterator<Item = &Program> {
        let others = [&self.on_event_time, &self.on_processing_time, &self.on_merge, &self.clear];
        others.into_iter().flatten().chain([&self.on_element])
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.on_element.states()
    }

    /// The constants of all methods.
    pub fn constants<'p>(&'p self, arena: &'p Bump) -> Constants<'p> {
        let of = |program: &'p Option<Program>| program.as_ref().map_or(&[][..], |program| program.constants(arena));
        let [event, clock, merge, clear] = [&self.on_event_time, &self.on_processing_time, &self.on_merge, &self.clear].map(of);
        Constants([self.on_element.constants(arena), event, clock, merge, clear])
    }

    /// A record has come.
    pub fn on_element<'a>(
        &'a self,
        constants: &Constants<'a>,
        record: Input<'a>,
        when: When<'a>,
        arena: &'a Bump,
    ) -> Result<Decision<'a>, Doubt> {
        let stamp = Input::Value(when.stamp.map_or(Value::None, Value::Int));
        answered(&self.on_element, constants.0[0], &mut [record, stamp, window_of(when, arena)], when, arena)
    }

    /// A timer is due.
    pub fn on_time<'a>(
        &'a self,
        constants: &Constants<'a>,
        domain: Domain,
        time: i64,
        when: When<'a>,
        arena: &'a Bump,
    ) -> Result<Decision<'a>, Doubt> {
        let (program, constants) = match domain {
            Domain::Event => (&self.on_event_time, constants.0[1]),
            Domain::Clock => (&self.on_processing_time, constants.0[2]),
        };
        let inputs = &mut [Input::Value(Value::Int(time)), window_of(when, arena)];
        program.as_ref().map_or_else(|| Ok(Decision::none(arena)), |program| answered(program, constants, inputs, when, arena))
    }

    /// Windows have become one.
    pub fn on_merge<'a>(&'a self, constants: &Constants<'a>, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt> {
        done(self.on_merge.as_ref(), constants.0[3], when, arena)
    }

    /// A window is over.
    pub fn clear<'a>(&'a self, constants: &Constants<'a>, when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt> {
        done(self.clear.as_ref(), constants.0[4], when, arena)
    }
}

fn place(time: &Expr) -> Option<Place> {
    match time {
        Expr::Int(time) => Some(Place::At(*time)),
        Expr::Field(2, 0, _) => Some(Place::Last),
        Expr::Field(2, 1, _) => Some(Place::Start),
        Expr::Field(2, 2, _) => Some(Place::End),
        _ => None,
    }
}

/// The last time in the window, and its ends if it has some.
fn window_of<'a>(when: When<'a>, arena: &'a Bump) -> Input<'a> {
    let window = when.window;
    let all = arena.alloc([window.last(), window.start, window.end].map(Value::Int));
    Input::Value(Value::Tuple(if window.is_endless() { &all[..1] } else { all }))
}

/// What a method that answers has decided: 0, or 1 to fire, 2 to purge, and 3 for both.
fn answered<'a>(
    program: &'a Program,
    constants: &'a [Value<'a>],
    inputs: &mut [Input<'a>],
    when: When<'a>,
    arena: &'a Bump,
) -> Result<Decision<'a>, Doubt> {
    let mut turn = Turn::new(when, program.states(), arena)?;
    let answer = program.call_in(Some(&mut turn), constants, inputs, arena, &mut MOST_STEPS.clone())?;
    let Value::Int(answer @ 0..=3) = answer else { return Err(Doubt) };
    Ok(Decision { fires: answer & 1 != 0, purges: answer & 2 != 0, ..turn.decided(arena)? })
}

/// What a method without an answer does.
fn done<'a>(program: Option<&'a Program>, constants: &'a [Value<'a>], when: When<'a>, arena: &'a Bump) -> Result<Decision<'a>, Doubt> {
    let mut turn = Turn::new(when, program.map_or(0, Program::states), arena)?;
    if let Some(program) = program {
        program.call_in(Some(&mut turn), constants, &mut [window_of(when, arena)], arena, &mut MOST_STEPS.clone())?;
    }
    turn.decided(arena)
}

/// What is remembered of a window, where its states have these; nothing if they have nothing.
pub fn memory_of<'a>(values: &'a [Value<'a>]) -> Option<Value<'a>> {
    let is_something = |value: &Value<'_>| !matches!(value, Value::None);
    values.iter().any(is_something).then_some(Value::Tuple(values))
}

/// What a method asks for, and what it does.
struct Turn<'a> {
    when: When<'a>,
    decision: Decision<'a>,
    /// What the states of the window have, None for nothing.
    values: Items<'a, Value<'a>>,
    /// Whether that is something else than before.
    changed: bool,
    arena: &'a Bump,
}

impl<'a> Turn<'a> {
    fn new(when: When<'a>, states: usize, arena: &'a Bump) -> Result<Self, Doubt> {
        let mut values = Items::with_capacity_in(states, arena);
        match when.memory {
            Some(Value::Tuple(known)) if known.len() == states => values.extend_from_slice_copy(known),
            Some(_) if states > 0 => return Err(Doubt),
            _ => values.resize(states, Value::None),
        }
        Ok(Self { when, decision: Decision::none(arena), values, changed: false, arena })
    }

    /// What is decided, with what is remembered.
    fn decided(mut self, arena: &'a Bump) -> Result<Decision<'a>, Doubt> {
        if self.changed {
            let memory = memory_of(arena.alloc_slice_copy(&self.values));
            self.decision.memory = Some(memory.map(Kept::new).transpose()?);
        }
        Ok(self.decision)
    }

    fn put(&mut self, state: u32, value: Value<'a>) -> Result<(), Doubt> {
        if !value.is_frozen() {
            return Err(Doubt); // somebody could change it while it is there
        }
        self.values[state as usize] = value;
        self.changed = true;
        Ok(())
    }
}

impl<'a> Context<'a> for Turn<'a> {
    fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt> {
        match around {
            Around::Watermark => Ok(Value::Int(self.when.watermark)),
            Around::Now => Ok(Value::Int(self.when.now)),
            _ => Err(Doubt),
        }
    }

    fn state(&mut self, number: u32) -> Result<Value<'a>, Doubt> {
        Ok(self.values[number as usize])
    }

    fn has(&mut self, state: u32, _: Asked) -> Result<bool, Doubt> {
        Ok(!matches!(self.values[state as usize], Value::None))
    }

    fn shown(&mut self, state: u32) -> Result<Value<'a>, Doubt> {
        Ok(self.values[state as usize])
    }

    fn entries(&mut self, state: u32, part: Part) -> Result<Value<'a>, Doubt> {
        if part != Part::Merged || self.decision.merged >> state & 1 != 0 {
            return Err(Doubt);
        }
        let mut merged = Items::new_in(self.arena);
        for part in self.when.parts.iter().flatten() {
            let Value::Tuple(values) = part else { return Err(Doubt) };
            merged.extend(values.get(state as usize).filter(|value| !matches!(value, Value::None)).copied());
        }
        self.decision.merged |= 1 << state;
        Ok(Value::List(merged.into_bump_slice()))
    }

    fn change(&mut self, change: Change, value: Value<'a>) -> Result<(), Doubt> {
        let (adds, domain) = match change {
            Change::Combine(_) if matches!(value, Value::None) => return Err(Doubt),
            Change::Update(state) | Change::Combine(state) => return self.put(state, value),
            Change::Clear(state) => return self.put(state, Value::None),
            Change::Register(domain) => (true, domain),
            Change::Delete(domain) => (false, domain),
            _ => return Err(Doubt),
        };
        let Value::Int(time) = value else { return Err(Doubt) };
        self.decision.timers.push((domain, adds, time));
        Ok(())
    }
}
