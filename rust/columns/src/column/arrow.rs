//! Columns of Arrow as columns here, and the other way round. What both have in one form is shared, not copied.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, NullArray,
    StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, TimeUnit};

use super::{Column, DEPTH, Data, Strings};
use crate::value::Unit;

impl Column {
    /// The values of an Arrow array; `None` where it has others than truth values, whole numbers of up to 64 bits with a sign,
    /// floats, texts, bytes, days and times of Python's years without a time zone, times of day, and lists of these. O(1) for numbers of 64
    /// bits, O(bytes) for the rest.
    pub fn of_arrow(array: &dyn Array) -> Option<Self> {
        Self::of_nested(array, DEPTH)
    }

    /// Recursive, to the depth.
    fn of_nested(array: &dyn Array, depth: usize) -> Option<Self> {
        let data = match array.data_type() {
            DataType::Null => return Some(Self::none(array.len())),
            DataType::Boolean => Data::Bools(array.as_boolean().values().clone()),
            DataType::Int64 => Data::Ints(array.as_primitive::<Int64Type>().values().clone()),
            DataType::Int32 => ints::<Int32Type>(array),
            DataType::Int16 => ints::<Int16Type>(array),
            DataType::Int8 => ints::<Int8Type>(array),
            DataType::UInt32 => ints::<UInt32Type>(array),
            DataType::UInt16 => ints::<UInt16Type>(array),
            DataType::UInt8 => ints::<UInt8Type>(array),
            DataType::Float64 => Data::Floats(array.as_primitive::<Float64Type>().values().clone()),
            DataType::Float32 => Data::Floats(array.as_primitive::<Float32Type>().values().iter().map(|&value| f64::from(value)).collect()),
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                Data::Texts(Strings::new(texts.offsets().clone(), texts.values().clone())?)
            }
            DataType::Binary => {
                let items = array.as_binary::<i32>();
                Data::Bytes(Strings::new(items.offsets().clone(), items.values().clone())?)
            }
            DataType::Date32 => moments(array, Unit::Days, array.as_primitive::<Date32Type>().values().iter().map(|&day| i64::from(day))),
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                moments(array, Unit::Micros, array.as_primitive::<TimestampMicrosecondType>().values().iter().copied())
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                moments(array, Unit::Clock, array.as_primitive::<Time64MicrosecondType>().values().iter().copied())
            }
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                Data::Lists(lists.offsets().clone(), Arc::new(Self::of_nested(lists.values(), depth.checked_sub(1)?)?))
            }
            _ => return None,
        };
        Self::new(data, array.nulls().cloned(), array.len())
    }

    /// The same values as an Arrow array; `None` for tuples and rows. O(1).
    pub fn to_arrow(&self) -> Option<ArrayRef> {
        let presence: Option<NullBuffer> = self.presence.clone();
        Some(match &self.data {
            Data::None => Arc::new(NullArray::new(self.count)),
            Data::Bools(values) => Arc::new(BooleanArray::new(values.clone(), presence)),
            Data::Ints(values) => Arc::new(Int64Array::new(values.clone(), presence)),
            Data::Floats(values) => Arc::new(Float64Array::new(values.clone(), presence)),
            Data::Texts(items) => {
                // SAFETY: each is UTF-8, as a column of texts knows, and offsets do not fall
                Arc::new(unsafe { StringArray::new_unchecked(items.offsets().clone(), items.bytes().clone(), presence) })
            }
            Data::Bytes(items) => Arc::new(BinaryArray::new(items.offsets().clone(), items.bytes().clone(), presence)),
            Data::Moments(Unit::Days, values) => {
                let days = values.iter().map(|day| (day - Unit::Days.epoch()) as i32); // few enough
                Arc::new(Date32Array::new(days.collect(), presence))
            }
            Data::Moments(Unit::Micros, values) => {
                let times = values.iter().map(|time| time - Unit::Micros.epoch());
                Arc::new(TimestampMicrosecondArray::new(times.collect(), presence))
            }
            Data::Moments(Unit::Clock, values) => Arc::new(Time64MicrosecondArray::new(values.clone(), presence)),
            Data::Lists(offsets, items) => {
                let items = items.to_arrow()?;
                let field = Field::new("item", items.data_type().clone(), true);
                Arc::new(ListArray::try_new(Arc::new(field), offsets.clone(), items, presence).ok()?)
            }
            Data::Tuples(_) | Data::Rows(..) => return None,
        })
    }
}

/// Days or microseconds after 1970 began; where there is none, the day itself.
fn moments(array: &dyn Array, unit: Unit, numbers: impl Iterator<Item = i64>) -> Data {
    let number = |(at, number): (usize, i64)| if array.is_null(at) { unit.epoch() } else { number.saturating_add(unit.epoch()) };
    Data::Moments(unit, numbers.enumerate().map(number).collect())
}

fn ints<T: ArrowPrimitiveType>(array: &dyn Array) -> Data
where
    i64: From<T::Native>,
{
    let values: ScalarBuffer<i64> = array.as_primitive::<T>().values().iter().map(|&value| i64::from(value)).collect();
    Data::Ints(values)
}
