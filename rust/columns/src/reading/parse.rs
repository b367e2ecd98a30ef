//! What messages are, out of JSON.

use serde_json::Value as Json;

use super::{Field, Format, Kind, Reading, Row};
use crate::column::DEPTH;
use crate::value::Shape;

/// A text that does not say what messages are, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

fn malformed(reason: impl Into<String>) -> Malformed {
    Malformed(reason.into())
}

pub(super) fn reading(text: &str) -> Result<Reading, Malformed> {
    let json: Json = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
    let format = match string(&json["format"])? {
        "text" => Format::Text,
        "bytes" => Format::Plain,
        "json" => Format::Json { row: row(&json, DEPTH)?, strict: json["strict"] == true },
        "avro" => Format::Avro(row(&json, DEPTH)?),
        other => return Err(malformed(format!("{other:?} is no format of messages"))),
    };
    Ok(Reading { format })
}

/// Recursive, to the depth.
fn row(json: &Json, depth: usize) -> Result<Row, Malformed> {
    let below = depth.checked_sub(1).ok_or_else(|| malformed("records are nested too deeply"))?;
    let (Some(names), Some(fields)) = (json["names"].as_array(), json["fields"].as_array()) else {
        return Err(malformed("a record has no names or no fields"));
    };
    let names = names.iter().map(|name| Ok(string(name)?.into())).collect::<Result<Box<[Box<str>]>, Malformed>>()?;
    let fields = fields.iter().map(|one| field(one, below)).collect::<Result<Box<[Field]>, Malformed>>()?;
    if names.len() != fields.len() {
        return Err(malformed("there are not as many names as fields"));
    }
    Ok(Row { shape: Shape { class: 0, names: Some(names) }, fields })
}

fn field(json: &Json, depth: usize) -> Result<Field, Malformed> {
    let null = match json["null"].as_u64() {
        None => None,
        Some(branch @ 0..2) => Some(branch as u8),
        Some(_) => return Err(malformed("a union has more than two branches")),
    };
    let kind = match string(&json["as"])? {
        "int" => match json["bits"].as_u64() {
            Some(bits @ (8 | 16 | 32 | 64)) => Kind::Int(bits as u32),
            _ => return Err(malformed("a whole number has another size than 8, 16, 32 or 64 bits")),
        },
        "double" => Kind::Double,
        "bool" => Kind::Bool,
        "text" => Kind::Text,
        "row" => Kind::Row(row(json, depth)?),
        other => return Err(malformed(format!("{other:?} is no kind of field"))),
    };
    Ok(Field { kind, null })
}

fn string(json: &Json) -> Result<&str, Malformed> {
    json.as_str().ok_or_else(|| malformed(format!("{} is no text", json.to_string().chars().take(80).collect::<String>())))
}
