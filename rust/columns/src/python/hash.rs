//! Hashes of what can be a key of a dict: the same for values that are equal.

use std::hash::{BuildHasher, Hasher};

use crate::value::{Doubt, Value};

/// How deep tuples that are looked up may be nested.
const DEPTH: usize = 16;

/// The hash of a value. Doubt: it has none, or nothing is known of its equality here.
#[inline]
pub fn hash_of(hasher: &impl BuildHasher, value: Value<'_>) -> Result<u64, Doubt> {
    let mut hasher = hasher.build_hasher();
    hash_into(&mut hasher, value, DEPTH)?;
    Ok(hasher.finish())
}

/// The integer that a number is equal to, if there is one of 64 bits; in doubt for what is no number.
pub fn whole(value: Value<'_>) -> Result<Option<i64>, Doubt> {
    match value {
        Value::Int(number) => Ok(Some(number)),
        Value::Bool(flag) => Ok(Some(i64::from(flag))),
        Value::Float(number) => {
            let fits = number.trunc() == number && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
            Ok(fits.then_some(number as i64))
        }
        _ => Err(Doubt),
    }
}

/// The same for values that are equal. A NaN is equal to itself only, by identity, of which nothing is known here. Recursive, to
/// this depth.
fn hash_into(hasher: &mut impl Hasher, value: Value<'_>, depth: usize) -> Result<(), Doubt> {
    match value {
        Value::None => hasher.write_u8(1),
        Value::Text(text) => hasher.write(text.as_bytes()),
        Value::Bytes(bytes) => hasher.write(bytes), // as that of a text: whether the two can be compared is a setting
        Value::Float(number) if number.is_nan() => return Err(Doubt),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => match (whole(value)?, value) {
            (None, Value::Float(number)) => hasher.write_u64(number.to_bits()),
            (number, _) => hasher.write_i64(number.unwrap_or_default()),
        },
        Value::Tuple(items) => {
            let below = depth.checked_sub(1).ok_or(Doubt)?;
            hasher.write_usize(items.len());
            for &item in items {
                hash_into(hasher, item, below)?;
            }
        }
        Value::Moment(moment) => {
            let (unit, number) = moment.number().ok_or(Doubt)?; // equal times may be of several zones
            hasher.write_u8(unit as u8);
            hasher.write_i64(number);
        }
        Value::List(_) | Value::Dict(_) | Value::Row(..) | Value::Object(_) => return Err(Doubt),
    }
    Ok(())
}
