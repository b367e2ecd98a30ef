//! `int`, `float`, `bool`, `ord`, `chr` and `round`.

use bumpalo::Bump;

use super::Answer;
use super::characters::is_space;
use super::numbers::{index_of, int_of};
use super::texts::{one_character, text_of};
use crate::value::{Doubt, Value};

/// The most characters of a number; CPython has a limit of digits that can be set.
const MOST_DIGITS: usize = 500;

/// A text of a number without the whitespace around it. The ASCII separators are whitespace elsewhere, but not here.
fn bare(text: &str) -> Result<&str, Doubt> {
    let text = text.trim_matches(|c| is_space(c) && !matches!(c, '\x1c'..='\x1f'));
    if text.is_empty() || text.len() > MOST_DIGITS || !text.is_ascii() { Err(Doubt) } else { Ok(text) }
}

/// `int(value)` and `int(text, base)`.
pub fn int<'a>(arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::Int(0)),
        [Value::Float(f)] => whole(f.trunc()),
        [Value::Text(text)] => parsed(bare(text)?, 10),
        [Value::Text(text), base] => parsed(bare(text)?, index_of(*base)?),
        [value] => int_of(*value).map(Value::Int).ok_or(Doubt),
        _ => Err(Doubt),
    }
}

/// The number in a text, if `int(text)` is one of 64 bits.
pub fn number(text: &str) -> Option<i64> {
    match parsed(bare(text).ok()?, 10) {
        Ok(Value::Int(number)) => Some(number),
        _ => None,
    }
}

/// A float without a fraction as an `int`.
pub fn whole<'a>(f: f64) -> Answer<'a> {
    const TOP: f64 = 9_223_372_036_854_775_808.0;
    if (-TOP..TOP).contains(&f) { Ok(Value::Int(f as i64)) } else { Err(Doubt) }
}

fn parsed<'a>(text: &str, base: i64) -> Answer<'a> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (base, digits, zeros_only) = based(digits, base)?;
    let mut number: i64 = 0;
    let mut digit_before = false;
    for (at, byte) in digits.iter().enumerate() {
        if *byte == b'_' {
            if !digit_before || at + 1 == digits.len() {
                return Err(Doubt);
            }
            digit_before = false;
            continue;
        }
        let digit = char::from(*byte).to_digit(base).ok_or(Doubt)?;
        let signed = if negative { -i64::from(digit) } else { i64::from(digit) };
        number = number.checked_mul(i64::from(base)).and_then(|n| n.checked_add(signed)).ok_or(Doubt)?;
        digit_before = true;
    }
    if digit_before && !(zeros_only && number != 0) { Ok(Value::Int(number)) } else { Err(Doubt) }
}

/// The base and the digits behind its prefix, if there is one; and whether only zero may be written so.
fn based(digits: &[u8], base: i64) -> Result<(u32, &[u8], bool), Doubt> {
    let prefixed = match digits {
        [b'0', b'x' | b'X', ..] => Some(16),
        [b'0', b'o' | b'O', ..] => Some(8),
        [b'0', b'b' | b'B', ..] => Some(2),
        _ => None,
    };
    match (base, prefixed) {
        (0, Some(prefix)) => Ok((prefix, behind_prefix(digits), false)),
        (0, None) => Ok((10, digits, digits.first() == Some(&b'0'))),
        (2..=36, Some(prefix)) if base == i64::from(prefix) => Ok((prefix, behind_prefix(digits), false)),
        (2..=36, _) => Ok((base as u32, digits, false)),
        _ => Err(Doubt),
    }
}

fn behind_prefix(digits: &[u8]) -> &[u8] {
    match &digits[2..] {
        [b'_', rest @ ..] => rest,
        rest => rest,
    }
}

/// `float(value)`.
pub fn float<'a>(arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::Float(0.0)),
        [Value::Text(text)] => float_text(bare(text)?).map(Value::Float),
        [value] => super::numbers::float_of(*value).map(Value::Float).ok_or(Doubt),
        _ => Err(Doubt),
    }
}

fn float_text(text: &str) -> Result<f64, Doubt> {
    let (sign, size) = match text.as_bytes()[0] {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if size.eq_ignore_ascii_case("nan") {
        return Ok(f64::NAN.copysign(sign));
    }
    if size.eq_ignore_ascii_case("inf") || size.eq_ignore_ascii_case("infinity") {
        return Ok(f64::INFINITY.copysign(sign));
    }
    if !is_decimal(size.as_bytes()) {
        return Err(Doubt);
    }
    if !text.contains('_') {
        return text.parse().map_err(|_| Doubt);
    }
    let mut plain = [0; MOST_DIGITS];
    let mut length = 0;
    for byte in text.bytes().filter(|byte| *byte != b'_') {
        plain[length] = byte;
        length += 1;
    }
    std::str::from_utf8(&plain[..length]).map_err(|_| Doubt)?.parse().map_err(|_| Doubt)
}

/// Whether bytes are digits, perhaps with a point and an exponent; an underscore may be between two digits.
fn is_decimal(bytes: &[u8]) -> bool {
    let (mut digits, mut point, mut exponent) = (false, false, false);
    let mut before = b' ';
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = true,
            b'_' if before.is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {}
            b'.' if !point && !exponent => point = true,
            b'e' | b'E' if digits && !exponent => (exponent, digits) = (true, false),
            b'+' | b'-' if matches!(before, b'e' | b'E') => {}
            _ => return false,
        }
        before = *byte;
    }
    digits
}

/// `ord(character)`.
pub fn ordinal<'a>(value: Value<'a>) -> Answer<'a> {
    match value {
        Value::Bytes([byte]) => Ok(Value::Int(i64::from(*byte))),
        _ => Ok(Value::Int(i64::from(u32::from(one_character(text_of(value)?)?)))),
    }
}

/// `chr(number)`.
pub fn character<'a>(bump: &'a Bump, value: Value<'a>) -> Answer<'a> {
    let number = u32::try_from(index_of(value)?).map_err(|_| Doubt)?;
    let c = char::from_u32(number).ok_or(Doubt)?;
    Ok(Value::Text(bump.alloc_str(c.encode_utf8(&mut [0; 4]))))
}

/// `round(value)` and `round(value, digits)`, ties to even.
pub fn round<'a>(arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [Value::Float(f)] | [Value::Float(f), Value::None] => whole(f.round_ties_even()),
        [Value::Float(f), digits] => rounded(*f, index_of(*digits)?).map(Value::Float),
        [value] | [value, Value::None] => int_of(*value).map(Value::Int).ok_or(Doubt),
        [value, digits] => rounded_int(int_of(*value).ok_or(Doubt)?, index_of(*digits)?),
        _ => Err(Doubt),
    }
}

fn rounded_int<'a>(number: i64, digits: i64) -> Answer<'a> {
    if digits >= 0 {
        return Ok(Value::Int(number));
    }
    let Some(unit) = u32::try_from(-i128::from(digits)).ok().and_then(|digits| 10_i128.checked_pow(digits)) else {
        return Ok(Value::Int(0));
    };
    let number = i128::from(number);
    let (down, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
    let up = 2 * rest > unit || (2 * rest == unit && down % 2 != 0);
    i64::try_from((down + i128::from(up)) * unit).map(Value::Int).map_err(|_| Doubt)
}

/// A float rounded to decimal places by its exact value, then to the nearest float.
fn rounded(f: f64, digits: i64) -> Result<f64, Doubt> {
    if !f.is_finite() || digits > 323 || f == 0.0 {
        return Ok(f);
    }
    if digits < -308 {
        return Ok(0.0_f64.copysign(f));
    }
    if digits >= 0 {
        let text = format!("{f:.*}", digits as usize);
        return text.parse().map_err(|_| Doubt);
    }
    rounded_to_tens(f, digits)
}

fn rounded_to_tens(f: f64, digits: i64) -> Result<f64, Doubt> {
    let text = format!("{:.0}", f.abs().trunc()); // exact
    let places = digits.unsigned_abs() as usize;
    if text.len() < places {
        return Ok(0.0_f64.copysign(f));
    }
    let (kept, cut) = text.split_at(text.len() - places);
    let half = cut.bytes().enumerate().map(|(at, digit)| digit.cmp(if at == 0 { &b'5' } else { &b'0' })).find(|order| order.is_ne());
    let above = half.unwrap_or(if f.fract() == 0.0 { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Greater });
    let odd = kept.bytes().last().is_some_and(|digit| digit % 2 == 1);
    let up = above.is_gt() || (above.is_eq() && odd);
    let mut number = kept.as_bytes().to_vec();
    if up {
        raise(&mut number);
    }
    let number = std::str::from_utf8(&number).map_err(|_| Doubt)?;
    let size: f64 = format!("0{number}e{places}").parse().map_err(|_| Doubt)?;
    if size.is_finite() { Ok(size.copysign(f)) } else { Err(Doubt) }
}

/// A decimal number plus one.
fn raise(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
}

/// `bit_length()` of an `int`.
pub fn bit_length<'a>(value: Value<'a>) -> Answer<'a> {
    let number = int_of(value).ok_or(Doubt)?;
    Ok(Value::Int(i64::from(64 - number.unsigned_abs().leading_zeros())))
}
