//! Upper and lower case, and what kind of characters a text has.

use bumpalo::Bump;
use bumpalo::collections::String;

use super::Answer;
use super::characters::{has_known_case, is_printable, is_space};
use crate::value::{Doubt, Value};

/// Each character of an ASCII text as another one, which may depend on the one before.
fn ascii<'a>(bump: &'a Bump, text: &str, changed: impl Fn(Option<u8>, u8) -> u8) -> Answer<'a> {
    if !text.is_ascii() {
        return Err(Doubt);
    }
    let mut result = String::with_capacity_in(text.len(), bump);
    let mut before = None;
    for byte in text.bytes() {
        result.push(char::from(changed(before, byte)));
        before = Some(byte);
    }
    Ok(Value::Text(result.into_bump_str()))
}

/// `lower`.
pub fn lower<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    if text.is_ascii() {
        let copy = bump.alloc_str(text);
        copy.make_ascii_lowercase();
        return Ok(Value::Text(copy));
    }
    known(bump, text, |result, c| result.extend(c.to_lowercase()))
}

/// `upper`.
pub fn upper<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    if text.is_ascii() {
        let copy = bump.alloc_str(text);
        copy.make_ascii_uppercase();
        return Ok(Value::Text(copy));
    }
    known(bump, text, |result, c| result.extend(c.to_uppercase()))
}

fn known<'a>(bump: &'a Bump, text: &str, change: impl Fn(&mut String<'a>, char)) -> Answer<'a> {
    let mut result = String::with_capacity_in(text.len(), bump);
    for c in text.chars() {
        if !has_known_case(c) {
            return Err(Doubt);
        }
        change(&mut result, c);
    }
    Ok(Value::Text(result.into_bump_str()))
}

/// `casefold`, of ASCII.
pub fn folded<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    ascii(bump, text, |_, byte| byte.to_ascii_lowercase())
}

/// `capitalize`, of ASCII.
pub fn capitalized<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    ascii(bump, text, |before, byte| if before.is_none() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() })
}

/// `title`, of ASCII.
pub fn titled<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    ascii(bump, text, |before, byte| match before {
        Some(letter) if letter.is_ascii_alphabetic() => byte.to_ascii_lowercase(),
        _ => byte.to_ascii_uppercase(),
    })
}

/// `swapcase`, of ASCII.
pub fn swapped<'a>(bump: &'a Bump, text: &'a str) -> Answer<'a> {
    ascii(bump, text, |_, byte| if byte.is_ascii_uppercase() { byte.to_ascii_lowercase() } else { byte.to_ascii_uppercase() })
}

/// Whether a text is not empty and all its bytes are of a kind; of other characters than ASCII it is unknown.
pub fn all<'a>(text: &str, kind: fn(&u8) -> bool) -> Answer<'a> {
    if !text.is_ascii() {
        return Err(Doubt);
    }
    Ok(Value::Bool(!text.is_empty() && text.as_bytes().iter().all(kind)))
}

/// `isspace`.
pub fn all_space<'a>(text: &str) -> Answer<'a> {
    Ok(Value::Bool(!text.is_empty() && text.chars().all(is_space)))
}

/// `isprintable`.
pub fn all_printable<'a>(text: &str) -> Answer<'a> {
    let mut all = true;
    for c in text.chars() {
        all &= is_printable(c).ok_or(Doubt)?;
    }
    Ok(Value::Bool(all))
}

/// `isupper` and `islower`: some letters, and none of the other case.
pub fn one_case<'a>(text: &str, wanted: fn(&u8) -> bool, other: fn(&u8) -> bool) -> Answer<'a> {
    if !text.is_ascii() {
        return Err(Doubt);
    }
    Ok(Value::Bool(text.as_bytes().iter().any(wanted) && !text.as_bytes().iter().any(other)))
}

/// `istitle`, of ASCII: upper case begins a word, lower case continues it.
pub fn is_title<'a>(text: &str) -> Answer<'a> {
    if !text.is_ascii() {
        return Err(Doubt);
    }
    let (mut within, mut any) = (false, false);
    for byte in text.bytes() {
        if (byte.is_ascii_uppercase() && within) || (byte.is_ascii_lowercase() && !within) {
            return Ok(Value::Bool(false));
        }
        within = byte.is_ascii_alphabetic();
        any |= within;
    }
    Ok(Value::Bool(any))
}

/// `isidentifier`, of ASCII.
pub fn is_identifier<'a>(text: &str) -> Answer<'a> {
    let word = all(text, |byte| byte.is_ascii_alphanumeric() || *byte == b'_')?;
    Ok(Value::Bool(matches!(word, Value::Bool(true)) && !text.starts_with(|c: char| c.is_ascii_digit())))
}
