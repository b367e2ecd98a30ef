//! `StreamGraph` as Python sees it: what makes one, its parts, its tables. No rule of Flink's.

mod builder;
mod from_columns;
mod graph;
mod parts;
pub mod shapes;
mod tables;

pub use builder::StreamGraphBuilder;
pub use graph::StreamGraph;
pub use parts::{StreamEdge, StreamNode, Verdict};
