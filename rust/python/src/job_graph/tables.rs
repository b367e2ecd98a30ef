//! A JobGraph as columns.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Float64Array, Int32Array};
use penstock_planner::dense::{DataSetIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex};
use penstock_planner::job_graph::{Connection, JobGraph as Job};

use crate::arrow::arrays::{integers, numbers, operator_ids, optional_texts, shared_names, spellings, texts};
use crate::arrow::columns::{Columns, Named};

/// Operators, vertex by vertex.
pub fn operators_table(job: Arc<Job>) -> Columns {
    Columns::on_demand(job.operator_count(), move |rows| operators(&job, rows))
}

fn operators(job: &Job, rows: Range<usize>) -> Named {
    let graph = job.stream_graph();
    let operators = || job.operator_rows(rows.clone());
    let table: Vec<NodeIndex> = operators().map(|(_, _, operator)| operator.node).collect();
    let nodes = || table.iter().copied();
    let fractions = operators().map(|(_, row, _)| job.managed_memory_fraction(row));
    vec![
        ("node", integers(nodes().map(|node| graph.node(node).id))),
        ("operator_id", operator_ids(false, nodes().map(|node| Some(job.operator_id(node))))),
        ("user_defined_id", operator_ids(false, nodes().map(|node| job.user_defined_id(node)))),
        ("vertex", numbers(operators().map(|(vertex, ..)| vertex.0))),
        ("chain_index", numbers(operators().map(|(_, _, operator)| operator.depth + job.profile().head_index()))),
        ("name", texts(nodes().map(|node| graph.name(node)))),
        ("uid", optional_texts(nodes().map(|node| graph.node(node).uid.map(|uid| graph.text(uid))))),
        ("managed_memory_fraction", Arc::new(Float64Array::from_iter(fractions))),
    ]
}

/// Vertices, in order of creation.
pub fn vertices_table(job: Arc<Job>) -> Columns {
    Columns::on_demand(job.vertex_count(), move |rows| vertices(&job, rows))
}

fn vertices(job: &Job, rows: Range<usize>) -> Named {
    let graph = job.stream_graph();
    let vertices = || rows.clone().map(VertexIndex::new);
    let heads = || vertices().map(|vertex| job.chain(vertex).head);
    let co_located = |vertex: VertexIndex| job.slots().co_location_of.get(vertex.get()).map(|group| group.0 as i32);
    vec![
        ("vertex", numbers(vertices().map(|vertex| vertex.0))),
        ("id", operator_ids(false, vertices().map(|vertex| Some(job.id(vertex))))),
        ("name", texts(vertices().map(|vertex| job.name(vertex)))),
        ("head", integers(heads().map(|head| graph.node(head).id))),
        ("parallelism", integers(vertices().map(|vertex| job.parallelism(vertex)))),
        ("max_parallelism", integers(heads().map(|head| graph.node(head).max_parallelism))),
        ("invokable", shared_names(heads().map(|head| Some(graph.task(head))))),
        ("slot_sharing_group", numbers(vertices().map(|vertex| job.slots().group_of[vertex.get()].0))),
        ("co_location_group", Arc::new(vertices().map(co_located).collect::<Int32Array>())),
    ]
}

/// Job edges, in the order in which they were connected.
pub fn edges_table(job: Arc<Job>) -> Columns {
    Columns::on_demand(job.edge_count(), move |rows| edges(&job, rows))
}

fn edges(job: &Job, rows: Range<usize>) -> Named {
    let indices = || rows.clone().map(JobEdgeIndex::new);
    let edges = || indices().map(|edge| job.edge(edge));
    let partitioner = |edge: &Connection| Some(job.stream_graph().edge(edge.edge).partitioner.as_str());
    vec![
        ("source", numbers(edges().map(|edge| edge.source.0))),
        ("result", numbers(indices().map(|edge| job.result_position(job.consumed(edge)) as u32))),
        ("target", numbers(edges().map(|edge| edge.target.0))),
        ("input", numbers(indices().map(|edge| job.input_position(edge) as u32))),
        ("data_set", numbers(indices().map(|edge| job.consumed(edge).0))),
        ("distribution", spellings(indices().map(|edge| Some(job.distribution(edge).as_str())))),
        ("result_type", spellings(edges().map(|edge| Some(edge.result_type.as_str())))),
        ("ship_strategy", spellings(edges().map(partitioner))),
        ("stream_edge", numbers(edges().map(|edge| edge.edge.0))),
    ]
}

/// Data sets, in order of creation.
pub fn data_sets_table(job: Arc<Job>) -> Columns {
    Columns::on_demand(job.data_set_count(), move |rows| data_sets(&job, rows))
}

fn data_sets(job: &Job, rows: Range<usize>) -> Named {
    let indices = || rows.clone().map(DataSetIndex::new);
    let producers = || indices().map(|data_set| job.edge(job.first_consumer(data_set)));
    vec![
        ("data_set", numbers(indices().map(|data_set| data_set.0))),
        ("producer", numbers(producers().map(|edge| edge.source.0))),
        ("result", numbers(indices().map(|data_set| job.result_position(data_set) as u32))),
        ("result_type", spellings(producers().map(|edge| Some(edge.result_type.as_str())))),
        ("consumers", numbers(indices().map(|data_set| job.consumers(data_set).len() as u32))),
    ]
}
