//! Columns out, through the Arrow PyCapsule interface, in record batches of bounded size.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use penstock_objects::capsules;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

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

/// Batches as a stream that makes them when they are asked for.
pub fn stream(
    py: Python<'_>,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch> + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    capsules::stream(py, Box::new(RecordBatchIterator::new(batches.map(Ok), schema)))
}

/// The stream of a table, with the types that its reader asks for: pyarrow converts them.
pub fn stream_as<'py>(table: &Bound<'py, PyAny>, requested: Bound<'py, PyCapsule>) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = table.py().import("pyarrow")?.getattr("RecordBatchReader")?.call_method1("from_stream", (table,))?;
    Ok(reader.call_method1("__arrow_c_stream__", (requested,))?.cast_into()?)
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

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsules::schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyCapsule>>) -> PyResult<Bound<'py, PyTuple>> {
        let batches = interruptible(py, || self.batches().collect::<Vec<_>>())?;
        let whole = interruptible(py, || concat_batches(&self.schema, &batches))?.map_err(capsules::refused)?;
        let Some(requested) = requested_schema else { return capsules::array(py, whole) };
        let converted = capsules::to_pyarrow(py, whole)?; // by pyarrow, as those of a stream
        Ok(converted.call_method1("__arrow_c_array__", (requested,))?.cast_into()?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(slf: &Bound<'py, Self>, requested_schema: Option<Bound<'py, PyCapsule>>) -> PyResult<Bound<'py, PyCapsule>> {
        if let Some(requested) = requested_schema {
            return stream_as(slf.as_any(), requested);
        }
        let table = slf.get();
        stream(slf.py(), table.schema.clone(), table.batches())
    }
}
