//! The Python door of `penstock-planner`: functions that convert, work without the interpreter lock, and return. No rule of
//! Flink's is here. The module also names what `penstock-objects` does with records.

mod arrow;
mod error;
mod execution_graph;
mod huge_pages;
mod interrupt;
mod job_graph;
mod repr;
mod stream_graph;

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

/// The number of key groups of a vertex that does not set it (KeyGroupRangeAssignment); a parallelism below 1 counts as 1.
#[pyfunction]
fn default_max_parallelism(parallelism: i64) -> i32 {
    penstock_planner::execution_graph::default_max_parallelism(parallelism.clamp(1, 1 << 15) as i32)
}

// `penstock-objects` borrows the items of lists, dicts and objects while no Python code runs. Only the interpreter lock
// keeps other threads from changing them meanwhile: a free-threaded Python takes it back, as PyO3 does not by itself.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use penstock_objects::{
        Accumulator, Batch, ColumnRouter, CsvRows, KeyOrder, KeyRouter, KeyedCounts, KeyedFold, KeyedProcess, KeyedReduce, KeyedTable,
        KeyedTriggers, KeyedWindows, Layout, Pipeline, Program, Reading, TimestampAssigner, are_immutable, are_own_forms, decode_columns,
        encode_columns, is_immutable, key_field, text_size,
    };

    #[pymodule_export]
    use penstock_objects::state::{
        AggregatingState, Handle, Lifetime, ListState, LivingValueState, MapState, ReducingState, Timer, TimerQueue, TimerService,
        ValueState,
    };

    #[pymodule_export]
    use super::arrow::columns::Columns;
    #[pymodule_export]
    use super::execution_graph::{
        ConsumerSubtasks, EdgeChunks, Execution, ExecutionGraph, ExecutionJobVertex, ExecutionVertex, Executions, InputPartitions,
        PartitionRelease, PipelinedRegions, RegionScheduling, ReleasablePartitions, RestartedRegions,
    };
    #[pymodule_export]
    use super::job_graph::{ChainedOperator, IntermediateDataSet, JobEdge, JobGraph, JobVertex};
    #[pymodule_export]
    use super::stream_graph::shapes::{
        all_to_all, diamonds, fan_in, fan_out, forward_chain, keyed_pipelines, layered_dag, scheduler_benchmark, uid_table, yielding_chain,
    };
    #[pymodule_export]
    use super::stream_graph::{StreamEdge, StreamGraph, StreamGraphBuilder, StreamNode, Verdict};
    #[pymodule_export]
    use super::{default_max_parallelism, operator_id, plan_record};
}
