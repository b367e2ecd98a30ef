//! Columns between the planner and whoever speaks Arrow, in and out. What a table of a graph has in it stands with the graph.

pub mod arrays;
pub mod cells;
pub mod columns;
