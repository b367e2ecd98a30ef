//! Rows in Avro: fields one after the other, as the schema has them.

use bumpalo::Bump;

use super::{Kind, Row, within};
use crate::value::{Doubt, Value};

/// The row of a message; bytes behind it do not count.
pub fn record<'a>(message: &'a [u8], row: &'a Row, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let mut rest = message;
    fields(&mut rest, row, arena)
}

/// Recursive, to the depth of the type.
fn fields<'a>(rest: &mut &'a [u8], row: &'a Row, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let values = arena.alloc_slice_fill_copy(row.fields.len(), Value::None);
    for (value, field) in values.iter_mut().zip(&row.fields) {
        if let Some(null) = field.null {
            let branch = number(rest)?;
            if branch == i64::from(null) {
                continue;
            }
            if branch != i64::from(1 - null) {
                return Err(Doubt);
            }
        }
        *value = match &field.kind {
            Kind::Int(bits) => Value::Int(Some(number(rest)?).filter(|number| within(*number, *bits)).ok_or(Doubt)?),
            Kind::Double => Value::Float(f64::from_le_bytes(take(rest, 8)?.try_into().map_err(|_| Doubt)?)),
            Kind::Single => Value::Float(f32::from_le_bytes(take(rest, 4)?.try_into().map_err(|_| Doubt)?).into()),
            Kind::Bool => match take(rest, 1)? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                _ => return Err(Doubt),
            },
            Kind::Text => {
                let length = usize::try_from(number(rest)?).map_err(|_| Doubt)?;
                Value::Text(std::str::from_utf8(take(rest, length)?).map_err(|_| Doubt)?)
            }
            Kind::Row(row) => fields(rest, row, arena)?,
        };
    }
    Ok(row.of(values))
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
