//! Attributes of Python objects that have a place of their own (`__slots__`), read without looking their names up.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// An attribute of the objects of a class.
pub struct Member {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
}

impl Member {
    /// The attribute that this class, or a base of it, has in its `__slots__`.
    pub fn of(class: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let descriptor = class.getattr(name)?;
        // SAFETY: a type is asked for the function of a slot, which is of this type where there is one
        let get = unsafe {
            let function = ffi::PyType_GetSlot(ffi::Py_TYPE(descriptor.as_ptr()), ffi::Py_tp_descr_get);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrgetfunc>>(function)
        };
        let get = get.ok_or_else(|| PyTypeError::new_err(format!("{name} is no member of its class")))?;
        Ok(Self { descriptor: descriptor.unbind(), get })
    }

    /// Its value.
    pub fn get<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, pointer) = (object.py(), object.as_ptr());
        // SAFETY: both are objects, and a getter returns a new reference or sets an error
        unsafe { Bound::from_owned_ptr_or_err(py, (self.get)(self.descriptor.as_ptr(), pointer, ffi::Py_TYPE(pointer).cast())) }
    }
}
