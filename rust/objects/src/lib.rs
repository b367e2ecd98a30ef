//! What an executor does with a batch of records at a time, as far as it needs Python objects; what needs none is in
//! `penstock-runtime` and `penstock-columns`, and nothing here knows a plan.
//!
//! Each function has a twin in `penstock.runtime`, in Python, which decides where the two could differ; what is not plain
//! data (a subclass, a number beyond 64 bits, a lone surrogate) is left to it.

mod batches;
pub mod capsules;
mod counts;
mod decode;
mod encode;
mod folds;
mod gather;
mod hand_over;
mod items;
mod keyed;
mod keyed_table;
mod layouts;
mod moments;
mod owned;
mod pipelines;
mod process;
mod readings;
mod router;
mod shapes;
pub mod state;
mod trees;
mod triggers;
mod windows;

pub use batches::Batch;
pub use counts::KeyedCounts;
pub use decode::decode_columns;
pub use encode::encode_columns;
pub use folds::KeyedFold;
pub use items::{are_immutable, are_own_forms, is_immutable, key_field, text_size};
pub use keyed::{ColumnRouter, KeyedReduce, TimestampAssigner};
pub use keyed_table::{KeyOrder, KeyedTable};
pub use layouts::Layout;
pub use pipelines::{Accumulator, Pipeline, Program};
pub use process::KeyedProcess;
pub use readings::{CsvRows, Reading};
pub use router::KeyRouter;
pub use triggers::KeyedTriggers;
pub use windows::KeyedWindows;
