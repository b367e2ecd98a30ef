//! Columns into objects.

use penstock_columns::column::Strings;
use penstock_columns::{Column, Data, Shape};
use penstock_runtime::columns::different;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use super::moments;
use super::owned::{Objects, listed, tuple};
use super::shapes::{bare, class, rows, set};

/// The objects of a column. Recursive, to its depth.
pub fn objects<'py>(py: Python<'py>, column: &Column) -> PyResult<Objects<'py>> {
    let count = column.len();
    let mut objects = match column.data() {
        Data::None => return Ok(Objects::shared(py.None().into_bound(py), count)),
        Data::Bools(values) => Objects::each(values.iter().map(|value| PyBool::new(py, value).to_owned().into_any()).collect()),
        Data::Ints(values) => Objects::each(values.iter().map(|&value| PyInt::new(py, value).into_any()).collect()),
        Data::Floats(values) => Objects::each(values.iter().map(|&value| PyFloat::new(py, value).into_any()).collect()),
        Data::Texts(items) => texts(py, items)?,
        Data::Bytes(items) => Objects::each((0..count).map(|row| PyBytes::new(py, items.get(row)).into_any()).collect()),
        Data::Moments(unit, numbers) => moments::objects(py, *unit, numbers)?,
        Data::Tuples(fields) => {
            let fields = all(py, fields)?;
            Objects::each((0..count).map(|row| tuple(py, &fields, row)).collect::<PyResult<_>>()?)
        }
        Data::Rows(shape, fields) => Objects::each(of_shape(py, shape, &all(py, fields)?, count)?),
        Data::Lists(offsets, items) => {
            let (start, end) = (offsets[0] as usize, offsets[count] as usize);
            let items = self::objects(py, &items.slice(start, end))?;
            let list = |pair: &[i32]| part(py, &items, pair[0] as usize - start, pair[1] as usize - start);
            Objects::each(offsets.windows(2).map(|pair| Ok(list(pair)?.into_any())).collect::<PyResult<_>>()?)
        }
    };
    if let Some(presence) = column.presence() {
        let none = py.None().into_bound(py);
        let absent = objects.at.iter_mut().zip(presence.iter()).filter(|(_, present)| !present);
        absent.for_each(|(at, _)| *at = none.as_ptr());
        objects.owners.push(none);
    }
    Ok(objects)
}

fn all<'py>(py: Python<'py>, fields: &[Column]) -> PyResult<Vec<Objects<'py>>> {
    fields.iter().map(|field| objects(py, field)).collect()
}

/// Texts that repeat are made once.
fn texts<'py>(py: Python<'py>, items: &Strings) -> PyResult<Objects<'py>> {
    let each = || (0..items.len()).map(|row| items.get(row));
    let object = |bytes: &[u8]| Ok(PyString::from_bytes(py, bytes)?.into_any());
    match different(each()) {
        None => Ok(Objects::each(each().map(object).collect::<PyResult<_>>()?)),
        Some((texts, codes)) => {
            let owners = texts.into_iter().map(object).collect::<PyResult<Vec<Bound<'py, PyAny>>>>()?;
            Ok(Objects { at: codes.into_iter().map(|code| owners[code as usize].as_ptr()).collect(), owners })
        }
    }
}

fn part<'py>(py: Python<'py>, items: &Objects<'py>, start: usize, end: usize) -> PyResult<Bound<'py, PyList>> {
    // SAFETY: the owners keep them alive
    listed(py, end - start, items.at[start..end].iter().map(|&object| unsafe { Bound::from_borrowed_ptr(py, object) }))
}

/// Rows, dicts, or objects of a dataclass.
fn of_shape<'py>(py: Python<'py>, shape: &Shape, fields: &[Objects<'py>], count: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let nothing = PyTuple::empty(py);
    if shape.class == 0 {
        let names = match &shape.names {
            Some(names) => PyTuple::new(py, names.iter().map(|name| PyString::intern(py, name)))?.into_any(),
            None => py.None().into_bound(py),
        };
        return (0..count).map(|row| row_object(py, &names, fields, row, &nothing)).collect();
    }
    if shape.is_dict() {
        let names: Vec<Bound<'py, PyString>> = shape.names.iter().flatten().map(|name| PyString::intern(py, name)).collect();
        return (0..count).map(|row| dict(py, &names, fields, row)).collect();
    }
    let class = class(shape.class).ok_or_else(|| PyValueError::new_err("the class of these records is not known here"))?;
    let object: &Bound<'py, PyType> = class.object.bind(py);
    let made = |row: usize| {
        let made = bare(object, &nothing)?;
        for (name, field) in class.names.iter().zip(fields) {
            // SAFETY: the column keeps it alive
            unsafe { set(&made, name, field.at[row]) }?;
        }
        Ok(made)
    };
    (0..count).map(made).collect()
}

fn dict<'py>(py: Python<'py>, names: &[Bound<'py, PyString>], fields: &[Objects<'py>], row: usize) -> PyResult<Bound<'py, PyAny>> {
    let made = PyDict::new(py);
    for (name, field) in names.iter().zip(fields) {
        // SAFETY: the column keeps it alive
        made.set_item(name, unsafe { Bound::from_borrowed_ptr(py, field.at[row]) })?;
    }
    Ok(made.into_any())
}

fn row_object<'py>(
    py: Python<'py>,
    names: &Bound<'py, PyAny>,
    fields: &[Objects<'py>],
    row: usize,
    nothing: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = rows(py)?;
    let made = bare(rows.class.bind(py), nothing)?;
    // SAFETY: the columns keep their objects alive
    unsafe {
        let values = listed(py, fields.len(), fields.iter().map(|field| Bound::from_borrowed_ptr(py, field.at[row])))?;
        set(&made, &rows.kind, rows.insert.as_ptr())?;
        set(&made, &rows.names, names.as_ptr())?;
        set(&made, &rows.values, values.as_ptr())?;
    }
    Ok(made)
}
