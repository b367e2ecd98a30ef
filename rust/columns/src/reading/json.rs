//! Rows in JSON.

use bumpalo::Bump;
use memchr::memmem;

use super::{Field, Kind, Row, within};
use crate::python::{Wanted, loads_of, written};
use crate::value::{Doubt, Value};

/// What the schema of the objects says.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether all fields must be there.
    pub strict: bool,
    /// Whether floats must be finite. Else the words NaN and Infinity are doubtful, wherever they stand.
    pub finite: bool,
}

/// The row of a message. Python's reader takes NaN and Infinity, and schemas do not.
pub fn record<'a>(message: &'a [u8], (row, wanted): (&'a Row, &Wanted), rules: Rules, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    if !rules.finite && (memmem::find(message, b"NaN").is_some() || memmem::find(message, b"Infinity").is_some()) {
        return Err(Doubt);
    }
    fields(loads_of(arena, Value::Bytes(message), wanted)?, row, rules, arena)
}

/// What a row has of an object. Recursive, to the depth of the type.
pub fn wanted(row: &Row) -> Wanted {
    Wanted::at_all(row.shape.names.iter().flatten().cloned().zip(row.fields.iter().map(|field| wanted_of(&field.kind))))
}

fn wanted_of(kind: &Kind) -> Wanted {
    match kind {
        Kind::Row(row) => wanted(row),
        Kind::List(item) => Wanted::of_items(wanted_of(&item.kind)),
        _ => Wanted::nothing(),
    }
}

/// Recursive, to the depth of the type.
fn fields<'a>(node: Value<'a>, row: &'a Row, rules: Rules, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let (Value::Dict(entries), Some(names)) = (node, &row.shape.names) else { return Err(Doubt) };
    let values = arena.alloc_slice_fill_copy(names.len(), Value::None);
    for (at, (name, field)) in names.iter().zip(&row.fields).enumerate() {
        let of_name = |(key, _): &&(Value<'_>, Value<'_>)| matches!(key, Value::Text(key) if **key == **name);
        // most messages have the fields in the order of the type
        let entry = entries.get(at).filter(of_name).or_else(|| entries.iter().find(of_name));
        values[at] = match entry {
            Some((_, node)) => value(*node, field, rules, arena)?,
            None if rules.strict || field.needed => return Err(Doubt),
            None => Value::None,
        };
    }
    Ok(row.of(values))
}

fn value<'a>(node: Value<'a>, field: &'a Field, rules: Rules, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    Ok(match (&field.kind, node) {
        (_, Value::None) if field.needed => return Err(Doubt),
        (_, Value::None) => Value::None,
        (Kind::Int(bits), Value::Int(number)) if within(number, *bits) => node,
        (Kind::Double | Kind::Single, Value::Float(number)) if rules.finite && !number.is_finite() => return Err(Doubt),
        (Kind::Double, Value::Float(_)) | (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_)) => node,
        (Kind::Double, Value::Int(number)) => Value::Float(number as f64),
        (Kind::Single, Value::Float(number)) => Value::Float(f64::from(number as f32)),
        (Kind::Single, Value::Int(number)) => Value::Float(f64::from(number as f64 as f32)),
        (Kind::Moment(unit, utc), Value::Text(text)) => Value::Moment(written(*unit, text, *utc)?),
        (Kind::Row(row), _) => fields(node, row, rules, arena)?,
        (Kind::List(item), Value::List(nodes)) => {
            Value::List(arena.alloc_slice_try_fill_with(nodes.len(), |at| value(nodes[at], item, rules, arena))?)
        }
        _ => return Err(Doubt),
    })
}
