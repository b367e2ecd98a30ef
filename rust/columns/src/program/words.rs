//! Names in programs, and what they stand for.

use super::{Comparison, Known};
use crate::json::{Malformed, malformed};
use crate::python::{self, Function as Operation};

pub(super) fn known(name: &str) -> Known {
    match name {
        "int" => Known::Int,
        "len" => Known::Len,
        "split" => Known::Split,
        "get" => Known::Get,
        "keys" => Known::Keys,
        "json.loads" => Known::Loads,
        "values" | "items" | "dict" | "str" | "repr" => Known::Copy,
        "bool" => Known::Truth,
        "list" => Known::List,
        "tuple" | "sorted" | "any" | "all" | "reversed" | "enumerate" | "zip" | "join" => Known::Items,
        _ => Known::Other,
    }
}

pub(super) fn operator(name: &str) -> Result<Operation, Malformed> {
    python::operator(name).ok_or_else(|| malformed(format!("{name:?} is no operator")))
}

pub(super) fn comparison(name: &str) -> Result<Operation, Malformed> {
    match name {
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "not_in" | "in_set" | "not_in_set" | "is" | "is_not" => operator(name),
        _ => Err(malformed(format!("{name:?} is no comparison"))),
    }
}

pub(super) fn sought(name: &str) -> Known {
    match name {
        "in" => Known::In(false),
        "not_in" => Known::In(true),
        "is" => Known::Is(false),
        "is_not" => Known::Is(true),
        _ => Known::Other,
    }
}

pub(super) fn united(name: &str) -> Known {
    match name {
        "or_" => Known::Union,
        "ior_" => Known::Unite,
        _ => Known::Other,
    }
}

pub(super) fn at_once(name: &str) -> Option<Comparison> {
    Some(match name {
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "lt" => Comparison::Lt,
        "le" => Comparison::Le,
        "gt" => Comparison::Gt,
        "ge" => Comparison::Ge,
        _ => return None,
    })
}

pub(super) fn conversion_of(text: &str) -> Result<Option<char>, Malformed> {
    match text {
        "" => Ok(None),
        "r" | "s" | "a" => Ok(text.chars().next()),
        _ => Err(malformed(format!("{text:?} is no conversion"))),
    }
}
