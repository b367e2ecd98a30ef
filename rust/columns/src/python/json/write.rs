//! `json.dumps` with its usual separators, in ASCII.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use crate::python::compare::DEPTH;
use crate::python::digits::show_float;
use crate::python::{Answer, MOST_BYTES};
use crate::value::{Doubt, Value};

/// A value as a document.
pub fn dumps<'a>(bump: &'a Bump, value: Value<'a>) -> Answer<'a> {
    let mut text = String::new_in(bump);
    write_value(&mut text, value, DEPTH)?;
    Ok(Value::Text(text.into_bump_str()))
}

fn write_value(text: &mut String<'_>, value: Value<'_>, depth: usize) -> Result<(), Doubt> {
    let below = depth.checked_sub(1).ok_or(Doubt)?;
    if text.len() > MOST_BYTES {
        return Err(Doubt);
    }
    match value {
        Value::Text(value) => write_text(text, value)?,
        Value::Tuple(items) | Value::List(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write_value(text, *item, below)?;
            }
            text.push(']');
        }
        Value::Dict(entries) => {
            text.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write_key(text, *key)?;
                text.push_str(": ");
                write_value(text, *value, below)?;
            }
            text.push('}');
        }
        _ => write_scalar(text, value)?,
    }
    Ok(())
}

fn write_key(text: &mut String<'_>, key: Value<'_>) -> Result<(), Doubt> {
    if let Value::Text(key) = key {
        return write_text(text, key);
    }
    text.push('"');
    write_scalar(text, key)?;
    text.push('"');
    Ok(())
}

fn write_scalar(text: &mut String<'_>, value: Value<'_>) -> Result<(), Doubt> {
    match value {
        Value::None => text.push_str("null"),
        Value::Bool(b) => text.push_str(if b { "true" } else { "false" }),
        Value::Int(n) => write!(text, "{n}").map_err(|_| Doubt)?,
        Value::Float(f) if f.is_nan() => text.push_str("NaN"),
        Value::Float(f) if f.is_infinite() => text.push_str(if f > 0.0 { "Infinity" } else { "-Infinity" }),
        Value::Float(f) => show_float(text, f)?,
        _ => return Err(Doubt),
    }
    Ok(())
}

fn write_text(text: &mut String<'_>, value: &str) -> Result<(), Doubt> {
    text.push('"');
    let mut rest = value;
    while let Some(at) = rest.bytes().position(|byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\')) {
        text.push_str(&rest[..at]);
        let c = rest[at..].chars().next().ok_or(Doubt)?;
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(text, "\\u{unit:04x}").map_err(|_| Doubt)?;
                }
            }
        }
        rest = &rest[at + c.len_utf8()..];
    }
    text.push_str(rest);
    text.push('"');
    Ok(())
}
