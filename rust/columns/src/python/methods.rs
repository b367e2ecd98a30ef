//! Methods by name, for receivers of each type.

use bumpalo::Bump;

use super::tables::of;
use super::texts::{self, Ends, Side};
use super::{Answer, Function, bytes, cases, collections, convert, dates, format, split};
use crate::value::{Doubt, Value};

/// A method that texts and perhaps other types have: with the receiver and the further arguments of each.
fn on<'a>(
    values: &[Value<'a>],
    of_text: impl FnOnce(&'a str, &[Value<'a>]) -> Answer<'a>,
    of_bytes: impl FnOnce(&'a [u8], &[Value<'a>]) -> Answer<'a>,
) -> Answer<'a> {
    match values {
        [Value::Text(text), arguments @ ..] => of_text(text, arguments),
        [Value::Bytes(bytes), arguments @ ..] => of_bytes(bytes, arguments),
        _ => Err(Doubt),
    }
}

fn doubtful<'a>(_: &'a [u8], _: &[Value<'a>]) -> Answer<'a> {
    Err(Doubt)
}

/// A method that only texts have.
macro_rules! text {
    (|$bump:pat_param, $text:pat_param, $arguments:pat_param| $answer:expr) => {
        Some((|$bump, values| on(values, |$text, $arguments| $answer, doubtful)) as Function)
    };
}

/// A predicate of texts.
macro_rules! is {
    ($kind:expr) => {
        Some((|_, values| on(values, |text, _| $kind(text), doubtful)) as Function)
    };
}

/// Methods of texts that search, cut and put together, some of `bytes` too.
pub fn of_text(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("split", 1..=3) => Some(|bump, values| on(values, |t, a| split::split(bump, t, a), |b, a| bytes::split(bump, b, a))),
        ("rsplit", 1..=3) => text!(|bump, text, more| split::split_from_end(bump, text, more)),
        ("splitlines", 1..=2) => text!(|bump, text, more| split::lines(bump, text, more)),
        ("strip", 1..=2) => stripping(Ends::Both),
        ("lstrip", 1..=2) => stripping(Ends::Left),
        ("rstrip", 1..=2) => stripping(Ends::Right),
        ("startswith", 2..=4) => Some(|_, values| on(values, |t, a| texts::begins(t, a, false), |b, a| bytes::begins(b, a, false))),
        ("endswith", 2..=4) => Some(|_, values| on(values, |t, a| texts::begins(t, a, true), |b, a| bytes::begins(b, a, true))),
        ("find", 2..=4) => Some(|_, values| on(values, |t, a| texts::find(t, a, false), bytes::found_at)),
        ("rfind", 2..=4) => text!(|_, text, more| texts::find(text, more, true)),
        ("rindex", 2..=4) => text!(|_, text, more| texts::position(text, more, true)),
        ("replace", 3..=4) => text!(|bump, text, more| texts::replaced(bump, text, more)),
        ("join", 2) => text!(|bump, text, more| texts::join(bump, text, more[0])),
        ("removeprefix", 2) => text!(|_, text, more| texts::without(text, more[0], false)),
        ("removesuffix", 2) => text!(|_, text, more| texts::without(text, more[0], true)),
        ("partition", 2) => text!(|bump, text, more| texts::partition(bump, text, more[0], false)),
        ("rpartition", 2) => text!(|bump, text, more| texts::partition(bump, text, more[0], true)),
        ("ljust", 2..=3) => text!(|bump, text, more| texts::justified(bump, text, more, Side::Left)),
        ("rjust", 2..=3) => text!(|bump, text, more| texts::justified(bump, text, more, Side::Right)),
        ("center", 2..=3) => text!(|bump, text, more| texts::justified(bump, text, more, Side::Middle)),
        ("zfill", 2) => text!(|bump, text, more| texts::zero_filled(bump, text, more[0])),
        ("expandtabs", 1..=2) => text!(|bump, text, more| texts::expanded(bump, text, more)),
        ("format", 1..) => text!(|bump, text, more| format::template(bump, text, more)),
        ("encode", 1..=3) => text!(|bump, text, more| bytes::encoded(bump, text, more)),
        _ => of_characters(name, arguments),
    }
}

fn stripping(ends: Ends) -> Option<Function> {
    match ends {
        Ends::Both => Some(|_, values| strip(values, Ends::Both)),
        Ends::Left => Some(|_, values| strip(values, Ends::Left)),
        Ends::Right => Some(|_, values| strip(values, Ends::Right)),
    }
}

fn strip<'a>(values: &[Value<'a>], ends: Ends) -> Answer<'a> {
    on(values, |text, more| texts::stripped(text, more, ends), |bytes, more| bytes::stripped(bytes, more, ends))
}

/// Methods of texts that look at their characters or change their case.
fn of_characters(name: &str, arguments: usize) -> Option<Function> {
    if arguments != 1 {
        return None;
    }
    match name {
        "lower" => text!(|bump, text, _| cases::lower(bump, text)),
        "upper" => text!(|bump, text, _| cases::upper(bump, text)),
        "title" => text!(|bump, text, _| cases::titled(bump, text)),
        "capitalize" => text!(|bump, text, _| cases::capitalized(bump, text)),
        "swapcase" => text!(|bump, text, _| cases::swapped(bump, text)),
        "casefold" => text!(|bump, text, _| cases::folded(bump, text)),
        "isdigit" | "isdecimal" => is!(|text| cases::all(text, u8::is_ascii_digit, cases::not_digit)),
        "isnumeric" => is!(|text| cases::all(text, u8::is_ascii_digit, cases::not_number)),
        "isalpha" => is!(|text| cases::all(text, u8::is_ascii_alphabetic, cases::letter)),
        "isalnum" => is!(|text| cases::all(text, u8::is_ascii_alphanumeric, cases::letter)),
        "isspace" => is!(cases::all_space),
        "isprintable" => is!(cases::all_printable),
        "isascii" => is!(|text: &'_ str| Ok(Value::Bool(text.is_ascii()))),
        "isupper" => is!(|text| cases::one_case(text, u8::is_ascii_uppercase, u8::is_ascii_lowercase)),
        "islower" => is!(|text| cases::one_case(text, u8::is_ascii_lowercase, u8::is_ascii_uppercase)),
        "istitle" => is!(cases::is_title),
        "isidentifier" => is!(cases::is_identifier),
        _ => None,
    }
}

/// Methods of other types, and those that texts share with lists.
pub fn of_others(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("index", 2..=4) => Some(|_, values| place(values)),
        ("count", 2..=4) => Some(|_, values| count(values)),
        ("decode", 1..=3) => Some(|bump, values| match values {
            [Value::Bytes(bytes), more @ ..] => bytes::decoded(bump, bytes, more),
            _ => Err(Doubt),
        }),
        ("hex", 1) => Some(|bump, values| match values {
            [Value::Bytes(bytes)] => bytes::hex(bump, bytes),
            _ => Err(Doubt),
        }),
        ("is_integer", 1) => Some(|_, values| match values {
            [Value::Float(f)] => Ok(Value::Bool(f.is_finite() && f.trunc() == *f)),
            _ => Err(Doubt),
        }),
        ("bit_length", 1) => of!(1, |_, a| convert::bit_length(a)),
        ("keys", 1) => Some(|bump, values| dict(values, |entries, _| collections::view(bump, entries, |entry| entry.0))),
        ("values", 1) => Some(|bump, values| dict(values, |entries, _| collections::view(bump, entries, |entry| entry.1))),
        ("items", 1) => Some(items),
        ("get", 2..=3) => Some(|_, values| dict(values, collections::get)),
        _ => dates::method(name, arguments),
    }
}

fn items<'a>(bump: &'a Bump, values: &[Value<'a>]) -> Answer<'a> {
    dict(values, |entries, _| collections::view(bump, entries, |(key, value)| Value::Tuple(bump.alloc([*key, *value]))))
}

fn dict<'a>(values: &[Value<'a>], answer: impl FnOnce(&'a [(Value<'a>, Value<'a>)], &[Value<'a>]) -> Answer<'a>) -> Answer<'a> {
    match values {
        [Value::Dict(entries), more @ ..] => answer(entries, more),
        _ => Err(Doubt),
    }
}

fn place<'a>(values: &[Value<'a>]) -> Answer<'a> {
    match values {
        [Value::Text(text), more @ ..] => texts::position(text, more, false),
        [Value::List(items) | Value::Tuple(items), more @ ..] => collections::position(items, more),
        _ => Err(Doubt),
    }
}

fn count<'a>(values: &[Value<'a>]) -> Answer<'a> {
    match values {
        [Value::Text(text), more @ ..] => texts::count(text, more),
        [Value::List(items) | Value::Tuple(items), more @ ..] => collections::count(items, more),
        _ => Err(Doubt),
    }
}
