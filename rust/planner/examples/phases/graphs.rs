//! Shapes by name, as `penstock.plan.shapes` and the benches call them.

use penstock_planner::shapes::{self, Size};
use penstock_planner::stream_graph::StreamGraph;

/// Every shape; the last two are sized by their parallelism, the others by their operators.
pub const NAMES: [&str; 10] = [
    "layered_dag",
    "forward_chain",
    "keyed_pipelines",
    "fan_in",
    "fan_out",
    "uid_table",
    "yielding_chain",
    "yielding_diamonds",
    "all_to_all",
    "scheduler_batch",
];

/// A shape at a size, with the defaults of its function.
pub fn make(shape: &str, size: usize) -> Result<StreamGraph, String> {
    let (wanted, parallelism) = (Size { operators: size as i64, parallelism: 4, seed: 0 }, size as i64);
    let graph = match shape {
        "layered_dag" => shapes::layered_dag(wanted, 100, 2),
        "forward_chain" => shapes::forward_chain(wanted),
        "keyed_pipelines" => shapes::keyed_pipelines(wanted),
        "fan_in" => shapes::fan_in(wanted),
        "fan_out" => shapes::fan_out(wanted),
        "uid_table" => shapes::uid_table(wanted),
        "yielding_chain" => shapes::yielding_chain(wanted),
        "yielding_diamonds" => shapes::diamonds(wanted, true),
        "all_to_all" => shapes::all_to_all(parallelism),
        "scheduler_batch" => shapes::scheduler_benchmark(parallelism, true),
        _ => return Err(format!("no shape {shape:?}; there are {}", NAMES.join(", "))),
    };
    graph.map_err(|error| error.to_string())
}
