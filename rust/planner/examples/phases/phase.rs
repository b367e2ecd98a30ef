//! The phases: what each needs beforehand, and what it does.

use std::any::Any;
use std::sync::Arc;

use penstock_planner::dense::{Index, NodeIndex, all};
use penstock_planner::execution_graph::edge_table::EdgeTable;
use penstock_planner::execution_graph::{ExecutionGraph, expand};
use penstock_planner::identity::{OperatorIds, Verdicts, user_hashes};
use penstock_planner::java::murmur3::murmur3_128_of_repeated;
use penstock_planner::job_graph::{JobGraph, JobOptions, chains, compile};
use penstock_planner::json::{job_plan, streaming_plan};
use penstock_planner::profile::Profile;
use penstock_planner::stream_graph::StreamGraph;

use crate::graphs;

/// What a phase returns; dropped off the clock.
pub type Outcome = Box<dyn Any>;
/// A phase, ready to run any number of times.
pub type Work = Box<dyn FnMut() -> Outcome>;

/// Every phase, in the order of planning; the last two are what hashing is compared with.
pub const NAMES: [&str; 13] = [
    "build",
    "verdicts",
    "ids",
    "hash",
    "chains",
    "job_graph",
    "execution_graph",
    "fan_out",
    "regions",
    "streaming_plan",
    "job_plan",
    "traversal",
    "murmur",
];

/// Makes everything a phase starts from.
pub fn prepare(phase: &str, shape: &str, size: usize) -> Result<Work, String> {
    let graph = Arc::new(graphs::make(shape, size)?);
    let shape = shape.to_owned();
    Ok(match phase {
        "build" => work(move || graphs::make(&shape, size).expect("made before")),
        "verdicts" => work(move || Verdicts::of(&graph)),
        "ids" => {
            let verdicts = Verdicts::of(&graph);
            work(move || OperatorIds::of(&graph, &verdicts).expect("distinct uids"))
        }
        "hash" => work(move || OperatorIds::of(&graph, &Verdicts::of(&graph)).expect("distinct uids")),
        "chains" => chains_of(graph),
        "job_graph" => work(move || job_graph(&graph)),
        "execution_graph" => {
            let job = Arc::new(job_graph(&graph));
            work(move || execution_graph(&job))
        }
        "fan_out" => {
            let execution = Arc::new(execution_graph(&Arc::new(job_graph(&graph))));
            work(move || EdgeTable::new(execution.clone(), 1 << 20).all(u64::MAX).expect("no limit"))
        }
        "regions" => {
            let job = Arc::new(job_graph(&graph));
            work(move || execution_graph(&job).pipelined_regions().expect("regions")) // it remembers them: a new one
        }
        "streaming_plan" => work(move || streaming_plan(&graph).expect("not empty")),
        "job_plan" => {
            let job = job_graph(&graph);
            work(move || job_plan(&job))
        }
        "traversal" => work(move || traversal(&graph)),
        "murmur" => work(move || murmur(graph.node_count())),
        _ => return Err(format!("no phase {phase:?}; there are {}", NAMES.join(", "))),
    })
}

fn work<T: 'static>(mut run: impl FnMut() -> T + 'static) -> Work {
    Box::new(move || Box::new(run()))
}

fn chains_of(graph: Arc<StreamGraph>) -> Work {
    let verdicts = Verdicts::of(&graph);
    let ids = OperatorIds::of(&graph, &verdicts).expect("distinct uids");
    let hashes = user_hashes(&graph).expect("hexadecimal");
    work(move || chains::build(&graph, &verdicts, &ids, &hashes, Profile::default()).expect("chains"))
}

fn job_graph(graph: &Arc<StreamGraph>) -> JobGraph {
    compile(graph.clone(), JobOptions::default()).expect("a JobGraph")
}

fn execution_graph(job: &Arc<JobGraph>) -> ExecutionGraph {
    expand(job.clone()).expect("an ExecutionGraph")
}

/// The least that hashing must read: every node once, breadth first and after its inputs, with both lists of its edges.
fn traversal(graph: &StreamGraph) -> u64 {
    let mut missing: Vec<u32> = all::<NodeIndex>(graph.node_count()).map(|node| graph.in_edges(node).len() as u32).collect();
    let mut queue = graph.sources().to_vec();
    queue.reserve_exact(graph.node_count() - queue.len());
    let (mut at, mut sum) = (0, 0u64);
    while let Some(&node) = queue.get(at) {
        at += 1;
        for &edge in graph.in_edges(node) {
            sum += u64::from(graph.source(edge).0);
        }
        for &edge in graph.out_edges(node) {
            let child = graph.target(edge);
            missing[child.get()] -= 1;
            if missing[child.get()] == 0 {
                queue.push(child);
            }
        }
    }
    sum
}

/// The least that hashing must compute: murmur3 of every position.
fn murmur(nodes: usize) -> Vec<[u8; 16]> {
    (0..nodes as i32).map(|position| murmur3_128_of_repeated(position, 1)).collect()
}
