//! Arrow arrays as columns of the planner. Every cell is read where it lies; nothing is copied.
//!
//! The Arrow C interface vouches for neither UTF-8, nor offsets, nor dictionary codes, so texts are cut out with checks.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait, RecordBatch, StringViewArray, StructArray};
use arrow_schema::DataType;
use penstock_planner::stream_graph::tables::{Cell, Cells, Column, NotText, TextCells};

/// The columns of a batch; structs become a column per part.
pub fn columns(batch: &RecordBatch) -> Vec<Column<'_>> {
    let schema = batch.schema_ref().fields();
    let mut columns = Vec::with_capacity(schema.len());
    for (field, array) in schema.iter().zip(batch.columns()) {
        match array.data_type() {
            DataType::Struct(_) => parts(field.name(), array.as_struct(), &mut columns),
            kind => columns.push(Column { name: field.name().clone(), type_name: kind.to_string(), cells: cells(array) }),
        }
    }
    columns
}

/// A column per part of a struct, null where the struct is.
fn parts<'a>(name: &str, structs: &'a StructArray, columns: &mut Vec<Column<'a>>) {
    for (part, array) in structs.column_names().into_iter().zip(structs.columns()) {
        let cells = match cells(array) {
            Cells::Ints(cell) => Cells::Ints(masked(structs, cell)),
            Cells::Floats(cell) => Cells::Floats(masked(structs, cell)),
            Cells::Nulls => Cells::Nulls,
            _ => Cells::Other,
        };
        columns.push(Column { name: format!("{name}.{part}"), type_name: array.data_type().to_string(), cells });
    }
    if structs.num_columns() == 0 {
        columns.push(Column { name: name.into(), type_name: structs.data_type().to_string(), cells: Cells::Other });
    }
}

fn masked<'a, T: 'a>(structs: &'a StructArray, cell: Cell<'a, T>) -> Cell<'a, T> {
    Box::new(move |row| if structs.is_null(row) { None } else { cell(row) })
}

fn cells(array: &dyn Array) -> Cells<'_> {
    match array.data_type() {
        DataType::Null => Cells::Nulls,
        DataType::Float16 => Cells::Floats(primitive::<Float16Type, _>(array, |value| value.to_f64())),
        DataType::Float32 => Cells::Floats(primitive::<Float32Type, _>(array, f64::from)),
        DataType::Float64 => Cells::Floats(primitive::<Float64Type, _>(array, |value| value)),
        DataType::Boolean => {
            let array = array.as_boolean();
            Cells::Bools(Box::new(|row| array.is_valid(row).then(|| array.value(row))))
        }
        DataType::Dictionary(code, _) => dictionary(array, code),
        kind => ints(array, kind).map(Cells::Ints).or_else(|| texts(array).map(Cells::Texts)).unwrap_or(Cells::Other),
    }
}

fn primitive<'a, T: ArrowPrimitiveType, V: 'a>(array: &'a dyn Array, convert: impl Fn(T::Native) -> V + Send + 'a) -> Cell<'a, V> {
    let array = array.as_primitive::<T>();
    match array.nulls() {
        None => Box::new(move |row| Some(convert(array.values()[row]))),
        Some(nulls) => Box::new(move |row| nulls.is_valid(row).then(|| convert(array.values()[row]))),
    }
}

fn ints<'a>(array: &'a dyn Array, kind: &DataType) -> Option<Cell<'a, i128>> {
    Some(match kind {
        DataType::Int8 => primitive::<Int8Type, _>(array, i128::from),
        DataType::Int16 => primitive::<Int16Type, _>(array, i128::from),
        DataType::Int32 => primitive::<Int32Type, _>(array, i128::from),
        DataType::Int64 => primitive::<Int64Type, _>(array, i128::from),
        DataType::UInt8 => primitive::<UInt8Type, _>(array, i128::from),
        DataType::UInt16 => primitive::<UInt16Type, _>(array, i128::from),
        DataType::UInt32 => primitive::<UInt32Type, _>(array, i128::from),
        DataType::UInt64 => primitive::<UInt64Type, _>(array, i128::from),
        _ => return None,
    })
}

fn texts(array: &dyn Array) -> Option<Box<dyn TextCells + '_>> {
    Some(match array.data_type() {
        DataType::Utf8 => Box::new(Packed(array.as_string::<i32>())),
        DataType::LargeUtf8 => Box::new(Packed(array.as_string::<i64>())),
        DataType::Utf8View => Box::new(Views(array.as_string_view())),
        _ => return None,
    })
}

fn dictionary<'a>(array: &'a dyn Array, code: &DataType) -> Cells<'a> {
    match code {
        DataType::Int8 => coded::<Int8Type>(array),
        DataType::Int16 => coded::<Int16Type>(array),
        DataType::Int32 => coded::<Int32Type>(array),
        DataType::Int64 => coded::<Int64Type>(array),
        DataType::UInt8 => coded::<UInt8Type>(array),
        DataType::UInt16 => coded::<UInt16Type>(array),
        DataType::UInt32 => coded::<UInt32Type>(array),
        _ => coded::<UInt64Type>(array),
    }
}

fn coded<T: ArrowDictionaryKeyType>(array: &dyn Array) -> Cells<'_> {
    let (array, values) = (array.as_dictionary::<T>(), array.as_dictionary::<T>().values());
    match (ints(array.keys(), &T::DATA_TYPE), texts(values)) {
        (Some(code), Some(text)) => Cells::Coded { code, text, count: values.len() },
        _ => Cells::Other,
    }
}

/// Texts one behind the other.
struct Packed<'a, O: OffsetSizeTrait>(&'a GenericStringArray<O>);

impl<O: OffsetSizeTrait> TextCells for Packed<'_, O> {
    fn get(&self, at: usize) -> Result<Option<&str>, NotText> {
        if self.0.is_null(at) {
            return Ok(None);
        }
        let ends = self.0.value_offsets();
        text(self.0.value_data().get(ends[at].as_usize()..ends[at + 1].as_usize()))
    }
}

/// Texts wherever they are.
struct Views<'a>(&'a StringViewArray);

/// A view holds a text of up to so many bytes itself.
const INLINE: usize = 12;

impl TextCells for Views<'_> {
    fn get(&self, at: usize) -> Result<Option<&str>, NotText> {
        if self.0.is_null(at) {
            return Ok(None);
        }
        let view = &self.0.views().inner().as_slice()[at * 16..][..16];
        let number = |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize;
        let (length, buffer, start) = (number(0), number(8), number(12));
        if length <= INLINE {
            return text(view.get(4..4 + length));
        }
        text(self.0.data_buffers().get(buffer).and_then(|buffer| buffer.get(start..start.checked_add(length)?)))
    }
}

fn text(bytes: Option<&[u8]>) -> Result<Option<&str>, NotText> {
    std::str::from_utf8(bytes.ok_or(NotText)?).map(Some).map_err(|_| NotText)
}
