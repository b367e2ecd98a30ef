//! Where Flink 1.11 and 2.3 differ on one graph: a test for each value of the profile that the passes of a JobGraph ask for.

use std::sync::Arc;

use super::{JobGraph, JobOptions, compile};
use crate::dense::{CoLocationIndex, EdgeIndex, VertexIndex, all};
use crate::error::{PlanError, Result};
use crate::profile::Profile;
use crate::stream_graph::{
    NewEdge, NewIteration, NewNode, Partitioner, ResourceSpec, Resources, Role, Settings, ShuffleMode, StreamGraph, StreamGraphBuilder,
};
use crate::test_graphs::{edge, graph, node};

const HASH: Option<Partitioner> = Some(Partitioner::Hash);

fn plans(graph: StreamGraph) -> [Result<JobGraph>; 2] {
    let graph = Arc::new(graph);
    [Profile::V1_11, Profile::V2_3].map(|profile| compile(graph.clone(), JobOptions { profile, ..JobOptions::default() }))
}

fn both<T>(graph: StreamGraph, read: impl Fn(&JobGraph) -> T) -> [T; 2] {
    plans(graph).map(|job| read(&job.unwrap()))
}

fn errors(graph: StreamGraph) -> [Option<PlanError>; 2] {
    plans(graph).map(Result::err)
}

fn kinds(graph: StreamGraph) -> [&'static str; 2] {
    errors(graph).map(|error| error.map_or("planned", |error| error.kind()))
}

fn heads(job: &JobGraph) -> Vec<i32> {
    all(job.vertex_count()).map(|vertex| job.stream_graph().node(job.chain(vertex).head).id).collect()
}

#[test]
fn sources_come_in_hash_order_or_ascending() {
    let sources = [17, 16, 1].map(|id| node(id, Role::Source));
    assert_eq!(both(graph(&sources, &[]), heads), [vec![16, 17, 1], vec![1, 16, 17]]);
}

#[test]
fn co_location_follows_the_map_or_the_order_of_creation() {
    let nodes = [17, 16, 1].map(|id| NewNode { co_location_group: Some("c"), ..node(id, Role::Source) });
    let members = |job: &JobGraph| {
        job.slots().co_located.of(CoLocationIndex(0)).iter().map(|vertex| heads(job)[vertex.0 as usize]).collect::<Vec<_>>()
    };
    assert_eq!(both(graph(&nodes, &[]), members), [vec![16, 17, 1], vec![1, 16, 17]]);
}

#[test]
fn chains_are_counted_from_0_or_1_and_timeouts_are_filled_in_or_not() {
    let nodes = [node(1, Role::Source), node(2, Role::Operator), node(3, Role::Sink)];
    let read = |job: &JobGraph| {
        let indices: Vec<u32> = job.stream_configs(VertexIndex(1)).map(|config| config.chain_index).collect();
        (indices, job.buffer_timeout(EdgeIndex(1)), job.stream_configs(VertexIndex(1)).filter(|config| config.chain_start()).count())
    };
    assert_eq!(both(graph(&nodes, &[(1, 2, None), (2, 3, HASH)]), read), [(vec![0, 1], 100, 1), (vec![1, 2], -1, 1)]);
}

/// A blocking edge with a buffer timeout, and behind it in the order of the sources a node that gets no ID.
fn two_mistakes() -> StreamGraph {
    let mut builder = StreamGraphBuilder::new(Settings::default());
    let timed = NewNode { buffer_timeout: 5, ..node(1, Role::Source) };
    let others = [node(2, Role::Sink), node(3, Role::Source), node(4, Role::Operator), node(5, Role::Operator)];
    for node in std::iter::once(timed).chain(others) {
        builder.add_node(&node).unwrap();
    }
    builder.add_edge(NewEdge { shuffle_mode: ShuffleMode::Batch, ..edge(1, 2, HASH) }).unwrap();
    for (source, target) in [(3, 4), (5, 4)] {
        builder.add_edge(edge(source, target, HASH)).unwrap();
    }
    builder.build()
}

#[test]
fn edges_are_looked_at_with_their_vertex_or_after_all_vertices() {
    assert_eq!(kinds(two_mistakes()), ["BlockingTimeout", "UnreachedInput"]);
}

#[test]
fn what_is_missing_is_null_in_2_3() {
    let unreached = || graph(&[node(1, Role::Source), node(2, Role::Operator), node(3, Role::Sink)], &[(1, 3, None), (2, 3, None)]);
    let groupless = || graph(&[NewNode { slot_sharing_group: None, ..node(1, Role::Source) }], &[]);
    let classes = |graph| errors(graph).map(|error| error.unwrap().flink_class().unwrap());
    assert_eq!(classes(unreached()), ["java.lang.IllegalArgumentException", "java.lang.NullPointerException"]);
    assert_eq!(classes(groupless()), ["java.lang.IllegalStateException", "java.lang.NullPointerException"]);
}

#[test]
fn a_missing_group_is_noticed_after_co_location_or_before() {
    let co_located = |id, group| NewNode { slot_sharing_group: group, co_location_group: Some("c"), ..node(id, Role::Source) };
    let alone = NewNode { slot_sharing_group: None, ..node(3, Role::Source) };
    let conflict = graph(&[co_located(1, Some("a")), co_located(2, Some("b")), alone], &[]);
    assert_eq!(kinds(conflict), ["CoLocationConflict", "NoSlotSharingGroup"]);
    assert_eq!(kinds(graph(&[co_located(1, None)], &[])), ["CoLocationWithoutSlotSharing", "NoSlotSharingGroup"]);
}

#[test]
fn empty_texts_are_refused_by_2_3_after_uid_hashes_of_a_wrong_length() {
    let uid = NewNode { uid: Some(""), ..node(1, Role::Source) };
    let name = NewNode { name: "", ..uid.clone() };
    let short = NewNode { user_hash: Some("ab"), ..uid.clone() };
    assert_eq!(kinds(graph(&[uid], &[])), ["planned", "EmptyText"]);
    assert!(errors(graph(&[name], &[]))[1].as_ref().unwrap().to_string().contains("empty name"));
    assert_eq!(kinds(graph(&[short], &[])), ["UserHashLength", "UserHashLength"]);
}

#[test]
fn a_source_that_reads_is_refused_by_2_3_chained_or_not() {
    for partitioner in [None, HASH] {
        let fed = graph(&[node(1, Role::Source), node(2, Role::Source)], &[(1, 2, partitioner)]);
        assert_eq!(kinds(fed), ["planned", "FedSource"]);
    }
}

#[test]
fn there_are_no_iterations_in_2_3() {
    let mut builder = StreamGraphBuilder::new(Settings::default());
    builder.add_node(&node(1, Role::Source)).unwrap();
    let (parallelism, slot_sharing_group) = (1, Some("default"));
    let ends = NewIteration {
        loop_id: 1,
        source_id: -1,
        sink_id: -2,
        parallelism,
        max_parallelism: -1,
        timeout: 0,
        slot_sharing_group,
        resources: None,
    };
    builder.add_iteration(&ends).unwrap();
    assert_eq!(kinds(builder.build()), ["planned", "NoIterations"]);
}

#[test]
fn managed_memory_is_divided_by_resources_or_by_declared_weights() {
    let spec = |managed_mb| ResourceSpec { managed_mb, ..ResourceSpec::zero() };
    let sized = |id, role, managed, weight| NewNode {
        resources: Some(Resources { min: spec(managed), preferred: spec(managed) }),
        managed_memory_weight: weight,
        ..node(id, role)
    };
    let fractions = |job: &JobGraph| job.stream_configs(VertexIndex(0)).map(|config| config.managed_memory_fraction).collect::<Vec<_>>();
    let weighted = [sized(1, Role::Source, 1, None), sized(2, Role::Sink, 3, Some(7))];
    let expected = [vec![Some(0.25), Some(0.75)], vec![Some(0.0), Some(1.0)]];
    assert_eq!(both(graph(&weighted, &[(1, 2, None)]), fractions), expected);
    let plain = [node(1, Role::Source), node(2, Role::Sink)];
    assert_eq!(both(graph(&plain, &[(1, 2, None)]), fractions), [vec![Some(0.5); 2], vec![None; 2]]);
}
