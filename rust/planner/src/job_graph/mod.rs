//! The JobGraph: chains as vertices, data sets between them, and all that Flink decides about them before it runs.
//!
//! Semantics: `StreamingJobGraphGenerator.createJobGraph` of Flink 1.11. [`compile`] is the pipeline; one pass, one file.

pub mod chains;
mod config;
pub mod exchange;
mod memory;
mod names;
pub mod slot_sharing;
mod topological;
mod verify;
mod views;

use std::sync::Arc;

use hashbrown::HashMap;

use crate::chainable::Verdicts;
use crate::column::Column;
use crate::csr::Csr;
use crate::error::{PlanError, Result};
use crate::index::{DataSetIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex, all};
use crate::java_hash::iteration_order;
use crate::operator_id::{OperatorId, OperatorIds, UserHash, user_hashes};
use crate::stream_graph::{CheckpointingMode, Resources, StreamGraph};
pub use chains::{Chain, ChainedNode, Chains, Connection};
pub use config::{ExchangeConfig, StreamConfig};
pub use exchange::{Distribution, ResultType};
use names::ChainNames;
pub use slot_sharing::SlotSharing;
pub use views::{Checkpointing, Walk};

/// What a JobGraph takes from outside the program.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
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

/// An immutable JobGraph. In Flink 1.11 every job edge has a data set of its own, so edge `i` consumes data set `i`.
#[derive(Debug)]
pub struct JobGraph {
    pub(crate) graph: Arc<StreamGraph>,
    pub(crate) verdicts: Verdicts,
    pub(crate) ids: OperatorIds,
    pub(crate) user_hashes: Vec<(NodeIndex, UserHash)>,
    pub(crate) options: JobOptions,
    pub(crate) chains: Chains,
    pub(crate) names: ChainNames,
    /// By vertex; nothing when no operator has any.
    pub(crate) resources: Vec<Option<Resources>>,
    pub(crate) slots: SlotSharing,
    pub(crate) fractions: Column<f64>,
    pub(crate) inputs: Csr<VertexIndex, JobEdgeIndex>,
    pub(crate) results: Csr<VertexIndex, DataSetIndex>,
    pub(crate) map_order: Vec<VertexIndex>,
    pub(crate) topological: Vec<VertexIndex>,
}

/// Compiles a StreamGraph. O(nodes + edges), no recursion.
///
/// # Errors
/// Every [`PlanError`] of the families OperatorId and JobGraph, in the order in which Flink would meet them.
pub fn compile(graph: Arc<StreamGraph>, options: JobOptions) -> Result<JobGraph> {
    refuse_checkpointed_loops(&graph)?;
    let verdicts = Verdicts::of(&graph); // everything below asks it who is chained
    let ids = OperatorIds::of(&graph, &verdicts)?; // identity first: a collision stops the program
    let user_hashes = user_hashes(&graph)?; // parsed for all nodes, reached or not
    let chains = chains::build(&graph, &verdicts, &ids, &user_hashes)?; // vertices and connections, in Flink's order
    let map_order = map_order(&graph, &chains); // how Flink's map of vertices iterates
    let names = names::chain_names(&graph, &verdicts, &chains);
    let resources = memory::vertex_resources(&graph, &chains); // before slots: groups add them up
    let slots = slot_sharing::share_slots(&graph, &chains, &ids, &resources, &map_order)?;
    let fractions = memory::fractions(&graph, &chains, &slots); // needs complete groups
    let (inputs, results, topological) = connect(&chains);
    let job = JobGraph {
        graph,
        verdicts,
        ids,
        user_hashes,
        options,
        chains,
        names,
        resources,
        slots,
        fractions,
        inputs,
        results,
        map_order,
        topological,
    };
    debug_assert_eq!(job.verify(), Vec::<String>::new());
    Ok(job)
}

fn refuse_checkpointed_loops(graph: &StreamGraph) -> Result<()> {
    let loops = graph.iterations().len();
    if graph.settings.checkpoints() && loops > 0 && !graph.settings.force_checkpointing {
        return Err(PlanError::CheckpointedIteration { loops });
    }
    Ok(())
}

fn map_order(graph: &StreamGraph, chains: &Chains) -> Vec<VertexIndex> {
    iteration_order(chains.chains.iter().map(|chain| graph.nodes.id[chain.head.get()])).into_iter().map(VertexIndex).collect()
}

type Connected = (Csr<VertexIndex, JobEdgeIndex>, Csr<VertexIndex, DataSetIndex>, Vec<VertexIndex>);

fn connect(chains: &Chains) -> Connected {
    let size = chains.chains.len();
    let connections = || chains.connections.iter().enumerate();
    let inputs = Csr::group(size, connections().map(|(at, edge)| (edge.target, JobEdgeIndex::new(at))));
    let results = Csr::group(size, connections().map(|(at, edge)| (edge.source, DataSetIndex::new(at))));
    let consumers = Csr::group(size, chains.connections.iter().map(|edge| (edge.source, edge.target)));
    let order = topological::sort(&consumers, all(size).map(|vertex| inputs.degree(vertex) as u32));
    (inputs, results, order)
}

impl JobGraph {
    /// The mode tasks run in: Flink says AT_LEAST_ONCE when there are no checkpoints.
    pub fn checkpointing_mode(&self) -> CheckpointingMode {
        if self.graph.settings.checkpoints() { self.graph.settings.checkpointing_mode } else { CheckpointingMode::AtLeastOnce }
    }
}
