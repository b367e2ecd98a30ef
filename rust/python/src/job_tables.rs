//! A JobGraph as columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray, UInt32Array};
use penstock_planner::index::{Index, JobEdgeIndex, OperatorIndex, VertexIndex, all};
use penstock_planner::job_graph::JobGraph as Job;

use crate::columns::Columns;

/// Operators: node, OperatorID, vertex, chain index, names.
pub fn operators_table(job: &Job) -> Columns {
    let graph = job.stream_graph();
    let vertices = all::<VertexIndex>(job.vertex_count());
    let table: Vec<_> = vertices.flat_map(|vertex| job.operators(vertex).iter().map(move |operator| (vertex, operator))).collect();
    let rows = || table.iter();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("node", Arc::new(Int32Array::from_iter_values(rows().map(|(_, operator)| graph.node(operator.node).id)))),
        ("operator_id", Arc::new(StringArray::from_iter_values(rows().map(|(_, operator)| job.operator_id(operator.node).to_string())))),
        (
            "user_defined_id",
            Arc::new(StringArray::from_iter(rows().map(|(_, operator)| job.user_defined_id(operator.node).map(|id| id.to_string())))),
        ),
        ("vertex", Arc::new(UInt32Array::from_iter_values(rows().map(|(vertex, _)| vertex.0)))),
        ("chain_index", Arc::new(UInt32Array::from_iter_values(rows().map(|(_, operator)| operator.depth)))),
        ("name", Arc::new(StringArray::from_iter_values(rows().map(|(_, operator)| graph.name(operator.node))))),
        ("uid", Arc::new(StringArray::from_iter(rows().map(|(_, operator)| graph.node(operator.node).uid.map(|uid| graph.text(uid)))))),
        (
            "managed_memory_fraction",
            Arc::new(Float64Array::from_iter_values((0..table.len()).map(|row| job.managed_memory_fraction(OperatorIndex::new(row))))),
        ),
    ];
    Columns::new(columns)
}

/// Vertices.
pub fn vertices_table(job: &Job) -> Columns {
    let graph = job.stream_graph();
    let vertices = || all::<VertexIndex>(job.vertex_count());
    let head = |vertex: VertexIndex| job.chain(vertex).head;
    let groups = |vertex: VertexIndex| job.slots().group_of[vertex.get()].0;
    let co_located = |vertex: VertexIndex| job.slots().co_location_of.get(vertex.get()).map(|group| group.0);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("vertex", Arc::new(UInt32Array::from_iter_values(vertices().map(|vertex| vertex.0)))),
        ("id", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| job.id(vertex).to_string())))),
        ("name", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| job.name(vertex))))),
        ("head", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| graph.node(head(vertex)).id)))),
        ("parallelism", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| job.parallelism(vertex))))),
        ("max_parallelism", Arc::new(Int32Array::from_iter_values(vertices().map(|vertex| graph.node(head(vertex)).max_parallelism)))),
        ("invokable", Arc::new(StringArray::from_iter_values(vertices().map(|vertex| graph.task(head(vertex)))))),
        ("slot_sharing_group", Arc::new(UInt32Array::from_iter_values(vertices().map(groups)))),
        ("co_location_group", Arc::new(UInt32Array::from_iter(vertices().map(co_located)))),
    ];
    Columns::new(columns)
}

/// Job edges.
pub fn edges_table(job: &Job) -> Columns {
    let indices = || all::<JobEdgeIndex>(job.edge_count());
    let edges = || indices().map(|edge| job.edge(edge));
    let partitioner = |edge: JobEdgeIndex| job.stream_graph().edge(job.edge(edge).edge).partitioner.as_str();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("source", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.source.0)))),
        ("result", Arc::new(UInt32Array::from_iter_values(indices().map(|edge| job.result_position(job.consumed(edge)) as u32)))),
        ("target", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.target.0)))),
        ("input", Arc::new(UInt32Array::from_iter_values(indices().map(|edge| job.input_position(edge) as u32)))),
        ("distribution", Arc::new(StringArray::from_iter_values(indices().map(|edge| job.distribution(edge).as_str())))),
        ("result_type", Arc::new(StringArray::from_iter_values(edges().map(|edge| edge.result_type.as_str())))),
        ("ship_strategy", Arc::new(StringArray::from_iter_values(indices().map(partitioner)))),
        ("stream_edge", Arc::new(UInt32Array::from_iter_values(edges().map(|edge| edge.edge.0)))),
    ];
    Columns::new(columns)
}
