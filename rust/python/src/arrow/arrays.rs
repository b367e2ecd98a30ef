//! Iterators as Arrow arrays, of types that pyarrow, polars, pandas, DuckDB and Spark all take.
//!
//! Spark has no unsigned integers, so every number is signed. Texts that repeat are dictionary-encoded.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray};
use penstock_planner::identity::OperatorId;

/// 32-bit numbers: indices of this size never reach the sign.
pub fn numbers(values: impl Iterator<Item = u32>) -> ArrayRef {
    integers(values.map(|value| value as i32))
}

/// 32-bit numbers.
pub fn integers(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

/// 32-bit numbers, or null.
pub fn optional_integers(values: impl Iterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.collect::<Int32Array>())
}

/// 64-bit numbers.
pub fn longs(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// Truth values.
pub fn flags(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<BooleanArray>())
}

/// Texts.
pub fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Texts, or null.
pub fn optional_texts<T: AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// One of Flink's spellings, of which there are a few.
pub fn spellings<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    dictionary::<Int8Type>(values)
}

/// Names that many rows share.
pub fn shared_names<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    dictionary::<Int32Type>(values)
}

fn dictionary<'a, K: ArrowDictionaryKeyType>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<K>::new();
    for value in values {
        builder.append_option(value);
    }
    Arc::new(builder.finish())
}

/// OperatorIDs as 16 bytes or as 32 hex digits, or null.
pub fn operator_ids(binary: bool, values: impl ExactSizeIterator<Item = Option<OperatorId>>) -> ArrayRef {
    if binary {
        let mut builder = FixedSizeBinaryBuilder::with_capacity(values.len(), 16);
        for value in values {
            match value {
                Some(id) => builder.append_value(id.0).expect("an OperatorID has 16 bytes"),
                None => builder.append_null(),
            }
        }
        return Arc::new(builder.finish());
    }
    let mut builder = StringBuilder::with_capacity(values.len(), values.len() * 32);
    values.for_each(|value| builder.append_option(value.map(|id| id.hex())));
    Arc::new(builder.finish())
}
