//! What Python's operations mean on values: exactly as CPython 3.10 to 3.14 has it, or [`Doubt`].
//!
//! What raises, overflows 64 bits, or depends on the version of Unicode, on the locale or on hashes is doubtful, and so is what
//! takes more room than [`MOST_BYTES`] or [`MOST_ITEMS`]. Functions are found by name and number of arguments once, when a
//! program is read. Optional arguments are left off at the end. Functions whose result in Python is an iterator or a view
//! ([`is_passing`]) give a list here: a program may loop over it or pass it to a function that does, and nothing else.

mod bytes;
mod cases;
mod characters;
mod classes;
mod collections;
mod compare;
mod convert;
mod dates;
mod digits;
mod format;
mod hash;
mod json;
mod layout;
mod math;
mod methods;
mod numbers;
pub mod patterns;
mod percent;
mod sequences;
mod show;
mod split;
mod sums;
mod tables;
#[cfg(test)]
mod tests;
mod texts;

use bumpalo::Bump;

pub use characters::is_space;
pub use classes::classes;
pub use collections::{sort_by_keys, with_item};
pub use compare::{order, same_item};
pub(crate) use convert::number;
pub(crate) use dates::{file_text, moment, sql_text, written};
pub use dates::{number_of_state, state_of, state_size};
pub(crate) use digits::shortest;
pub use format::format;
pub use hash::{hash_of, whole};
pub(crate) use json::{Wanted, loads_of};
pub use sequences::{attribute, iterate, truth};
pub(crate) use show::text as shown;
pub(crate) use split::words;
pub use sums::runs_on;
pub use tables::{builtin, is_passing, library, method, operator};

use crate::value::{Doubt, Value};

/// The most bytes that a text may have that is made here.
pub const MOST_BYTES: usize = 1 << 20;
/// The most items that a list may have that is made here.
pub const MOST_ITEMS: usize = 1 << 16;

/// The result of an operation.
pub type Answer<'a> = Result<Value<'a>, Doubt>;

/// An operation on as many values as it was found for; what it makes is in the arena.
pub type Function = for<'a> fn(&'a Bump, &[Value<'a>]) -> Result<Value<'a>, Doubt>;
