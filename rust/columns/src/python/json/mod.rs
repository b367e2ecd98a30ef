//! The module `json`.

mod pass;
mod read;
mod wanted;
mod write;

pub use read::{loads, loads_of};
pub use wanted::Wanted;
pub use write::dumps;
