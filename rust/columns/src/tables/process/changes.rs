//! What a function has done for a record or a timer, done to the state and the timers of all keys when it has ended.

use super::held::Step;
use super::store::Store;
use super::sweep::Swept;
use super::timers::Timers;
use crate::program::Domain;
use crate::tables::windows::entries::{Entries, Window};
use crate::value::Value;

/// What a function has done to the state and the timers of a key.
#[derive(Default)]
pub(super) struct Changes {
    pub states: Vec<(usize, Step)>,
    /// Whether each is registered, and its time.
    pub timers: Vec<(Domain, bool, i64)>,
    /// How far the look at values that expire has come.
    pub swept: Vec<Swept>,
    /// By state and number: where what is over is removed by that.
    pub trimmed: Vec<(usize, usize)>,
}

impl Changes {
    /// Whether all of it can be done.
    pub(super) fn fit(&self, store: &mut Store, timers: &mut Timers, key: Value<'_>) -> bool {
        self.states.iter().all(|(state, step)| store.admits_step(*state, step))
            && (self.states.is_empty() || store.admits(key))
            && (self.timers.is_empty() || timers.admit(self.timers.len(), key))
    }

    /// Forgets it.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.timers.clear();
        self.swept.clear();
        self.trimmed.clear();
    }

    /// Does it, where it fits; by the clock it is now.
    pub(super) fn apply(&mut self, store: &mut Store, timers: &mut Timers, of_key: ((u64, Value<'_>), Option<usize>), now: i64) {
        let ((hash, key), mut number) = of_key;
        let changed = !self.states.is_empty();
        if changed {
            let own = number.unwrap_or_else(|| store.create(hash, key));
            self.states.drain(..).for_each(|(state, step)| store.apply(state, own, step));
            number = Some(own);
        }
        if !self.swept.is_empty() {
            self.trimmed.drain(..).for_each(|(state, place)| store.trim(state, place, now));
            self.swept.drain(..).for_each(|swept| store.note_swept(swept, number));
        }
        if let (Some(number), true) = (number, changed) {
            store.retire(number);
        }
        for (domain, registered, time) in self.timers.drain(..) {
            let (timers, window) = (timers.of(domain), Window::at(time));
            if registered {
                register(timers, (hash, key), window);
            } else if let Some(number) = timers.find(hash, key, window) {
                timers.clear(number);
            }
        }
    }
}

/// Registers a timer at the end of a window, unless there is one. The key is admitted.
pub(super) fn register(timers: &mut Entries, (hash, key): (u64, Value<'_>), window: Window) {
    if timers.find(hash, key, window).is_none() {
        let number = timers.create(hash, key, window, window);
        timers.register_end(number);
    }
}
