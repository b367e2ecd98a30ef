//! Rows in Avro: fields one after the other, as the schema has them.

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::{Field, Kind, Row, within};
use crate::python::MOST_ITEMS;
use crate::value::{Doubt, Value};

/// The row of a message; bytes behind it do not count.
pub fn record<'a>(mut message: &'a [u8], row: &'a Row, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    next(&mut message, row, arena)
}

/// The row at the beginning of some bytes, which begin behind it then. Recursive, to the depth of the type.
pub fn next<'a>(rest: &mut &'a [u8], row: &'a Row, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let values = arena.alloc_slice_fill_copy(row.kept, Value::None);
    let mut kept = values.iter_mut();
    for field in &row.fields {
        let value = value(rest, field, arena)?;
        if !field.skipped {
            *kept.next().ok_or(Doubt)? = value;
        }
    }
    Ok(row.of(values))
}

fn value<'a>(rest: &mut &'a [u8], field: &'a Field, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    if let Some(null) = field.null {
        let branch = number(rest)?;
        if branch == i64::from(null) {
            return Ok(Value::None);
        }
        if branch != i64::from(1 - null) {
            return Err(Doubt);
        }
    }
    Ok(match &field.kind {
        Kind::Int(bits) => Value::Int(Some(number(rest)?).filter(|number| within(*number, *bits)).ok_or(Doubt)?),
        Kind::Double => Value::Float(f64::from_le_bytes(take(rest, 8)?.try_into().map_err(|_| Doubt)?)),
        Kind::Single => Value::Float(f32::from_le_bytes(take(rest, 4)?.try_into().map_err(|_| Doubt)?).into()),
        Kind::Bool => match take(rest, 1)? {
            [0] => Value::Bool(false),
            [1] => Value::Bool(true),
            _ => return Err(Doubt),
        },
        Kind::Text => Value::Text(std::str::from_utf8(bytes(rest)?).map_err(|_| Doubt)?),
        Kind::Bytes => Value::Bytes(bytes(rest)?),
        Kind::Moment(..) => return Err(Doubt),
        Kind::Row(row) => next(rest, row, arena)?,
        Kind::List(item) => Value::List(items(rest, item, arena)?),
    })
}

/// What is in an array: blocks of items, the last one empty. Where a block says how many bytes it has its number is negative.
fn items<'a>(rest: &mut &'a [u8], item: &'a Field, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
    let mut all = Vec::new_in(arena);
    loop {
        let mut count = number(rest)?;
        if count < 0 {
            number(rest)?;
            count = count.checked_neg().ok_or(Doubt)?;
        }
        if count == 0 {
            return Ok(all.into_bump_slice());
        }
        if count > (MOST_ITEMS - all.len()) as i64 {
            return Err(Doubt);
        }
        for _ in 0..count {
            all.push(value(rest, item, arena)?);
        }
    }
}

fn bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Doubt> {
    let length = usize::try_from(number(rest)?).map_err(|_| Doubt)?;
    take(rest, length)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], Doubt> {
    let (taken, behind) = rest.split_at_checked(length).ok_or(Doubt)?;
    *rest = behind;
    Ok(taken)
}

/// A whole number, seven bits a byte, its sign in the lowest.
fn number(rest: &mut &[u8]) -> Result<i64, Doubt> {
    let (mut all, mut shift) = (0_u64, 0);
    loop {
        let byte = take(rest, 1)?[0];
        if shift > 56 && (shift > 63 || byte > 1) {
            return Err(Doubt);
        }
        all |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((all >> 1) as i64 ^ -((all & 1) as i64));
        }
        shift += 7;
    }
}
