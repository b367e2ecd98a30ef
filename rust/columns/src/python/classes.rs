//! `isinstance`, and the operators that change a list or a dict in place.

use bumpalo::Bump;

use super::{Answer, numbers};
use crate::value::{Doubt, Value};

/// The classes that `isinstance` may ask for, by a bit of their own.
const CLASSES: [&str; 9] = ["bool", "int", "float", "str", "bytes", "tuple", "list", "dict", "Row"];

/// Some classes as the second value of the operator `isinstance`; none if one of them is not known.
pub fn classes<'n>(names: impl Iterator<Item = &'n str>) -> Option<i64> {
    let bit = |name: &str| CLASSES.iter().position(|class| *class == name).map(|at| 1_i64 << at);
    names.map(bit).try_fold(0, |classes, class| Some(classes | class?))
}

/// `isinstance(value, classes)`; a class of the program may extend others.
pub fn is_instance<'a>(_: &'a Bump, value: Value<'a>, classes: Value<'a>) -> Answer<'a> {
    let Value::Int(classes) = classes else { return Err(Doubt) };
    let own = match value {
        Value::None | Value::Moment(_) => 0,
        Value::Bool(_) => 1 << 0 | 1 << 1, // a bool is an int, too
        Value::Int(_) => 1 << 1,
        Value::Float(_) => 1 << 2,
        Value::Text(_) => 1 << 3,
        Value::Bytes(_) => 1 << 4,
        Value::Tuple(_) => 1 << 5,
        Value::List(_) => 1 << 6,
        Value::Dict(_) => 1 << 7,
        Value::Row(shape, _) if shape.class == 0 => 1 << 8,
        Value::Row(..) | Value::Object(_) => return Err(Doubt),
    };
    Ok(Value::Bool(own & classes != 0))
}

/// `a += b`: a list would be changed where it is.
pub fn add_to<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let Value::List(_) = a { Err(Doubt) } else { numbers::add(bump, a, b) }
}

/// `a *= b`: a list would be changed where it is.
pub fn repeat<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let Value::List(_) = a { Err(Doubt) } else { numbers::mul(bump, a, b) }
}

/// `a |= b`: a dict would be changed where it is.
pub fn unite<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let Value::Dict(_) = a { Err(Doubt) } else { numbers::or(bump, a, b) }
}
