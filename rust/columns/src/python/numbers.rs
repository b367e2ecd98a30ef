//! Arithmetic of `int`, `float` and `bool`: what does not fit 64 bits, divides by zero or would be complex is doubtful.

use bumpalo::Bump;

use super::{Answer, collections, dates, sequences};
use crate::value::{Doubt, Moment, Value};

/// Two numbers of an operation after Python's coercion.
enum Pair {
    Ints(i64, i64),
    Floats(f64, f64),
}

/// A number as an `int` if it is one; a `bool` is.
pub fn int_of(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Bool(b) => Some(i64::from(b)),
        Value::Int(n) => Some(n),
        _ => None,
    }
}

/// An `int` that an operation takes as a count, a position or a number of places.
pub fn index_of(value: Value<'_>) -> Result<i64, Doubt> {
    int_of(value).ok_or(Doubt)
}

/// Any number as a float, correctly rounded.
pub fn float_of(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Float(f) => Some(f),
        other => int_of(other).map(|n| n as f64),
    }
}

fn pair(a: Value<'_>, b: Value<'_>) -> Result<Pair, Doubt> {
    if let (Some(a), Some(b)) = (int_of(a), int_of(b)) {
        return Ok(Pair::Ints(a, b));
    }
    match (float_of(a), float_of(b)) {
        (Some(a), Some(b)) => Ok(Pair::Floats(a, b)),
        _ => Err(Doubt),
    }
}

fn int<'a>(n: Option<i64>) -> Answer<'a> {
    n.map(Value::Int).ok_or(Doubt)
}

/// `a + b`, of sequences too.
pub fn add<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    match pair(a, b) {
        Ok(Pair::Ints(a, b)) => int(a.checked_add(b)),
        Ok(Pair::Floats(a, b)) => Ok(Value::Float(a + b)),
        Err(Doubt) => match (a, b) {
            (Value::Moment(a), Value::Moment(b)) => dates::add(a, b),
            _ => sequences::concatenated(bump, a, b),
        },
    }
}

/// `a - b`.
pub fn sub<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let (Value::Moment(a), Value::Moment(b)) = (a, b) {
        return dates::sub(a, b);
    }
    match pair(a, b)? {
        Pair::Ints(a, b) => int(a.checked_sub(b)),
        Pair::Floats(a, b) => Ok(Value::Float(a - b)),
    }
}

/// `a * b`, of a sequence and a count too.
pub fn mul<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    match pair(a, b) {
        Ok(Pair::Ints(a, b)) => int(a.checked_mul(b)),
        Ok(Pair::Floats(a, b)) => Ok(Value::Float(a * b)),
        Err(Doubt) => match (int_of(a), int_of(b)) {
            (Some(times), None) if let Value::Moment(span) = b => dates::times(span, times),
            (None, Some(times)) if let Value::Moment(span) = a => dates::times(span, times),
            (Some(times), None) => sequences::repeated(bump, b, times),
            (None, Some(times)) => sequences::repeated(bump, a, times),
            _ => Err(Doubt),
        },
    }
}

/// `a / b`; of two integers the nearest float to the exact quotient.
pub fn truediv<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = dates::spans(a, b);
    match pair(a, b)? {
        Pair::Ints(_, 0) => Err(Doubt),
        Pair::Ints(a, b) => Ok(Value::Float(quotient(a, b))),
        Pair::Floats(_, 0.0) => Err(Doubt),
        Pair::Floats(a, b) => Ok(Value::Float(a / b)),
    }
}

/// The exact quotient of two integers, rounded once. `b` is not zero.
pub(super) fn quotient(a: i64, b: i64) -> f64 {
    const EXACT: u64 = 1 << 53;
    let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
    if x <= EXACT && y <= EXACT {
        return a as f64 / b as f64;
    }
    if x == 0 {
        return 0.0_f64.copysign(b as f64);
    }
    // more than 60 bits of the quotient, and whether anything comes behind them: one rounding, as the power of two is exact
    let shift = u128::from(x).leading_zeros() - 1;
    let shifted = u128::from(x) << shift;
    let bits = (shifted / u128::from(y)) | u128::from(shifted % u128::from(y) != 0);
    let size = bits as f64 / (2.0_f64).powi(shift as i32);
    if (a < 0) == (b < 0) { size } else { -size }
}

/// `a // b`, rounded down.
pub fn floordiv<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = dates::spans(a, b);
    match pair(a, b)? {
        Pair::Ints(a, b) => int(floor_int(a, b).map(|(quotient, _)| quotient)),
        Pair::Floats(a, b) => Ok(Value::Float(floor_float(a, b)?.0)),
    }
}

/// `a % b` with the sign of `b`; of a text its formatting.
pub fn modulo<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let Value::Text(text) = a {
        return super::percent::formatted(bump, text, b);
    }
    match pair(a, b)? {
        Pair::Ints(a, b) => match floor_int(a, b) {
            Some((_, rest)) => Ok(Value::Int(rest)),
            None if b == -1 => Ok(Value::Int(0)),
            None => Err(Doubt),
        },
        Pair::Floats(a, b) => Ok(Value::Float(floor_float(a, b)?.1)),
    }
}

/// `divmod(a, b)`.
pub fn divmod<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let both = match pair(a, b)? {
        Pair::Ints(a, b) => floor_int(a, b).map(|(q, r)| [Value::Int(q), Value::Int(r)]).ok_or(Doubt)?,
        Pair::Floats(a, b) => floor_float(a, b).map(|(q, r)| [Value::Float(q), Value::Float(r)])?,
    };
    Ok(Value::Tuple(bump.alloc(both)))
}

/// Quotient rounded down, and the rest that has the sign of `b`; none for zero and for the one quotient that is too large.
fn floor_int(a: i64, b: i64) -> Option<(i64, i64)> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    if rest != 0 && (rest < 0) != (b < 0) { Some((quotient - 1, rest + b)) } else { Some((quotient, rest)) }
}

fn floor_float(a: f64, b: f64) -> Result<(f64, f64), Doubt> {
    if b == 0.0 {
        return Err(Doubt);
    }
    let rest = a % b; // exact, with the sign of a
    let across = rest != 0.0 && (rest < 0.0) != (b < 0.0);
    let exact = (a - rest) / b - if across { 1.0 } else { 0.0 };
    let modulus = match (rest == 0.0, across) {
        (true, _) => 0.0_f64.copysign(b),
        (false, true) => rest + b,
        (false, false) => rest,
    };
    if exact == 0.0 {
        return Ok((0.0_f64.copysign(a / b), modulus));
    }
    let down = exact.floor();
    Ok((if exact - down > 0.5 { down + 1.0 } else { down }, modulus)) // the division may have been off by less than a half
}

/// `a ** b`.
pub fn pow<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    match pair(a, b)? {
        Pair::Ints(a, b) if b >= 0 => int(int_power(a, b)),
        Pair::Ints(a, b) => Ok(Value::Float(float_power(a as f64, b as f64)?)),
        Pair::Floats(a, b) => Ok(Value::Float(float_power(a, b)?)),
    }
}

fn int_power(a: i64, b: i64) -> Option<i64> {
    match (a, b) {
        (0 | 1, _) | (_, 0) => Some(if b == 0 { 1 } else { a }),
        (-1, _) => Some(if b % 2 == 0 { 1 } else { -1 }),
        _ => a.checked_pow(u32::try_from(b).ok()?),
    }
}

/// The C library's power, where it gives a real number and no range error.
fn float_power(a: f64, b: f64) -> Result<f64, Doubt> {
    let power = a.powf(b);
    let plain = a.is_finite() && b.is_finite();
    let complex = a < 0.0 && plain && b.floor() != b;
    if complex || (a == 0.0 && b < 0.0) || (plain && !power.is_finite()) || power.is_subnormal() {
        return Err(Doubt);
    }
    Ok(power)
}

/// `a << b`.
pub fn lshift<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = (index_of(a)?, index_of(b)?);
    match (a, b) {
        (_, ..0) => Err(Doubt),
        (0, _) => Ok(Value::Int(0)),
        (_, 64..) => Err(Doubt),
        _ => int(i64::try_from(i128::from(a) << b).ok()),
    }
}

/// `a >> b`.
pub fn rshift<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = (index_of(a)?, index_of(b)?);
    if b < 0 { Err(Doubt) } else { Ok(Value::Int(a >> b.min(63))) }
}

fn bits<'a>(a: Value<'a>, b: Value<'a>, bools: fn(bool, bool) -> bool, ints: fn(i64, i64) -> i64) -> Answer<'a> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(bools(a, b))),
        _ => Ok(Value::Int(ints(index_of(a)?, index_of(b)?))),
    }
}

/// `a & b`; of two bools a bool.
pub fn and<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    bits(a, b, |a, b| a & b, |a, b| a & b)
}

/// `a | b`; of two bools a bool, of two dicts one with the entries of both.
pub fn or<'a>(bump: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    if let (Value::Dict(a), Value::Dict(b)) = (a, b) {
        return collections::united(bump, a, b);
    }
    bits(a, b, |a, b| a | b, |a, b| a | b)
}

/// `a ^ b`; of two bools a bool.
pub fn xor<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    bits(a, b, |a, b| a ^ b, |a, b| a ^ b)
}

/// `-a`.
pub fn neg<'a>(_: &'a Bump, a: Value<'a>) -> Answer<'a> {
    match a {
        Value::Float(f) => Ok(Value::Float(-f)),
        Value::Moment(span) => dates::times(span, -1),
        _ => int(index_of(a)?.checked_neg()),
    }
}

/// `+a`.
pub fn pos<'a>(_: &'a Bump, a: Value<'a>) -> Answer<'a> {
    match a {
        Value::Float(_) => Ok(a),
        _ => Ok(Value::Int(index_of(a)?)),
    }
}

/// `~a`; of a bool it is deprecated and warns.
pub fn invert<'a>(_: &'a Bump, a: Value<'a>) -> Answer<'a> {
    match a {
        Value::Int(n) => Ok(Value::Int(!n)),
        _ => Err(Doubt),
    }
}

/// `abs(a)`.
pub fn absolute<'a>(_: &'a Bump, a: Value<'a>) -> Answer<'a> {
    match a {
        Value::Float(f) => Ok(Value::Float(f.abs())),
        Value::Moment(Moment::Span(span)) => dates::times(Moment::Span(span), if span < 0 { -1 } else { 1 }),
        _ => int(index_of(a)?.checked_abs()),
    }
}
