//! Tables in, through the Arrow PyCapsule interface: what `StreamGraph.from_columns` is given.

use arrow_array::RecordBatch;
use penstock_objects::capsules::{self, Batches};
use penstock_planner::error::{PlanError, Result};
use penstock_planner::stream_graph::tables::{Column, TableReader};
use penstock_planner::stream_graph::{StreamGraph, StreamGraphBuilder};
use pyo3::exceptions::{PyException, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyMemoryView};

use crate::arrow::cells;
use crate::error::{check, to_python};
use crate::interrupt::interruptible;

/// Columns of a Parquet file in which few texts stand for many rows.
const REPEATED: [&str; 9] =
    ["name", "kind", "slot_sharing_group", "co_location_group", "chaining_strategy", "partitioner", "shuffle_mode", "side_output", "task"];

type Add = fn(&mut TableReader, &[Column<'_>], usize) -> Result<()>;

/// A graph of tables, read in the order in which a graph is built. One is opened when the one before it has been read: the
/// relations of a DuckDB connection cannot be open together.
pub fn graph(
    nodes: &Bound<'_, PyAny>,
    edges: &Bound<'_, PyAny>,
    iterations: Option<&Bound<'_, PyAny>>,
    builder: StreamGraphBuilder,
) -> PyResult<StreamGraph> {
    let py = nodes.py();
    let mut reader = read(TableReader::new(builder), "nodes", nodes, TableReader::add_nodes)?;
    if let Some(iterations) = iterations {
        reader = read(reader, "iterations", iterations, TableReader::add_iterations)?;
    }
    reader = read(reader, "edges", edges, TableReader::add_edges)?;
    check(py, interruptible(py, || reader.build())?)
}

/// Adds all rows of a table.
fn read(mut reader: TableReader, table: &'static str, value: &Bound<'_, PyAny>, add: Add) -> PyResult<TableReader> {
    let batches = batches(table, value)?;
    let added = interruptible(value.py(), || add_all(&mut reader, table, batches, add))?;
    check(value.py(), added).map(|()| reader)
}

fn add_all(reader: &mut TableReader, table: &str, batches: Batches, add: Add) -> Result<()> {
    let empty = RecordBatch::new_empty(batches.schema()); // a table without rows has columns to be checked
    add(reader, &cells::columns(&empty), 0)?;
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(table, "its data", &error.to_string()))?;
        add(reader, &cells::columns(&batch), batch.num_rows())?;
    }
    Ok(())
}

/// Batches of a table: of anything that speaks the interface, or of a mapping from names to columns.
fn batches(table: &str, value: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let py = value.py();
    let stream = if speaks_arrow(value)? {
        capsules::read(value)
    } else if let Ok(columns) = value.cast::<PyMapping>() {
        let arrays = PyDict::new(py);
        for item in columns.items()? {
            let (name, column): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let array = array(&column).map_err(|error| refused(py, table, &format!("column {name:?}"), error))?;
            arrays.set_item(name, array)?;
        }
        py.import("pyarrow")?.call_method1("table", (arrays,)).and_then(|table| capsules::read(&table))
    } else {
        Err(PyTypeError::new_err(format!("it is {}", value.get_type().qualname()?)))
    };
    stream.map_err(|error| refused(py, table, "its type", error))
}

/// A column of a mapping as an Arrow array; pyarrow leaves the numbers of NumPy where they are.
fn array<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let pyarrow = column.py().import("pyarrow")?;
    if column.hasattr("__arrow_c_stream__")? {
        return pyarrow.call_method1("chunked_array", (column,));
    }
    if column.hasattr("__arrow_c_array__")? || column.hasattr("__array__")? {
        return pyarrow.call_method1("array", (column,));
    }
    let buffer = PyMemoryView::from(column)?; // not of a list: its objects would be looked at one by one
    pyarrow.call_method1("array", (column.py().import("numpy")?.call_method1("asarray", (buffer,))?,))
}

/// A table in a Parquet file; texts that repeat come as codes.
pub fn parquet<'py>(table: &str, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    let options = PyDict::new(py);
    options.set_item("read_dictionary", REPEATED)?;
    let read = || py.import("pyarrow.parquet")?.call_method("read_table", (path,), Some(&options));
    read().map_err(|error| if error.is_instance_of::<PyOSError>(py) { error } else { refused(py, table, "the Parquet file", error) })
}

fn speaks_arrow(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__arrow_c_stream__")? || value.hasattr("__arrow_c_array__")?)
}

fn unreadable(table: &str, field: &str, problem: &str) -> PlanError {
    PlanError::InvalidValue {
        subject: format!("the {table} table"),
        field: field.into(),
        value: format!("not readable ({problem})"),
        expected: "a table with the Arrow PyCapsule interface (pyarrow, polars, pandas, DuckDB, …), or a mapping from names to \
                   NumPy arrays, Arrow arrays or buffers"
            .into(),
    }
}

/// What went wrong in taking hold of a table, as a SpecError with its cause; interrupts pass.
fn refused(py: Python<'_>, table: &str, field: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let refusal = to_python(py, &unreadable(table, field, &error.value(py).to_string()));
    refusal.set_cause(py, Some(error));
    refusal
}
