//! Operations by name and number of arguments.

use std::cmp::Ordering;

use super::methods;
use super::{Function, bytes, classes, collections, compare, convert, dates, format, json, math, numbers, sequences, show, sums};
use crate::value::{Doubt, Value};

/// A function of values in place of one of a slice of them.
macro_rules! of {
    (1, $function:expr) => {
        Some((|bump, values| if let [a] = values { $function(bump, *a) } else { Err(Doubt) }) as Function)
    };
    (2, $function:expr) => {
        Some((|bump, values| if let [a, b] = values { $function(bump, *a, *b) } else { Err(Doubt) }) as Function)
    };
    (4, $function:expr) => {
        Some((|bump, values| if let [a, b, c, d] = values { $function(bump, *a, *b, *c, *d) } else { Err(Doubt) }) as Function)
    };
    (bool, $function:expr) => {
        Some((|_, values| if let [a, b] = values { $function(*a, *b).map(Value::Bool) } else { Err(Doubt) }) as Function)
    };
}
pub(super) use of;

/// An operator of the module `operator`; `slice` takes four values, missing ones `None`, and `isinstance` what [`classes::classes`]
/// gives.
pub fn operator(name: &str) -> Option<Function> {
    match name {
        "add" => of!(2, numbers::add),
        "sub" => of!(2, numbers::sub),
        "mul" => of!(2, numbers::mul),
        "truediv" => of!(2, numbers::truediv),
        "floordiv" => of!(2, numbers::floordiv),
        "mod" => of!(2, numbers::modulo),
        "pow" => of!(2, numbers::pow),
        "lshift" => of!(2, numbers::lshift),
        "rshift" => of!(2, numbers::rshift),
        "and_" => of!(2, numbers::and),
        "or_" => of!(2, numbers::or),
        "xor" => of!(2, numbers::xor),
        "neg" => of!(1, numbers::neg),
        "pos" => of!(1, numbers::pos),
        "invert" => of!(1, numbers::invert),
        "index" => of!(2, sequences::index),
        "slice" => of!(4, sequences::slice),
        "iadd" => of!(2, classes::add_to),
        "imul" => of!(2, classes::repeat),
        "ior_" => of!(2, classes::unite),
        "isinstance" => of!(2, classes::is_instance),
        _ => comparison(name),
    }
}

/// An operator that gives a bool. The members of a set are those of a tuple for `in_set` and `not_in_set`.
fn comparison(name: &str) -> Option<Function> {
    match name {
        "eq" => of!(bool, compare::equal),
        "ne" => of!(bool, |a, b| compare::equal(a, b).map(|equal| !equal)),
        "lt" => of!(bool, |a, b| compare::ordered_as(a, b, Ordering::is_lt)),
        "le" => of!(bool, |a, b| compare::ordered_as(a, b, Ordering::is_le)),
        "gt" => of!(bool, |a, b| compare::ordered_as(a, b, Ordering::is_gt)),
        "ge" => of!(bool, |a, b| compare::ordered_as(a, b, Ordering::is_ge)),
        "in" => of!(bool, compare::contained),
        "not_in" => of!(bool, |a, b| compare::contained(a, b).map(|inside| !inside)),
        "in_set" => of!(bool, compare::contained_in_set),
        "not_in_set" => of!(bool, |a, b| compare::contained_in_set(a, b).map(|inside| !inside)),
        "is" => of!(bool, compare::identical),
        "is_not" => of!(bool, |a, b| compare::identical(a, b).map(|same| !same)),
        _ => None,
    }
}

/// A built-in function. The second argument of `sorted` is `reverse`, a bool.
pub fn builtin(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("len", 1) => of!(1, |_, a| sequences::length(a).map(|length| Value::Int(length as i64))),
        ("bool", 0) => Some(|_, _| Ok(Value::Bool(false))),
        ("bool", 1) => of!(1, |_, a| sequences::truth(a).map(Value::Bool)),
        ("int", 0..=2) => Some(|_, values| convert::int(values)),
        ("float", 0..=1) => Some(|_, values| convert::float(values)),
        ("str", 0..=1) => Some(show::str_value),
        ("repr", 1) => of!(1, |bump, a| show::repr(bump, a).map(Value::Text)),
        ("ascii", 1) => of!(1, |bump, a| show::ascii(bump, a).map(Value::Text)),
        ("round", 1..=2) => Some(|_, values| convert::round(values)),
        ("ord", 1) => of!(1, |_, a| convert::ordinal(a)),
        ("chr", 1) => of!(1, convert::character),
        ("abs", 1) => of!(1, numbers::absolute),
        ("divmod", 2) => of!(2, numbers::divmod),
        ("pow", 2) => of!(2, numbers::pow),
        ("bin", 1) => of!(1, |bump, a| format::based(bump, a, 'b')),
        ("oct", 1) => of!(1, |bump, a| format::based(bump, a, 'o')),
        ("hex", 1) => of!(1, |bump, a| format::based(bump, a, 'x')),
        ("format", 1..=2) => Some(format::function),
        _ => over_items(name, arguments),
    }
}

/// A built-in function over what can be iterated.
fn over_items(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("min", 1..) => Some(|bump, values| collections::extreme(bump, values, Ordering::Less)),
        ("max", 1..) => Some(|bump, values| collections::extreme(bump, values, Ordering::Greater)),
        ("sum", 1..=2) => Some(sums::sum),
        ("any", 1) => of!(1, |bump, a| collections::any(bump, a, true)),
        ("all", 1) => of!(1, |bump, a| collections::any(bump, a, false)),
        ("sorted", 1..=2) => Some(collections::sorted),
        ("reversed", 1) => of!(1, collections::reversed),
        ("enumerate", 1..=2) => Some(collections::enumerated),
        ("zip", _) => Some(collections::zipped),
        ("range", 1..=3) => Some(collections::range),
        ("tuple", 0..=1) => Some(collections::tuple),
        ("bytes", 1) => of!(1, bytes::of),
        ("list", 0..=1) => Some(collections::list),
        ("dict", 0..=1) => Some(collections::dict),
        _ => None,
    }
}

/// Whether a built-in function or a method gives an iterator or a view in Python, where it is a list here.
pub fn is_passing(name: &str) -> bool {
    matches!(name, "reversed" | "enumerate" | "zip" | "range" | "keys" | "values" | "items")
}

/// A method by name; the receiver is the first of the arguments, and its type decides when it is called.
pub fn method(name: &str, arguments: usize) -> Option<Function> {
    methods::of_text(name, arguments).or_else(|| methods::of_others(name, arguments))
}

/// A function of a module of the library, as `math.sqrt`.
pub fn library(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("json.loads", 1) => of!(1, json::loads),
        ("json.dumps", 1) => of!(1, json::dumps),
        _ if let Some(name) = name.strip_prefix("datetime.") => dates::function(name, arguments),
        _ => math::function(name.strip_prefix("math.")?, arguments),
    }
}

/// The names of all functions and methods, for tests.
#[cfg(test)]
pub const NAMES: [&str; 91] = [
    "bytes",
    "math.comb",
    "math.perm",
    "math.modf",
    "json.loads",
    "json.dumps",
    "math.prod",
    "math.floor",
    "math.log",
    "format",
    "ascii",
    "bin",
    "hex",
    "oct",
    "len",
    "bool",
    "int",
    "float",
    "str",
    "repr",
    "ascii",
    "round",
    "ord",
    "chr",
    "abs",
    "divmod",
    "pow",
    "min",
    "max",
    "sum",
    "any",
    "all",
    "sorted",
    "reversed",
    "enumerate",
    "zip",
    "range",
    "tuple",
    "list",
    "dict",
    "split",
    "rsplit",
    "splitlines",
    "strip",
    "lstrip",
    "rstrip",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "rindex",
    "replace",
    "join",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "ljust",
    "rjust",
    "center",
    "zfill",
    "expandtabs",
    "encode",
    "index",
    "count",
    "decode",
    "hex",
    "is_integer",
    "bit_length",
    "keys",
    "values",
    "items",
    "get",
    "lower",
    "upper",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
    "isdigit",
    "isalpha",
    "isalnum",
    "isspace",
    "isprintable",
    "isascii",
    "isupper",
    "islower",
    "istitle",
    "isidentifier",
    "isnumeric",
    "isdecimal",
];
