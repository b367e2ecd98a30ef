//! The JobGraph: chains as vertices, data sets between them, and all that Flink decides about them before it runs.
//!
//! Semantics: `StreamingJobGraphGenerator.createJobGraph` of Flink 1.11. [`compile`] is the pipeline; one pass, one file.

pub mod chains;
mod config;
mod data_set_id;
pub mod data_sets;
pub mod exchange;
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

use crate::dense::{Column, Csr, DataSetIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex, all};
use crate::error::{PlanError, Result};
use crate::identity::{OperatorId, OperatorIds, UserHash, Verdicts, user_hashes};
use crate::java::hash::iteration_order;
use crate::profile::Profile;
use crate::stream_graph::{CheckpointingMode, Resources, StreamGraph};
use crate::work::parallel;
pub use chains::{Chain, ChainedNode, Chains, Connection};
pub use config::{ExchangeConfig, StreamConfig};
pub use data_sets::DataSets;
pub use exchange::{Distribution, ResultType};
use names::ChainNames;
pub use slot_sharing::SlotSharing;
pub use views::{Checkpointing, Walk};

/// Nodes from which on a second thread saves more than it costs.
const WORTH_A_THREAD: usize = 1 << 14;

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
    pub(crate) names: ChainNames,
    /// By vertex; nothing when no operator has any.
    pub(crate) resources: Vec<Option<Resources>>,
    pub(crate) slots: SlotSharing,
    pub(crate) fractions: Column<Option<f64>>,
    pub(crate) data_sets: DataSets,
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
    let profile = options.profile; // the passes are the same for all; see there
    refuse_loops(&graph, profile)?;
    let verdicts = Verdicts::of(&graph); // everything below asks it who is chained
    let ids = OperatorIds::of(&graph, &verdicts)?; // identity first: a collision stops the program
    let user_hashes = user_hashes(&graph)?; // parsed for all nodes, reached or not
    let chains = chains::build(&graph, &verdicts, &ids, &user_hashes, profile)?; // vertices and connections, in Flink's order
    // who shares with whom, and what is connected to what: neither asks the other
    let (shared, connected) = parallel::both(
        graph.node_count() >= WORTH_A_THREAD,
        || share(&graph, &chains, &ids, profile),
        || (names::chain_names(&graph, &verdicts, &chains), connect(&graph, &chains, profile)),
    );
    let Shared { map_order, resources, slots, fractions } = shared?;
    let (names, Connected { data_sets, inputs, results, topological }) = connected;
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
        data_sets,
        inputs,
        results,
        map_order,
        topological,
    };
    debug_assert_eq!(job.verify(), Vec::<String>::new());
    Ok(job)
}

fn refuse_loops(graph: &StreamGraph, profile: Profile) -> Result<()> {
    let loops = graph.iterations().len();
    if loops > 0 && !profile.allows_iterations() {
        return Err(PlanError::NoIterations { loops, flink: profile.as_str() });
    }
    if graph.settings.checkpoints() && loops > 0 && !graph.settings.force_checkpointing {
        return Err(PlanError::CheckpointedIteration { loops });
    }
    Ok(())
}

fn map_order(graph: &StreamGraph, chains: &Chains, profile: Profile) -> Vec<VertexIndex> {
    if !profile.hash_ordered() {
        return all(chains.chains.len()).collect();
    }
    iteration_order(chains.chains.iter().map(|chain| graph.nodes.id[chain.head.get()])).into_iter().map(VertexIndex).collect()
}

struct Shared {
    map_order: Vec<VertexIndex>,
    resources: Vec<Option<Resources>>,
    slots: SlotSharing,
    fractions: Column<Option<f64>>,
}

fn share(graph: &StreamGraph, chains: &Chains, ids: &OperatorIds, profile: Profile) -> Result<Shared> {
    let map_order = map_order(graph, chains, profile); // how Flink's map of vertices iterates
    let resources = memory::vertex_resources(graph, chains, profile); // before slots: groups add them up
    let slots = slot_sharing::share_slots(graph, chains, ids, &resources, &map_order, profile)?;
    let fractions = memory::fractions(graph, chains, &slots, profile)?; // needs complete groups
    Ok(Shared { map_order, resources, slots, fractions })
}

struct Connected {
    data_sets: DataSets,
    inputs: Csr<VertexIndex, JobEdgeIndex>,
    results: Csr<VertexIndex, DataSetIndex>,
    topological: Vec<VertexIndex>,
}

fn connect(graph: &StreamGraph, chains: &Chains, profile: Profile) -> Connected {
    let data_sets = data_sets::assign(graph, chains, profile);
    let size = chains.chains.len();
    let connections = || chains.connections.iter().enumerate();
    let inputs = Csr::group(size, connections().map(|(at, edge)| (edge.target, JobEdgeIndex::new(at))));
    let results = data_sets.results(chains);
    let read = all(data_sets.count(chains.connections.len())).flat_map(|data_set| data_sets.consumers(data_set));
    let ends = read.map(|edge: JobEdgeIndex| &chains.connections[edge.get()]).map(|edge| (edge.source, edge.target));
    let consumers = Csr::group(size, ends);
    let topological = topological::sort(&consumers, all(size).map(|vertex| inputs.degree(vertex) as u32));
    Connected { data_sets, inputs, results, topological }
}

impl JobGraph {
    /// The mode tasks run in: Flink says AT_LEAST_ONCE when there are no checkpoints.
    pub fn checkpointing_mode(&self) -> CheckpointingMode {
        if self.graph.settings.checkpoints() { self.graph.settings.checkpointing_mode } else { CheckpointingMode::AtLeastOnce }
    }
}
