//! Comparison: equality, order, identity and membership.

use std::cmp::Ordering;

use super::dates;
use super::numbers::int_of;
use crate::value::{Doubt, Value};

/// How deep values may be nested.
pub const DEPTH: usize = 64;

/// `a == b`. Values of different types differ; two NaN within containers may be one object, which is equal to itself.
pub fn equal(a: Value<'_>, b: Value<'_>) -> Result<bool, Doubt> {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => Ok(a == b),
        _ => same(a, b, DEPTH),
    }
}

/// Equality as containers see it: identity first.
pub fn same_item(a: Value<'_>, b: Value<'_>) -> Result<bool, Doubt> {
    same(a, b, DEPTH)
}

fn same(a: Value<'_>, b: Value<'_>, depth: usize) -> Result<bool, Doubt> {
    match (a, b) {
        (Value::None, Value::None) => Ok(true),
        (Value::Text(a), Value::Text(b)) => Ok(a == b),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a == b),
        (Value::Bytes(_), Value::Text(_)) | (Value::Text(_), Value::Bytes(_)) => Err(Doubt), // a warning, if that is asked for
        (Value::Float(a), Value::Float(b)) if a.is_nan() && b.is_nan() => Err(Doubt),
        (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => all_same(a, b, depth),
        (Value::Dict(a), Value::Dict(b)) => same_dict(a, b, depth),
        (Value::Row(shape, a), Value::Row(other, b)) if shape.class == 0 && shape == other => all_same(a, b, depth),
        (Value::Row(..) | Value::Object(_), _) | (_, Value::Row(..) | Value::Object(_)) => Err(Doubt), // a class may define equality
        (Value::Moment(a), Value::Moment(b)) => dates::same(a, b),
        (Value::Int(_) | Value::Bool(_) | Value::Float(_), Value::Int(_) | Value::Bool(_) | Value::Float(_)) => {
            Ok(number_order(a, b)? == Some(Ordering::Equal))
        }
        _ => Ok(false),
    }
}

fn all_same(a: &[Value<'_>], b: &[Value<'_>], depth: usize) -> Result<bool, Doubt> {
    let below = depth.checked_sub(1).ok_or(Doubt)?;
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !same(*a, *b, below)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_dict<'a>(a: &[(Value<'a>, Value<'a>)], b: &[(Value<'a>, Value<'a>)], depth: usize) -> Result<bool, Doubt> {
    let below = depth.checked_sub(1).ok_or(Doubt)?;
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a {
        match entry(b, *key)? {
            Some(other) if same(*value, other, below)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The value of a key; a key that cannot be hashed or is NaN is doubtful.
pub fn entry<'a>(entries: &[(Value<'a>, Value<'a>)], key: Value<'_>) -> Result<Option<Value<'a>>, Doubt> {
    hashable(key, DEPTH)?;
    if let Value::Text(key) = key {
        let texts = entries.iter().find(|(other, _)| matches!(other, Value::Text(text) if *text == key));
        return Ok(texts.map(|(_, value)| *value)); // a text equals texts only
    }
    for (other, value) in entries {
        if same_key(*other, key)? {
            return Ok(Some(*value));
        }
    }
    Ok(None)
}

/// Where a key is among entries.
pub fn entry_place(entries: &[(Value<'_>, Value<'_>)], key: Value<'_>) -> Result<Option<usize>, Doubt> {
    hashable(key, DEPTH)?;
    for (at, (other, _)) in entries.iter().enumerate() {
        if same_key(*other, key)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Whether two keys of a dict are one: keys of different hashes are never compared.
fn same_key(a: Value<'_>, b: Value<'_>) -> Result<bool, Doubt> {
    match (a, b) {
        (Value::Bytes(_), Value::Text(_)) | (Value::Text(_), Value::Bytes(_)) => Err(Doubt), // these have one hash
        _ => same(a, b, DEPTH),
    }
}

/// Doubt unless a value can be a key whose equality does not depend on identity.
pub fn hashable(value: Value<'_>, depth: usize) -> Result<(), Doubt> {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Text(_) | Value::Bytes(_) => Ok(()),
        Value::Float(f) if !f.is_nan() => Ok(()),
        Value::Moment(moment) if moment.number().is_some() => Ok(()),
        Value::Tuple(items) => {
            let below = depth.checked_sub(1).ok_or(Doubt)?;
            items.iter().try_for_each(|item| hashable(*item, below))
        }
        _ => Err(Doubt),
    }
}

/// The order of two numbers, exact whatever their types; none if one is NaN.
fn number_order(a: Value<'_>, b: Value<'_>) -> Result<Option<Ordering>, Doubt> {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(&b)),
        (Value::Float(a), _) => Ok(float_against(a, int_of(b).ok_or(Doubt)?)),
        (_, Value::Float(b)) => Ok(float_against(b, int_of(a).ok_or(Doubt)?).map(Ordering::reverse)),
        _ => Ok(Some(int_of(a).ok_or(Doubt)?.cmp(&int_of(b).ok_or(Doubt)?))),
    }
}

fn float_against(a: f64, b: i64) -> Option<Ordering> {
    const TOP: f64 = 9_223_372_036_854_775_808.0;
    if a.is_nan() {
        return None;
    }
    if a >= TOP {
        return Some(Ordering::Greater);
    }
    if a < -TOP {
        return Some(Ordering::Less);
    }
    let whole = a.trunc();
    Some((whole as i64).cmp(&b).then(a.partial_cmp(&whole)?))
}

/// The order of two values that Python orders; none if that is undefined as one is NaN.
pub fn order(a: Value<'_>, b: Value<'_>) -> Result<Option<Ordering>, Doubt> {
    ordered(a, b, DEPTH)
}

fn ordered(a: Value<'_>, b: Value<'_>, depth: usize) -> Result<Option<Ordering>, Doubt> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))), // UTF-8 has the order of code points
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Some(a.cmp(b))),
        (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => {
            let below = depth.checked_sub(1).ok_or(Doubt)?;
            for (a, b) in a.iter().zip(b) {
                if !same(*a, *b, below)? {
                    return ordered(*a, *b, below);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        (Value::Moment(a), Value::Moment(b)) => dates::order(a, b).map(Some),
        _ => number_order(a, b),
    }
}

/// `a < b` and the like, for those orders that `accepted` has.
pub fn ordered_as(a: Value<'_>, b: Value<'_>, accepted: fn(Ordering) -> bool) -> Result<bool, Doubt> {
    Ok(order(a, b)?.is_some_and(accepted))
}

/// `a is b` where one of them is `None`, `True` or `False`.
pub fn identical(a: Value<'_>, b: Value<'_>) -> Result<bool, Doubt> {
    match (a, b) {
        (Value::None, Value::None) => Ok(true),
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::None | Value::Bool(_), _) | (_, Value::None | Value::Bool(_)) => Ok(false),
        _ => Err(Doubt),
    }
}

/// `item in container`.
pub fn contained(item: Value<'_>, container: Value<'_>) -> Result<bool, Doubt> {
    match (container, item) {
        (Value::Text(text), Value::Text(part)) => Ok(text.contains(part)),
        (Value::Bytes(bytes), Value::Bytes(part)) => Ok(super::bytes::find(bytes, part).is_some()),
        (Value::Bytes(bytes), _) => {
            let byte = int_of(item).and_then(|byte| u8::try_from(byte).ok()).ok_or(Doubt)?;
            Ok(bytes.contains(&byte))
        }
        (Value::Tuple(items) | Value::List(items), _) => is_among(item, items),
        (Value::Dict(entries), _) => Ok(entry(entries, item)?.is_some()),
        (Value::Row(shape, items), _) if shape.class == 0 => match &shape.names {
            None => is_among(item, items),
            Some(names) => match item {
                Value::Text(name) => Ok(names.iter().any(|other| **other == *name)),
                _ => Err(Doubt),
            },
        },
        _ => Err(Doubt),
    }
}

/// `item in {…}`, of a set whose members these are: what cannot be hashed is an error.
pub fn contained_in_set(item: Value<'_>, container: Value<'_>) -> Result<bool, Doubt> {
    match container {
        Value::Tuple(items) | Value::List(items) => {
            hashable(item, DEPTH)?;
            is_among(item, items)
        }
        _ => Err(Doubt),
    }
}

fn is_among(item: Value<'_>, items: &[Value<'_>]) -> Result<bool, Doubt> {
    for other in items {
        if same(*other, item, DEPTH)? {
            return Ok(true);
        }
    }
    Ok(false)
}
