//! A StreamGraph as columns.

use std::ops::Range;
use std::sync::Arc;

use penstock_planner::chainable::Verdicts;
use penstock_planner::index::{EdgeIndex, Index, NameId, NodeIndex};
use penstock_planner::operator_id::OperatorIds;
use penstock_planner::stream_graph::{StreamEdge, StreamGraph as Graph, StreamNode};

use crate::arrays::{flags, integers, longs, numbers, operator_ids, optional_texts, shared_names, spellings, texts};
use crate::columns::{Columns, Named};

/// Nodes, in order of addition.
pub fn nodes_table(graph: Arc<Graph>) -> Columns {
    Columns::on_demand(graph.node_count(), move |rows| nodes(&graph, rows))
}

fn nodes(graph: &Graph, rows: Range<usize>) -> Named {
    let nodes = || rows.clone().map(|row| graph.node(NodeIndex::new(row)));
    let text = |name: Option<NameId>| name.map(|name| graph.text(name));
    let names = |of: fn(&StreamNode) -> Option<NameId>| nodes().map(move |node| text(of(&node)));
    vec![
        ("id", integers(nodes().map(|node| node.id))),
        ("name", texts(nodes().map(|node| graph.text(node.name)))),
        ("kind", spellings(nodes().map(|node| Some(node.role.as_str())))),
        ("uid", optional_texts(names(|node| node.uid))),
        ("user_hash", optional_texts(names(|node| node.user_hash))),
        ("slot_sharing_group", shared_names(names(|node| node.slot_sharing_group))),
        ("co_location_group", shared_names(names(|node| node.co_location_group))),
        ("parallelism", integers(nodes().map(|node| node.parallelism))),
        ("max_parallelism", integers(nodes().map(|node| node.max_parallelism))),
        ("chaining_strategy", spellings(nodes().map(|node| Some(node.chaining_strategy.as_str())))),
        ("yielding", flags(nodes().map(|node| node.yielding))),
        ("managed_memory_weight", integers(nodes().map(|node| node.managed_memory_weight))),
        ("buffer_timeout", longs(nodes().map(|node| node.buffer_timeout))),
    ]
}

/// Edges with their verdicts, in order of addition.
pub fn edges_table(graph: Arc<Graph>, verdicts: Verdicts) -> Columns {
    Columns::on_demand(graph.edge_count(), move |rows| edges(&graph, &verdicts, rows))
}

fn edges(graph: &Graph, verdicts: &Verdicts, rows: Range<usize>) -> Named {
    let indices = || rows.clone().map(EdgeIndex::new);
    let edges = || indices().map(|edge| graph.edge(edge));
    let id = |of: fn(&StreamEdge) -> NodeIndex| edges().map(move |edge| graph.node(of(&edge)).id);
    vec![
        ("source", integers(id(|edge| edge.source))),
        ("target", integers(id(|edge| edge.target))),
        ("partitioner", spellings(edges().map(|edge| Some(edge.partitioner.as_str())))),
        ("shuffle_mode", spellings(edges().map(|edge| Some(edge.shuffle_mode.as_str())))),
        ("input", integers(edges().map(|edge| edge.type_number.into()))),
        ("side_output", shared_names(edges().map(|edge| edge.side_output.map(|tag| graph.text(tag))))),
        ("buffer_timeout", longs(edges().map(|edge| edge.buffer_timeout))),
        ("chained", flags(indices().map(|edge| verdicts.chained(edge)))),
        ("rule", spellings(indices().map(|edge| verdicts.get(edge).rule()))),
    ]
}

/// What the chaining rules say about each edge.
pub fn verdicts_table(graph: Arc<Graph>, verdicts: Verdicts) -> Columns {
    Columns::on_demand(graph.edge_count(), move |rows| {
        let indices = || rows.clone().map(EdgeIndex::new);
        vec![
            ("edge", numbers(indices().map(|edge| edge.0))),
            ("chained", flags(indices().map(|edge| verdicts.chained(edge)))),
            ("rule", spellings(indices().map(|edge| verdicts.get(edge).rule()))),
            ("reason", optional_texts(indices().map(|edge| verdicts.reason(&graph, edge)))),
        ]
    })
}

/// The OperatorID of each node, null where no source reaches.
pub fn operator_ids_table(graph: Arc<Graph>, ids: OperatorIds, binary: bool) -> Columns {
    Columns::on_demand(graph.node_count(), move |rows| {
        let nodes = || rows.clone().map(NodeIndex::new);
        vec![
            ("node", integers(nodes().map(|node| graph.node(node).id))),
            ("operator_id", operator_ids(binary, nodes().map(|node| ids.get(node)))),
        ]
    })
}
