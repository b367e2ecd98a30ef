//! Columns out, through the Arrow PyCapsule interface.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, FieldRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};

/// A table of named columns; pyarrow, polars, pandas and DuckDB read it through the Arrow PyCapsule interface.
///
/// ``pyarrow.table(columns)`` copies nothing.
#[pyclass(frozen, module = "penstock.plan")]
pub struct Columns(RecordBatch);

impl Columns {
    /// A table of named columns of equal length.
    pub fn new(columns: Vec<(&str, ArrayRef)>) -> Self {
        let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
        Self(RecordBatch::try_from_iter_with_nullable(nullable).expect("columns are filled in one loop"))
    }

    fn parts(&self) -> (FieldRef, ArrayRef) {
        let field = Field::new("", DataType::Struct(self.0.schema().fields().clone()), false);
        (Arc::new(field), Arc::new(StructArray::from(self.0.clone())))
    }
}

#[pymethods]
impl Columns {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Bytes held by the columns.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.columns().iter().map(|column| column.get_buffer_memory_size()).sum()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Columns({} rows: {})", self.0.num_rows(), self.column_names().join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.0.schema().as_ref())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let (field, array) = self.parts();
        to_array_pycapsules(py, field, &array, requested_schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let (field, array) = self.parts();
        to_stream_pycapsule(py, Box::new(ArrayIterator::new(vec![Ok(array)], field)), requested_schema)
    }
}
