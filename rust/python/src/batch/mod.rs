//! What an executor does with a batch of records at a time: the door of `penstock-runtime`.
//!
//! Each function has a twin in `penstock.runtime`, in Python, which decides where the two could differ; what is not plain
//! data (a subclass, a number beyond 64 bits, a lone surrogate) is left to it.

mod columns_in;
mod columns_out;
mod folds;
mod objects;
mod router;

pub use columns_in::decode_columns;
pub use columns_out::encode_columns;
pub use folds::KeyedFold;
pub use objects::{are_immutable, are_own_forms, is_immutable, key_field, text_size};
pub use router::KeyRouter;
