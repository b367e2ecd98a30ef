//! The module `math`, where the result is exact or that of the same C library.
//!
//! `f64::ln` and the like call the platform's `libm`, as CPython does. `hypot`, `dist`, `gamma` and `erf` are
//! CPython's, `asinh` and its like are Rust's: these are left out.

use bumpalo::Bump;

use super::numbers::{float_of, index_of, mul};
use super::sequences::iterate;
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
        ("factorial", 1) => of!(1, |_, a| factorial(a)),
        ("prod", 1) => of!(1, product),
        ("modf", 1) => of!(1, parts),
        ("comb", 2) => of!(2, |_, n, k| chosen(n, k, false)),
        ("perm", 2) => of!(2, |_, n, k| chosen(n, k, true)),
        ("gcd", _) => Some(|_, values| divisor(values)),
        _ => of_libm(name, arguments),
    }
}

fn of_libm(name: &str, arguments: usize) -> Option<Function> {
    match (name, arguments) {
        ("sinh", 1) => of!(1, |_, a| plain(a, f64::sinh)),
        ("cosh", 1) => of!(1, |_, a| plain(a, f64::cosh)),
        ("cbrt", 1) => of!(1, |_, a| plain(a, f64::cbrt)),
        ("exp2", 1) => of!(1, |_, a| plain(a, f64::exp2)),
        ("expm1", 1) => of!(1, |_, a| plain(a, f64::exp_m1)),
        ("log1p", 1) => of!(1, |_, a| plain(a, f64::ln_1p)),
        ("atan2", 2) => of!(2, angle),
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

/// `math.atan2`, of finite numbers that are not zero.
fn angle<'a>(_: &'a Bump, a: Value<'a>, b: Value<'a>) -> Answer<'a> {
    let (a, b) = (float(a)?, float(b)?);
    let usual = a.is_finite() && b.is_finite() && a != 0.0 && b != 0.0;
    if usual { Ok(Value::Float(a.atan2(b))) } else { Err(Doubt) }
}

fn factorial<'a>(value: Value<'a>) -> Answer<'a> {
    match index_of(value)? {
        n @ 0..=20 => Ok(Value::Int((1..=n).product())),
        _ => Err(Doubt),
    }
}

/// `math.modf`: what is behind the point, and the rest.
fn parts<'a>(bump: &'a Bump, value: Value<'a>) -> Answer<'a> {
    let x = float(value)?;
    let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { (x - x.trunc()).copysign(x) };
    Ok(Value::Tuple(bump.alloc([Value::Float(if x.is_nan() { x } else { fraction }), Value::Float(x.trunc())])))
}

/// `math.comb`, and `math.perm`, which counts orders.
fn chosen<'a>(n: Value<'a>, k: Value<'a>, orders: bool) -> Answer<'a> {
    let (n, k) = (index_of(n)?, index_of(k)?);
    if n < 0 || k < 0 {
        return Err(Doubt);
    }
    if k > n {
        return Ok(Value::Int(0));
    }
    let mut count: i128 = 1; // after each step the count of so many, below 2⁶³ times a number below 2⁶³
    for step in 0..if orders { k } else { k.min(n - k) } {
        count = count * i128::from(n - step) / if orders { 1 } else { i128::from(step + 1) };
        if count > i128::from(i64::MAX) {
            return Err(Doubt);
        }
    }
    i64::try_from(count).map(Value::Int).map_err(|_| Doubt)
}

/// `math.prod`, of numbers.
fn product<'a>(bump: &'a Bump, items: Value<'a>) -> Answer<'a> {
    let times = |product, item| if float_of(item).is_some() { mul(bump, product, item) } else { Err(Doubt) };
    iterate(bump, items)?.iter().copied().try_fold(Value::Int(1), times)
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
