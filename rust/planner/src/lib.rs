//! Apache Flink's plan compiler, bit-exact, over flat arrays.
//!
//! ```text
//! StreamGraph ──▶ Verdicts ──▶ OperatorIds ──▶ Chains ──▶ JobGraph ──▶ ExecutionGraph
//! ```
//!
//! A step takes what came before and returns a new type; all are immutable. Everything is O(nodes + edges) unless its header
//! says otherwise, iterative, and independent of hash seeds. Pure Rust: no Python, no input or output.
//!
//! Rooms, from the ground up; each knows only those before it: [`dense`], [`java`] and [`work`], which know no Flink;
//! [`profile`] and [`error`]; [`stream_graph`] and [`shapes`]; [`identity`]; [`job_graph`], with the list of passes;
//! [`execution_graph`]; [`json`].

pub mod dense;
pub mod error;
pub mod execution_graph;
pub mod identity;
pub mod java;
pub mod job_graph;
pub mod json;
pub mod profile;
pub mod shapes;
pub mod stream_graph;
#[cfg(test)]
mod test_graphs;
pub mod work;
