//! Pipelined regions: the subtasks that exchange records while they run, and so are scheduled and restarted together.
//!
//! Semantics: `PipelinedRegionComputeUtil` of Flink 1.11; `LogicalPipelinedRegionComputeUtil`,
//! `SchedulingPipelinedRegionComputeUtil` and `DefaultExecutionTopology` of Flink 2.3; what differs is in [`Profile`].
//! Flink holds regions in sets without an order; here they are numbered in the order in which it schedules them, by their
//! first subtask (`sortPipelinedRegionsInTopologicalOrder`).
//!
//! First whole vertices are united over pipelined edges (a *logical* region). One with an all-to-all exchange, or with a
//! vertex of one subtask, is one region whatever the parallelism; in the others, all exchanges are pointwise and their
//! subtasks are united one by one. Cost: O(vertices + job edges) for the first kind, O(subtasks + pointwise edges) for the
//! second; all-to-all edges are never looked at singly.

use std::sync::Arc;

use super::ExecutionGraph;
use super::region_cells::Cells;
use super::region_cycles::merge_cycles;
use crate::dense::{Csr, ExecutionVertexIndex, Index, JobEdgeIndex, RegionIndex, UnionFind, all};
use crate::error::{PlanError, Result};
use crate::job_graph::Distribution;
use crate::profile::Profile;
use crate::work::cancel::checkpoint_at;

/// Consecutive subtasks of one vertex, in one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtaskSpan {
    /// The vertex.
    pub vertex: ExecutionVertexIndex,
    /// First subtask.
    pub first: u32,
    /// Subtask behind the last.
    pub end: u32,
}

impl SubtaskSpan {
    /// Number of subtasks.
    pub fn subtasks(&self) -> u64 {
        u64::from(self.end - self.first)
    }
}

/// The pipelined regions of an ExecutionGraph.
#[derive(Debug)]
pub struct PipelinedRegions {
    cells: Cells,
    region_of_cell: Vec<RegionIndex>,
    spans: Csr<RegionIndex, SubtaskSpan>,
    count: usize,
}

fn compute(graph: &ExecutionGraph, profile: Profile) -> Result<PipelinedRegions> {
    let logical = logical_regions(graph, profile);
    let whole = whole_vertices(graph, &logical, profile);
    let cells = Cells::new(graph, &whole)?;
    let mut sets = UnionFind::new(cells.len());
    for (vertex, &representative) in all(logical.len()).zip(&logical) {
        if !cells.is_split(vertex) {
            sets.unite(cells.of(vertex).start, cells.of(ExecutionVertexIndex(representative)).start);
        }
    }
    let split = |edge: &JobEdgeIndex| cells.is_split(graph.position(graph.job.edge(*edge).target));
    for edge in all(graph.job.edge_count()).filter(split).filter(|&edge| graph.is_pipelined(edge)) {
        for_each_pointwise_edge(graph, &cells, edge, |producer, consumer| sets.unite(producer, consumer));
    }
    if profile.merges_region_cycles() {
        let waiting = all(graph.job.edge_count()).filter(split).filter(|&edge| is_inside(graph, &logical, edge));
        merge_cycles(&mut sets, waiting.filter(|&edge| !graph.is_pipelined(edge)), |edge, arc| {
            for_each_pointwise_edge(graph, &cells, edge, arc)
        });
    }
    let regions = number(graph, cells, &sets.representatives());
    if !profile.co_located_jobs_are_one_region() {
        refuse_co_location_across_regions(graph, &regions)?;
    }
    Ok(regions)
}

/// What stands for the logical region of each vertex: the smallest vertex it is connected with by pipelined edges.
fn logical_regions(graph: &ExecutionGraph, profile: Profile) -> Vec<u32> {
    if profile.co_located_jobs_are_one_region() && !graph.job.slots().co_located.is_empty() {
        return vec![0; graph.vertices().len()];
    }
    let mut sets = UnionFind::new(graph.vertices().len());
    for edge in all(graph.job.edge_count()).filter(|&edge| graph.is_pipelined(edge)) {
        let ends = graph.job.edge(edge);
        sets.unite(graph.position(ends.source).0, graph.position(ends.target).0);
    }
    sets.representatives()
}

fn is_inside(graph: &ExecutionGraph, logical: &[u32], edge: JobEdgeIndex) -> bool {
    let ends = graph.job.edge(edge);
    logical[graph.position(ends.source).get()] == logical[graph.position(ends.target).get()]
}

/// Which vertices lie in a logical region that is one region: no subtask of it can be told from the others.
fn whole_vertices(graph: &ExecutionGraph, logical: &[u32], profile: Profile) -> Vec<bool> {
    let one_region = profile.co_located_jobs_are_one_region() && !graph.job.slots().co_located.is_empty();
    let mut whole = vec![one_region; logical.len()];
    for (vertex, &representative) in graph.vertices().iter().zip(logical) {
        whole[representative as usize] |= vertex.parallelism == 1;
    }
    for edge in all(graph.job.edge_count()).filter(|&edge| graph.job.distribution(edge) == Distribution::AllToAll) {
        if graph.is_pipelined(edge) || (profile.merges_region_cycles() && is_inside(graph, logical, edge)) {
            whole[logical[graph.position(graph.job.edge(edge).target).get()] as usize] = true;
        }
    }
    logical.iter().map(|&representative| whole[representative as usize]).collect()
}

/// Both cells of each edge between the subtasks of a pointwise exchange.
fn for_each_pointwise_edge(graph: &ExecutionGraph, cells: &Cells, edge: JobEdgeIndex, mut visit: impl FnMut(u32, u32)) {
    let (fan_out, ends) = (graph.fan_out(edge), graph.job.edge(edge));
    let (producer, consumer) = (graph.position(ends.source), graph.position(ends.target));
    for subtask in 0..fan_out.consumers {
        checkpoint_at(subtask as usize);
        for partition in fan_out.partitions_of(subtask) {
            visit(cells.at(producer, partition), cells.at(consumer, subtask));
        }
    }
}

fn number(graph: &ExecutionGraph, cells: Cells, representatives: &[u32]) -> PipelinedRegions {
    let mut number_of = vec![u32::MAX; representatives.len()];
    let mut count = 0;
    let mut region_of_cell = Vec::with_capacity(representatives.len());
    for &representative in representatives {
        let number = &mut number_of[representative as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        region_of_cell.push(RegionIndex(*number));
    }
    let spans = Csr::group(count as usize, all(graph.vertices().len()).flat_map(|vertex| runs(graph, &cells, &region_of_cell, vertex)));
    PipelinedRegions { cells, region_of_cell, spans, count: count as usize }
}

/// The subtasks of a vertex in runs of one region.
fn runs<'a>(
    graph: &'a ExecutionGraph,
    cells: &'a Cells,
    region_of_cell: &'a [RegionIndex],
    vertex: ExecutionVertexIndex,
) -> impl Iterator<Item = (RegionIndex, SubtaskSpan)> + Clone + 'a {
    let parallelism = graph.vertex(vertex).parallelism;
    let mut rest = &region_of_cell[cells.of(vertex).start as usize..cells.of(vertex).end as usize];
    let whole = rest.len() == 1;
    let mut first = 0;
    std::iter::from_fn(move || {
        let region = *rest.first()?;
        let length = rest.iter().take_while(|&&other| other == region).count();
        rest = &rest[length..];
        let span = SubtaskSpan { vertex, first, end: if whole { parallelism } else { first + length as u32 } };
        first = span.end;
        Some((region, span))
    })
}

/// Flink 2.3 checks that the members of a co-location group that share a slot are in one region.
fn refuse_co_location_across_regions(graph: &ExecutionGraph, regions: &PipelinedRegions) -> Result<()> {
    for group in graph.job.slots().co_located.lists() {
        let Some(&widest) = group.iter().max_by_key(|&&vertex| graph.parallelism(vertex)) else { continue };
        for &member in group {
            for subtask in 0..graph.parallelism(member) {
                if regions.of(graph.position(widest), subtask) != regions.of(graph.position(member), subtask) {
                    let name = |vertex| graph.job.name(vertex).to_owned();
                    return Err(PlanError::CoLocatedAcrossRegions { vertex: name(widest), other: name(member), subtask });
                }
            }
        }
    }
    Ok(())
}

impl PipelinedRegions {
    /// Number of regions.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no region, as in a graph without subtasks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The region of a subtask. O(1).
    #[inline]
    pub fn of(&self, vertex: ExecutionVertexIndex, subtask: u32) -> RegionIndex {
        self.region_of_cell[self.cells.at(vertex, subtask) as usize]
    }

    /// The regions of consecutive subtasks, in order, with repetitions; one if the whole vertex is in one region.
    pub fn of_range(&self, span: SubtaskSpan) -> &[RegionIndex] {
        let cells = self.cells.of(span.vertex);
        let range = match cells.len() {
            1 if span.first < span.end => cells,
            1 => 0..0,
            _ => cells.start + span.first..cells.start + span.end,
        };
        &self.region_of_cell[range.start as usize..range.end as usize]
    }

    /// The subtasks of a region, by vertex and subtask.
    pub fn spans(&self, region: RegionIndex) -> &[SubtaskSpan] {
        self.spans.of(region)
    }

    /// Number of subtasks of a region.
    pub fn subtasks(&self, region: RegionIndex) -> u64 {
        self.spans(region).iter().map(SubtaskSpan::subtasks).sum()
    }
}

impl ExecutionGraph {
    /// The pipelined regions under the rules of the graph's profile; found once.
    ///
    /// # Errors
    /// [`PlanError::CoLocatedAcrossRegions`] in profiles that refuse it; [`PlanError::TooManyRegions`] beyond 4 billion.
    pub fn pipelined_regions(&self) -> Result<Arc<PipelinedRegions>> {
        if let Some(regions) = self.regions.get() {
            return Ok(regions.clone());
        }
        let regions = Arc::new(compute(self, self.job.profile())?);
        Ok(self.regions.get_or_init(|| regions).clone())
    }

    /// Whether an exchange is consumed while it is produced.
    pub fn is_pipelined(&self, edge: JobEdgeIndex) -> bool {
        self.job.edge(edge).result_type.is_pipelined()
    }

    /// All subtasks of a vertex.
    pub fn all_subtasks(&self, vertex: ExecutionVertexIndex) -> SubtaskSpan {
        SubtaskSpan { vertex, first: 0, end: self.vertex(vertex).parallelism }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewEdge, NewNode, Partitioner, Role, Settings, ShuffleMode, StreamGraphBuilder};
    use crate::test_graphs::{edge, job, node};
    use Partitioner::{Hash, Rescale};
    use ShuffleMode::{Batch, Pipelined};

    fn expanded(parallelisms: &[i32], co_located: Option<&str>, edges: &[(i32, i32, Partitioner, ShuffleMode)]) -> ExecutionGraph {
        let mut builder = StreamGraphBuilder::new(Settings { chaining_enabled: false, ..Settings::default() });
        for (id, &parallelism) in parallelisms.iter().enumerate() {
            let role = if edges.iter().any(|edge| edge.1 == id as i32) { Role::Operator } else { Role::Source };
            builder.add_node(&NewNode { parallelism, co_location_group: co_located, ..node(id as i32, role) }).unwrap();
        }
        for &(source, target, partitioner, shuffle_mode) in edges {
            builder.add_edge(NewEdge { shuffle_mode, ..edge(source, target, Some(partitioner)) }).unwrap();
        }
        crate::execution_graph::expand(Arc::new(job(builder.build()))).unwrap()
    }

    fn regions(graph: &ExecutionGraph, profile: Profile) -> Vec<Vec<(u32, u32, u32)>> {
        let regions = compute(graph, profile).unwrap();
        let spans = |region| regions.spans(region).iter().map(|span| (span.vertex.0, span.first, span.end)).collect();
        all::<RegionIndex>(regions.len()).map(spans).collect()
    }

    #[test]
    fn pipelined_exchanges_unite_and_blocking_ones_do_not() {
        let graph = expanded(&[4, 2, 2], None, &[(0, 1, Rescale, Pipelined), (1, 2, Hash, Batch)]);
        for profile in [Profile::V1_11, Profile::V2_3] {
            let expected = [vec![(0, 0, 2), (1, 0, 1)], vec![(0, 2, 4), (1, 1, 2)], vec![(2, 0, 1)], vec![(2, 1, 2)]];
            assert_eq!(regions(&graph, profile), expected);
        }
    }

    #[test]
    fn an_all_to_all_result_inside_a_logical_region_makes_it_one_since_it_was_noticed() {
        let graph = expanded(&[2, 2], None, &[(0, 1, Rescale, Pipelined), (0, 1, Hash, Batch)]);
        assert_eq!(regions(&graph, Profile::V1_11).len(), 2);
        assert_eq!(regions(&graph, Profile::V2_3), [[(0, 0, 2), (1, 0, 2)]]);
    }

    #[test]
    fn co_location_makes_one_region_or_must_lie_in_one() {
        let graph = expanded(&[2, 2], Some("group"), &[(0, 1, Rescale, Batch)]);
        assert_eq!(regions(&graph, Profile::V1_11), [[(0, 0, 2), (1, 0, 2)]]);
        let error = compute(&graph, Profile::V2_3).unwrap_err();
        assert_eq!(error.kind(), "CoLocatedAcrossRegions");
        let graph = expanded(&[2, 2], Some("group"), &[(0, 1, Rescale, Pipelined)]);
        assert_eq!(regions(&graph, Profile::V2_3).len(), 2);
    }
}
