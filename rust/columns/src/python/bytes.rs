//! Methods of `bytes`, and `str.encode`.

use bumpalo::Bump;
use bumpalo::collections::{String, Vec};

use super::numbers::index_of;
use super::sequences::window;
use super::texts::{Ends, text_of};
use super::{Answer, MOST_BYTES, MOST_ITEMS};
use crate::value::{Doubt, Value};

/// The encodings that are known here, by any of their usual names.
#[derive(PartialEq, Eq)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
}

impl Encoding {
    /// From the arguments of `encode` and `decode`; other ways with errors only matter where there are any.
    fn of(arguments: &[Value<'_>]) -> Result<Self, Doubt> {
        let name = match arguments {
            [] => "utf-8",
            [name] => text_of(*name)?,
            [name, errors] if matches!(text_of(*errors)?, "strict" | "ignore" | "replace") => text_of(*name)?,
            _ => return Err(Doubt),
        };
        match name {
            "utf-8" | "utf8" | "UTF-8" | "utf_8" => Ok(Self::Utf8),
            "ascii" | "ASCII" | "us-ascii" => Ok(Self::Ascii),
            "latin-1" | "latin1" | "iso-8859-1" | "ISO-8859-1" => Ok(Self::Latin1),
            _ => Err(Doubt),
        }
    }
}

/// `bytes(value)`: so many zeros, or bytes by their numbers.
pub fn of<'a>(bump: &'a Bump, value: Value<'a>) -> Answer<'a> {
    match value {
        Value::Bytes(_) => Ok(value),
        Value::Int(_) | Value::Bool(_) => {
            let size = usize::try_from(index_of(value)?).ok().filter(|size| *size <= MOST_BYTES).ok_or(Doubt)?;
            Ok(Value::Bytes(bump.alloc_slice_fill_copy(size, 0)))
        }
        Value::Tuple(items) | Value::List(items) => {
            let byte = |at: usize| u8::try_from(index_of(items[at])?).map_err(|_| Doubt);
            Ok(Value::Bytes(bump.alloc_slice_try_fill_with(items.len(), byte)?))
        }
        _ => Err(Doubt),
    }
}

/// `text.encode(encoding, errors)`.
pub fn encoded<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let encoding = Encoding::of(arguments)?;
    if encoding == Encoding::Utf8 || text.is_ascii() {
        return Ok(Value::Bytes(text.as_bytes()));
    }
    if encoding == Encoding::Ascii {
        return Err(Doubt);
    }
    let mut bytes = Vec::with_capacity_in(text.len(), bump);
    for c in text.chars() {
        bytes.push(u8::try_from(c).map_err(|_| Doubt)?);
    }
    Ok(Value::Bytes(bytes.into_bump_slice()))
}

/// `bytes.decode(encoding, errors)`.
pub fn decoded<'a>(bump: &'a Bump, bytes: &'a [u8], arguments: &[Value<'a>]) -> Answer<'a> {
    let encoding = Encoding::of(arguments)?;
    if encoding == Encoding::Utf8 || bytes.is_ascii() {
        return std::str::from_utf8(bytes).map(Value::Text).map_err(|_| Doubt);
    }
    if encoding == Encoding::Ascii {
        return Err(Doubt);
    }
    let mut text = String::with_capacity_in(bytes.len(), bump);
    text.extend(bytes.iter().map(|byte| char::from(*byte)));
    Ok(Value::Text(text.into_bump_str()))
}

fn bytes_of<'a>(value: Value<'a>) -> Result<&'a [u8], Doubt> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(Doubt),
    }
}

/// The first place of a part.
pub fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    bytes.windows(part.len()).position(|window| window == part)
}

/// `bytes.find(part)`, between optional positions.
pub fn found_at<'a>(bytes: &'a [u8], arguments: &[Value<'a>]) -> Answer<'a> {
    let [wanted, bounds @ ..] = arguments else { return Err(Doubt) };
    let wanted = bytes_of(*wanted)?;
    let Some((start, end)) = window(bytes.len(), bounds)? else { return Ok(Value::Int(-1)) };
    Ok(Value::Int(find(&bytes[start..end], wanted).map_or(-1, |at| (start + at) as i64)))
}

/// `startswith` and `endswith`.
pub fn begins<'a>(bytes: &'a [u8], arguments: &[Value<'a>], end: bool) -> Answer<'a> {
    let [Value::Bytes(part), bounds @ ..] = arguments else { return Err(Doubt) };
    let Some((start, stop)) = window(bytes.len(), bounds)? else { return Ok(Value::Bool(false)) };
    let bytes = &bytes[start..stop];
    Ok(Value::Bool(if end { bytes.ends_with(part) } else { bytes.starts_with(part) }))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// `strip`, `lstrip` and `rstrip`.
pub fn stripped<'a>(bytes: &'a [u8], arguments: &[Value<'a>], ends: Ends) -> Answer<'a> {
    let letters = match arguments {
        [] | [Value::None] => &b"\t\n\x0b\x0c\r "[..],
        [letters] => bytes_of(*letters)?,
        _ => return Err(Doubt),
    };
    let wanted = |byte: &u8| !letters.contains(byte);
    let start = if ends == Ends::Right { 0 } else { bytes.iter().position(wanted).unwrap_or(bytes.len()) };
    let rest = &bytes[start..];
    let end = if ends == Ends::Left { rest.len() } else { rest.iter().rposition(wanted).map_or(0, |at| at + 1) };
    Ok(Value::Bytes(&rest[..end]))
}

/// `split`, by a separator or by whitespace.
pub fn split<'a>(bump: &'a Bump, bytes: &'a [u8], arguments: &[Value<'a>]) -> Answer<'a> {
    let (separator, most) = match arguments {
        [] => (Value::None, -1),
        [separator] => (*separator, -1),
        [separator, most] => (*separator, index_of(*most)?),
        _ => return Err(Doubt),
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut parts = Vec::new_in(bump);
    let mut rest = Some(bytes);
    while let Some(bytes) = rest {
        let cut = match separator {
            Value::None => {
                let start = bytes.iter().position(|byte| !is_space(*byte)).unwrap_or(bytes.len());
                if start == bytes.len() {
                    break;
                }
                let bytes = &bytes[start..];
                (bytes, bytes.iter().position(|byte| is_space(*byte)), 1)
            }
            _ => match bytes_of(separator)? {
                [] => return Err(Doubt),
                separator => (bytes, find(bytes, separator), separator.len()),
            },
        };
        let (bytes, at, width) = cut;
        let at = at.filter(|_| parts.len() < most);
        parts.push(Value::Bytes(&bytes[..at.unwrap_or(bytes.len())]));
        rest = at.map(|at| &bytes[at + width..]);
        if parts.len() > MOST_ITEMS {
            return Err(Doubt);
        }
    }
    Ok(Value::List(parts.into_bump_slice()))
}

/// `hex()`.
pub fn hex<'a>(bump: &'a Bump, bytes: &'a [u8]) -> Answer<'a> {
    if bytes.len() > MOST_BYTES / 2 {
        return Err(Doubt);
    }
    let mut text = String::with_capacity_in(2 * bytes.len(), bump);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    Ok(Value::Text(text.into_bump_str()))
}
