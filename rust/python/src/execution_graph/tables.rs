//! An ExecutionGraph as columns.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::SchemaRef;
use penstock_planner::dense::DataSetIndex;
use penstock_planner::execution_graph::ExecutionGraph as Graph;
use penstock_planner::execution_graph::edge_table::{EdgeColumns, EdgeTable};
use penstock_planner::execution_graph::groups::{Group, Groups, ResultPartitions};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::arrays::{flags, longs, numbers, spellings};
use crate::arrow::columns::{Columns, record_batch, stream, stream_as};
use crate::interrupt::interruptible;

/// Rows of a batch of ``execution_edges()``.
const EDGE_BATCH: usize = 1 << 20;

/// Vertices, in order of creation.
pub fn vertices_table(graph: Arc<Graph>) -> Columns {
    Columns::on_demand(graph.vertices().len(), move |rows| {
        let vertices = || graph.vertices()[rows.clone()].iter();
        vec![
            ("vertex", numbers(rows.clone().map(|row| row as u32))),
            ("job_vertex", numbers(vertices().map(|vertex| vertex.vertex.0))),
            ("parallelism", numbers(vertices().map(|vertex| vertex.parallelism))),
            ("max_parallelism", numbers(vertices().map(|vertex| vertex.max_parallelism))),
            ("max_parallelism_configured", flags(vertices().map(|vertex| vertex.max_parallelism_configured))),
            ("first_subtask", longs(vertices().map(|vertex| vertex.first_subtask as i64))),
        ]
    })
}

/// Subtasks with their key groups, vertex by vertex.
pub fn subtasks_table(graph: Arc<Graph>) -> Columns {
    Columns::on_demand(graph.total_vertices() as usize, move |rows| {
        let subtasks = || graph.subtask_rows(rows.clone());
        let key_groups = || subtasks().map(|(at, subtask)| graph.vertices()[at].key_groups(subtask));
        vec![
            ("vertex", numbers(subtasks().map(|(at, _)| at as u32))),
            ("subtask", numbers(subtasks().map(|(_, subtask)| subtask))),
            ("first_key_group", numbers(key_groups().map(|(first, _)| first))),
            ("last_key_group", numbers(key_groups().map(|(_, last)| last))),
        ]
    })
}

/// Partitions of all results, in the order of their producers.
pub fn result_partitions_table(graph: Arc<Graph>) -> Columns {
    let partitions = ResultPartitions::of(&graph);
    Columns::on_demand(partitions.len(), move |rows| {
        let job = graph.job_graph();
        let table: Vec<(DataSetIndex, u32)> = partitions.rows(rows).collect();
        let producers = || table.iter().map(|&(data_set, _)| job.edge(job.first_consumer(data_set)));
        let readers = |data_set, partition| graph.partition_consumers(data_set, partition).map(|(_, subtasks)| subtasks.len() as i64).sum();
        vec![
            ("producer", numbers(producers().map(|edge| graph.position(edge.source).0))),
            ("result", numbers(table.iter().map(|&(data_set, _)| job.result_position(data_set) as u32))),
            ("partition", numbers(table.iter().map(|&(_, partition)| partition))),
            ("data_set", numbers(table.iter().map(|&(data_set, _)| data_set.0))),
            ("result_type", spellings(producers().map(|edge| Some(edge.result_type.as_str())))),
            ("consumers", longs(table.iter().map(|&(data_set, partition)| readers(data_set, partition)))),
        ]
    })
}

const CONSUMER_SIDE: [&str; 4] = ["consumer", "input", "first_subtask", "last_subtask"];
const PRODUCER_SIDE: [&str; 4] = ["producer", "result", "first_partition", "last_partition"];

/// What each subtask reads: Flink's consumed partition groups.
pub fn consumed_partition_groups(graph: Arc<Graph>) -> Columns {
    groups_table(Groups::by_consumer(graph), [CONSUMER_SIDE, PRODUCER_SIDE])
}

/// Who reads each partition: Flink's consumer vertex groups.
pub fn consumer_vertex_groups(graph: Arc<Graph>) -> Columns {
    groups_table(Groups::by_producer(graph), [PRODUCER_SIDE, CONSUMER_SIDE])
}

fn groups_table(groups: Groups, sides: [[&'static str; 4]; 2]) -> Columns {
    Columns::on_demand(groups.len(), move |rows| {
        let table: Vec<Group> = groups.rows(rows).collect();
        let column = |name| {
            let value = |group: &Group| match name {
                "consumer" => group.consumer,
                "input" => group.input,
                "first_subtask" => group.subtasks.start,
                "last_subtask" => group.subtasks.end - 1,
                "producer" => group.producer,
                "result" => group.result,
                "first_partition" => group.partitions.start,
                _ => group.partitions.end - 1,
            };
            (name, numbers(table.iter().map(value)))
        };
        sides.into_iter().flatten().map(column).collect()
    })
}

/// All ExecutionEdges.
///
/// # Errors
/// They would take too many bytes.
pub fn execution_edges(graph: Arc<Graph>, limit_bytes: u64) -> penstock_planner::error::Result<Columns> {
    let chunks = EdgeTable::new(graph, EDGE_BATCH).all(limit_bytes)?;
    Ok(Columns::of(edge_schema(), chunks.into_iter().map(edge_batch).collect()))
}

fn edge_schema() -> SchemaRef {
    edge_batch(EdgeColumns::default()).schema()
}

fn edge_batch(columns: EdgeColumns) -> RecordBatch {
    let EdgeColumns { consumer, subtask, input, producer, result, partition } = columns;
    let columns = [
        ("consumer", consumer),
        ("subtask", subtask),
        ("input", input),
        ("producer", producer),
        ("result", result),
        ("partition", partition),
    ];
    record_batch(columns.into_iter().map(|(name, values)| (name, Arc::new(Int32Array::new(values, None)) as _)).collect())
}

/// Iterator of bounded tables of ExecutionEdges, made when they are asked for.
///
/// A reader of the Arrow PyCapsule interface gets the same tables as a stream, from the first edge on at each reading.
#[pyclass(frozen, module = "penstock.plan")]
pub struct EdgeChunks {
    table: Arc<EdgeTable>,
    rows: usize,
    next: Mutex<usize>,
}

impl EdgeChunks {
    /// Tables of `rows` edges each, 1 at least.
    pub fn new(graph: Arc<Graph>, rows: usize) -> Self {
        Self { table: Arc::new(EdgeTable::new(graph, rows)), rows, next: Mutex::default() }
    }
}

#[pymethods]
impl EdgeChunks {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Columns>> {
        interruptible(py, || {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let chunk = (*next < self.table.chunks()).then(|| edge_batch(self.table.chunk(*next)))?;
            *next += 1; // an interrupted chunk comes again
            Some(Columns::of(chunk.schema(), vec![chunk]))
        })
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(slf: &Bound<'py, Self>, requested_schema: Option<Bound<'py, PyCapsule>>) -> PyResult<Bound<'py, PyCapsule>> {
        if let Some(requested) = requested_schema {
            return stream_as(slf.as_any(), requested);
        }
        let table = slf.get().table.clone();
        let batches = (0..table.chunks()).map(move |at| edge_batch(table.chunk(at)));
        stream(slf.py(), edge_schema(), batches)
    }

    fn __repr__(&self) -> String {
        format!("EdgeChunks(up to {} rows each)", self.rows)
    }
}
