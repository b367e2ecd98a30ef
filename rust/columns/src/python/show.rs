//! `str` and `repr`.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use super::characters::is_printable;
use super::compare::DEPTH;
use super::dates;
use super::digits::show_float;
use super::{Answer, MOST_BYTES};
use crate::value::{Doubt, Value};

/// `str(value)`; that of bytes warns if that is asked for.
pub fn text<'a>(bump: &'a Bump, value: Value<'a>) -> Result<&'a str, Doubt> {
    match value {
        Value::Text(text) => Ok(text),
        Value::None => Ok("None"),
        Value::Bool(b) => Ok(if b { "True" } else { "False" }),
        Value::Bytes(_) => Err(Doubt),
        Value::Moment(moment) => dates::text(bump, moment),
        _ => repr(bump, value),
    }
}

/// `str(value)` as a function.
pub fn str_value<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::Text("")),
        [value] => text(bump, *value).map(Value::Text),
        _ => Err(Doubt),
    }
}

/// `repr(value)`.
pub fn repr<'a>(bump: &'a Bump, value: Value<'a>) -> Result<&'a str, Doubt> {
    let mut shown = String::new_in(bump);
    show::<false>(&mut shown, value, DEPTH)?;
    Ok(shown.into_bump_str())
}

fn show<const ASCII: bool>(shown: &mut String<'_>, value: Value<'_>, depth: usize) -> Result<(), Doubt> {
    let below = depth.checked_sub(1).ok_or(Doubt)?;
    if shown.len() > MOST_BYTES {
        return Err(Doubt);
    }
    match value {
        Value::None => shown.push_str("None"),
        Value::Bool(b) => shown.push_str(if b { "True" } else { "False" }),
        Value::Int(n) => write!(shown, "{n}").map_err(|_| Doubt)?,
        Value::Float(f) => show_float(shown, f)?,
        Value::Text(text) => show_text::<ASCII>(shown, text)?,
        Value::Bytes(bytes) => show_bytes(shown, bytes)?,
        Value::Tuple(items) => {
            show_items::<ASCII>(shown, "(", items, below)?;
            shown.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        Value::List(items) => {
            show_items::<ASCII>(shown, "[", items, below)?;
            shown.push(']');
        }
        Value::Dict(entries) => show_dict::<ASCII>(shown, entries, below)?,
        Value::Row(shape, fields) if shape.class == 0 => show_row::<ASCII>(shown, shape.names.as_deref(), fields, below)?,
        Value::Moment(moment) => dates::repr(shown, moment)?,
        Value::Row(..) | Value::Object(_) => return Err(Doubt),
    }
    Ok(())
}

fn show_items<const ASCII: bool>(shown: &mut String<'_>, start: &str, items: &[Value<'_>], depth: usize) -> Result<(), Doubt> {
    shown.push_str(start);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            shown.push_str(", ");
        }
        show::<ASCII>(shown, *item, depth)?;
    }
    Ok(())
}

fn show_dict<const ASCII: bool>(shown: &mut String<'_>, entries: &[(Value<'_>, Value<'_>)], depth: usize) -> Result<(), Doubt> {
    shown.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        if at > 0 {
            shown.push_str(", ");
        }
        show::<ASCII>(shown, *key, depth)?;
        shown.push_str(": ");
        show::<ASCII>(shown, *value, depth)?;
    }
    shown.push('}');
    Ok(())
}

fn show_row<const ASCII: bool>(
    shown: &mut String<'_>,
    names: Option<&[Box<str>]>,
    fields: &[Value<'_>],
    depth: usize,
) -> Result<(), Doubt> {
    let Some(names) = names else {
        show_items::<ASCII>(shown, "<Row(", fields, depth)?;
        shown.push_str(")>");
        return Ok(());
    };
    shown.push_str("Row(");
    for (at, (name, field)) in names.iter().zip(fields).enumerate() {
        if at > 0 {
            shown.push_str(", ");
        }
        shown.push_str(name);
        shown.push('=');
        show::<ASCII>(shown, *field, depth)?;
    }
    shown.push(')');
    Ok(())
}

/// The quote that a text is shown in.
fn quote(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

fn show_text<const ASCII: bool>(shown: &mut String<'_>, text: &str) -> Result<(), Doubt> {
    let quote = quote(text.contains('\''), text.contains('"'));
    shown.push(quote);
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c == quote => shown.extend(['\\', c]),
            c if ASCII && !c.is_ascii() => escape(shown, c)?,
            c if is_printable(c).ok_or(Doubt)? => shown.push(c),
            c => escape(shown, c)?,
        }
    }
    shown.push(quote);
    Ok(())
}

/// A character as an escape.
fn escape(shown: &mut String<'_>, c: char) -> Result<(), Doubt> {
    let number = u32::from(c);
    let done = match number {
        0..0x100 => write!(shown, "\\x{number:02x}"),
        0x100..0x10000 => write!(shown, "\\u{number:04x}"),
        _ => write!(shown, "\\U{number:08x}"),
    };
    done.map_err(|_| Doubt)
}

/// `ascii(value)`: `repr` with escapes for all other characters.
pub fn ascii<'a>(bump: &'a Bump, value: Value<'a>) -> Result<&'a str, Doubt> {
    let mut shown = String::new_in(bump);
    show::<true>(&mut shown, value, DEPTH)?;
    if shown.is_ascii() { Ok(shown.into_bump_str()) } else { Err(Doubt) } // a name of a field
}

fn show_bytes(shown: &mut String<'_>, bytes: &[u8]) -> Result<(), Doubt> {
    let quote = quote(bytes.contains(&b'\''), bytes.contains(&b'"'));
    shown.extend(['b', quote]);
    for byte in bytes {
        match byte {
            b'\\' => shown.push_str("\\\\"),
            b'\n' => shown.push_str("\\n"),
            b'\r' => shown.push_str("\\r"),
            b'\t' => shown.push_str("\\t"),
            byte if char::from(*byte) == quote => shown.extend(['\\', quote]),
            b' '..=b'~' => shown.push(char::from(*byte)),
            byte => write!(shown, "\\x{byte:02x}").map_err(|_| Doubt)?,
        }
    }
    shown.push(quote);
    Ok(())
}
