//! Texts of CSV as values, as Java reads them; what only Python reads is in doubt.

use super::super::{Kind, within};
use crate::python::written;
use crate::value::{Doubt, Value};

/// The most characters of a whole number; Python refuses very long ones.
const LONGEST: usize = 64;

/// The value of a text.
#[inline]
pub(super) fn value<'a>(text: &'a str, kind: &Kind, null: Option<&str>) -> Result<Value<'a>, Doubt> {
    if null == Some(text) {
        return Ok(Value::None);
    }
    Ok(match kind {
        Kind::Text => Value::Text(text),
        Kind::Bool => Value::Bool(trimmed(text).eq_ignore_ascii_case("true")),
        Kind::Int(bits) => Value::Int(whole(trimmed(text)).filter(|number| within(*number, *bits)).ok_or(Doubt)?),
        Kind::Double => Value::Float(double(trimmed(text))?),
        Kind::Single => Value::Float(f64::from(double(trimmed(text))? as f32)),
        Kind::Moment(unit, utc) => Value::Moment(written(*unit, text, *utc)?),
        Kind::Bytes | Kind::Row(_) | Kind::List(_) => return Err(Doubt),
    })
}

/// Without what is below `!` at its ends.
fn trimmed(text: &str) -> &str {
    let is_bare = |byte: Option<&u8>| byte.is_none_or(|byte| *byte > b' ');
    let bytes = text.as_bytes();
    if is_bare(bytes.first()) && is_bare(bytes.last()) { text } else { text.trim_matches(|c| c <= ' ') }
}

fn whole(text: &str) -> Option<i64> {
    if text.len() <= LONGEST { text.parse().ok() } else { None }
}

fn double(text: &str) -> Result<f64, Doubt> {
    let decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    match text {
        _ if decimal => text.parse().map_err(|_| Doubt),
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(Doubt),
    }
}
