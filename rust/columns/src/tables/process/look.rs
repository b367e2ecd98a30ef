//! The look at a few values of any keys with each access to a state, and what it does to that of the key whose turn it is.

use bumpalo::collections::Vec as Items;

use super::held::Held;
use super::life::Life;
use super::sweep::{OWN, Swept};
use super::turn::{New, Turn};
use crate::value::{Doubt, Value};

impl<'a> Turn<'a> {
    /// Looks at the next few values, of any key. A list or a map counts by its length: after a long one there is a pause.
    pub(super) fn sweep(&mut self, state: usize, life: Life) -> Result<(), Doubt> {
        let Some(sweep) = self.store.sweeps.of(state) else { return Ok(()) };
        let at = self.swept.iter().position(|swept| swept.state == state).unwrap_or_else(|| {
            self.swept.push(Swept { state, round: None, next: sweep.next, credit: sweep.credit });
            self.swept.len() - 1
        });
        let credit = self.swept[at].credit.min(0) + life.size;
        self.swept[at].credit = credit;
        if credit <= 0 {
            return Ok(());
        }
        let mut place = self.next_place(at);
        if place.is_none() {
            let round = self.round(state, life);
            (self.swept[at].round, self.swept[at].next) = (Some(round), 0);
            place = self.next_place(at);
        }
        while let Some(number) = place {
            let length = self.look_at(state, number, life)?;
            self.swept[at].credit -= length.max(1);
            place = if self.swept[at].credit > 0 { self.next_place(at) } else { None };
        }
        Ok(())
    }

    /// The next number of a round.
    fn next_place(&mut self, at: usize) -> Option<u32> {
        let swept = &mut self.swept[at];
        let round = swept.round.as_deref().or_else(|| self.store.sweeps.of(swept.state).map(|sweep| &*sweep.round))?;
        let number = round.get(swept.next).copied()?;
        swept.next += 1;
        Some(number)
    }

    /// The numbers that a new round looks at.
    fn round(&self, state: usize, life: Life) -> Vec<u32> {
        let own = self.is_full(state);
        let stays = own && !self.was_emptied(state);
        let has = |number: usize| {
            let held = self.store.held(state, number);
            match held {
                Held::Nothing => false,
                _ if Some(number) == self.number => stays,
                _ => !self.is_trimmed(state, number) || self.lengths(held, life).1 > 0,
            }
        };
        let Some(sweep) = self.store.sweeps.of(state) else { return Vec::new() };
        let mut round: Vec<u32> = sweep.places(has).collect();
        let listed = self.number.is_some_and(|number| stays && !matches!(self.store.held(state, number), Held::Nothing));
        if own && !listed {
            round.push(OWN);
        }
        round
    }

    fn is_trimmed(&self, state: usize, number: usize) -> bool {
        self.trimmed.contains(&(state, number))
    }

    /// How many values there are, and how many of them are not over.
    fn lengths(&self, held: &Held, life: Life) -> (usize, usize) {
        let lives = |stored: Value<'_>| usize::from(!life.has_ended(stored, self.when.now));
        match held {
            Held::Nothing | Held::Buffer(_) => (0, 0),
            Held::Value(value) => (1, lives(value.value())),
            Held::List(items) => (items.len(), items.iter().map(|item| lives(item.value())).sum()),
            Held::Map(map) => (map.len(), map.entries().map(|(_, _, _, value)| lives(value.value())).sum()),
        }
    }

    /// Notes that what is over of a key is removed. Gives how many values there were.
    fn look_at(&mut self, state: usize, number: u32, life: Life) -> Result<i64, Doubt> {
        if number == OWN || Some(number as usize) == self.number {
            return self.look_at_own(state, life);
        }
        let place = number as usize;
        let (all, live) = self.lengths(self.store.held(state, place), life);
        if all == live {
            return Ok(all as i64);
        }
        if self.is_trimmed(state, place) {
            return Ok(live as i64);
        }
        self.trimmed.push((state, place));
        Ok(all as i64)
    }

    fn look_at_own(&mut self, state: usize, life: Life) -> Result<i64, Doubt> {
        if !self.is_full(state) {
            return Ok(0);
        }
        match self.new_of(state) {
            Some(New::Map(_)) => return self.trim_entries(state, life),
            None if matches!(self.held(state), Held::Map(_)) => return self.trim_entries(state, life),
            _ => {}
        }
        let now = self.when.now;
        match self.stored(state)? {
            Value::List(stored) if self.is_list(state) => {
                let mut live = Items::with_capacity_in(stored.len(), self.arena);
                live.extend(stored.iter().copied().filter(|&item| !life.has_ended(item, now)));
                if live.is_empty() {
                    self.empty(state);
                } else if live.len() < stored.len() {
                    self.set_whole(state, Value::List(live.into_bump_slice()));
                }
                Ok(stored.len() as i64)
            }
            stored => {
                if life.has_ended(stored, now) {
                    self.empty(state);
                }
                Ok(1)
            }
        }
    }

    /// Removes what is over from the map of the key. Gives how many entries there were.
    fn trim_entries(&mut self, state: usize, life: Life) -> Result<i64, Doubt> {
        let all = self.stored_entries(state)?;
        let mut over = Items::new_in(self.arena);
        over.extend(all.iter().copied().filter(|&(_, _, stored)| life.has_ended(stored, self.when.now)));
        if !over.is_empty() {
            self.forget_entries(state, &over)?;
        }
        Ok(all.len() as i64)
    }
}
