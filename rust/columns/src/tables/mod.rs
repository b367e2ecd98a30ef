//! State by key: tables, and the operators that keep their state in them.

mod cells;
mod reduce;
mod table;

pub use cells::Cells;
pub use reduce::{Combine, Fold, KeyedReduce};
pub use table::Table;
