//! The native data plane: columns of records, functions translated from Python that are evaluated on them, and operators that
//! work on batches. No Python object is here and no lock; `penstock-objects` turns objects into columns and back.
//!
//! The oracle is CPython: where the result here could differ from it in anything, the answer is [`Doubt`], and the record goes
//! through the Python function instead.

pub mod accumulator;
pub mod batch;
pub mod column;
pub mod exchange;
pub mod filling;
pub mod heap;
mod json;
pub mod lines;
pub mod machine;
pub mod pipeline;
pub mod program;
pub mod python;
pub mod reading;
pub mod router;
mod scan;
pub mod stamps;
pub mod tables;
pub mod value;
mod vectors;
pub mod writing;

pub use accumulator::Accumulator;
pub use batch::Batch;
pub use column::{Builder, Column, Data, Refusal};
pub use heap::{Heap, Tree};
pub use machine::Input;
pub use pipeline::{Pipeline, Progress, Stage};
pub use program::Program;
pub use reading::{CsvRows, Reading};
pub use router::Router;
pub use tables::{
    Aggregate, Assigner, Best, Bounds, Combine, Contents, CountNews, CountSpec, CountWindows, Counted, Delta, Domain, Evictor, Fired, Fold,
    KeyedReduce, Kind, Life, News, Own, Places, Process, ProcessInput, ProcessNews, ProcessSpec, Processed, Rule, StateNews, StateSpec,
    Table, Taken, Trigger, TriggerNews, TriggerSpec, TriggerWindows, Uses, WindowSpec, Windows, section,
};
pub use value::{Doubt, Shape, Value};
pub use writing::Layout;
