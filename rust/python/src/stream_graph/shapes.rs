//! The named shapes of `penstock.plan.shapes`.

use std::sync::Arc;

use penstock_planner::error::Result;
use penstock_planner::shapes::{self, Size};
use penstock_planner::stream_graph::StreamGraph as Graph;
use pyo3::prelude::*;

use super::StreamGraph;
use crate::error::check;
use crate::interrupt::interruptible;

fn size(operators: i64, parallelism: i64, seed: u64) -> Size {
    Size { operators, parallelism, seed }
}

fn made(py: Python<'_>, make: impl FnOnce() -> Result<Graph> + Send) -> PyResult<StreamGraph> {
    check(py, interruptible(py, make)?).map(|graph| StreamGraph(Arc::new(graph)))
}

/// Layers of ``width`` operators; each reads the one above it without partitioner, and drawn ones of that layer by HASH.
///
/// Args:
///     operators: how many there are, from 1; the first layer are sources, the last may be shorter.
///     width: operators of a layer, from 1.
///     inputs: edges into each operator, 1 to 65,535; with 2 it is a two-input operator.
///     parallelism: of every operator, 1 to 32,768.
///     seed: of what is drawn, 0 to 2**64 - 1.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, width = 100, inputs = 2, parallelism = 4, seed = 0))]
pub fn layered_dag(py: Python<'_>, operators: i64, width: i64, inputs: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::layered_dag(size(operators, parallelism, seed), width, inputs))
}

/// A source and operators behind it, one after the other: a single chain.
///
/// Args:
///     operators: how many there are, from 1.
///     parallelism: of every operator, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn forward_chain(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::forward_chain(size(operators, parallelism, seed)))
}

/// Pipelines of a source and a map, then behind a HASH edge an aggregation, a filter and a sink: two vertices each.
///
/// Args:
///     operators: how many there are, from 1; the last pipeline may be shorter than five.
///     parallelism: of every operator, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn keyed_pipelines(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::keyed_pipelines(size(operators, parallelism, seed)))
}

/// Sources that one sink reads, each through a partitioner drawn from those that never chain.
///
/// Args:
///     operators: how many there are, from 1.
///     parallelism: of every operator, 1 to 32,768.
///     seed: of what is drawn, 0 to 2**64 - 1.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn fan_in(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::fan_in(size(operators, parallelism, seed)))
}

/// A source that sinks read, each through a partitioner drawn from those that never chain.
///
/// Args:
///     operators: how many there are, from 1.
///     parallelism: of every operator, 1 to 32,768.
///     seed: of what is drawn, 0 to 2**64 - 1.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn fan_out(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::fan_out(size(operators, parallelism, seed)))
}

/// A source and sinks behind REBALANCE edges, each with the uid ``uid-`` and its id.
///
/// Args:
///     operators: how many there are, from 1.
///     parallelism: of every operator, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn uid_table(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::uid_table(size(operators, parallelism, seed)))
}

/// A source and diamonds one after the other: an operator, two branches and a join, which the next diamond reads.
///
/// Args:
///     operators: how many there are, from 1; the last diamond may be incomplete.
///     yielding: whether operators and branches (not joins) yield to the mailbox; Flink's time doubles with each.
///     parallelism: of every operator, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, yielding = false, parallelism = 4, seed = 0))]
pub fn diamonds(py: Python<'_>, operators: i64, yielding: bool, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::diamonds(size(operators, parallelism, seed), yielding))
}

/// A source and, behind a REBALANCE edge, yielding operators one after the other.
///
/// Args:
///     operators: how many there are, from 1.
///     parallelism: of every operator, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (operators, *, parallelism = 4, seed = 0))]
pub fn yielding_chain(py: Python<'_>, operators: i64, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    made(py, || shapes::yielding_chain(size(operators, parallelism, seed)))
}

/// A source and a keyed aggregation: ``parallelism`` squared execution edges.
///
/// Args:
///     parallelism: of both operators, 1 to 32,768.
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (parallelism, *, seed = 0))]
pub fn all_to_all(py: Python<'_>, parallelism: i64, seed: u64) -> PyResult<StreamGraph> {
    let _ = seed;
    made(py, || shapes::all_to_all(parallelism))
}

/// The graph of Flink's scheduler benchmarks (SchedulerBenchmarkBase): a source, a sink, an all-to-all exchange between.
///
/// Args:
///     parallelism: of both operators, 1 to 32,768.
///     blocking: whether the exchange is BATCH, as in the batch benchmarks, instead of PIPELINED (streaming).
///     seed: accepted by every shape; nothing is drawn in this one.
///
/// Raises:
///     SpecError: an argument out of bounds.
#[pyfunction]
#[pyo3(signature = (parallelism = 4000, *, blocking = false, seed = 0))]
pub fn scheduler_benchmark(py: Python<'_>, parallelism: i64, blocking: bool, seed: u64) -> PyResult<StreamGraph> {
    let _ = seed;
    made(py, || shapes::scheduler_benchmark(parallelism, blocking))
}
