//! The pipeline: the passes from a StreamGraph to a JobGraph in the order in which they run, and why each stands where it does.
//!
//! One pass, one file; its header has the number it has here. Passes 4 to 7 and 8 to 10 run side by side where a graph is
//! large, as neither half asks the other. O(nodes + edges), no recursion.

use std::sync::Arc;

use super::{Connected, JobGraph, JobOptions, Shared, chains, data_sets, map_order, memory, names, slot_sharing, topological};
use crate::error::{PlanError, Result};
use crate::identity::{OperatorIds, Verdicts, user_hashes};
use crate::profile::Profile;
use crate::stream_graph::StreamGraph;
use crate::work::parallel;

/// Nodes from which on a second thread saves more than it costs.
const WORTH_A_THREAD: usize = 1 << 14;

/// Compiles a StreamGraph. O(nodes + edges), no recursion.
///
/// # Errors
/// Every [`PlanError`] of the families OperatorId and JobGraph, in the order in which Flink would meet them.
pub fn compile(graph: Arc<StreamGraph>, options: JobOptions) -> Result<JobGraph> {
    let profile = options.profile; // the passes are the same for all; see there
    refuse_loops(&graph, profile)?; // first: a program with a loop and another fault is refused for the loop
    // 1. Asked by all below. After the IDs it would be too late: an ID counts the outputs that are chained.
    let verdicts = Verdicts::of(&graph);
    // 2. Before chains, which take the IDs of vertices from here, and whose errors Flink meets after a uid used twice.
    let ids = OperatorIds::of(&graph, &verdicts)?;
    let user_hashes = user_hashes(&graph)?; // of all nodes, so not while chains are walked: some are never reached
    // 3. Vertices and connections, in Flink's order; nothing below could be said of a vertex before.
    let chains = chains::build(&graph, &verdicts, &ids, &user_hashes, profile)?;
    let share = || {
        // 4. Before groups: of several conflicts, Flink reports the first in this order.
        let map_order = map_order::of(&graph, &chains, profile);
        // 5. Before groups too, which add the resources of their vertices up.
        let resources = memory::vertex_resources(&graph, &chains, profile);
        // 6. Before fractions: which group an operator is in, and what the group has, is not known until all have joined.
        let slots = slot_sharing::share_slots(&graph, &chains, &ids, &resources, &map_order, profile)?;
        // 7. Last of this half: a share is a share of the whole group.
        let fractions = memory::fractions(&graph, &chains, &slots, profile)?;
        Ok(Shared { map_order, resources, slots, fractions })
    };
    let connect = || {
        // 8. Anywhere behind the chains.
        let names = names::chain_names(&graph, &verdicts, &chains);
        // 9. Before the order of vertices: an operator's consumers come data set by data set.
        let (data_sets, inputs) = (data_sets::assign(&graph, &chains, profile), chains.inputs());
        // 10. Last: it walks the consumers, and counts the inputs.
        let (results, topological) = (data_sets.results(&chains), topological::order(&chains, &data_sets, &inputs));
        Connected { names, data_sets, inputs, results, topological }
    };
    let (shared, connected) = parallel::both(graph.node_count() >= WORTH_A_THREAD, share, connect);
    let job = JobGraph { shared: shared?, connected, graph, verdicts, ids, user_hashes, options, chains };
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
