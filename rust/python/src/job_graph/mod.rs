//! `JobGraph` as Python sees it: its vertices, their parts, its tables. No rule of Flink's.

mod graph;
mod parts;
mod tables;
mod vertex;

pub use graph::JobGraph;
pub use parts::{ChainedOperator, IntermediateDataSet, JobEdge};
pub use vertex::JobVertex;
