//! Attempts at running subtasks: the state machine, attempt ids, and a bounded history.
//!
//! Semantics: Flink's `Execution`, `ExecutionState` and `ExecutionVertex` (current attempt plus an evicting list of prior
//! ones). An attempt id is made of vertex, subtask and attempt number, so that two runs of a plan speak of the same thing;
//! Flink 1.11 draws it at random. Cost: O(subtasks) space, O(1) per transition.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;

use super::ExecutionGraph;
use crate::dense::ExecutionVertexIndex;
use crate::error::{PlanError, Result};
use crate::identity::OperatorId;

/// Attempts remembered per subtask by default, as in Flink (`jobmanager.execution.attempts-history-size`).
pub const DEFAULT_HISTORY: usize = 16;

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ExecutionState {
    Created,
    Scheduled,
    Deploying,
    Running,
    Finished,
    Canceling,
    Canceled,
    Failed,
}

impl ExecutionState {
    /// Every state.
    pub const ALL: [Self; 8] =
        [Self::Created, Self::Scheduled, Self::Deploying, Self::Running, Self::Finished, Self::Canceling, Self::Canceled, Self::Failed];

    /// Flink's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::Scheduled => "SCHEDULED",
            Self::Deploying => "DEPLOYING",
            Self::Running => "RUNNING",
            Self::Finished => "FINISHED",
            Self::Canceling => "CANCELING",
            Self::Canceled => "CANCELED",
            Self::Failed => "FAILED",
        }
    }

    /// The state with this spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// No way out.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Failed)
    }

    /// Whether an attempt may go from here to there. What has not been deployed is cancelled at once; a deployed attempt
    /// passes through CANCELING, and one that finishes or fails meanwhile counts as cancelled.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Created => matches!(next, Self::Scheduled | Self::Deploying | Self::Canceled | Self::Failed),
            Self::Scheduled => matches!(next, Self::Deploying | Self::Canceled | Self::Failed),
            Self::Deploying => matches!(next, Self::Running | Self::Finished | Self::Canceling | Self::Failed),
            Self::Running => matches!(next, Self::Finished | Self::Canceling | Self::Failed),
            Self::Canceling => matches!(next, Self::Canceled),
            Self::Finished | Self::Canceled | Self::Failed => false,
        }
    }
}

/// One attempt at running a subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Id of the vertex.
    pub vertex: OperatorId,
    /// Subtask, from 0.
    pub subtask: u32,
    /// Attempt, from 0.
    pub attempt: u32,
    /// Where it stands.
    pub state: ExecutionState,
}

impl Execution {
    /// `<vertex id>_<subtask>_<attempt>`.
    pub fn id(&self) -> String {
        format!("{}_{}_{}", self.vertex, self.subtask, self.attempt)
    }
}

/// The attempts of all subtasks of an ExecutionGraph.
#[derive(Debug)]
pub struct Executions {
    graph: Arc<ExecutionGraph>,
    states: Vec<ExecutionState>,
    attempts: Vec<u32>,
    prior: HashMap<usize, VecDeque<Execution>>,
    history: usize,
}

impl Executions {
    /// First attempts of all subtasks, CREATED.
    pub fn new(graph: Arc<ExecutionGraph>, history: usize) -> Self {
        let subtasks = graph.total_vertices() as usize;
        Self { graph, states: vec![ExecutionState::Created; subtasks], attempts: vec![0; subtasks], prior: HashMap::new(), history }
    }

    /// Number of subtasks.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no subtask.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The current attempt of a subtask.
    pub fn current(&self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<Execution> {
        let at = self.graph.check_subtask(vertex, subtask)?;
        let id = self.graph.job_graph().id(self.graph.vertex(vertex).vertex);
        Ok(Execution { vertex: id, subtask, attempt: self.attempts[at], state: self.states[at] })
    }

    /// Moves the current attempt of a subtask on.
    ///
    /// # Errors
    /// [`PlanError::IllegalTransition`] when the state machine does not allow it.
    pub fn transition(&mut self, vertex: ExecutionVertexIndex, subtask: u32, next: ExecutionState) -> Result<Execution> {
        let execution = self.current(vertex, subtask)?;
        if !execution.state.may_become(next) {
            return Err(illegal(&execution, next.as_str()));
        }
        let at = self.graph.check_subtask(vertex, subtask)?;
        self.states[at] = next;
        Ok(Execution { state: next, ..execution })
    }

    /// Starts the next attempt of a subtask whose current one has ended; the old one becomes history.
    ///
    /// # Errors
    /// [`PlanError::IllegalTransition`] while the current attempt is alive.
    pub fn reset(&mut self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<Execution> {
        let execution = self.current(vertex, subtask)?;
        if !execution.state.is_terminal() {
            return Err(illegal(&execution, "a new attempt"));
        }
        let at = self.graph.check_subtask(vertex, subtask)?;
        let prior = self.prior.entry(at).or_default();
        prior.push_back(execution);
        if prior.len() > self.history {
            prior.pop_front();
        }
        self.attempts[at] += 1;
        self.states[at] = ExecutionState::Created;
        self.current(vertex, subtask)
    }

    /// Earlier attempts of a subtask that are still remembered, oldest first.
    pub fn prior(&self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<Vec<Execution>> {
        let at = self.graph.check_subtask(vertex, subtask)?;
        Ok(self.prior.get(&at).map(|prior| prior.iter().copied().collect()).unwrap_or_default())
    }
}

fn illegal(execution: &Execution, to: &str) -> PlanError {
    PlanError::IllegalTransition { attempt: execution.id(), from: execution.state.as_str().into(), to: to.into() }
}

#[cfg(test)]
mod tests {
    use super::ExecutionState::{self, *};

    #[test]
    fn every_way_to_the_end() {
        for path in [[Created, Scheduled, Deploying, Running, Finished], [Created, Scheduled, Deploying, Canceling, Canceled]] {
            assert!(path.windows(2).all(|step| step[0].may_become(step[1])), "{path:?}");
        }
    }

    #[test]
    fn nothing_leaves_a_terminal_state_and_nothing_comes_back() {
        for state in ExecutionState::ALL {
            assert!(!state.may_become(Created) && !state.may_become(state), "{state:?}");
            assert_eq!(state.is_terminal(), ExecutionState::ALL.into_iter().all(|next| !state.may_become(next)), "{state:?}");
            assert_eq!(ExecutionState::parse(state.as_str()), Some(state));
        }
    }

    #[test]
    fn only_what_was_deployed_passes_through_canceling() {
        assert!(!Created.may_become(Canceling) && Created.may_become(Canceled));
        assert!(Running.may_become(Canceling) && !Running.may_become(Canceled));
    }
}
