//! Sequences: truth, length, iteration, positions, slices, concatenation.

use bumpalo::Bump;
use bumpalo::collections::{String, Vec};

use super::numbers::{index_of, int_of};
use super::{Answer, MOST_BYTES, MOST_ITEMS, compare, dates};
use crate::value::{Doubt, Moment, Value};

/// Whether a value is true as a condition.
pub fn truth(value: Value<'_>) -> Result<bool, Doubt> {
    match value {
        Value::None => Ok(false),
        Value::Bool(b) => Ok(b),
        Value::Int(n) => Ok(n != 0),
        Value::Float(f) => Ok(f != 0.0),
        Value::Text(text) => Ok(!text.is_empty()),
        Value::Moment(moment) => Ok(moment != Moment::Span(0)),
        other => Ok(length(other)? != 0),
    }
}

/// `len(value)`.
pub fn length(value: Value<'_>) -> Result<usize, Doubt> {
    match value {
        Value::Text(text) => Ok(characters(text)),
        Value::Bytes(bytes) => Ok(bytes.len()),
        Value::Tuple(items) | Value::List(items) => Ok(items.len()),
        Value::Dict(entries) => Ok(entries.len()),
        Value::Row(shape, fields) if shape.class == 0 => Ok(fields.len()),
        _ => Err(Doubt),
    }
}

/// The number of code points of a text.
pub fn characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The items that a loop over a value goes through.
pub fn iterate<'a>(bump: &'a Bump, value: Value<'a>) -> Result<&'a [Value<'a>], Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) => Ok(items),
        Value::Row(shape, fields) if shape.class == 0 => Ok(fields),
        Value::Text(text) => collect(bump, text.len(), text.char_indices().map(|(at, c)| Value::Text(&text[at..at + c.len_utf8()]))),
        Value::Bytes(bytes) => collect(bump, bytes.len(), bytes.iter().map(|byte| Value::Int(i64::from(*byte)))),
        Value::Dict(entries) => collect(bump, entries.len(), entries.iter().map(|(key, _)| *key)),
        _ => Err(Doubt),
    }
}

/// Values in the arena, at most `size`.
pub fn collect<'a>(bump: &'a Bump, size: usize, items: impl Iterator<Item = Value<'a>>) -> Result<&'a [Value<'a>], Doubt> {
    if size > MOST_ITEMS {
        return Err(Doubt);
    }
    let mut values = Vec::with_capacity_in(size, bump);
    values.extend(items);
    Ok(values.into_bump_slice())
}

/// Two texts, one behind the other.
pub fn joined<'a>(bump: &'a Bump, a: &str, b: &str) -> Result<&'a str, Doubt> {
    let size = a.len() + b.len();
    if size > MOST_BYTES {
        return Err(Doubt);
    }
    let mut text = String::with_capacity_in(size, bump);
    text.push_str(a);
    text.push_str(b);
    Ok(text.into_bump_str())
}

/// `a + b` of two sequences of one type.
pub fn concatenated<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Ok(Value::Text(joined(bump, a, b)?)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes(chained(bump, a, b, MOST_BYTES)?)),
        (Value::Tuple(a), Value::Tuple(b)) => Ok(Value::Tuple(chained(bump, a, b, MOST_ITEMS)?)),
        (Value::List(a), Value::List(b)) => Ok(Value::List(chained(bump, a, b, MOST_ITEMS)?)),
        _ => Err(Doubt),
    }
}

fn chained<'a, T: Copy>(bump: &'a Bump, a: &[T], b: &[T], most: usize) -> Result<&'a [T], Doubt> {
    if a.len() + b.len() > most {
        return Err(Doubt);
    }
    let mut items = Vec::with_capacity_in(a.len() + b.len(), bump);
    items.extend_from_slice_copy(a);
    items.extend_from_slice_copy(b);
    Ok(items.into_bump_slice())
}

/// `value * times`.
pub fn repeated<'a>(bump: &'a Bump, value: Value<'a>, times: i64) -> Answer<'a> {
    let times = usize::try_from(times.max(0)).map_err(|_| Doubt)?;
    match value {
        Value::Text(text) => {
            let bytes = times_over(bump, text.as_bytes(), times, MOST_BYTES)?;
            std::str::from_utf8(bytes).map(Value::Text).map_err(|_| Doubt)
        }
        Value::Bytes(bytes) => Ok(Value::Bytes(times_over(bump, bytes, times, MOST_BYTES)?)),
        Value::Tuple(items) => Ok(Value::Tuple(times_over(bump, items, times, MOST_ITEMS)?)),
        Value::List(items) => Ok(Value::List(times_over(bump, items, times, MOST_ITEMS)?)),
        _ => Err(Doubt),
    }
}

fn times_over<'a, T: Copy>(bump: &'a Bump, items: &[T], times: usize, most: usize) -> Result<&'a [T], Doubt> {
    if items.is_empty() || times == 0 {
        return Ok(&[]);
    }
    let size = items.len().checked_mul(times).filter(|size| *size <= most).ok_or(Doubt)?;
    let mut all = Vec::with_capacity_in(size, bump);
    for _ in 0..times {
        all.extend_from_slice_copy(items);
    }
    Ok(all.into_bump_slice())
}

/// `value[key]`.
pub fn index<'a>(_: &'a Bump, value: Value<'a>, key: Value<'a>) -> Answer<'a> {
    match value {
        Value::Tuple(items) | Value::List(items) => item(items, index_of(key)?),
        Value::Text(text) => character(text, index_of(key)?),
        Value::Dict(entries) => compare::entry(entries, key)?.ok_or(Doubt),
        Value::Bytes(bytes) => Ok(Value::Int(i64::from(bytes[place(index_of(key)?, bytes.len())?]))),
        Value::Row(shape, fields) if shape.class == 0 => match key {
            Value::Text(name) => field(value, name),
            _ => item(fields, index_of(key)?),
        },
        _ => Err(Doubt),
    }
}

fn item<'a>(items: &[Value<'a>], at: i64) -> Answer<'a> {
    items.get(place(at, items.len())?).copied().ok_or(Doubt)
}

/// A position of a sequence, negative ones from its end.
fn place(at: i64, size: usize) -> Result<usize, Doubt> {
    let size = size as i64;
    let from_start = if at < 0 { at + size } else { at };
    if (0..size).contains(&from_start) { Ok(from_start as usize) } else { Err(Doubt) }
}

fn character<'a>(text: &'a str, at: i64) -> Answer<'a> {
    if text.is_ascii() {
        let at = place(at, text.len())?;
        return Ok(Value::Text(&text[at..=at]));
    }
    let at = place(at, text.chars().count())?;
    let (start, c) = text.char_indices().nth(at).ok_or(Doubt)?;
    Ok(Value::Text(&text[start..start + c.len_utf8()]))
}

fn field<'a>(row: Value<'a>, name: &str) -> Answer<'a> {
    let Value::Row(shape, fields) = row else { return Err(Doubt) };
    let at = shape.names.as_deref().and_then(|names| names.iter().position(|other| **other == *name));
    at.and_then(|at| fields.get(at)).copied().ok_or(Doubt)
}

/// What `Row` has beside its fields: a field that is called so is reached by `row["name"]` only.
const OF_ROW: [&str; 7] = ["as_dict", "get_fields_by_names", "get_row_kind", "of_kind", "of_values", "set_field_names", "set_row_kind"];

/// `value.name`, of the fields of a row or of a dataclass.
pub fn attribute<'a>(value: Value<'a>, name: &str) -> Answer<'a> {
    match value {
        Value::Row(shape, _) if shape.class == 0 && (name.starts_with('_') || OF_ROW.contains(&name)) => Err(Doubt),
        Value::Row(..) => field(value, name),
        Value::Moment(moment) => dates::attribute(moment, name),
        _ => Err(Doubt),
    }
}

/// Where a slice begins, its step, and how many items it has.
struct Slice {
    start: i64,
    step: i64,
    count: usize,
}

impl Slice {
    /// Missing bounds are `None`; those beyond the sequence are cut.
    fn of(low: Value<'_>, high: Value<'_>, step: Value<'_>, size: usize) -> Result<Self, Doubt> {
        let size = size as i64;
        let step = if matches!(step, Value::None) { 1 } else { index_of(step)? };
        if step == 0 || step == i64::MIN {
            return Err(Doubt);
        }
        let (least, most) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let bound = |bound: Value<'_>, missing: i64| match bound {
            Value::None => Ok(missing),
            _ => index_of(bound).map(|at| (if at < 0 { at + size } else { at }).clamp(least, most)),
        };
        let (first, end) = if step > 0 { (least, most) } else { (most, least) };
        let (start, stop) = (bound(low, first)?, bound(high, end)?);
        let span = if step > 0 { stop - start } else { start - stop };
        let count = if span > 0 { (span - 1) / step.abs() + 1 } else { 0 };
        Ok(Self { start, step, count: count as usize })
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        let (start, step) = (self.start, self.step);
        (0..self.count).map(move |n| (start + step * n as i64) as usize)
    }

    fn part<'a, T: Copy>(&self, bump: &'a Bump, items: &'a [T]) -> &'a [T] {
        if self.step == 1 || self.count == 0 {
            let start = self.start.max(0) as usize;
            return items.get(start..start + self.count).unwrap_or_default();
        }
        let mut part = Vec::with_capacity_in(self.count, bump);
        part.extend(self.places().filter_map(|at| items.get(at)).copied());
        part.into_bump_slice()
    }
}

/// `value[low:high:step]`.
pub fn slice<'a>(bump: &'a Bump, value: Value<'a>, low: Value<'a>, high: Value<'a>, step: Value<'a>) -> Answer<'a> {
    match value {
        Value::Text(text) => text_slice(bump, text, low, high, step),
        Value::Bytes(bytes) => Ok(Value::Bytes(Slice::of(low, high, step, bytes.len())?.part(bump, bytes))),
        Value::Tuple(items) => Ok(Value::Tuple(Slice::of(low, high, step, items.len())?.part(bump, items))),
        Value::List(items) => Ok(Value::List(Slice::of(low, high, step, items.len())?.part(bump, items))),
        Value::Row(shape, fields) if shape.class == 0 => Ok(Value::List(Slice::of(low, high, step, fields.len())?.part(bump, fields))),
        _ => Err(Doubt),
    }
}

fn text_slice<'a>(bump: &'a Bump, text: &'a str, low: Value<'a>, high: Value<'a>, step: Value<'a>) -> Answer<'a> {
    if text.is_ascii() {
        let part = Slice::of(low, high, step, text.len())?.part(bump, text.as_bytes());
        return std::str::from_utf8(part).map(Value::Text).map_err(|_| Doubt);
    }
    let slice = Slice::of(low, high, step, text.chars().count())?;
    if slice.step == 1 || slice.count == 0 {
        return Ok(Value::Text(between(text, slice.start.max(0) as usize, slice.count)));
    }
    let mut letters = Vec::new_in(bump);
    letters.extend(text.chars());
    let mut part = String::new_in(bump);
    part.extend(slice.places().filter_map(|at| letters.get(at)));
    Ok(Value::Text(part.into_bump_str()))
}

/// Some code points of a text.
pub fn between(text: &str, start: usize, count: usize) -> &str {
    let rest = &text[byte_of(text, start)..];
    &rest[..byte_of(rest, count)]
}

/// Where in its bytes a code point of a text begins; the end of the text if there are fewer.
pub fn byte_of(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

/// A part of a sequence from two optional positions, as methods such as `find` and `startswith` take them, if the start is within.
pub fn window(size: usize, bounds: &[Value<'_>]) -> Result<Option<(usize, usize)>, Doubt> {
    let bound = |at: usize, missing: usize| match bounds.get(at) {
        None | Some(Value::None) => Ok(missing as i64),
        Some(value) => int_of(*value).ok_or(Doubt),
    };
    let from_start = |at: i64| if at < 0 { (at + size as i64).max(0) } else { at } as usize;
    let (start, end) = (from_start(bound(0, 0)?), from_start(bound(1, size)?).min(size));
    Ok((start <= end).then_some((start, end)))
}
