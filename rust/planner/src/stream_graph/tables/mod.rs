//! A StreamGraph from tables: nodes, loops and edges as columns, in batches of rows, nothing per row outside of this loop.
//!
//! Rows are added as [`StreamGraphBuilder`] would add them one by one, in their order: all nodes, then loops, then edges.
//! Columns, defaults and nulls are those of the JSON description. Every cell is checked when it is read, so there is one
//! pass. Cost: O(rows × columns) time; no space but the graph's own and one number per distinct text of a dictionary.

mod cells;
mod fields;
mod rows;
#[cfg(test)]
mod tests;

use super::builder::StreamGraphBuilder;
use super::{Role, StreamGraph};
use crate::error::{PlanError, Result};
use crate::work::cancel::checkpoint_at;
pub use cells::{Cell, Cells, Column, NotText, TextCells};
use fields::{Fields, Known};
use rows::{EdgeReader, IterationReader, NodeReader};

/// A graph being read from tables. Nodes come first, then iterations, then edges; each in any number of batches.
pub struct TableReader {
    builder: StreamGraphBuilder,
    rows: [usize; 3],
    /// Rows of the nodes that are ends of loops, which the iterations add: row, id, role.
    loop_ends: Vec<(usize, i32, Role)>,
}

impl TableReader {
    /// Fills a builder, which decides the settings.
    pub fn new(builder: StreamGraphBuilder) -> Self {
        Self { builder, rows: [0; 3], loop_ends: Vec::new() }
    }

    /// Adds the rows of a batch of nodes. Rows of kind `iteration_head` and `iteration_tail`, which the table of a graph
    /// has, only announce what the iterations add.
    ///
    /// # Errors
    /// [`PlanError::InvalidValue`] for columns and cells, [`PlanError::TableRow`] for what the builder refuses.
    pub fn add_nodes(&mut self, columns: &[Column<'_>], rows: usize) -> Result<()> {
        let fields = self.fields("nodes", 0, columns, rows::NODES)?;
        let mut reader = NodeReader::new(fields, &mut self.builder);
        self.builder.reserve(rows, 0);
        for row in 0..rows {
            checkpoint_at(row);
            let node = reader.read(row, &mut self.builder)?;
            if node.role.has_operator() {
                self.builder.add_interned(node).map_err(|refusal| fields.at(row, refusal))?;
            } else {
                self.loop_ends.push((fields.first + row, node.id, node.role));
            }
        }
        self.rows[0] += rows;
        Ok(())
    }

    /// Adds the loops of a batch, head and tail each.
    ///
    /// # Errors
    /// As [`TableReader::add_nodes`].
    pub fn add_iterations(&mut self, columns: &[Column<'_>], rows: usize) -> Result<()> {
        let fields = self.fields("iterations", 1, columns, rows::ITERATIONS)?;
        let mut reader = IterationReader::new(fields);
        for row in 0..rows {
            checkpoint_at(row);
            let iteration = reader.read(row)?;
            self.builder.add_iteration(&iteration).map_err(|refusal| fields.at(row, refusal))?;
        }
        self.rows[1] += rows;
        Ok(())
    }

    /// Adds the rows of a batch of edges.
    ///
    /// # Errors
    /// As [`TableReader::add_nodes`].
    pub fn add_edges(&mut self, columns: &[Column<'_>], rows: usize) -> Result<()> {
        self.check_loop_ends()?;
        let fields = self.fields("edges", 2, columns, rows::EDGES)?;
        let mut reader = EdgeReader::new(fields);
        self.builder.reserve(0, rows);
        for row in 0..rows {
            checkpoint_at(row);
            let edge = reader.read(row)?;
            self.builder.add_edge(edge).map_err(|refusal| fields.at(row, refusal))?;
            reader.check_buffer_timeout(row, self.builder.last_buffer_timeout())?;
        }
        self.rows[2] += rows;
        Ok(())
    }

    /// Freezes the graph. O(nodes + edges).
    ///
    /// # Errors
    /// [`PlanError::InvalidValue`] if a row of the nodes is an end of a loop that the iterations do not have.
    pub fn build(mut self) -> Result<StreamGraph> {
        self.check_loop_ends()?;
        Ok(self.builder.build())
    }

    fn fields<'a>(&self, table: &'static str, at: usize, columns: &'a [Column<'a>], known: &[Known]) -> Result<Fields<'a>> {
        Fields::new(table, self.rows[at], columns, known)
    }

    fn check_loop_ends(&mut self) -> Result<()> {
        for (row, id, role) in self.loop_ends.drain(..) {
            if self.builder.find(id).is_none_or(|node| self.builder.role(node) != role) {
                let column = if role == Role::IterationHead { "source_id" } else { "sink_id" };
                return Err(PlanError::InvalidValue {
                    subject: format!("row {row} of the nodes table"),
                    field: "column \"kind\"".into(),
                    value: format!("\"{}\"", role.as_str()),
                    expected: format!("a loop with {column} {id} among the iterations, which add it: give them too"),
                });
            }
        }
        Ok(())
    }
}
