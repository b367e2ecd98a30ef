//! Constants of programs: plain data of Python.

use bumpalo::Bump;
use serde_json::Value as Json;

use crate::json::{Malformed, list, malformed};
use crate::python;
use crate::value::{Moment, Value};

/// A constant.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "as the values of these names")]
pub enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    Tuple(Box<[Self]>),
    List(Box<[Self]>),
    Dict(Box<[(Self, Self)]>),
    Moment(Moment),
}

impl Constant {
    /// From JSON. Recursive, as deep as a text of JSON may be.
    pub(super) fn parse(json: &Json) -> Result<Self, Malformed> {
        Ok(match json {
            Json::Null => Self::None,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => Self::Int(number.as_i64().ok_or_else(|| malformed("a number is no integer of 64 bits"))?),
            Json::String(text) => Self::Text(text.as_str().into()),
            Json::Object(object) => match object.iter().next() {
                Some((kind, json)) if object.len() == 1 => Self::tagged(kind, json)?,
                _ => return Err(malformed("a constant has one tag")),
            },
            Json::Array(_) => return Err(malformed("a constant is no array")),
        })
    }

    fn tagged(kind: &str, json: &Json) -> Result<Self, Malformed> {
        Ok(match (kind, json) {
            ("f", Json::String(bits)) => Self::Float(f64::from_bits(bits.parse().map_err(|_| malformed("a float is its bits"))?)),
            ("b", Json::String(digits)) => Self::Bytes(hexadecimal(digits).ok_or_else(|| malformed("bytes are in hexadecimal"))?),
            ("t", items) => Self::Tuple(Self::all(items)?),
            ("l", items) => Self::List(Self::all(items)?),
            ("d", entries) => {
                let entry = |entry: &Json| match list(entry)? {
                    [key, value] => Ok((Self::parse(key)?, Self::parse(value)?)),
                    _ => Err(malformed("an entry of a dict is a pair")),
                };
                Self::Dict(list(entries)?.iter().map(entry).collect::<Result<_, _>>()?)
            }
            ("at" | "day" | "clock" | "span", Json::Array(numbers)) => {
                let numbers = numbers.iter().map(Json::as_i64).collect::<Vec<_>>();
                Self::Moment(python::moment(kind, &numbers).ok_or_else(|| malformed("a date or time has its numbers"))?)
            }
            _ => return Err(malformed(format!("{kind:?} is no kind of constant here"))),
        })
    }

    pub(super) fn all(items: &Json) -> Result<Box<[Self]>, Malformed> {
        list(items)?.iter().map(Self::parse).collect()
    }

    /// The value; what is around others is made in the arena. Recursive, as deep as the constant.
    pub fn value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        let all = |items: &'a [Self]| &*arena.alloc_slice_fill_iter(items.iter().map(|item| item.value(arena)));
        match self {
            Self::None => Value::None,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(number) => Value::Int(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Tuple(items) => Value::Tuple(all(items)),
            Self::List(items) => Value::List(all(items)),
            Self::Dict(entries) => {
                let pairs = entries.iter().map(|(key, value)| (key.value(arena), value.value(arena)));
                Value::Dict(arena.alloc_slice_fill_iter(pairs))
            }
            Self::Moment(moment) => Value::Moment(*moment),
        }
    }
}

fn hexadecimal(digits: &str) -> Option<Box<[u8]>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let plain = rest.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if plain { pairs.iter().map(byte).collect() } else { None }
}

/// Whether a value has a hash that depends on nothing but its class. Recursive, to this depth.
pub(crate) fn is_hashable(value: Value<'_>, depth: usize) -> bool {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Bytes(_) | Value::Moment(_) => true,
        Value::Tuple(items) => depth > 0 && items.iter().all(|&item| is_hashable(item, depth - 1)),
        _ => false,
    }
}
