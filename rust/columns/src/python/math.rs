//! The module `math`, where the result is exact or that of the same C library.
//!
//! `f64::ln` and the like call the platform's `libm`, as CPython does; `hypot` and `dist` are CPython's own and left out.

use bumpalo::Bump;

use super::numbers::{float_of, index_of};
use super::tables::of;
use super::{Answer, Function, convert};
use crate::value::{Doubt, Value};

fn float(value: Value<'_>) -> Result<f64, Doubt> {
    float_of(value).ok_or(Doubt)
}

/// A function of the C library: NaN from a number and infinity from a finite number are errors.
fn plain<'a>(value: Value<'a>, function: impl Fn(f64) -> f64) -> Answer<'a> {
    let x = float(value)?;
    let y = function(x);
    if (y.is_nan() && !x.is_nan()) || (y.is_infinite() && x.is_finite()) { Err(Doubt) } else { Ok(Value::Float(y)) }
}

/// A rounding of a float to an `int`; an `int` stays.
fn rounding<'a>(value: Value<'a>, round: impl Fn(f64) -> f64) -> Answer<'a> {
    match value {
        Value::Float(f) => convert::whole(round(f)),
        _ => index_of(value).map(Value::Int),
    }
}

fn is<'a>(value: Value<'a>, kind: impl Fn(f64) -> bool) -> Answer<'a> {
    Ok(Value::Bool(kind(float(value)?)))
}

/// A function of `math` without its module's name.
pub fn function(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("sqrt", 1) => of!(1, |_, a| plain(a, f64::sqrt)),
        ("fabs", 1) => of!(1, |_, a| plain(a, f64::abs)),
        ("floor", 1) => of!(1, |_, a| rounding(a, f64::floor)),
        ("ceil", 1) => of!(1, |_, a| rounding(a, f64::ceil)),
        ("trunc", 1) => of!(1, |_, a| rounding(a, f64::trunc)),
        ("isnan", 1) => of!(1, |_, a| is(a, f64::is_nan)),
        ("isinf", 1) => of!(1, |_, a| is(a, f64::is_infinite)),
        ("isfinite", 1) => of!(1, |_, a| is(a, f64::is_finite)),
        ("degrees", 1) => of!(1, |_, a| float(a).map(|x| Value::Float(x * (180.0 / std::f64::consts::PI)))),
        ("radians", 1) => of!(1, |_, a| float(a).map(|x| Value::Float(x * (std::f64::consts::PI / 180.0)))),
        ("copysign", 2) => of!(2, |_, a, b| Ok(Value::Float(float(a)?.copysign(float(b)?)))),
        ("isqrt", 1) => of!(1, |_, a| index_of(a)?.checked_isqrt().map(Value::Int).ok_or(Doubt)),
        ("gcd", _) => Some(|_, values| divisor(values)),
        _ => of_libm(name, arguments),
    }
}

fn of_libm(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("exp", 1) => of!(1, |_, a| plain(a, f64::exp)),
        ("log", 1) => of!(1, |_, a| plain(a, f64::ln)),
        ("log", 2) => of!(2, logarithm),
        ("log2", 1) => of!(1, |_, a| plain(a, f64::log2)),
        ("log10", 1) => of!(1, |_, a| plain(a, f64::log10)),
        ("pow", 2) => of!(2, power),
        ("fmod", 2) => of!(2, remainder),
        ("sin", 1) => of!(1, |_, a| plain(a, f64::sin)),
        ("cos", 1) => of!(1, |_, a| plain(a, f64::cos)),
        ("tan", 1) => of!(1, |_, a| plain(a, f64::tan)),
        ("asin", 1) => of!(1, |_, a| plain(a, f64::asin)),
        ("acos", 1) => of!(1, |_, a| plain(a, f64::acos)),
        ("atan", 1) => of!(1, |_, a| plain(a, f64::atan)),
        ("tanh", 1) => of!(1, |_, a| plain(a, f64::tanh)),
        _ => None,
    }
}

/// `math.log(x, base)`
fn logarithm<'a>(_: &'a Bump, a: Value<'a>, base: Value<'a>) -> Answer<'a> {
    match (plain(a, f64::ln)?, plain(base, f64::ln)?) {
        (_, Value::Float(0.0)) => Err(Doubt),
        (Value::Float(a), Value::Float(base)) => Ok(Value::Float(a / base)),
        _ => Err(Doubt),
    }
}

/// `math.pow`, of finite numbers.
fn power<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = (float(a)?, float(b)?);
    let power = a.powf(b);
    if a.is_finite() && b.is_finite() && power.is_finite() { Ok(Value::Float(power)) } else { Err(Doubt) }
}

/// `math.fmod`, of finite numbers.
fn remainder<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = (float(a)?, float(b)?);
    if a.is_finite() && b.is_finite() && b != 0.0 { Ok(Value::Float(a % b)) } else { Err(Doubt) }
}

fn divisor<'a>(values: &[Value<'a>]) -> Answer<'a> {
    let mut divisor = 0;
    for value in values {
        let mut rest = index_of(*value)?.unsigned_abs();
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
    }
    i64::try_from(divisor).map(Value::Int).map_err(|_| Doubt)
}
