//! The stage `execution_graph` of a record: edges one by one in 1.11, as groups in 2.3.

use std::ops::Range;
use std::sync::Arc;

use super::record_types::*;
use crate::dense::{DataSetIndex, JobEdgeIndex};
use crate::error::{PlanError, Result};
use crate::execution_graph::{ExecutionGraph, ExecutionJobVertex, edge_table::BYTES_PER_EDGE, expand, fan_out::FanOut};
use crate::job_graph::JobGraph;

const LISTED: u64 = 1000;
/// Hashing more edges than this takes minutes.
const HASHED_EDGES: u64 = 1 << 30;

/// Expands a JobGraph and tells what came of it. O(execution edges).
pub fn execution_record(job: &Arc<JobGraph>) -> Result<ExecutionGraphRecord> {
    let graph = expand(job.clone())?;
    let (edges, limit) = (graph.total_edges(), HASHED_EDGES * BYTES_PER_EDGE);
    if edges > HASHED_EDGES {
        return Err(PlanError::TooManyExecutionEdges { edges, bytes: edges.saturating_mul(BYTES_PER_EDGE), limit });
    }
    let groups = new(job, || graph.total_groups());
    let listed = groups.unwrap_or(edges) <= LISTED;
    Ok(ExecutionGraphRecord {
        total_vertices: graph.total_vertices(),
        total_edges: edges,
        total_groups: groups,
        vertices: graph.vertices().iter().map(|expanded| vertex(&graph, expanded, listed)).collect(),
        sha256_inputs: graph.sha256_of_inputs(),
        sha256_consumers: old(job, || graph.sha256_of_consumers()),
    })
}

fn vertex(graph: &ExecutionGraph, expanded: &ExecutionJobVertex, listed: bool) -> ExecutionVertexRecord {
    let job = graph.job_graph();
    ExecutionVertexRecord {
        job_vertex: expanded.vertex.0,
        parallelism: expanded.parallelism,
        max_parallelism: expanded.max_parallelism,
        max_parallelism_configured: old(job, || expanded.max_parallelism_configured),
        inputs: job.inputs(expanded.vertex).iter().map(|&edge| input(graph, edge, listed)).collect(),
        results: job.results(expanded.vertex).iter().map(|&data_set| result(graph, data_set, listed)).collect(),
    }
}

fn input(graph: &ExecutionGraph, edge: JobEdgeIndex, listed: bool) -> ExecutionInputRecord {
    let (job, fan_out) = (graph.job_graph(), graph.fan_out(edge));
    let partitions = || (0..fan_out.consumers).map(|subtask| fan_out.partitions_of(subtask).collect()).collect();
    ExecutionInputRecord {
        source: graph.position(job.edge(edge).source).0,
        result: job.result_position(job.consumed(edge)),
        partitions: old(job, || listed.then(partitions)).flatten(),
        groups: new(job, || listed.then(|| groups(&fan_out))).flatten(),
    }
}

/// Partitions that are read together, and by whom; by first subtask.
fn groups(fan_out: &FanOut) -> Vec<GroupRecord> {
    let record = |(partitions, consumers)| GroupRecord { partitions: ends(&partitions), consumers: ends(&consumers) };
    (0..fan_out.groups()).map(|group| record(fan_out.group(group))).collect()
}

fn ends(range: &Range<u32>) -> (u32, u32) {
    (range.start, range.end - 1)
}

fn result(graph: &ExecutionGraph, data_set: DataSetIndex, listed: bool) -> ExecutionResultRecord {
    let job = graph.job_graph();
    let first = job.edge(job.first_consumer(data_set));
    let partitions = 0..graph.parallelism(first.source);
    let one_by_one = || partitions.clone().map(|partition| consumers(graph, data_set, partition)).collect();
    let grouped = || partitions.clone().map(|partition| consumer_groups(graph, data_set, partition)).collect();
    ExecutionResultRecord {
        r#type: first.result_type.as_str(),
        consumers: old(job, || listed.then(one_by_one)).flatten(),
        consumer_groups: new(job, || listed.then(grouped)).flatten(),
    }
}

fn consumers(graph: &ExecutionGraph, data_set: DataSetIndex, partition: u32) -> Vec<(u32, usize, u32)> {
    let job = graph.job_graph();
    let subtasks = |(edge, subtasks): (JobEdgeIndex, Range<u32>)| {
        let (consumer, input) = (graph.position(job.edge(edge).target).0, job.input_position(edge));
        subtasks.map(move |subtask| (consumer, input, subtask))
    };
    graph.partition_consumers(data_set, partition).flat_map(subtasks).collect()
}

fn consumer_groups(graph: &ExecutionGraph, data_set: DataSetIndex, partition: u32) -> Vec<(u32, u32, u32)> {
    let job = graph.job_graph();
    let group = |(edge, subtasks): (JobEdgeIndex, Range<u32>)| {
        let (first, last) = ends(&subtasks);
        (graph.position(job.edge(edge).target).0, first, last)
    };
    graph.partition_consumers(data_set, partition).map(group).collect()
}
