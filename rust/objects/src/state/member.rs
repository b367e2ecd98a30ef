//! Attributes of Python objects that have a place of their own (`__slots__`), read without looking their names up.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// An attribute of the objects of a class.
pub struct Member {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
    set: ffi::descrsetfunc,
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
        // SAFETY: as above
        let set = unsafe {
            let function = ffi::PyType_GetSlot(ffi::Py_TYPE(descriptor.as_ptr()), ffi::Py_tp_descr_set);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrsetfunc>>(function)
        };
        let (get, set) = get.zip(set).ok_or_else(|| PyTypeError::new_err(format!("{name} is no member of its class")))?;
        Ok(Self { descriptor: descriptor.unbind(), get, set })
    }

    /// Its value.
    pub fn get<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, pointer) = (object.py(), object.as_ptr());
        // SAFETY: both are objects, and a getter returns a new reference or sets an error
        unsafe { Bound::from_owned_ptr_or_err(py, (self.get)(self.descriptor.as_ptr(), pointer, ffi::Py_TYPE(pointer).cast())) }
    }

    /// Set its value.
    pub fn set(&self, object: &Bound<'_, PyAny>, value: &Py<PyAny>) -> PyResult<()> {
        // SAFETY: all three are objects, and a setter takes a reference of its own and returns -1 with an error
        match unsafe { (self.set)(self.descriptor.as_ptr(), object.as_ptr(), value.as_ptr()) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(object.py())),
        }
    }
}
