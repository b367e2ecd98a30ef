use std::sync::Arc;

use super::*;
use crate::dense::{EdgeIndex, all};
use crate::error::PlanError;
use crate::job_graph::{JobOptions, compile};

fn size(operators: i64) -> Size {
    Size { operators, parallelism: 4, seed: 0 }
}

fn vertices(graph: StreamGraph) -> usize {
    compile(Arc::new(graph), JobOptions::default()).unwrap().vertex_count()
}

fn edges(graph: &StreamGraph) -> Vec<(i32, i32, Partitioner, u8)> {
    let ends = |edge: crate::stream_graph::StreamEdge| (graph.node(edge.source).id, graph.node(edge.target).id);
    all::<EdgeIndex>(graph.edge_count())
        .map(|edge| graph.edge(edge))
        .map(|edge| (ends(edge).0, ends(edge).1, edge.partitioner, edge.type_number))
        .collect()
}

type Make = fn(Size) -> Result<StreamGraph>;
type Vertices = fn(usize) -> usize;

const SHAPES: [(&str, Make, Vertices); 10] = [
    ("layered_dag", |size| layered_dag(size, 100, 2), |n| n),
    ("one input", |size| layered_dag(size, 100, 1), |n| n.min(100)),
    ("forward_chain", forward_chain, |_| 1),
    ("keyed_pipelines", keyed_pipelines, |n| n / 5 * 2 + [0, 1, 1, 2, 2][n % 5]),
    ("fan_in", fan_in, |n| n),
    ("fan_out", fan_out, |n| n),
    ("uid_table", uid_table, |n| n),
    ("diamonds", |size| diamonds(size, false), |n| 1 + (n - 1) / 4),
    ("yielding diamonds", |size| diamonds(size, true), |n| 1 + usize::from(n > 1) + (n - 1) / 4),
    ("yielding_chain", yielding_chain, |n| n.min(2)),
];

#[test]
fn every_size_has_its_operators_and_its_vertices() {
    for (name, make, expected) in SHAPES {
        for operators in (1..30).chain([99, 100, 101, 250, 1000]) {
            let graph = make(size(operators)).unwrap();
            assert_eq!(graph.node_count() as i64, operators, "{name}");
            assert_eq!(graph.verify(), Vec::<String>::new());
            assert_eq!(vertices(graph), expected(operators as usize), "{name} of {operators}");
        }
    }
}

#[test]
fn a_layered_dag_reads_the_layer_before() {
    let graph = layered_dag(size(11), 3, 4).unwrap();
    assert_eq!(graph.edge_count(), 8 * 4);
    for (source, target, partitioner, input) in edges(&graph) {
        assert_eq!(((source - 1) / 3) + 1, (target - 1) / 3, "{source} -> {target}");
        assert_eq!(input, 0);
        assert!(source == target - 3 || partitioner == Partitioner::Hash);
    }
    let two = edges(&layered_dag(size(6), 3, 2).unwrap());
    assert_eq!(two.iter().map(|edge| edge.3).collect::<Vec<_>>(), [1, 2].repeat(3));
}

#[test]
fn a_seed_changes_what_is_drawn_and_nothing_else_does() {
    let drawing: [Make; 3] = [|size| layered_dag(size, 10, 2), fan_in, fan_out];
    for make in drawing {
        let with = |seed| edges(&make(Size { seed, ..size(100) }).unwrap());
        assert_eq!(with(7), with(7));
        assert_ne!(with(0), with(7));
    }
    let drawn: Vec<i32> = edges(&layered_dag(size(200), 100, 2).unwrap()).iter().skip(1).step_by(2).map(|edge| edge.0).take(5).collect();
    assert_eq!(drawn, [89, 44, 3, 98, 11], "seed 0 must stay as it is: other programs build the same graph");
}

#[test]
fn pairs_have_the_exchange_they_are_named_for() {
    for (graph, mode, partitioner) in [
        (all_to_all(5).unwrap(), ShuffleMode::Undefined, Partitioner::Hash),
        (scheduler_benchmark(5, false).unwrap(), ShuffleMode::Pipelined, Partitioner::Rebalance),
        (scheduler_benchmark(5, true).unwrap(), ShuffleMode::Batch, Partitioner::Rebalance),
    ] {
        let edge = graph.edge(EdgeIndex(0));
        assert_eq!((edge.shuffle_mode, edge.partitioner, graph.node(edge.source).parallelism), (mode, partitioner, 5));
        assert_eq!(vertices(graph), 2);
    }
}

#[test]
fn arguments_out_of_bounds_are_named() {
    let edges = 1 << 20;
    for (result, message) in [
        (forward_chain(size(0)), "forward_chain: operators is 0, expected a whole number from 1 to 268435456."),
        (fan_in(size(i64::MIN)), "operators is -9223372036854775808"),
        (fan_out(Size { parallelism: 32_769, ..size(1) }), "fan_out: parallelism is 32769, expected a whole number from 1 to 32768."),
        (layered_dag(size(9), 0, 2), "layered_dag: width is 0"),
        (layered_dag(size(9), 3, 0), "layered_dag: inputs is 0"),
        (layered_dag(size(edges), 3, 65_535), "the number of edges is 68718"),
        (all_to_all(-1), "all_to_all: parallelism is -1"),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, PlanError::InvalidValue { .. }) && error.to_string().contains(message), "{error}");
    }
}
