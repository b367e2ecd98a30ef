//! Columns from Python and to it, through the Arrow PyCapsule interface; no value is copied.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Batches of one schema, one after the other.
pub type Batches = Box<dyn RecordBatchReader + Send>;

/// What Arrow says is wrong, as a ValueError.
pub fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The address behind a capsule, which must have the name.
fn behind<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<NonNull<T>> {
    capsule.pointer_checked(Some(name)).map(NonNull::cast)
}

/// The rows of an object with ``__arrow_c_array__``.
///
/// # Errors
///
/// The object has no such method, its array has one column only and no names, or a row is missing.
pub fn read_batch(value: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let pair = value.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?.cast_into::<PyCapsule>()?, pair.get_item(1)?.cast_into::<PyCapsule>()?);
    let (schema, array) = (behind::<FFI_ArrowSchema>(&schema, SCHEMA)?, behind::<FFI_ArrowArray>(&array, ARRAY)?);
    // SAFETY: the names say what is behind the capsules, which live until the end of this function. The array is taken out
    // of its capsule, and describes memory as its producer says: the interface knows no other check.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) }.map_err(refused)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        return Err(PyValueError::new_err(format!("its type is {}, and not a struct of columns", data.data_type())));
    }
    if data.null_count() > 0 {
        return Err(PyValueError::new_err(format!("{} of its rows are null as a whole", data.null_count())));
    }
    Ok(StructArray::from(data).into())
}

/// The batches of an object with ``__arrow_c_array__`` or ``__arrow_c_stream__``.
///
/// # Errors
///
/// The object has neither method, or its rows have no columns.
pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if value.hasattr("__arrow_c_array__")? {
        let batch = read_batch(value)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let capsule = value.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = behind::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
    // SAFETY: the name says what is behind the capsule, out of which it is taken.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    Ok(Box::new(ArrowArrayStreamReader::try_new(stream).map_err(refused)?))
}

/// What ``__arrow_c_schema__`` returns.
///
/// # Errors
///
/// Arrow has no spelling for a type.
pub fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(refused)?, SCHEMA)
}

/// What ``__arrow_c_array__`` returns.
///
/// # Errors
///
/// Arrow has no spelling for a type.
pub fn array(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyTuple>> {
    let (array, schema) = to_ffi(&StructArray::from(batch).to_data()).map_err(refused)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
}

/// What ``__arrow_c_stream__`` returns: batches that are made when they are asked for.
///
/// # Errors
///
/// Python has no memory left.
pub fn stream(py: Python<'_>, batches: Batches) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// A batch as one of pyarrow.
///
/// # Errors
///
/// pyarrow is not installed.
pub fn to_pyarrow(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyAny>> {
    py.import("pyarrow")?.call_method1("record_batch", (Exported(batch),))
}

/// A batch as pyarrow takes it.
#[pyclass(frozen)]
struct Exported(RecordBatch);

#[pymethods]
impl Exported {
    /// `_schema`: the one that pyarrow was asked for, and it is asked for none.
    #[pyo3(signature = (_schema = None))]
    fn __arrow_c_array__<'py>(&self, py: Python<'py>, _schema: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyTuple>> {
        array(py, self.0.clone())
    }
}
