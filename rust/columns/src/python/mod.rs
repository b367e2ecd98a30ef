//! What Python's operations mean: operators, built-in functions, methods, functions of libraries, formats. Where the result
//! could differ from CPython's in anything, the answer is [`Doubt`].

use bumpalo::Bump;

use crate::value::{Doubt, Value};

/// An operation on values; what is longer than a number is made in the arena.
pub type Function = for<'a> fn(&'a Bump, &[Value<'a>]) -> Result<Value<'a>, Doubt>;

/// The built-in function of this name for so many arguments.
pub fn builtin(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("len", 1) => Some(|_, values| length(values[0])),
        _ => None,
    }
}

/// The method of this name for so many arguments, the receiver not among them; the receiver is the first value.
pub fn method(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("split", 0) => Some(|arena, values| split(arena, values[0])),
        _ => None,
    }
}

/// The function of a library for so many arguments, named with its module.
pub fn library(_name: &str, _arguments: usize) -> Option<Function> {
    None
}

/// The operator of this name: arithmetic, comparison, `index`, `slice` (bounds that are missing are `None`), `in`, `is`.
pub fn operator(name: &str) -> Option<Function> {
    Some(match name {
        "add" => |arena, values| add(arena, values[0], values[1]),
        "mul" => |_, values| integers(values, i64::checked_mul),
        "index" => |_, values| index(values[0], values[1]),
        "eq" => |_, values| integers_compared(values, |left, right| left == right),
        "ne" => |_, values| integers_compared(values, |left, right| left != right),
        "lt" => |_, values| integers_compared(values, |left, right| left < right),
        "le" => |_, values| integers_compared(values, |left, right| left <= right),
        "gt" => |_, values| integers_compared(values, |left, right| left > right),
        "ge" => |_, values| integers_compared(values, |left, right| left >= right),
        "sub" | "truediv" | "floordiv" | "mod" | "pow" | "lshift" | "rshift" | "and_" | "or_" | "xor" | "neg" | "pos" | "invert"
        | "slice" | "in" | "not_in" | "is" | "is_not" => |_, _| Err(Doubt),
        _ => return None,
    })
}

/// Whether Python takes the value for true.
pub fn truth(value: Value<'_>) -> Result<bool, Doubt> {
    Ok(match value {
        Value::None => false,
        Value::Bool(flag) => flag,
        Value::Int(number) => number != 0,
        Value::Float(number) => number != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::Tuple(items) | Value::List(items) => !items.is_empty(),
        Value::Dict(entries) => !entries.is_empty(),
        Value::Row(..) => return Err(Doubt),
    })
}

/// The values that a loop over this one sees: items, characters, keys.
pub fn iterate<'a>(arena: &'a Bump, value: Value<'a>) -> Result<&'a [Value<'a>], Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) => Ok(items),
        Value::Dict(entries) => Ok(arena.alloc_slice_fill_iter(entries.iter().map(|entry| entry.0))),
        _ => Err(Doubt),
    }
}

/// `f"{value!conversion:spec}"`.
pub fn format<'a>(_arena: &'a Bump, value: Value<'a>, spec: &str, conversion: Option<char>) -> Result<Value<'a>, Doubt> {
    match (value, conversion) {
        (Value::Text(_), None | Some('s')) if spec.is_empty() => Ok(value),
        _ => Err(Doubt),
    }
}

fn length<'a>(value: Value<'a>) -> Result<Value<'a>, Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) => Ok(Value::Int(items.len() as i64)),
        Value::Text(text) => Ok(Value::Int(text.chars().count() as i64)),
        _ => Err(Doubt),
    }
}

fn split<'a>(arena: &'a Bump, value: Value<'a>) -> Result<Value<'a>, Doubt> {
    match value {
        Value::Text(text) if text.is_ascii() => {
            let mut words = bumpalo::collections::Vec::new_in(arena);
            words.extend(text.split_ascii_whitespace().map(Value::Text));
            Ok(Value::List(words.into_bump_slice()))
        }
        _ => Err(Doubt),
    }
}

fn add<'a>(_arena: &'a Bump, left: Value<'a>, right: Value<'a>) -> Result<Value<'a>, Doubt> {
    integers(&[left, right], i64::checked_add)
}

fn integers<'a>(values: &[Value<'a>], combine: impl Fn(i64, i64) -> Option<i64>) -> Result<Value<'a>, Doubt> {
    match values {
        [Value::Int(left), Value::Int(right)] => combine(*left, *right).map(Value::Int).ok_or(Doubt),
        _ => Err(Doubt),
    }
}

fn integers_compared<'a>(values: &[Value<'a>], compare: impl Fn(i64, i64) -> bool) -> Result<Value<'a>, Doubt> {
    match values {
        [Value::Int(left), Value::Int(right)] => Ok(Value::Bool(compare(*left, *right))),
        _ => Err(Doubt),
    }
}

fn index<'a>(value: Value<'a>, at: Value<'a>) -> Result<Value<'a>, Doubt> {
    let (Value::Tuple(items) | Value::List(items), Value::Int(at)) = (value, at) else { return Err(Doubt) };
    let at = if at < 0 { at + items.len() as i64 } else { at };
    usize::try_from(at).ok().and_then(|at| items.get(at)).copied().ok_or(Doubt)
}
