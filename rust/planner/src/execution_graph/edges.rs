//! ExecutionEdges as spans: what one subtask reads through one of its inputs.
//!
//! Order: consumer vertices in order of creation, then subtask, then input, then partition. Cost: O(1) per span; a walk can
//! begin at any edge, O(log + inputs) to find it.

use super::ExecutionGraph;
use crate::dense::{ExecutionVertexIndex, Index};
use crate::work::cancel::checkpoint_at;

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

impl Span {
    /// Number of edges.
    pub fn edges(&self) -> u64 {
        u64::from(self.end - self.first)
    }
}

/// Walk over spans.
#[derive(Clone, Debug)]
pub struct Spans<'a> {
    graph: &'a ExecutionGraph,
    consumer: usize,
    subtask: u32,
    input: usize,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        checkpoint_at(self.subtask as usize * 64); // a span holds thousands of edges where that matters
        loop {
            let expanded = self.graph.vertices.get(self.consumer)?;
            let inputs = self.graph.job.inputs(expanded.vertex).len();
            if self.subtask == expanded.parallelism || inputs == 0 {
                (self.consumer, self.subtask, self.input) = (self.consumer + 1, 0, 0);
            } else if self.input == inputs {
                (self.subtask, self.input) = (self.subtask + 1, 0);
            } else {
                self.input += 1;
                return Some(self.graph.span(self.consumer, self.subtask, self.input - 1));
            }
        }
    }
}

impl ExecutionGraph {
    /// Every span, in order.
    pub fn spans(&self) -> Spans<'_> {
        Spans { graph: self, consumer: 0, subtask: 0, input: 0 }
    }

    /// The spans of a consumer vertex and those after it, without the first `skipped` edges of the vertex.
    pub(super) fn spans_behind(&self, consumer: usize, skipped: u64) -> impl Iterator<Item = Span> + '_ {
        let subtask = self.subtask_of(consumer, skipped);
        let mut rest = skipped - self.edges_before(consumer, subtask);
        let spans = Spans { graph: self, consumer, subtask, input: 0 };
        spans.filter_map(move |span| {
            let left_out = rest.min(span.edges());
            rest -= left_out;
            let first = span.first + left_out as u32;
            (first < span.end).then_some(Span { first, ..span })
        })
    }

    /// The subtask that the edge with this number among those of its vertex leads to.
    fn subtask_of(&self, consumer: usize, edge: u64) -> u32 {
        let (mut low, mut high) = (0, self.vertices[consumer].parallelism);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.edges_before(consumer, middle) <= edge { low = middle } else { high = middle }
        }
        low
    }

    /// Number of edges that lead to the subtasks of a vertex before this one. O(inputs).
    pub(super) fn edges_before(&self, consumer: usize, subtask: u32) -> u64 {
        let inputs = self.job.inputs(self.vertices[consumer].vertex);
        inputs.iter().map(|&edge| self.fan_out(edge).edges_before(subtask)).sum()
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

    /// Inputs of one subtask, one span per input. O(1) each.
    pub fn inputs_of(&self, vertex: ExecutionVertexIndex, subtask: u32) -> impl Iterator<Item = Span> + '_ {
        let inputs = self.job.inputs(self.vertex(vertex).vertex).len();
        (0..inputs).map(move |input| self.span(vertex.get(), subtask, input))
    }
}
