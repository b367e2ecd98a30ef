//! The ExecutionGraph: every vertex at its parallelism, every data set per producer subtask. No vertex is made or changed here.
//!
//! Semantics: `ExecutionGraph.attachJobGraph`, `ExecutionJobVertex` of Flink 1.11. Exchanges are held grouped
//! ([`fan_out::FanOut`]): O(V + E) space whatever the parallelism; edges are materialised on request ([`edge_table`]).

pub mod edge_table;
pub mod edges;
pub mod executions;
pub mod fan_out;
mod fingerprint;
pub mod groups;
pub mod partition_groups;
mod region_cells;
mod region_cycles;
pub mod region_scheduling;
pub mod regions;
pub mod regions_to_restart;
pub mod release;
mod verify;

use std::sync::{Arc, OnceLock};

use crate::dense::{Csr, DataSetIndex, ExecutionVertexIndex, Index, JobEdgeIndex, VertexIndex, all};
use crate::error::{PlanError, Result};
use crate::job_graph::JobGraph;
use fan_out::FanOut;

/// Number of key groups at most, and so of subtasks.
pub const UPPER_BOUND_MAX_PARALLELISM: i32 = 32_768;

/// A vertex at its parallelism: Flink's `ExecutionJobVertex`.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionJobVertex {
    /// The vertex of the JobGraph.
    pub vertex: VertexIndex,
    /// Number of subtasks.
    pub parallelism: u32,
    /// Number of key groups.
    pub max_parallelism: u32,
    /// Whether the program set it.
    pub max_parallelism_configured: bool,
    /// Number of subtasks of all vertices created before.
    pub first_subtask: u64,
}

impl ExecutionJobVertex {
    /// First and last key group of a subtask: Flink's `computeKeyGroupRangeForOperatorIndex`.
    pub fn key_groups(&self, subtask: u32) -> (u32, u32) {
        let (groups, subtasks) = (self.max_parallelism, self.parallelism);
        ((subtask * groups).div_ceil(subtasks), ((subtask + 1) * groups - 1) / subtasks)
    }
}

/// An immutable ExecutionGraph.
#[derive(Debug)]
pub struct ExecutionGraph {
    pub(crate) job: Arc<JobGraph>,
    vertices: Vec<ExecutionJobVertex>,
    position: Vec<ExecutionVertexIndex>,
    total_edges: u64,
    regions: OnceLock<Arc<regions::PipelinedRegions>>,
    /// The edges of each data set in the order in which their consumers are created; kept where data sets are shared.
    readers: Option<Csr<DataSetIndex, JobEdgeIndex>>,
}

/// Expands a JobGraph. O(V + E) time and space, whatever the parallelism.
///
/// # Errors
/// [`PlanError::ParallelismBounds`], [`PlanError::MaxParallelismBounds`], [`PlanError::ParallelismOverMax`] of the first
/// vertex in topological order that has one; [`PlanError::CoLocatedAcrossRegions`] where Flink looks at regions here.
pub fn expand(job: Arc<JobGraph>) -> Result<ExecutionGraph> {
    if job.profile().looks_ahead() {
        all(job.vertex_count()).try_for_each(|vertex| max_parallelism(&job, vertex).map(drop))?;
    }
    let mut vertices = Vec::with_capacity(job.vertex_count());
    let mut position = vec![ExecutionVertexIndex(0); job.vertex_count()];
    let mut first_subtask = 0;
    for &vertex in job.topological_order() {
        position[vertex.get()] = ExecutionVertexIndex::new(vertices.len());
        let expanded = expand_vertex(&job, vertex, first_subtask)?;
        first_subtask += u64::from(expanded.parallelism);
        vertices.push(expanded);
    }
    let readers = (job.data_set_count() < job.edge_count()).then(|| readers(&job));
    let mut graph = ExecutionGraph { job, vertices, position, total_edges: 0, regions: OnceLock::new(), readers };
    graph.total_edges = all(graph.job.edge_count()).map(|edge| graph.fan_out(edge).edges()).sum();
    debug_assert_eq!(graph.verify(), Vec::<String>::new());
    if graph.job.profile().looks_ahead() && !graph.job.slots().co_located.is_empty() {
        graph.pipelined_regions()?; // else when somebody asks
    }
    Ok(graph)
}

fn readers(job: &JobGraph) -> Csr<DataSetIndex, JobEdgeIndex> {
    let inputs = job.topological_order().iter().flat_map(|&vertex| job.inputs(vertex));
    Csr::group(job.data_set_count(), inputs.map(|&edge| (job.consumed(edge), edge)))
}

fn expand_vertex(job: &JobGraph, vertex: VertexIndex, first_subtask: u64) -> Result<ExecutionJobVertex> {
    let parallelism = job.parallelism(vertex).max(1);
    let max_parallelism = max_parallelism(job, vertex)?;
    if parallelism > max_parallelism {
        return Err(PlanError::ParallelismOverMax { vertex: job.name(vertex).to_owned(), parallelism, max_parallelism });
    }
    Ok(ExecutionJobVertex {
        vertex,
        parallelism: parallelism as u32,
        max_parallelism: max_parallelism as u32,
        max_parallelism_configured: configured_max_parallelism(job, vertex) != -1,
        first_subtask,
    })
}

fn configured_max_parallelism(job: &JobGraph, vertex: VertexIndex) -> i32 {
    job.stream_graph().node(job.chain(vertex).head).max_parallelism
}

fn max_parallelism(job: &JobGraph, vertex: VertexIndex) -> Result<i32> {
    let name = || job.name(vertex).to_owned();
    let parallelism = job.parallelism(vertex).max(1);
    match configured_max_parallelism(job, vertex) {
        -1 if parallelism > UPPER_BOUND_MAX_PARALLELISM => Err(PlanError::ParallelismBounds { vertex: name(), parallelism }),
        -1 => Ok(default_max_parallelism(parallelism)),
        i32::MAX => Ok(UPPER_BOUND_MAX_PARALLELISM),
        configured @ 1..=UPPER_BOUND_MAX_PARALLELISM => Ok(configured),
        max_parallelism => Err(PlanError::MaxParallelismBounds { vertex: name(), max_parallelism }),
    }
}

/// Flink's `KeyGroupRangeAssignment.computeDefaultMaxParallelism`, for a parallelism of 1 … 32768.
pub fn default_max_parallelism(parallelism: i32) -> i32 {
    let rounded = (parallelism + parallelism / 2).max(1) as u32;
    (rounded.next_power_of_two() as i32).clamp(128, UPPER_BOUND_MAX_PARALLELISM)
}

impl ExecutionGraph {
    /// The JobGraph it was expanded from.
    pub fn job_graph(&self) -> &JobGraph {
        &self.job
    }

    /// The JobGraph it was expanded from, shared.
    pub fn job_graph_arc(&self) -> Arc<JobGraph> {
        self.job.clone()
    }

    /// Vertices in order of creation, which is topological.
    pub fn vertices(&self) -> &[ExecutionJobVertex] {
        &self.vertices
    }

    /// One vertex.
    pub fn vertex(&self, vertex: ExecutionVertexIndex) -> &ExecutionJobVertex {
        &self.vertices[vertex.get()]
    }

    /// Where a vertex of the JobGraph stands.
    pub fn position(&self, vertex: VertexIndex) -> ExecutionVertexIndex {
        self.position[vertex.get()]
    }

    /// The number of a subtask among those of all vertices.
    ///
    /// # Errors
    /// [`PlanError::InvalidValue`] for one that does not exist.
    pub fn check_subtask(&self, vertex: ExecutionVertexIndex, subtask: u32) -> Result<usize> {
        let broken = |subject: &str, field: &str, value: u32, expected: String| {
            Err(PlanError::InvalidValue { subject: subject.into(), field: field.into(), value: value.to_string(), expected })
        };
        match self.vertices.get(vertex.get()) {
            Some(expanded) if subtask < expanded.parallelism => Ok((expanded.first_subtask + u64::from(subtask)) as usize),
            Some(expanded) => broken(self.job.name(expanded.vertex), "subtask", subtask, format!("0 to {}", expanded.parallelism - 1)),
            None => broken("execution graph", "vertex", vertex.0, format!("a position below {}", self.vertices.len())),
        }
    }

    /// Number of subtasks.
    pub fn total_vertices(&self) -> u64 {
        self.vertices.last().map_or(0, |last| last.first_subtask + u64::from(last.parallelism))
    }

    /// Subtasks by their number among those of all vertices, each as position of its vertex and index.
    pub fn subtask_rows(&self, rows: std::ops::Range<usize>) -> impl Iterator<Item = (usize, u32)> + '_ {
        let mut at = self.vertices.partition_point(|vertex| vertex.first_subtask <= rows.start as u64).saturating_sub(1);
        rows.map(move |row| {
            let index = row as u64 - self.vertices[at].first_subtask;
            let ended = index == u64::from(self.vertices[at].parallelism); // no vertex is empty
            at += usize::from(ended);
            (at, if ended { 0 } else { index as u32 })
        })
    }

    /// Number of ExecutionEdges.
    pub fn total_edges(&self) -> u64 {
        self.total_edges
    }

    /// `name (2/7)`: the name of a subtask, counted from 0.
    pub fn task_name(&self, vertex: ExecutionVertexIndex, subtask: u32) -> String {
        let expanded = self.vertex(vertex);
        format!("{} ({}/{})", self.job.name(expanded.vertex), subtask + 1, expanded.parallelism)
    }

    /// Parallelism of a vertex of the JobGraph.
    pub fn parallelism(&self, vertex: VertexIndex) -> u32 {
        self.vertices[self.position(vertex).get()].parallelism
    }

    /// The exchange of a job edge.
    pub fn fan_out(&self, edge: JobEdgeIndex) -> FanOut {
        let ends = self.job.edge(edge);
        FanOut {
            distribution: self.job.distribution(edge),
            producers: self.parallelism(ends.source),
            consumers: self.parallelism(ends.target),
            shares: self.job.profile().shares(),
        }
    }

    /// Number of groups of partitions that are read together, over all inputs.
    pub fn total_groups(&self) -> u64 {
        all(self.job.edge_count()).map(|edge| u64::from(self.fan_out(edge).groups())).sum()
    }

    /// Subtasks that read a partition of a data set, one range per consuming edge, by consumer and input.
    pub fn partition_consumers(
        &self,
        data_set: DataSetIndex,
        partition: u32,
    ) -> impl Iterator<Item = (JobEdgeIndex, std::ops::Range<u32>)> + '_ {
        let shared = self.readers.as_ref().map_or(&[][..], |readers| readers.of(data_set));
        let own = shared.is_empty().then(|| self.job.first_consumer(data_set));
        let edges = own.into_iter().chain(shared.iter().copied());
        edges.map(move |edge| (edge, self.fan_out(edge).consumers_of(partition)))
    }
}

#[cfg(test)]
mod tests {
    use super::default_max_parallelism;

    #[test]
    fn default_max_parallelism_is_a_power_of_two_with_room() {
        let expected = [(1, 128), (85, 128), (86, 256), (128, 256), (170, 256), (171, 256), (172, 512), (21_845, 32_768), (32_768, 32_768)];
        for (parallelism, max) in expected {
            assert_eq!(default_max_parallelism(parallelism), max, "{parallelism}");
        }
    }
}
