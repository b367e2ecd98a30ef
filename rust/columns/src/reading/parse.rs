//! What messages are, out of JSON.

use serde_json::Value as Json;

use super::json::{Rules, wanted};
use super::{Field, Format, Kind, Reading, Row};
use crate::column::DEPTH;
use crate::json::{Malformed, bits, malformed, names, parse, text};
use crate::value::{Shape, Unit};

pub(super) fn reading(of: &str) -> Result<Reading, Malformed> {
    let json = parse(of)?;
    let format = match text(&json["format"])? {
        "text" => Format::Text,
        "bytes" => Format::Plain,
        "json" => {
            let row = row(&json, DEPTH)?;
            let wanted = wanted(&row);
            Format::Json(row, wanted, Rules { strict: json["strict"] == true, finite: json["finite"] == true })
        }
        "avro" => Format::Avro(row(&json, DEPTH)?),
        other => return Err(malformed(format!("{other:?} is no format of messages"))),
    };
    Ok(Reading { format })
}

/// Recursive, to the depth.
pub(super) fn row(json: &Json, depth: usize) -> Result<Row, Malformed> {
    let below = depth.checked_sub(1).ok_or_else(|| malformed("records are nested too deeply"))?;
    let (Some(named), Some(fields)) = (json["names"].as_array(), json["fields"].as_array()) else {
        return Err(malformed("a record has no names or no fields"));
    };
    let names = names(named)?;
    let fields = fields.iter().map(|one| field(one, below)).collect::<Result<Box<[Field]>, Malformed>>()?;
    let kept = fields.iter().filter(|field| !field.skipped).count();
    if names.len() != kept {
        return Err(malformed("there are not as many names as fields"));
    }
    let (class, tuple) = match &json["form"] {
        Json::Null => (0, false),
        form => match text(form)? {
            "row" => (0, false),
            "tuple" => (0, true),
            "dict" => (Shape::DICT, false),
            other => return Err(malformed(format!("{other:?} is no form of records"))),
        },
    };
    Ok(Row { shape: Shape { class, names: Some(names) }, fields, kept, tuple })
}

fn field(json: &Json, depth: usize) -> Result<Field, Malformed> {
    let null = match json["null"].as_u64() {
        None => None,
        Some(branch @ 0..2) => Some(branch as u8),
        Some(_) => return Err(malformed("a union has more than two branches")),
    };
    let kind = match text(&json["as"])? {
        "int" => Kind::Int(bits(&json["bits"])?),
        "double" => Kind::Double,
        "single" => Kind::Single,
        "bool" => Kind::Bool,
        "text" => Kind::Text,
        "bytes" => Kind::Bytes,
        "day" => Kind::Moment(Unit::Days, json["utc"] == true),
        "time" => Kind::Moment(Unit::Micros, json["utc"] == true),
        "clock" => Kind::Moment(Unit::Clock, json["utc"] == true),
        "row" => Kind::Row(row(json, depth)?),
        "list" => {
            let below = depth.checked_sub(1).ok_or_else(|| malformed("records are nested too deeply"))?;
            Kind::List(Box::new(field(&json["item"], below)?))
        }
        other => return Err(malformed(format!("{other:?} is no kind of field"))),
    };
    Ok(Field { kind, null, needed: json["needed"] == true, skipped: json["skipped"] == true })
}
