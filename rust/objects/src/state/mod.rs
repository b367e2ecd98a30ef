//! The state of process functions: what a handle's methods, its time to live and the timers do for each record, on the same
//! tables as Python's handles.
//!
//! The classes here are bases: `penstock.runtime.state.native_handles` puts them in front of the Python classes, whose
//! methods run where something is not as usual (no key, a window's namespace, a key with NaN).

mod collections;
mod folds;
mod handle;
mod living;
mod member;
mod service;
mod table;
mod timer_moves;
mod timer_names;
mod timers;

pub use collections::{ListState, MapState};
pub use folds::{AggregatingState, ReducingState};
pub use handle::{Handle, ValueState};
pub use living::{Lifetime, LivingValueState};
pub use service::TimerService;
pub use timers::{Timer, TimerQueue};
