//! What an executor does with a batch of records at a time, as far as it needs no Python: the twin of
//! `penstock.runtime.keys.javahash`, `keygroups` and `columns`, which are the reference.
//!
//! Everything is linear in the batch, and depends on nothing but its arguments.

pub mod columns;
pub mod folds;
pub mod hash;
pub mod key_groups;
pub mod key_type;
