//! The Python door of `penstock-planner`, whose functions convert, work without the interpreter lock, and return, and of
//! `penstock-runtime`, whose functions work on Python objects a batch at a time.

mod arrays;
mod batch;
mod builder;
mod columns;
mod error;
mod execution_graph;
mod execution_tables;
mod execution_vertex;
mod executions;
mod huge_pages;
mod interrupt;
mod job_graph;
mod job_tables;
mod job_vertex;
mod regions;
mod shapes;
mod stream_graph;
mod stream_parts;
mod stream_tables;
mod tables;

use interrupt::interruptible;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

/// Plan one described graph and report everything that was decided. O(nodes + edges + execution edges).
///
/// Args:
///     spec: a graph as JSON (the format of ``StreamGraph.from_json``).
///     flink: the Flink version to equal; one of ``PROFILES``.
///
/// Returns:
///     One line of JSON with the stages ``stream_graph``, ``hashes``, ``streaming_plan``, ``job_graph`` and
///     ``execution_graph``; a stage that fails is ``{"error": {"class": Flink's exception class, "message": ours}}``.
///
/// Raises:
///     UnsupportedError: another Flink version.
#[pyfunction]
#[pyo3(signature = (spec, flink = "1.11"))]
fn plan_record(py: Python<'_>, spec: &str, flink: &str) -> PyResult<String> {
    let profile = error::profile(py, flink)?;
    interruptible(py, || penstock_planner::json::plan_record(spec, profile))
}

/// The OperatorID of an operator with this uid: 32 hex digits of murmur3_128 over its UTF-8 bytes.
#[pyfunction]
fn operator_id(uid: &str) -> String {
    penstock_planner::identity::OperatorId::of_uid(uid).to_string()
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::batch::{
        KeyRouter, KeyedFold, are_immutable, are_own_forms, decode_columns, encode_columns, is_immutable, key_field, reduce_by_key,
        text_size,
    };
    #[pymodule_export]
    use super::builder::StreamGraphBuilder;
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::execution_graph::ExecutionGraph;
    #[pymodule_export]
    use super::execution_tables::EdgeChunks;
    #[pymodule_export]
    use super::execution_vertex::{ConsumerSubtasks, ExecutionJobVertex, ExecutionVertex, InputPartitions};
    #[pymodule_export]
    use super::executions::{Execution, Executions};
    #[pymodule_export]
    use super::job_graph::{ChainedOperator, IntermediateDataSet, JobEdge, JobGraph};
    #[pymodule_export]
    use super::job_vertex::JobVertex;
    #[pymodule_export]
    use super::regions::{PartitionRelease, PipelinedRegions, RegionScheduling, ReleasablePartitions, RestartedRegions};
    #[pymodule_export]
    use super::shapes::{
        all_to_all, diamonds, fan_in, fan_out, forward_chain, keyed_pipelines, layered_dag, scheduler_benchmark, uid_table, yielding_chain,
    };
    #[pymodule_export]
    use super::stream_graph::StreamGraph;
    #[pymodule_export]
    use super::stream_parts::{StreamEdge, StreamNode, Verdict};
    #[pymodule_export]
    use super::{operator_id, plan_record};
}
