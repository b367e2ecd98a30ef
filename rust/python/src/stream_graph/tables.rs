//! A StreamGraph as columns.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StructArray};
use arrow_schema::{Field, Fields};
use penstock_planner::dense::{EdgeIndex, Index, NameId, NodeIndex};
use penstock_planner::identity::{OperatorIds, Verdicts};
use penstock_planner::stream_graph::spec::SpecResources;
use penstock_planner::stream_graph::{NodeExtras, ResourceSpec, Resources, StreamEdge, StreamGraph as Graph, StreamNode};

use crate::arrow::arrays::{
    flags, integers, longs, numbers, operator_ids, optional_integers, optional_texts, shared_names, spellings, texts,
};
use crate::arrow::columns::{Columns, Named};

/// Nodes, in order of addition.
pub fn nodes_table(graph: Arc<Graph>) -> Columns {
    Columns::on_demand(graph.node_count(), move |rows| nodes(&graph, rows))
}

fn nodes(graph: &Graph, rows: Range<usize>) -> Named {
    let nodes = || rows.clone().map(|row| graph.node(NodeIndex::new(row)));
    let text = |name: Option<NameId>| name.map(|name| graph.text(name));
    let names = |of: fn(&StreamNode) -> Option<NameId>| nodes().map(move |node| text(of(&node)));
    let mut columns = vec![
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
        ("managed_memory_weight", Arc::new(nodes().map(|node| node.managed_memory_weight).collect::<Int32Array>())),
        ("buffer_timeout", longs(nodes().map(|node| node.buffer_timeout))),
    ];
    columns.extend(rarities(graph, rows));
    columns
}

/// Columns of what few nodes have: those that some node of the graph uses.
fn rarities(graph: &Graph, rows: Range<usize>) -> Named {
    let extras = || rows.clone().map(|row| graph.extras(NodeIndex::new(row)));
    let texts: [(&'static str, ExtraText); 4] = [
        ("task", |extras| extras.task),
        ("input_format", |extras| extras.input_format),
        ("output_format", |extras| extras.output_format),
        ("coordinator", |extras| extras.coordinator),
    ];
    let text = |of: ExtraText| shared_names(extras().map(move |extras| extras.and_then(of).map(|name| graph.text(name))));
    let used = texts.into_iter().filter(|(_, of)| graph.all_extras().iter().any(|extras| of(extras).is_some()));
    let mut columns: Named = used.map(|(name, of)| (name, text(of))).collect();
    if graph.all_extras().iter().any(|extras| extras.resources.is_some()) {
        columns.extend(resources(extras().map(|extras| extras.and_then(|extras| extras.resources.as_ref())).collect()));
    }
    columns
}

type ExtraText = fn(&NodeExtras) -> Option<NameId>;

/// Minimum and preferred resources, a struct each.
fn resources(of: Vec<Option<&Resources>>) -> Named {
    let one = |part: fn(&Resources) -> &ResourceSpec| -> ArrayRef {
        let specs = || of.iter().map(|both| both.map(|both| SpecResources::of(part(both))));
        let size = |size: fn(SpecResources) -> i64| -> ArrayRef { Arc::new(specs().map(|spec| spec.map(size)).collect::<Int64Array>()) };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("cpu", Arc::new(specs().map(|spec| spec.map(|spec| spec.cpu)).collect::<Float64Array>())),
            ("heap_mb", size(|spec| spec.heap_mb)),
            ("off_heap_mb", size(|spec| spec.off_heap_mb)),
            ("managed_mb", size(|spec| spec.managed_mb)),
        ];
        let fields: Fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
        let given: BooleanArray = of.iter().map(|both| Some(both.is_some())).collect();
        let arrays = columns.into_iter().map(|(_, column)| column).collect();
        Arc::new(StructArray::new(fields, arrays, Some(given.values().clone().into())))
    };
    vec![("min_resources", one(|both| &both.min)), ("preferred_resources", one(|both| &both.preferred))]
}

/// Loops, in order of addition.
pub fn iterations_table(graph: &Graph) -> Columns {
    let loops = || graph.iterations().iter();
    let group = |head: NodeIndex| graph.node(head).slot_sharing_group.map(|group| graph.text(group));
    let mut columns = vec![
        ("loop_id", integers(loops().map(|one| one.loop_id))),
        ("source_id", integers(loops().map(|one| graph.node(one.head).id))),
        ("sink_id", integers(loops().map(|one| graph.node(one.tail).id))),
        ("parallelism", integers(loops().map(|one| one.parallelism))),
        ("max_parallelism", integers(loops().map(|one| one.max_parallelism))),
        ("timeout", longs(loops().map(|one| one.timeout))),
        ("slot_sharing_group", shared_names(loops().map(|one| group(one.head)))),
    ];
    if loops().any(|one| graph.resources(one.head).is_some()) {
        columns.extend(resources(loops().map(|one| graph.resources(one.head)).collect()));
    }
    Columns::new(columns)
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
        ("partition_node", optional_integers(edges().map(|edge| edge.partition_node))),
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
