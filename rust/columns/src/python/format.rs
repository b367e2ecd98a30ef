//! `format(value, spec)`, of f-strings and of `str.format`.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use super::dates;
use super::digits::{Style, unsigned};
use super::layout::{Number, Spec};
use super::numbers::int_of;
use super::sequences::{between, characters};
use super::{Answer, show, texts};
use crate::value::{Doubt, Value};

/// A value as an f-string has it: first `!r`, `!s` or `!a`, then the text behind the colon.
pub fn format<'a>(bump: &'a Bump, value: Value<'a>, spec: &str, conversion: Option<char>) -> Result<&'a str, Doubt> {
    let value = match conversion {
        None => value,
        Some('r') => Value::Text(show::repr(bump, value)?),
        Some('s') => Value::Text(show::text(bump, value)?),
        Some('a') => Value::Text(show::ascii(bump, value)?),
        Some(_) => return Err(Doubt),
    };
    if spec.is_empty() {
        return show::text(bump, value);
    }
    match value {
        Value::Text(text) => text_as(bump, text, &Spec::parse(spec, '<')?),
        Value::Float(f) => float_as(bump, f, &Spec::parse(spec, '>')?),
        Value::Int(_) | Value::Bool(_) => int_as(bump, int_of(value).ok_or(Doubt)?, &Spec::parse(spec, '>')?),
        Value::Moment(moment) => dates::formatted(bump, moment, spec),
        _ => Err(Doubt),
    }
}

/// `format(value)` and `format(value, spec)`.
pub fn function<'a>(bump: &'a Bump, values: &[Value<'a>]) -> Answer<'a> {
    let spec = match values {
        [_] => "",
        [_, spec] => texts::text_of(*spec)?,
        _ => return Err(Doubt),
    };
    format(bump, values[0], spec, None).map(Value::Text)
}

/// `bin`, `oct` and `hex`.
pub fn based<'a>(bump: &'a Bump, value: Value<'a>, kind: char) -> Answer<'a> {
    let spec = Spec { kind: Some(kind), alternate: true, ..Spec::parse("", '>')? };
    int_as(bump, int_of(value).ok_or(Doubt)?, &spec).map(Value::Text)
}

fn text_as<'a>(bump: &'a Bump, text: &'a str, spec: &Spec) -> Result<&'a str, Doubt> {
    if !matches!(spec.kind, None | Some('s')) || spec.sign.is_some() || spec.alternate || spec.align == '=' || spec.grouping.is_some() {
        return Err(Doubt);
    }
    let text = spec.precision.map_or(text, |precision| between(text, 0, precision));
    let missing = spec.width.saturating_sub(characters(text));
    let left = match spec.align {
        '<' => 0,
        '>' => missing,
        _ => missing / 2,
    };
    texts::text_of(texts::padded(bump, text, spec.fill, left, missing - left)?)
}

fn int_as<'a>(bump: &'a Bump, number: i64, spec: &Spec) -> Result<&'a str, Doubt> {
    let mut digits = String::new_in(bump);
    let size = number.unsigned_abs();
    let (written, prefix, group) = match spec.kind.unwrap_or('d') {
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => return float_as(bump, number as f64, spec),
        'd' => (write!(digits, "{size}"), "", 3),
        'b' => (write!(digits, "{size:b}"), "0b", 4),
        'o' => (write!(digits, "{size:o}"), "0o", 4),
        'x' => (write!(digits, "{size:x}"), "0x", 4),
        'X' => (write!(digits, "{size:X}"), "0X", 4),
        _ => return Err(Doubt),
    };
    written.map_err(|_| Doubt)?;
    if spec.precision.is_some() || (group == 4 && spec.grouping == Some(',')) {
        return Err(Doubt);
    }
    let prefix = if spec.alternate { prefix } else { "" };
    Number { negative: number < 0, prefix, digits: &digits, rest: "", group }.laid_out(bump, spec)
}

fn float_as<'a>(bump: &'a Bump, f: f64, spec: &Spec) -> Result<&'a str, Doubt> {
    let (kind, usual, point) = match (spec.kind, spec.precision) {
        (None, None) => ('r', 0, true),
        (None, Some(_)) => ('g', 0, true),
        (Some('%'), _) => ('f', 6, false),
        (Some(kind @ ('e' | 'E' | 'f' | 'F' | 'g' | 'G')), _) => (kind, 6, false),
        _ => return Err(Doubt),
    };
    if kind == 'r' && spec.alternate {
        return Err(Doubt);
    }
    let percent = spec.kind == Some('%');
    let size = if percent { f * 100.0 } else { f };
    let style = Style { kind, precision: spec.precision.unwrap_or(usual), alternate: spec.alternate, point };
    let mut text = unsigned(bump, size, style)?;
    if percent {
        text.push('%');
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let negative = size.is_sign_negative() && !size.is_nan();
    Number { negative, prefix: "", digits: &text[..end], rest: &text[end..], group: 3 }.laid_out(bump, spec)
}

/// `template.format(…)` with positional fields; attributes, items and fields within a spec are doubtful.
pub fn template<'a>(bump: &'a Bump, template: &str, values: &[Value<'a>]) -> Answer<'a> {
    let mut result = texts::Growing::new(bump, template.len());
    let (mut rest, mut next, mut numbered) = (template, 0, None);
    while let Some(at) = rest.find(['{', '}']) {
        result.push(&rest[..at])?;
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            result.push(&rest[..1])?;
            rest = &rest[2..];
            continue;
        }
        let (field, behind) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).ok_or(Doubt)?;
        let (field, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, conversion) = field.split_once('!').map_or((field, None), |(name, kind)| (name, Some(kind)));
        let conversion = conversion.map(texts::one_character).transpose()?;
        let automatic = name.is_empty();
        if *numbered.get_or_insert(automatic) != automatic || spec.contains('{') || name.len() > 3 {
            return Err(Doubt);
        }
        if !automatic && (!name.bytes().all(|byte| byte.is_ascii_digit()) || (name.len() > 1 && name.starts_with('0'))) {
            return Err(Doubt);
        }
        let place = if automatic { next } else { name.parse().map_err(|_| Doubt)? };
        next += 1;
        result.push(format(bump, *values.get(place).ok_or(Doubt)?, spec, conversion)?)?;
        rest = behind;
    }
    result.push(rest)?;
    Ok(result.value())
}
