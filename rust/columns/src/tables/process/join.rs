//! Pairs of the records of two inputs whose times lie within bounds of each other. The records of both wait in buffers until
//! the watermark says that no partner can come any more; a timer of each time tells.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::buffer::Group;
use super::changes::register;
use super::held::{Held, Step};
use super::{Bounds, Domain, Kind, ProcessSpec, Run, Turned};
use crate::column::Refusal;
use crate::machine::{Context, Input, MOST_STEPS};
use crate::program::{Around, Program};
use crate::tables::kept::Kept;
use crate::tables::windows::entries::Window;
use crate::value::{Doubt, Value};

/// Bounds are smaller.
const MOST: i64 = 1 << 62;

/// Whether inputs can be joined.
pub(super) fn fits(spec: &ProcessSpec, bounds: Bounds) -> bool {
    let all = |kind| spec.states.len() == 2 && spec.states.iter().all(|state| state.kind == kind && state.life.is_none());
    let buffers = all(Kind::Buffer) || all(Kind::Frozen);
    let known = (1 - MOST..MOST).contains(&bounds.lower) && (1 - MOST..MOST).contains(&bounds.upper);
    known && spec.inputs.len() == 2 && buffers && spec.on_timer.is_none()
}

impl Bounds {
    /// How far the partners of an input's records may be from these.
    fn of(self, input: usize) -> (i64, i64) {
        if input == 0 { (self.lower, self.upper) } else { (-self.upper, -self.lower) }
    }

    /// How long an input's records wait for partners.
    fn wait(self, input: usize) -> i64 {
        self.of(input).1.max(0)
    }
}

/// The window of an input that stands for a timer: another one for each input and time.
fn window(input: usize, time: i64) -> Window {
    let window = Window::at(time);
    if input == 0 { window } else { Window { start: !time, ..window } }
}

/// What the function of a pair can ask, and what it gives for side outputs.
struct Pair<'a> {
    key: Value<'a>,
    left: i64,
    right: i64,
    sides: Items<'a, (u32, Value<'a>, usize)>,
}

impl<'a> Context<'a> for Pair<'a> {
    fn ask(&mut self, around: Around) -> Result<Value<'a>, Doubt> {
        match around {
            Around::Left => Ok(Value::Int(self.left)),
            Around::Right => Ok(Value::Int(self.right)),
            Around::Time => Ok(Value::Int(self.left.max(self.right))),
            Around::Key => Ok(self.key),
            Around::Watermark | Around::Now | Around::Domain => Err(Doubt),
        }
    }

    fn side(&mut self, tag: u32, value: Value<'a>, before: usize) -> Result<(), Doubt> {
        self.sides.push((tag, value, before));
        Ok(())
    }
}

impl Run<'_> {
    /// A record of an input. When it is refused nothing has changed but what is out.
    pub(super) fn try_join(
        &mut self,
        (side, bounds): (usize, Bounds),
        function: &Program,
        constants: &[Value<'_>],
        turned: &Turned<'_>,
        arena: &Bump,
    ) -> Result<(), Refusal> {
        let Turned { key, input, when, .. } = *turned;
        let hash = self.store.hash(key)?;
        let time = when.time.ok_or(Doubt)?;
        if time < when.watermark {
            return Ok(());
        }
        let number = self.store.find(hash, key);
        if let Some(number) = number {
            self.pairs((side, bounds), (function, constants), (key, number), (input, time))?;
        }
        let due = window(side, time.checked_add(bounds.wait(side)).ok_or(Doubt)?);
        let step = Step::Insert(time, Kept::new(input.value(arena))?);
        let fits = self.store.admits_step(side, &step) && self.store.admits(key);
        let timers = self.timers.of(Domain::Event);
        if !fits || !timers.has_room(1) || !timers.admits(key, Value::None) {
            return Err(Refusal::Doubt);
        }
        let number = number.unwrap_or_else(|| self.store.create(hash, key));
        self.store.apply(side, number, step);
        register(timers, (hash, key), due);
        Ok(())
    }

    /// Calls the function for a record with each of its partners.
    fn pairs(
        &mut self,
        (side, bounds): (usize, Bounds),
        (function, constants): (&Program, &[Value<'_>]),
        (key, number): (Value<'_>, usize),
        (input, time): (Input<'_>, i64),
    ) -> Result<(), Refusal> {
        let Held::Buffer(partners) = self.store.held(1 - side, number) else { return Ok(()) };
        let (lower, upper) = bounds.of(side);
        let (first, last) = (i128::from(time) + i128::from(lower), i128::from(time) + i128::from(upper));
        partners.between(first, last, &mut self.groups);
        for at in self.groups.iter().flat_map(|(_, _, range): &Group| range.clone()) {
            let (when, partner) = partners.get(at);
            let partner = Input::Value(partner);
            let (mut inputs, left, right) = if side == 0 { ([input, partner], time, when) } else { ([partner, input], when, time) };
            let mut pair = Pair { key, left, right, sides: Items::new_in(&self.of_pair) };
            let result = function.call_in(Some(&mut pair), constants, &mut inputs, &self.of_pair, &mut MOST_STEPS.clone())?;
            self.out.push(result, &pair.sides, Some(time.max(when)), &self.of_pair)?;
            drop(pair);
            self.of_pair.reset();
        }
        Ok(())
    }

    /// No partner can come any more for the records of the time that a timer stands for.
    pub(super) fn forget(&mut self, bounds: Bounds, (timer, due): (usize, i64), arena: &Bump) {
        let timers = self.timers.of(Domain::Event);
        let key = timers.key(timer, arena);
        let side = usize::from(timers.window(timer) != window(0, due));
        let number = self.store.hash(key).ok().and_then(|hash| self.store.find(hash, key));
        if let (Some(number), Some(time)) = (number, due.checked_sub(bounds.wait(side))) {
            self.store.apply(side, number, Step::Drop(time));
            self.store.retire(number);
        }
    }
}
