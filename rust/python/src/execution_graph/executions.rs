//! Attempts of subtasks: `Executions` and `Execution`.

use std::sync::{Arc, Mutex};

use penstock_planner::dense::ExecutionVertexIndex;
use penstock_planner::error::Result;
use penstock_planner::execution_graph::ExecutionGraph;
use penstock_planner::execution_graph::executions::{Execution as Attempt, ExecutionState, Executions as Attempts};
use pyo3::prelude::*;

use crate::error::{check, parse};

/// Attempts at running the subtasks of an ExecutionGraph: current ones and a bounded history (Flink's Execution).
#[pyclass(frozen, module = "penstock.plan")]
pub struct Executions(Mutex<Attempts>);

/// One attempt at running a subtask; ``id`` is ``<vertex id>_<subtask>_<attempt>``.
#[pyclass(frozen, get_all, eq, module = "penstock.plan")]
#[derive(PartialEq)]
pub struct Execution {
    id: String,
    subtask: u32,
    attempt: u32,
    state: &'static str,
}

impl From<Attempt> for Execution {
    fn from(attempt: Attempt) -> Self {
        Self { id: attempt.id(), subtask: attempt.subtask, attempt: attempt.attempt, state: attempt.state.as_str() }
    }
}

impl Executions {
    /// First attempts of all subtasks.
    pub fn new(graph: Arc<ExecutionGraph>, history: usize) -> Self {
        Self(Mutex::new(Attempts::new(graph, history)))
    }

    fn with<T>(&self, py: Python<'_>, action: impl FnOnce(&mut Attempts) -> Result<T>) -> PyResult<T> {
        check(py, action(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
    }
}

#[pymethods]
impl Executions {
    fn __repr__(&self) -> String {
        format!("Executions({} subtasks)", self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len())
    }

    /// The current attempt of a subtask.
    ///
    /// Raises:
    ///     SpecError: there is no such subtask.
    fn current(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<Execution> {
        self.with(py, |attempts| attempts.current(ExecutionVertexIndex(vertex), subtask)).map(Execution::from)
    }

    /// Move the current attempt of a subtask on.
    ///
    /// Raises:
    ///     ExecutionGraphError: the state machine does not allow it.
    ///     SpecError: there is no such subtask or state.
    fn transition(&self, py: Python<'_>, vertex: u32, subtask: u32, state: &str) -> PyResult<Execution> {
        let spellings: Vec<&str> = ExecutionState::ALL.iter().map(|state| state.as_str()).collect();
        let state = parse(py, "Executions.transition", "state", state, &spellings, ExecutionState::parse)?;
        self.with(py, |attempts| attempts.transition(ExecutionVertexIndex(vertex), subtask, state)).map(Execution::from)
    }

    /// Start the next attempt of a subtask whose current one has ended.
    ///
    /// Raises:
    ///     ExecutionGraphError: the current attempt is alive.
    fn reset(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<Execution> {
        self.with(py, |attempts| attempts.reset(ExecutionVertexIndex(vertex), subtask)).map(Execution::from)
    }

    /// Earlier attempts that are still remembered, oldest first.
    fn prior(&self, py: Python<'_>, vertex: u32, subtask: u32) -> PyResult<Vec<Execution>> {
        let prior = self.with(py, |attempts| attempts.prior(ExecutionVertexIndex(vertex), subtask))?;
        Ok(prior.into_iter().map(Execution::from).collect())
    }
}

#[pymethods]
impl Execution {
    fn __repr__(&self) -> String {
        format!("Execution({}, {})", self.id, self.state)
    }
}
