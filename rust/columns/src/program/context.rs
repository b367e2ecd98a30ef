//! Programs out of JSON: what a function of a keyed stream asks of its context, and does to its state and timers.

use serde_json::Value as Json;

use super::parse::Scope;
use super::{Expr, Statement};
use crate::json::{Malformed, malformed, number, text};

/// Side outputs of a function at the most.
const MOST_TAGS: u32 = 1 << 12;

/// What a function does to the state of its key, by the number of the state, or to its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A value takes the place of the one before.
    Update(u32),
    /// What is there has changed where it is.
    Store(u32),
    /// Something was added to what was there.
    Combine(u32),
    /// An item comes behind those of a list.
    Add(u32),
    /// Several do.
    Extend(u32),
    /// A list takes the place of the one before.
    Replace(u32),
    /// Nothing is left.
    Clear(u32),
    /// A map gets what is in a dict.
    PutAll(u32),
    /// A map loses a key.
    Remove(u32),
    /// A timer is registered.
    Register(Domain),
    /// One is deleted.
    Delete(Domain),
}

/// What it is for that a function asks whether a state has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// To know whether what it has of it is there.
    Held,
    /// To show it.
    Readable,
    /// To add something to it.
    Usable,
}

/// The time of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// That of records.
    Event,
    /// That of the clock.
    Clock,
}

/// What a map state is asked for as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its keys.
    Keys,
    /// Their values.
    Values,
    /// Both.
    Items,
    /// Of any state: what the windows have of it that have become this one.
    Merged,
}

/// What a function asks of its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// The key.
    Key,
    /// The timestamp of the record, or the time of the timer.
    Time,
    /// The watermark.
    Watermark,
    /// The timestamp of the left record of a pair.
    Left,
    /// That of the right one.
    Right,
    /// The time of the clock.
    Now,
    /// None for a record, 0 for a timer of event time, 1 for one of the clock.
    Domain,
}

impl Change {
    /// The number of the state that changes, if one does.
    #[inline]
    pub fn state(self) -> Option<usize> {
        match self {
            Self::Update(state) | Self::Store(state) | Self::Combine(state) | Self::Add(state) | Self::Extend(state) => {
                Some(state as usize)
            }
            Self::Replace(state) | Self::Clear(state) | Self::PutAll(state) | Self::Remove(state) => Some(state as usize),
            Self::Register(_) | Self::Delete(_) => None,
        }
    }
}

impl Around {
    pub(super) fn parse(json: &Json) -> Result<Self, Malformed> {
        match text(json)? {
            "key" => Ok(Self::Key),
            "time" => Ok(Self::Time),
            "watermark" => Ok(Self::Watermark),
            "left" => Ok(Self::Left),
            "right" => Ok(Self::Right),
            "now" => Ok(Self::Now),
            "domain" => Ok(Self::Domain),
            other => Err(malformed(format!("{other:?} is not known of a context"))),
        }
    }
}

impl Scope<'_> {
    /// A change of state or timers, or a result for a side output; `None` for another statement.
    pub(super) fn change(&mut self, name: &str, rest: &[Json]) -> Result<Option<Statement>, Malformed> {
        if let ("side", [tag, value]) = (name, rest) {
            let tag = u32::try_from(number(tag)?).ok().filter(|&tag| tag < MOST_TAGS);
            let tag = tag.ok_or_else(|| malformed("there are too many side outputs"))?;
            return Ok(Some(Statement::Side(tag, self.expr(value)?)));
        }
        let (change, value) = match (name, rest) {
            ("update", [state, value]) => (Change::Update(self.state(state)?), self.expr(value)?),
            ("store", [state, value]) => (Change::Store(self.state(state)?), self.expr(value)?),
            ("combine", [state, value]) => (Change::Combine(self.state(state)?), self.expr(value)?),
            ("add", [state, value]) => (Change::Add(self.state(state)?), self.expr(value)?),
            ("extend", [state, items]) => (Change::Extend(self.state(state)?), self.iterable(items)?),
            ("replace", [state, items]) => (Change::Replace(self.state(state)?), self.iterable(items)?),
            ("put_all", [state, dict]) => (Change::PutAll(self.state(state)?), self.expr(dict)?),
            ("remove", [state, key]) => (Change::Remove(self.state(state)?), self.expr(key)?),
            ("put_entry", [state, key, value]) => {
                return Ok(Some(Statement::PutEntry(self.state(state)?, self.expr(key)?, self.expr(value)?)));
            }
            ("clear", [state]) => (Change::Clear(self.state(state)?), Expr::None),
            ("register", [time]) => (Change::Register(Domain::Event), self.expr(time)?),
            ("delete", [time]) => (Change::Delete(Domain::Event), self.expr(time)?),
            ("register_by_clock", [time]) => (Change::Register(Domain::Clock), self.expr(time)?),
            ("delete_by_clock", [time]) => (Change::Delete(Domain::Clock), self.expr(time)?),
            _ => return Ok(None),
        };
        Ok(Some(Statement::Change(change, value)))
    }

    /// What state or context are asked for; `None` for another expression.
    pub(super) fn asked(&mut self, name: &str, rest: &[Json]) -> Result<Option<Expr>, Malformed> {
        Ok(Some(match (name, rest) {
            ("state", [state]) => Expr::State(self.state(state)?),
            ("held", [state]) => Expr::Held(self.state(state)?, Asked::Held),
            ("readable", [state]) => Expr::Held(self.state(state)?, Asked::Readable),
            ("usable", [state]) => Expr::Held(self.state(state)?, Asked::Usable),
            ("shown", [state]) => Expr::Shown(self.state(state)?),
            ("around", [asked]) => Expr::Around(Around::parse(asked)?),
            ("map_get", [state, key]) => Expr::Entry(self.state(state)?, Box::new(self.expr(key)?)),
            ("map_has", [state, key]) => Expr::HasEntry(self.state(state)?, Box::new(self.expr(key)?)),
            ("map_empty", [state]) => Expr::NoEntries(self.state(state)?),
            ("map_keys", [state]) => Expr::Entries(self.state(state)?, Part::Keys),
            ("map_values", [state]) => Expr::Entries(self.state(state)?, Part::Values),
            ("merged", [state]) => Expr::Entries(self.state(state)?, Part::Merged),
            ("map_items", [state]) => Expr::Entries(self.state(state)?, Part::Items),
            _ => return Ok(None),
        }))
    }

    /// The number of a state.
    pub(super) fn state(&self, json: &Json) -> Result<u32, Malformed> {
        let state = number(json)?;
        if state < self.states { Ok(state as u32) } else { Err(malformed(format!("there is no state {state}"))) }
    }
}
