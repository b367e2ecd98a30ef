//! `str` and `repr`.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use super::characters::is_printable;
use super::compare::DEPTH;
use super::{Answer, MOST_BYTES};
use crate::value::{Doubt, Value};

/// `str(value)`; that of bytes warns if that is asked for.
pub fn text<'a>(bump: &'a Bump, value: Value<'a>) -> Result<&'a str, Doubt> {
    match value {
        Value::Text(text) => Ok(text),
        Value::None => Ok("None"),
        Value::Bool(b) => Ok(if b { "True" } else { "False" }),
        Value::Bytes(_) => Err(Doubt),
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
    show(&mut shown, value, DEPTH)?;
    Ok(shown.into_bump_str())
}

fn show(shown: &mut String<'_>, value: Value<'_>, depth: usize) -> Result<(), Doubt> {
    let below = depth.checked_sub(1).ok_or(Doubt)?;
    if shown.len() > MOST_BYTES {
        return Err(Doubt);
    }
    match value {
        Value::None => shown.push_str("None"),
        Value::Bool(b) => shown.push_str(if b { "True" } else { "False" }),
        Value::Int(n) => write!(shown, "{n}").map_err(|_| Doubt)?,
        Value::Float(f) => show_float(shown, f)?,
        Value::Text(text) => show_text(shown, text)?,
        Value::Bytes(bytes) => show_bytes(shown, bytes)?,
        Value::Tuple(items) => {
            show_items(shown, "(", items, below)?;
            shown.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        Value::List(items) => {
            show_items(shown, "[", items, below)?;
            shown.push(']');
        }
        Value::Dict(entries) => show_dict(shown, entries, below)?,
        Value::Row(shape, fields) if shape.class == 0 => show_row(shown, shape.names.as_deref(), fields, below)?,
        Value::Row(..) => return Err(Doubt),
    }
    Ok(())
}

fn show_items(shown: &mut String<'_>, start: &str, items: &[Value<'_>], depth: usize) -> Result<(), Doubt> {
    shown.push_str(start);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            shown.push_str(", ");
        }
        show(shown, *item, depth)?;
    }
    Ok(())
}

fn show_dict(shown: &mut String<'_>, entries: &[(Value<'_>, Value<'_>)], depth: usize) -> Result<(), Doubt> {
    shown.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        if at > 0 {
            shown.push_str(", ");
        }
        show(shown, *key, depth)?;
        shown.push_str(": ");
        show(shown, *value, depth)?;
    }
    shown.push('}');
    Ok(())
}

fn show_row(shown: &mut String<'_>, names: Option<&[Box<str>]>, fields: &[Value<'_>], depth: usize) -> Result<(), Doubt> {
    let Some(names) = names else {
        show_items(shown, "<Row(", fields, depth)?;
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
        show(shown, *field, depth)?;
    }
    shown.push(')');
    Ok(())
}

/// The shortest digits of a finite float that is not negative, and the power of ten of the first one.
pub fn shortest(f: f64, digits: &mut [u8; 24]) -> Result<(usize, i32), Doubt> {
    struct Cursor<'b>(&'b mut [u8; 24], usize, i32, bool);
    impl Write for Cursor<'_> {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for byte in text.bytes() {
                match byte {
                    b'e' => self.3 = true,
                    b'-' => self.2 = -self.2,
                    b'0'..=b'9' if self.3 => self.2 = self.2 * 10 + i32::from(byte - b'0'),
                    b'0'..=b'9' => {
                        *self.0.get_mut(self.1).ok_or(std::fmt::Error)? = byte;
                        self.1 += 1;
                    }
                    _ => {}
                }
            }
            Ok(())
        }
    }
    let negative = f != 0.0 && f < 1.0;
    let mut cursor = Cursor(digits, 0, 0, false);
    write!(cursor, "{f:e}").map_err(|_| Doubt)?;
    Ok((cursor.1, if negative { -cursor.2 } else { cursor.2 }))
}

/// `repr` of a float: with an exponent from 1e16 on, and below 1e-4.
pub fn show_float(shown: &mut String<'_>, f: f64) -> Result<(), Doubt> {
    if f.is_nan() {
        shown.push_str("nan");
        return Ok(());
    }
    if f.is_sign_negative() {
        shown.push('-');
    }
    if f.is_infinite() {
        shown.push_str("inf");
        return Ok(());
    }
    let mut digits = [0; 24];
    let (count, exponent) = shortest(f.abs(), &mut digits)?;
    let digits = std::str::from_utf8(&digits[..count]).map_err(|_| Doubt)?;
    if !(-4..16).contains(&exponent) {
        shown.push_str(&digits[..1]);
        if count > 1 {
            shown.push('.');
            shown.push_str(&digits[1..]);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(shown, "e{sign}{:02}", exponent.abs()).map_err(|_| Doubt);
    }
    let before = (exponent + 1).max(0) as usize; // digits before the point
    if before == 0 {
        shown.push_str("0.");
        shown.extend(std::iter::repeat_n('0', (-1 - exponent) as usize));
        shown.push_str(digits);
        return Ok(());
    }
    shown.push_str(&digits[..before.min(count)]);
    shown.extend(std::iter::repeat_n('0', before.saturating_sub(count)));
    shown.push('.');
    shown.push_str(if count > before { &digits[before..] } else { "0" });
    Ok(())
}

/// The quote that a text is shown in.
fn quote(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

fn show_text(shown: &mut String<'_>, text: &str) -> Result<(), Doubt> {
    let quote = quote(text.contains('\''), text.contains('"'));
    shown.push(quote);
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c == quote => shown.extend(['\\', c]),
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
    let text = repr(bump, value)?;
    if text.is_ascii() {
        return Ok(text);
    }
    let mut escaped = String::with_capacity_in(text.len(), bump);
    for c in text.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            escape(&mut escaped, c)?;
        }
    }
    Ok(escaped.into_bump_str())
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
