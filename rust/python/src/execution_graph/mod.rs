//! `ExecutionGraph` as Python sees it: its vertices, attempts, regions, tables. No rule of Flink's.

mod executions;
mod graph;
mod regions;
mod tables;
mod vertex;

pub use executions::{Execution, Executions};
pub use graph::ExecutionGraph;
pub use regions::{PartitionRelease, PipelinedRegions, RegionScheduling, ReleasablePartitions, RestartedRegions};
pub use tables::EdgeChunks;
pub use vertex::{ConsumerSubtasks, ExecutionJobVertex, ExecutionVertex, InputPartitions};
