//! Independent pieces of one long work, on all cores. The threads end with the call.
//!
//! Order and content of the result do not depend on the number of threads. Cost: one atomic step per piece, so a piece
//! should take some microseconds; work of one piece runs in the calling thread.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::cancel::{catch, checkpoint, current};

/// `piece(0) … piece(count - 1)`, in order. A thread takes the next piece when it has finished one.
pub fn map<T: Send + Sync>(count: usize, piece: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_on(thread::available_parallelism().map_or(1, usize::from), count, piece)
}

fn map_on<T: Send + Sync>(threads: usize, count: usize, piece: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).map(piece).collect();
    }
    let made: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let pieces = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|&at| at < count);
        pieces.for_each(|at| drop(made[at].set(piece(at)))); // nobody else was given this number
    };
    let token = current().unwrap_or_default();
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(|| catch(&token, work)))));
    checkpoint(); // a thread that was called off has left slots empty
    made.into_iter().map(|slot| slot.into_inner().expect("every slot has been filled")).collect()
}

/// Two independent steps side by side, or one after the other where the work is too little for a thread.
pub fn both<A: Send, B>(worth_a_thread: bool, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if !worth_a_thread || thread::available_parallelism().map_or(1, usize::from) == 1 {
        return (one(), other());
    }
    let token = current().unwrap_or_default();
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| catch(&token, one));
        let second = other();
        (first.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
    });
    checkpoint(); // leaves if the thread was called off
    (first.expect("only this token calls it off"), second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::cancel::{Cancelled, Token};

    #[test]
    fn results_stand_in_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 5, 1000] {
                assert_eq!(map_on(threads, count, |at| at * at), (0..count).map(|at| at * at).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn threads_work_under_the_token_of_their_caller() {
        let token = Token::default();
        let result = catch(&token, || {
            map_on(3, 1000, |at| {
                if at == 10 {
                    token.cancel();
                }
                checkpoint();
            })
        });
        assert_eq!(result.unwrap_err(), Cancelled);
    }

    #[test]
    #[should_panic(expected = "scoped thread panicked")]
    fn other_panics_pass_through() {
        map_on(2, 4, |at| assert_ne!(at, 3));
    }

    #[test]
    fn two_steps_give_both_results() {
        for worth_a_thread in [false, true] {
            assert_eq!(both(worth_a_thread, || 1, || "two"), (1, "two"));
        }
    }
}
