//! What regions are made of: one cell per vertex where that is enough, else one per subtask.
//!
//! Cost: four bytes per vertex; O(1) per question.

use super::{ExecutionGraph, ExecutionJobVertex};
use crate::dense::{ExecutionVertexIndex, Index};
use crate::error::{PlanError, Result};

/// Cells are what is united: all subtasks of a vertex where they are sure to end in one region, else each by itself.
#[derive(Debug)]
pub(super) struct Cells {
    /// The first cell of each vertex, and the number of cells.
    first: Vec<u32>,
}

impl Cells {
    /// `whole` tells which vertices are sure to end in one region.
    pub(super) fn new(graph: &ExecutionGraph, whole: &[bool]) -> Result<Self> {
        let cells = |(vertex, &whole): (&ExecutionJobVertex, &bool)| if whole { 1 } else { u64::from(vertex.parallelism) };
        let first = running_sums("subtasks", graph.vertices().iter().zip(whole).map(cells))?;
        Ok(Self { first })
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// The cells of a vertex.
    pub(super) fn of(&self, vertex: ExecutionVertexIndex) -> std::ops::Range<u32> {
        self.first[vertex.get()]..self.first[vertex.get() + 1]
    }

    /// The cell of a subtask.
    #[inline]
    pub(super) fn at(&self, vertex: ExecutionVertexIndex, subtask: u32) -> u32 {
        let cells = self.of(vertex);
        if cells.len() == 1 { cells.start } else { cells.start + subtask }
    }

    /// Whether each subtask of a vertex has a cell of its own.
    pub(super) fn is_split(&self, vertex: ExecutionVertexIndex) -> bool {
        self.of(vertex).len() > 1
    }
}

/// Sums of all numbers before each position, and of all; what is numbered must fit the numbers.
pub(super) fn running_sums(what: &str, numbers: impl Iterator<Item = u64>) -> Result<Vec<u32>> {
    let limit = u64::from(u32::MAX - 1);
    let (mut sums, mut count) = (vec![0], 0u64);
    for number in numbers {
        count += number;
        sums.push(count as u32);
    }
    if count > limit {
        return Err(PlanError::TooManyRegions { count, what: what.into(), limit });
    }
    Ok(sums)
}
