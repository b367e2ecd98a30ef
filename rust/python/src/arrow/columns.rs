//! Columns out, through the Arrow PyCapsule interface, in record batches of bounded size.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};

use crate::interrupt::interruptible;

/// Rows of a batch at most.
const BATCH: usize = 1 << 17;

/// Named columns of some rows of a table.
pub type Named = Vec<(&'static str, ArrayRef)>;

/// Makes a batch out of its number.
type Make = Box<dyn Fn(usize) -> RecordBatch + Send + Sync>;

/// A table of named columns; pyarrow, polars, pandas and DuckDB read it through the Arrow PyCapsule interface, Spark as
/// ``spark.createDataFrame(pyarrow.table(columns))``.
///
/// It is a stream of record batches of bounded size. Those of a large table are made while they are read, each time anew;
/// those of ``execution_edges()`` exist and are handed on without a copy.
#[pyclass(frozen, module = "penstock.plan")]
pub struct Columns {
    schema: SchemaRef,
    rows: usize,
    batches: usize,
    make: Arc<Make>,
}

impl Columns {
    /// A table whose rows are made in batches, when they are read.
    pub fn on_demand(rows: usize, make: impl Fn(Range<usize>) -> Named + Send + Sync + 'static) -> Self {
        let schema = record_batch(make(0..0)).schema();
        let batch = move |at: usize| record_batch(make(at * BATCH..rows.min((at + 1) * BATCH)));
        Self { schema, rows, batches: rows.div_ceil(BATCH).max(1), make: Arc::new(Box::new(batch)) }
    }

    /// A table that exists, in one batch.
    pub fn new(columns: Named) -> Self {
        let batch = record_batch(columns);
        Self::of(batch.schema(), vec![batch])
    }

    /// A table of batches that exist, of one schema.
    pub fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let (rows, count) = (batches.iter().map(RecordBatch::num_rows).sum(), batches.len());
        Self { schema, rows, batches: count, make: Arc::new(Box::new(move |at| batches[at].clone())) }
    }

    fn batches(&self) -> impl Iterator<Item = RecordBatch> + Send + 'static {
        let make = self.make.clone();
        (0..self.batches).map(move |at| make(at))
    }
}

/// A batch of columns of equal length.
pub fn record_batch(columns: Named) -> RecordBatch {
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(nullable).expect("columns are filled in one loop")
}

fn struct_field(schema: &Schema) -> FieldRef {
    Arc::new(Field::new("", DataType::Struct(schema.fields().clone()), false))
}

/// Batches as a stream that makes them when they are asked for.
pub fn stream<'py>(
    py: Python<'py>,
    schema: &Schema,
    batches: impl Iterator<Item = RecordBatch> + Send + 'static,
    requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyArrowResult<Bound<'py, PyCapsule>> {
    let arrays = batches.map(|batch| Ok::<_, ArrowError>(Arc::new(StructArray::from(batch)) as ArrayRef));
    to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, struct_field(schema))), requested_schema)
}

/// Bytes of the memory that batches refer to; what they share counts once.
fn bytes(batches: impl Iterator<Item = RecordBatch>) -> usize {
    let mut owned = HashMap::new();
    for batch in batches {
        let mut open: Vec<_> = batch.columns().iter().map(|column| column.to_data()).collect();
        while let Some(data) = open.pop() {
            let buffers = data.buffers().iter().chain(data.nulls().map(|nulls| nulls.buffer()));
            owned.extend(buffers.map(|buffer| (buffer.data_ptr(), buffer.capacity())));
            open.extend_from_slice(data.child_data());
        }
    }
    owned.values().sum()
}

#[pymethods]
impl Columns {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Bytes of memory behind the columns; what batches share counts once. Makes all batches, O(rows).
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        interruptible(py, || bytes(self.batches()))
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __repr__(&self) -> String {
        format!("Columns({} rows: {})", self.rows, self.column_names().join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.schema.as_ref())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let batches = interruptible(py, || self.batches().collect::<Vec<_>>())?;
        let whole = interruptible(py, || concat_batches(&self.schema, &batches))??;
        to_array_pycapsules(py, struct_field(&self.schema), &StructArray::from(whole), requested_schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        stream(py, &self.schema, self.batches(), requested_schema)
    }
}
