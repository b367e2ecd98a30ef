//! ExecutionEdges, materialised on request: in bounded chunks, or all in one table within a memory limit.
//!
//! Order: consumer vertices in order of creation, then subtask, then input, then partition. Cost: O(edges asked for).

use super::ExecutionGraph;
use crate::cancel::checkpoint_at;
use crate::error::{PlanError, Result};
use crate::index::{ExecutionVertexIndex, Index};

/// Bytes of one edge in a table: six 32-bit columns.
pub const BYTES_PER_EDGE: u64 = 24;

/// All edges of one subtask's input: contiguous partitions of one data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Position of the consumer vertex.
    pub consumer: u32,
    /// Consumer subtask.
    pub subtask: u32,
    /// Input of the consumer.
    pub input: u32,
    /// Position of the producer vertex.
    pub producer: u32,
    /// Result of the producer.
    pub result: u32,
    /// First partition.
    pub first: u32,
    /// Partition behind the last.
    pub end: u32,
}

/// Columns of ExecutionEdges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct EdgeColumns {
    pub consumer: Vec<u32>,
    pub subtask: Vec<u32>,
    pub input: Vec<u32>,
    pub producer: Vec<u32>,
    pub result: Vec<u32>,
    pub partition: Vec<u32>,
}

impl EdgeColumns {
    fn with_capacity(rows: usize) -> Self {
        let column = || Vec::with_capacity(rows);
        Self { consumer: column(), subtask: column(), input: column(), producer: column(), result: column(), partition: column() }
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.partition.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.partition.is_empty()
    }

    fn push(&mut self, span: &Span, end: u32) {
        let rows = self.len() + (end - span.first) as usize;
        self.consumer.resize(rows, span.consumer);
        self.subtask.resize(rows, span.subtask);
        self.input.resize(rows, span.input);
        self.producer.resize(rows, span.producer);
        self.result.resize(rows, span.result);
        self.partition.extend(span.first..end);
    }
}

/// Where a walk over all spans stands; plain numbers, so it can be kept outside of the graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    consumer: usize,
    subtask: u32,
    input: usize,
    rest: Option<Span>,
}

impl ExecutionGraph {
    /// Every span, in order.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || self.next_span(&mut cursor))
    }

    /// The next span behind a cursor.
    pub fn next_span(&self, cursor: &mut Cursor) -> Option<Span> {
        checkpoint_at(cursor.subtask as usize * 64); // a span holds thousands of edges where that matters
        if let Some(rest) = cursor.rest.take() {
            return Some(rest);
        }
        loop {
            let expanded = self.vertices.get(cursor.consumer)?;
            let inputs = self.job.inputs(expanded.vertex);
            if cursor.subtask == expanded.parallelism || inputs.is_empty() {
                *cursor = Cursor { consumer: cursor.consumer + 1, ..Cursor::default() };
            } else if cursor.input == inputs.len() {
                (cursor.subtask, cursor.input) = (cursor.subtask + 1, 0);
            } else {
                cursor.input += 1;
                return Some(self.span(cursor.consumer, cursor.subtask, cursor.input - 1));
            }
        }
    }

    fn span(&self, consumer: usize, subtask: u32, input: usize) -> Span {
        let edge = self.job.inputs(self.vertices[consumer].vertex)[input];
        let partitions = self.fan_out(edge).partitions_of(subtask);
        Span {
            consumer: consumer as u32,
            subtask,
            input: input as u32,
            producer: self.position(self.job.edge(edge).source).0,
            result: self.job.result_position(self.job.consumed(edge)) as u32,
            first: partitions.start,
            end: partitions.end,
        }
    }

    /// Inputs of one subtask, one span per input.
    pub fn inputs_of(&self, vertex: ExecutionVertexIndex, subtask: u32) -> impl Iterator<Item = Span> + '_ {
        let inputs = self.job.inputs(self.vertex(vertex).vertex).len();
        (0..inputs).map(move |input| self.span(vertex.get(), subtask, input))
    }

    /// Up to `rows` edges behind a cursor; empty at the end.
    pub fn next_edges(&self, cursor: &mut Cursor, rows: usize) -> EdgeColumns {
        let mut columns = EdgeColumns::default();
        while columns.len() < rows {
            let Some(span) = self.next_span(cursor) else { break };
            let end = span.end.min(span.first.saturating_add((rows - columns.len()) as u32));
            columns.push(&span, end);
            if end < span.end {
                cursor.rest = Some(Span { first: end, ..span });
            }
        }
        columns
    }

    /// All edges in one table.
    ///
    /// # Errors
    /// [`PlanError::TooManyExecutionEdges`] when it would take more than `limit` bytes.
    pub fn all_edges(&self, limit: u64) -> Result<EdgeColumns> {
        let edges = self.total_edges();
        let bytes = edges.saturating_mul(BYTES_PER_EDGE);
        if bytes > limit {
            return Err(PlanError::TooManyExecutionEdges { edges, bytes, limit });
        }
        let mut columns = EdgeColumns::with_capacity(edges as usize);
        self.spans().for_each(|span| columns.push(&span, span.end));
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewNode, Partitioner, Role};
    use crate::test_graphs::{graph, job, node};
    use std::sync::Arc;

    fn expanded(partitioner: Partitioner, producers: i32, consumers: i32) -> ExecutionGraph {
        let wide = |id, role, parallelism| NewNode { parallelism, ..node(id, role) };
        let graph = graph(&[wide(1, Role::Source, producers), wide(2, Role::Sink, consumers)], &[(1, 2, Some(partitioner))]);
        crate::execution_graph::expand(Arc::new(job(graph))).unwrap()
    }

    #[test]
    fn chunks_of_any_size_add_up_to_the_table() {
        for partitioner in [Partitioner::Hash, Partitioner::Rescale] {
            let graph = expanded(partitioner, 7, 4);
            let whole = graph.all_edges(u64::MAX).unwrap();
            assert_eq!(whole.len() as u64, graph.total_edges());
            for rows in [1, 3, 5, 100] {
                let (mut cursor, mut partitions) = (Cursor::default(), Vec::new());
                while let Some(chunk) = Some(graph.next_edges(&mut cursor, rows)).filter(|chunk| !chunk.is_empty()) {
                    assert!(chunk.len() <= rows);
                    partitions.extend(chunk.partition);
                }
                assert_eq!(partitions, whole.partition);
            }
        }
    }

    #[test]
    fn a_table_beyond_the_limit_is_refused_with_its_size() {
        let error = expanded(Partitioner::Hash, 100, 100).all_edges(1000).unwrap_err();
        assert!(error.to_string().contains("10000 execution edges") && error.to_string().contains("240000 bytes"), "{error}");
    }
}
