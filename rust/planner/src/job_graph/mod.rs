//! The JobGraph: chains as vertices, data sets between them, and all that Flink decides about them before it runs.
//! Who an operator is comes from `identity`; subtasks come in `execution_graph`.
//!
//! Semantics: `StreamingJobGraphGenerator.createJobGraph` of Flink 1.11. One pass, one file; [`compile`] is their list.

pub mod chains;
mod compile;
mod config;
mod data_set_id;
pub mod data_sets;
pub mod exchange;
mod map_order;
mod memory;
mod names;
#[cfg(test)]
mod profile_tests;
pub mod slot_sharing;
mod topological;
mod tree;
mod verify;
mod views;

use std::sync::Arc;

use hashbrown::HashMap;

use crate::dense::{Column, Csr, DataSetIndex, JobEdgeIndex, NodeIndex, VertexIndex};
use crate::identity::{OperatorId, OperatorIds, UserHash, Verdicts};
use crate::profile::Profile;
use crate::stream_graph::{CheckpointingMode, Resources, StreamGraph};
pub use chains::{Chain, ChainedNode, Chains, Connection};
pub use compile::compile;
pub use config::{ExchangeConfig, StreamConfig};
pub use data_sets::DataSets;
pub use exchange::{Distribution, ResultType};
use names::ChainNames;
pub use slot_sharing::SlotSharing;
pub use views::{Checkpointing, Walk};

/// What a JobGraph takes from outside the program.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// The Flink to equal.
    pub profile: Profile,
    /// Further (legacy) hashes by node id: alternative IDs, carried to the vertex behind the uid hash.
    pub additional_hashes: Vec<HashMap<i32, OperatorId>>,
    /// Where to restore from.
    pub savepoint: Option<SavepointRestore>,
    /// Files shipped with the job: name and path.
    pub artifacts: Vec<(String, String)>,
}

/// Flink's `SavepointRestoreSettings`.
#[derive(Clone, Debug, PartialEq)]
pub struct SavepointRestore {
    /// Path of the savepoint.
    pub path: String,
    /// Whether state of operators that no longer exist may be dropped.
    pub allow_non_restored_state: bool,
}

/// An immutable JobGraph.
#[derive(Debug)]
pub struct JobGraph {
    pub(crate) graph: Arc<StreamGraph>,
    pub(crate) verdicts: Verdicts,
    pub(crate) ids: OperatorIds,
    pub(crate) user_hashes: Vec<(NodeIndex, UserHash)>,
    pub(crate) options: JobOptions,
    pub(crate) chains: Chains,
    shared: Shared,
    connected: Connected,
}

/// Who runs together, and what each gets.
#[derive(Debug)]
struct Shared {
    map_order: Vec<VertexIndex>,
    /// By vertex; nothing when no operator has any.
    resources: Vec<Option<Resources>>,
    slots: SlotSharing,
    fractions: Column<Option<f64>>,
}

/// What vertices are called, and what is between them.
#[derive(Debug)]
struct Connected {
    names: ChainNames,
    data_sets: DataSets,
    inputs: Csr<VertexIndex, JobEdgeIndex>,
    results: Csr<VertexIndex, DataSetIndex>,
    topological: Vec<VertexIndex>,
}

impl JobGraph {
    /// The mode tasks run in: Flink says AT_LEAST_ONCE when there are no checkpoints.
    pub fn checkpointing_mode(&self) -> CheckpointingMode {
        if self.graph.settings.checkpoints() { self.graph.settings.checkpointing_mode } else { CheckpointingMode::AtLeastOnce }
    }
}
