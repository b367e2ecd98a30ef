//! The timers of windows, and which of their moves the state in Python does not know yet.

use super::entries::{ASKED, CLEANS, ENDS, Entries, KNOWN, LISTED};
use crate::tables::timers::Timer;

/// Moves of timers that are always noted one by one.
const FEW_MOVES: usize = 100;

impl Entries {
    /// Something has come into a window: its timers are registered, or its trigger is to be asked.
    #[inline]
    pub fn enter(&mut self, number: usize) {
        if let Some(entered) = &mut self.entered {
            if self.flags[number] & ASKED == 0 {
                self.flags[number] |= ASKED;
                entered.push(number as u32);
            }
            return;
        }
        self.register_end(number);
        self.register_cleanup(number);
    }

    #[inline]
    pub(super) fn register(&mut self, number: usize, which: u16, time: i64) {
        if self.flags[number] & which == 0 {
            self.flags[number] |= which;
            let id = id(number, which);
            self.timers.add(Timer { time, id });
            self.moved(true, id);
        }
    }

    /// Takes a window's timers back.
    pub fn unregister(&mut self, number: usize) {
        for which in [ENDS, CLEANS] {
            if self.flags[number] & which != 0 {
                self.flags[number] &= !which;
                self.timers.remove(id(number, which));
                self.moved(false, id(number, which));
            }
        }
    }

    /// The window of the first timer, and the time, if it is due.
    #[inline]
    pub fn due(&self, limit: i64) -> Option<(usize, i64)> {
        self.timers.first().filter(|timer| timer.time <= limit).map(|timer| ((timer.id >> 1) as usize, timer.time))
    }

    /// The windows of timers that probably come next.
    pub fn soon(&self, most: usize) -> impl Iterator<Item = usize> + '_ {
        self.timers.soon(most).map(|id| (id >> 1) as usize)
    }

    /// Takes the first timer out.
    pub fn poll(&mut self) {
        if let Some(timer) = self.timers.poll() {
            self.flags[(timer.id >> 1) as usize] &= !if timer.id & 1 == 0 { ENDS } else { CLEANS };
            self.moved(false, timer.id);
        }
    }

    pub(super) fn moved(&mut self, added: bool, id: u32) {
        if self.outgrown {
            return;
        }
        self.moves.push((added, id));
        if self.moves.len() > 2 * self.timers.len() + FEW_MOVES {
            self.forget_moves();
            self.outgrown = true;
        }
    }

    fn forget_moves(&mut self) {
        self.moves.clear();
        self.release();
    }

    /// Nobody asks for windows that are over, unless Python has them.
    pub fn release(&mut self) {
        let (flags, free) = (&self.flags, &mut self.free);
        self.gone.retain(|&number| {
            let wanted = flags[number as usize] & (KNOWN | LISTED) != 0;
            if !wanted {
                free.push(number);
            }
            wanted
        });
    }
}

/// The id of one of a window's timers.
pub(super) fn id(number: usize, which: u16) -> u32 {
    (number as u32) << 1 | u32::from(which == CLEANS)
}
