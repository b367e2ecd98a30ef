//! ExecutionEdges as columns, made on request: in chunks of bounded size, or all at once within a memory limit.
//!
//! Why chunks share memory: where all inputs of a vertex are all-to-all, each of its subtasks reads the same partitions, so
//! five of the six columns repeat with the period of one subtask. They are written once, a chunk and a period long, and a
//! chunk is a window of them at its own phase; only the column of subtasks is written anew. A reader sees plain columns.
//!
//! Cost: O(edges asked for) time with a quarter of the bytes or less in that case; O(chunk + period) space beside the result.
//! All at once, chunks are written by all cores.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_buffer::ScalarBuffer;

use super::ExecutionGraph;
use super::edges::Span;
use crate::dense::Ragged;
use crate::error::{PlanError, Result};
use crate::job_graph::Distribution;
use crate::work::cancel::checkpoint;
use crate::work::parallel;

/// Bytes of one edge in a table: six 32-bit columns.
pub const BYTES_PER_EDGE: u64 = 24;

/// Columns of ExecutionEdges, of one length. 32 bits with a sign, since Spark has no other integers.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct EdgeColumns {
    pub consumer: ScalarBuffer<i32>,
    pub subtask: ScalarBuffer<i32>,
    pub input: ScalarBuffer<i32>,
    pub producer: ScalarBuffer<i32>,
    pub result: ScalarBuffer<i32>,
    pub partition: ScalarBuffer<i32>,
}

impl EdgeColumns {
    /// Number of edges.
    pub fn len(&self) -> usize {
        self.partition.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.partition.is_empty()
    }

    fn window(&self, first: usize, subtask: Vec<i32>) -> Self {
        let rows = subtask.len();
        let window = |column: &ScalarBuffer<i32>| column.slice(first, rows);
        Self {
            consumer: window(&self.consumer),
            subtask: subtask.into(),
            input: window(&self.input),
            producer: window(&self.producer),
            result: window(&self.result),
            partition: window(&self.partition),
        }
    }

    /// The first `rows` edges of some spans, each byte written once.
    fn write(rows: usize, spans: impl Iterator<Item = Span>) -> Self {
        let mut columns: [Vec<i32>; 6] = std::array::from_fn(|_| Vec::with_capacity(rows));
        for span in spans {
            let written = columns[5].len();
            let end = span.end.min(span.first.saturating_add((rows - written) as u32));
            let values = [span.consumer, span.subtask, span.input, span.producer, span.result];
            for (column, value) in columns.iter_mut().zip(values) {
                column.resize(written + (end - span.first) as usize, value as i32);
            }
            columns[5].extend(span.first as i32..end as i32);
            if columns[5].len() == rows {
                break;
            }
        }
        let [consumer, subtask, input, producer, result, partition] = columns.map(ScalarBuffer::from);
        Self { consumer, subtask, input, producer, result, partition }
    }
}

/// All edges of a graph, cut into chunks of equal size (the last may be shorter), each of which can be made by itself.
#[derive(Debug)]
pub struct EdgeTable {
    graph: Arc<ExecutionGraph>,
    chunk: u64,
    /// The edges that lead to each vertex.
    edges: Ragged,
    /// The columns that repeat, of the vertex that was asked for last.
    repeated: Mutex<Option<(usize, Arc<EdgeColumns>)>>,
}

impl EdgeTable {
    /// A table in chunks of `chunk` edges, 1 at least. O(V + E).
    pub fn new(graph: Arc<ExecutionGraph>, chunk: usize) -> Self {
        let sizes = graph.vertices.iter().enumerate().map(|(at, vertex)| graph.edges_before(at, vertex.parallelism));
        let edges = Ragged::new(sizes);
        Self { graph, chunk: chunk as u64, edges, repeated: Mutex::default() }
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.graph.total_edges.div_ceil(self.chunk) as usize
    }

    /// One chunk, below [`Self::chunks`].
    pub fn chunk(&self, at: usize) -> EdgeColumns {
        checkpoint();
        let first = at as u64 * self.chunk;
        let end = self.graph.total_edges.min(first + self.chunk);
        let consumer = self.edges.list_of(first);
        let own = self.edges.of(consumer);
        let (rows, skipped) = ((end - first) as usize, first - own.start);
        if end <= own.end && own.end - own.start > self.chunk && self.repeats(consumer) {
            let period = self.period(consumer);
            let subtasks = subtasks(skipped, skipped + rows as u64, period);
            self.repeated(consumer, period).window((skipped % period) as usize, subtasks)
        } else {
            EdgeColumns::write(rows, self.graph.spans_behind(consumer, skipped))
        }
    }

    /// Whether each subtask of a vertex reads the same.
    fn repeats(&self, consumer: usize) -> bool {
        let job = &self.graph.job;
        job.inputs(self.graph.vertices[consumer].vertex).iter().all(|&edge| job.distribution(edge) == Distribution::AllToAll)
    }

    /// Number of edges of each subtask.
    fn period(&self, consumer: usize) -> u64 {
        self.graph.edges_before(consumer, 1)
    }

    /// A chunk and a period of the columns that repeat, so that a chunk may begin at any phase. Threads go forward, so a
    /// vertex that is behind the kept one is rare and not worth keeping.
    fn repeated(&self, consumer: usize, period: u64) -> Arc<EdgeColumns> {
        let mut kept = self.repeated.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((vertex, columns)) = &*kept
            && *vertex == consumer
        {
            return columns.clone();
        }
        let own = self.edges.of(consumer);
        let rows = (own.end - own.start).min(self.chunk.saturating_add(period)) as usize;
        let columns = Arc::new(EdgeColumns::write(rows, self.graph.spans_behind(consumer, 0)));
        *kept = Some((consumer, columns.clone()));
        columns
    }

    /// All chunks, made on all cores.
    ///
    /// # Errors
    /// [`PlanError::TooManyExecutionEdges`] when a copy of the columns would take more than `limit` bytes.
    pub fn all(&self, limit: u64) -> Result<Vec<EdgeColumns>> {
        let edges = self.graph.total_edges;
        let bytes = edges.saturating_mul(BYTES_PER_EDGE);
        if bytes > limit {
            return Err(PlanError::TooManyExecutionEdges { edges, bytes, limit });
        }
        Ok(parallel::map(self.chunks(), |at| self.chunk(at)))
    }
}

/// The subtask of each of these edges, when every subtask has `period` of them.
fn subtasks(first: u64, end: u64, period: u64) -> Vec<i32> {
    let mut column = Vec::with_capacity((end - first) as usize);
    for subtask in first / period..end.div_ceil(period) {
        let rows = end.min((subtask + 1) * period) - first;
        column.resize(rows as usize, subtask as i32);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewNode, Partitioner, Role};
    use crate::test_graphs::{graph, job, node};

    /// Two sources that one vertex joins, and a sink.
    fn expanded(partitioners: [Partitioner; 3], parallelism: [i32; 4]) -> Arc<ExecutionGraph> {
        let roles = [Role::Source, Role::Source, Role::TwoInput, Role::Sink];
        let nodes: Vec<_> = (0..4).map(|at| NewNode { parallelism: parallelism[at], ..node(at as i32, roles[at]) }).collect();
        let [left, right, out] = partitioners.map(Some);
        let graph = graph(&nodes, &[(0, 2, left), (1, 2, right), (2, 3, out)]);
        Arc::new(crate::execution_graph::expand(Arc::new(job(graph))).unwrap())
    }

    fn rows(columns: &EdgeColumns) -> Vec<[u32; 6]> {
        let EdgeColumns { consumer, subtask, input, producer, result, partition } = columns;
        let row = |at| [consumer, subtask, input, producer, result, partition].map(|column: &ScalarBuffer<i32>| column[at] as u32);
        (0..columns.len()).map(row).collect()
    }

    /// Edge by edge from the spans.
    fn expected(graph: &ExecutionGraph) -> Vec<[u32; 6]> {
        let edges = |span: Span| {
            (span.first..span.end).map(move |partition| [span.consumer, span.subtask, span.input, span.producer, span.result, partition])
        };
        graph.spans().flat_map(edges).collect()
    }

    #[test]
    fn chunks_of_any_size_add_up_to_all_edges() {
        use Partitioner::{Hash, Rescale};
        for partitioners in [[Hash, Hash, Hash], [Hash, Rescale, Hash], [Rescale, Rescale, Rescale], [Rescale, Hash, Rescale]] {
            for parallelism in [[7, 3, 4, 5], [1, 1, 1, 1], [2, 9, 6, 14], [16, 14, 15, 2]] {
                let graph = expanded(partitioners, parallelism);
                let expected = expected(&graph);
                assert_eq!(expected.len() as u64, graph.total_edges());
                for chunk in [1, 2, 3, 5, 7, 11, 30, 1000] {
                    let table = EdgeTable::new(graph.clone(), chunk);
                    let chunks = table.all(u64::MAX).unwrap();
                    assert_eq!(chunks.iter().flat_map(rows).collect::<Vec<_>>(), expected, "{partitioners:?} {parallelism:?} {chunk}");
                    assert!(chunks.iter().rev().skip(1).all(|columns| columns.len() == chunk));
                    for at in (0..table.chunks()).rev() {
                        assert_eq!(table.chunk(at), chunks[at], "chunks can be made in any order");
                    }
                }
            }
        }
    }

    #[test]
    fn chunks_of_an_all_to_all_exchange_share_what_repeats() {
        let graph = expanded([Partitioner::Hash; 3], [100, 50, 40, 1]);
        let table = EdgeTable::new(graph, 300);
        let (first, second) = (table.chunk(1), table.chunk(3));
        let owner = |column: &ScalarBuffer<i32>| column.inner().data_ptr();
        assert_eq!(owner(&first.partition), owner(&second.partition));
        assert_eq!(owner(&first.producer), owner(&second.producer));
        assert_ne!(owner(&first.subtask), owner(&second.subtask));
    }

    #[test]
    fn a_table_beyond_the_limit_is_refused_with_its_size() {
        let error = EdgeTable::new(expanded([Partitioner::Hash; 3], [50, 50, 100, 0]), 10).all(1000).unwrap_err();
        assert!(error.to_string().contains("10100 execution edges") && error.to_string().contains("242400 bytes"), "{error}");
    }
}
