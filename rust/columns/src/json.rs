//! Parts of JSON that say what programs and forms of records are, and what is wrong with one.

use serde_json::Value as Json;

/// A text that is not what it should be, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

pub(crate) fn malformed(reason: impl Into<String>) -> Malformed {
    Malformed(reason.into())
}

pub(crate) fn parse(text: &str) -> Result<Json, Malformed> {
    serde_json::from_str(text).map_err(|error| malformed(error.to_string()))
}

pub(crate) fn list(json: &Json) -> Result<&[Json], Malformed> {
    json.as_array().map(Vec::as_slice).ok_or_else(|| malformed(format!("{} is no array", shown(json))))
}

pub(crate) fn text(json: &Json) -> Result<&str, Malformed> {
    json.as_str().ok_or_else(|| malformed(format!("{} is no text", shown(json))))
}

pub(crate) fn number(json: &Json) -> Result<usize, Malformed> {
    let number = json.as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| malformed(format!("{} is no number of something", shown(json))))
}

/// The size of a whole number.
pub(crate) fn bits(json: &Json) -> Result<u32, Malformed> {
    match json.as_u64() {
        Some(bits @ (8 | 16 | 32 | 64)) => Ok(bits as u32),
        _ => Err(malformed("a whole number has another size than 8, 16, 32 or 64 bits")),
    }
}

/// The names of fields.
pub(crate) fn names(names: &[Json]) -> Result<Box<[Box<str>]>, Malformed> {
    names.iter().map(|name| Ok(text(name)?.into())).collect()
}

/// The beginning of it.
pub(crate) fn shown(json: &Json) -> String {
    json.to_string().chars().take(80).collect()
}
