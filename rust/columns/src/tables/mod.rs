//! State by key: tables, and the operators that keep their state in them.

mod best;
mod cells;
mod fetch;
mod folds;
mod kept;
mod pickle;
mod process;
mod reduce;
mod table;
mod timers;
mod uses;
mod windows;

pub use best::Best;
pub use cells::Cells;
pub use pickle::section;
pub use process::{Bounds, Domain, Kind, Life, Places, Process, ProcessInput, ProcessNews, ProcessSpec, Processed, StateNews, StateSpec};
pub use reduce::{Combine, Fold, KeyedReduce};
pub use table::Table;
pub use timers::{Timer, Timers};
pub use uses::Uses;
pub use windows::{
    Aggregate, Assigner, Contents, CountNews, CountSpec, CountWindows, Counted, Delta, Evictor, Fired, News, Own, Rule, Spec as WindowSpec,
    Taken, Trigger, TriggerNews, TriggerSpec, TriggerWindows, Windows,
};
