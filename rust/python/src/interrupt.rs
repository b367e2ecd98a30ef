//! Long work without the interpreter lock, which Ctrl-C can call off.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use penstock_planner::work::cancel::{Cancelled, Token, catch};
use pyo3::prelude::*;

/// How often a waiting call looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Runs work in a thread of its own, without the interpreter lock. Python handles signals in its main thread only, so that
/// thread waits here and looks for them; a handler that raises, as that of Ctrl-C does, calls the work off.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let token = Token::default();
    let (done, finished) = sync_channel::<()>(1);
    py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _done = done; // dropped when the work ends, however it ends
                catch(&token, work)
            });
            let mut raised = None;
            while raised.is_none() && finished.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                raised = Python::attach(|py| py.check_signals()).err();
                raised.iter().for_each(|_| token.cancel());
            }
            match (worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), raised) {
                (_, Some(error)) => Err(error),
                (Ok(value), None) => Ok(value),
                (Err(Cancelled), None) => unreachable!("only a signal cancels"),
            }
        })
    })
}
