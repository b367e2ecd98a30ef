//! Classes whose objects can be columns: `Row`, dataclasses that are nothing but their fields, and plain classes, which are
//! nothing but what their `__init__` assigns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_columns::Shape;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// A class.
pub struct Class {
    /// The class itself.
    pub object: Py<PyType>,
    /// Its fields, in order.
    pub names: Vec<Py<PyString>>,
    /// The same for the columns.
    pub shape: Arc<Shape>,
    /// Whether its objects have slots instead of a dictionary.
    pub slots: bool,
}

/// The classes that have been looked at. Those of an interpreter's life are few, and stay.
struct Registry {
    numbers: Option<HashMap<usize, Option<u32>>>,
    /// By number, from 1.
    classes: Vec<Arc<Class>>,
    /// Classes that were refused are kept, too: no other one may get their address.
    refused: Vec<Py<PyType>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { numbers: None, classes: Vec::new(), refused: Vec::new() });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of the class of an object; `None` where its objects can be no columns. Those of a plain class have the
/// attributes of the first one.
pub fn class_of(object: Borrowed<'_, '_, PyAny>) -> Option<Arc<Class>> {
    class_with(&object.get_type(), || names_of(object))
}

/// The same of a class whose objects have these attributes.
pub fn class_named(class: &Bound<'_, PyType>, names: &[String]) -> Option<Arc<Class>> {
    let known = class_with(class, || Some(names.to_vec()))?;
    let same = known.shape.names.iter().flatten().map(|name| &**name).eq(names.iter().map(|name| &**name));
    same.then_some(known)
}

/// The names in the dictionary of an object, in order.
fn names_of(object: Borrowed<'_, '_, PyAny>) -> Option<Vec<String>> {
    // SAFETY: it is an object; what comes back is owned, or nothing with an error that is cleared
    let owned = unsafe { ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut()) };
    // SAFETY: as above
    let Some(dictionary) = (unsafe { Bound::from_owned_ptr_or_opt(object.py(), owned) }) else {
        // SAFETY: the interpreter is here
        unsafe { ffi::PyErr_Clear() };
        return None;
    };
    dictionary.cast_exact::<PyDict>().ok()?.keys().extract().ok()
}

/// What is known of a class; `attributes` are those of an object of a plain one.
fn class_with(class: &Bound<'_, PyType>, attributes: impl FnOnce() -> Option<Vec<String>>) -> Option<Arc<Class>> {
    let known = |registry: &Registry| {
        let number = registry.numbers.as_ref()?.get(&(class.as_ptr() as usize))?;
        Some(number.and_then(|number| registry.classes.get(number as usize - 1).cloned()))
    };
    if let Some(known) = known(&registry()) {
        return known;
    }
    let fields = fields_of(class, attributes).ok().flatten(); // without the lock: it calls Python
    let mut registry = registry();
    if let Some(known) = known(&registry) {
        return known;
    }
    let (number, result) = match fields {
        None => {
            registry.refused.push(class.clone().unbind());
            (None, None)
        }
        Some((fields, slots)) => {
            let number = registry.classes.len() as u32 + 1;
            let shape = Arc::new(Shape { class: number, names: Some(fields.iter().map(|name| name.as_str().into()).collect()) });
            let names = fields.iter().map(|name| PyString::intern(class.py(), name).unbind()).collect();
            let class = Arc::new(Class { object: class.clone().unbind(), names, shape, slots });
            registry.classes.push(class.clone());
            (Some(number), Some(class))
        }
    };
    registry.numbers.get_or_insert_default().insert(class.as_ptr() as usize, number);
    result
}

/// The class of this number.
pub fn class(number: u32) -> Option<Arc<Class>> {
    registry().classes.get((number as usize).checked_sub(1)?).cloned()
}

/// The fields of a dataclass, or the attributes of the objects of a plain class, and whether they are slots; `None` where
/// objects have more than these, or ways of their own to be made, read or pickled.
fn fields_of(class: &Bound<'_, PyType>, attributes: impl FnOnce() -> Option<Vec<String>>) -> PyResult<Option<(Vec<String>, bool)>> {
    let py = class.py();
    let object = py.import("builtins")?.getattr("object")?;
    let same = |name: &str| PyResult::Ok(class.getattr(name)?.is(&object.getattr(name)?));
    if !same("__new__")? || !same("__getattribute__")? {
        return Ok(None);
    }
    let mut names: Vec<String> = Vec::new();
    if class.getattr("__dict__")?.contains("__dataclass_fields__")? {
        for field in py.import("dataclasses")?.call_method1("fields", (class,))?.try_iter()? {
            names.push(field?.getattr("name")?.extract()?);
        }
    } else if is_usual(class, &object)? {
        names = attributes().unwrap_or_default();
        if names.is_empty() {
            return Ok(None);
        }
    } else {
        return Ok(None);
    }
    let slots = slots_of(class, &names)?;
    Ok(slots.map(|slots| (names, slots)))
}

/// Whether objects of a plain class are made, pickled and ended as those of `object` are.
fn is_usual(class: &Bound<'_, PyType>, object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let same = |name: &str| PyResult::Ok(class.getattr(name)?.is(&object.getattr(name)?));
    let usual = class.get_type().is(class.py().get_type::<PyType>()) && same("__reduce_ex__")? && same("__reduce__")?;
    let pickles = class.hasattr("__getstate__")? && !(object.hasattr("__getstate__")? && same("__getstate__")?);
    Ok(usual && !pickles && !class.hasattr("__setstate__")? && !class.hasattr("__del__")?)
}

/// Whether attributes of objects are slots; `None` where there are others, or the class decides what one is.
fn slots_of(class: &Bound<'_, PyType>, names: &[String]) -> PyResult<Option<bool>> {
    let member = class.py().import("types")?.getattr("MemberDescriptorType")?;
    let (mut slots, mut shadowed) = (Vec::new(), false);
    for base in class.mro() {
        for entry in base.getattr("__dict__")?.call_method0("items")?.try_iter()? {
            let (name, value): (String, Bound<'_, PyAny>) = entry?.extract()?;
            if value.is_instance(&member)? {
                slots.push(name);
            } else if names.contains(&name) {
                shadowed |= value.get_type().hasattr("__set__")? || value.get_type().hasattr("__delete__")?;
            }
        }
    }
    let has_dictionary = class.getattr("__dictoffset__")?.extract::<i64>()? != 0;
    let mut sorted = names.to_vec();
    sorted.sort();
    slots.sort();
    let plain = !shadowed && if has_dictionary { slots.is_empty() } else { slots == sorted };
    Ok(plain.then_some(!has_dictionary))
}

/// The class `Row`, and what its objects consist of.
pub struct Rows {
    /// The class.
    pub class: Py<PyType>,
    /// The kind of a row that is not a change.
    pub insert: Py<PyAny>,
    /// Names of the slots.
    pub kind: Py<PyString>,
    pub names: Py<PyString>,
    pub values: Py<PyString>,
}

static ROWS: PyOnceLock<Rows> = PyOnceLock::new();

/// `penstock.common.row`, loaded when first asked for.
pub fn rows(py: Python<'_>) -> PyResult<&Rows> {
    ROWS.get_or_try_init(py, || {
        let module = py.import("penstock.common.row")?;
        let name = |name| PyString::intern(py, name).unbind();
        Ok(Rows {
            class: module.getattr("Row")?.cast_into::<PyType>()?.unbind(),
            insert: module.getattr("RowKind")?.getattr("INSERT")?.unbind(),
            kind: name("_kind"),
            names: name("_names"),
            values: name("_values"),
        })
    })
}

/// An attribute that a slot or the dictionary of an object has, which keeps it alive.
pub fn attribute<'a, 'py>(object: Borrowed<'a, 'py, PyAny>, name: &Py<PyString>) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: both are objects; the object itself keeps what has been found in it when this reference is dropped
    unsafe {
        let found = ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr());
        if found.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        ffi::Py_DECREF(found);
        Some(Borrowed::from_ptr(object.py(), found))
    }
}

/// An object of a class, as `object.__new__` makes it.
pub fn bare<'py>(class: &Bound<'py, PyType>, nothing: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    type New = unsafe extern "C" fn(*mut ffi::PyTypeObject, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;
    // SAFETY: `object` has this slot, which is such a function; without arguments it only makes an object of the class
    unsafe {
        let slot = ffi::PyType_GetSlot(&raw mut ffi::PyBaseObject_Type, ffi::Py_tp_new);
        let new: New = std::mem::transmute(slot);
        Bound::from_owned_ptr_or_err(class.py(), new(class.as_type_ptr(), nothing.as_ptr(), std::ptr::null_mut()))
    }
}

/// Sets an attribute, whatever the class does when others set it.
///
/// # Safety
///
/// The value is an object.
pub unsafe fn set(object: &Bound<'_, PyAny>, name: &Py<PyString>, value: *mut ffi::PyObject) -> PyResult<()> {
    // SAFETY: as the caller says
    let result = unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value) };
    if result == 0 { Ok(()) } else { Err(PyErr::fetch(object.py())) }
}
