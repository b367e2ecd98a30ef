//! Rows in JSON.

use bumpalo::Bump;
use memchr::memmem;

use super::{Kind, Row, within};
use crate::python::loads;
use crate::value::{Doubt, Value};

/// The row of a message. Python's reader takes NaN and Infinity, and the schema does not: they are doubtful, wherever they stand.
pub fn record<'a>(message: &'a [u8], row: &'a Row, strict: bool, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    if memmem::find(message, b"NaN").is_some() || memmem::find(message, b"Infinity").is_some() {
        return Err(Doubt);
    }
    fields(loads(arena, Value::Bytes(message))?, row, strict, arena)
}

/// Recursive, to the depth of the type.
fn fields<'a>(node: Value<'a>, row: &'a Row, strict: bool, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let (Value::Dict(entries), Some(names)) = (node, &row.shape.names) else { return Err(Doubt) };
    let values = arena.alloc_slice_fill_copy(names.len(), Value::None);
    for (at, (name, field)) in names.iter().zip(&row.fields).enumerate() {
        let of_name = |(key, _): &&(Value<'_>, Value<'_>)| matches!(key, Value::Text(key) if **key == **name);
        // most messages have the fields in the order of the type
        let entry = entries.get(at).filter(of_name).or_else(|| entries.iter().find(of_name));
        values[at] = match entry {
            Some((_, node)) => value(*node, &field.kind, strict, arena)?,
            None if strict => return Err(Doubt),
            None => Value::None,
        };
    }
    Ok(Value::Row(&row.shape, values))
}

fn value<'a>(node: Value<'a>, kind: &'a Kind, strict: bool, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    Ok(match (kind, node) {
        (_, Value::None) => Value::None,
        (Kind::Int(bits), Value::Int(number)) if within(number, *bits) => node,
        (Kind::Double, Value::Float(_)) | (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_)) => node,
        (Kind::Double, Value::Int(number)) => Value::Float(number as f64),
        (Kind::Row(row), _) => fields(node, row, strict, arena)?,
        _ => return Err(Doubt),
    })
}
