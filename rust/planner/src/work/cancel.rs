//! Calling off work that takes long.
//!
//! Whoever starts a pass may keep a [`Token`] and cancel it from another thread; the pass asks at [`checkpoint`], and the
//! next one leaves it by unwinding (`resume_unwind`: no message, no panic hook) up to [`catch`]. Passes build new values
//! out of immutable ones, so nothing half-made is ever seen. That an interrupt unwinds instead of being returned keeps it
//! out of every signature and lets passes that cannot fail stay so.
//!
//! Cost: a checkpoint is a thread-local load; loops ask once in [`STRIDE`] steps.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of a loop between two checkpoints: well under a millisecond of work.
pub const STRIDE: usize = 1 << 15;

/// The work was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// What calls work off; clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Token(Arc<AtomicBool>);

impl Token {
    /// Call off whatever runs under this token. Work that has finished is not affected.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Token>> = const { RefCell::new(None) };
}

/// Puts the token that was current before back, also when the work unwinds.
struct Restore(Option<Token>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs work under a token.
///
/// # Errors
/// [`Cancelled`] when a checkpoint found the token cancelled. Other panics pass through.
pub fn catch<T>(token: &Token, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    let restore = Restore(CURRENT.replace(Some(token.clone())));
    let result = catch_unwind(AssertUnwindSafe(work));
    drop(restore);
    result.map_err(|payload| if payload.is::<Cancelled>() { Cancelled } else { resume_unwind(payload) })
}

/// The token that the current thread works under: a pass hands it to the threads it starts.
pub fn current() -> Option<Token> {
    CURRENT.with_borrow(Clone::clone)
}

/// Leaves the work if it has been called off; does nothing outside of [`catch`].
pub fn checkpoint() {
    if CURRENT.with_borrow(|token| token.as_ref().is_some_and(Token::is_cancelled)) {
        resume_unwind(Box::new(Cancelled));
    }
}

/// A checkpoint in each [`STRIDE`]-th step of a loop.
#[inline]
pub fn checkpoint_at(step: usize) {
    if step.is_multiple_of(STRIDE) {
        checkpoint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_leaves_the_work_of_its_own_token_only() {
        let (outer, inner) = (Token::default(), Token::default());
        inner.cancel();
        let result = catch(&outer, || {
            assert_eq!(catch(&inner, checkpoint), Err(Cancelled));
            checkpoint();
            7
        });
        assert_eq!(result, Ok(7));
        checkpoint(); // outside of any token
    }

    #[test]
    fn a_loop_stops_within_a_stride() {
        let token = Token::default();
        let mut steps = 0;
        let result = catch(&token, || {
            for step in 1.. {
                checkpoint_at(step);
                steps = step;
                if step == 10 {
                    token.cancel();
                }
            }
        });
        assert_eq!((result, steps), (Err(Cancelled), STRIDE - 1));
    }

    #[test]
    fn other_panics_pass_through() {
        let outcome = catch_unwind(|| catch(&Token::default(), || resume_unwind(Box::new("other"))));
        assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "other");
    }
}
