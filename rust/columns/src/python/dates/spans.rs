//! Arithmetic with `timedelta`.

use super::calendar::{DAY, SECOND};
use super::{at, utc};
use crate::python::Answer;
use crate::value::{Doubt, Moment, Value};

/// `timedelta(days, seconds, microseconds, milliseconds, minutes, hours, weeks)`.
pub fn of<'a>(numbers: &[i64; 7]) -> Answer<'a> {
    const SIZES: [i64; 7] = [DAY, SECOND, 1, 1000, 60 * SECOND, 3600 * SECOND, 7 * DAY];
    let sum = numbers.iter().zip(SIZES).try_fold(0_i64, |sum, (&number, size)| sum.checked_add(number.checked_mul(size)?));
    sum.map(|span| Value::Moment(Moment::Span(span))).ok_or(Doubt)
}

fn span<'a>(span: Option<i64>) -> Answer<'a> {
    span.map(|span| Value::Moment(Moment::Span(span))).ok_or(Doubt)
}

/// `a + b`.
pub fn add<'a>(a: Moment, b: Moment) -> Answer<'a> {
    match (a, b) {
        (Moment::Span(a), Moment::Span(b)) => span(a.checked_add(b)),
        (Moment::At(local, offset), Moment::Span(more)) | (Moment::Span(more), Moment::At(local, offset)) => {
            at(local.checked_add(more).ok_or(Doubt)?, offset).map(Value::Moment)
        }
        (Moment::Day(day), Moment::Span(more)) | (Moment::Span(more), Moment::Day(day)) => on_day(day + more.div_euclid(DAY)),
        _ => Err(Doubt),
    }
}

/// `a - b`.
pub fn sub<'a>(a: Moment, b: Moment) -> Answer<'a> {
    match (a, b) {
        (Moment::At(a, Some(ahead)), Moment::At(b, Some(other))) => span(utc(a, ahead).checked_sub(utc(b, other))),
        (Moment::At(a, None), Moment::At(b, None)) | (Moment::Span(a), Moment::Span(b)) => span(a.checked_sub(b)),
        (Moment::Day(a), Moment::Day(b)) => span((a - b).checked_mul(DAY)),
        (Moment::At(local, offset), Moment::Span(less)) => at(local.checked_sub(less).ok_or(Doubt)?, offset).map(Value::Moment),
        (Moment::Day(day), Moment::Span(less)) => on_day(day - less.div_euclid(DAY)),
        _ => Err(Doubt),
    }
}

fn on_day<'a>(day: i64) -> Answer<'a> {
    let Moment::At(local, _) = at(day.checked_mul(DAY).ok_or(Doubt)?, None)? else { return Err(Doubt) };
    Ok(Value::Moment(Moment::Day(local / DAY)))
}

/// `a * times`.
pub fn times<'a>(a: Moment, times: i64) -> Answer<'a> {
    if let Moment::Span(a) = a { span(a.checked_mul(times)) } else { Err(Doubt) }
}

/// Two spans as numbers, whose quotients are theirs; other values as they are.
pub fn spans<'a>(a: Value<'a>, b: Value<'a>) -> (Value<'a>, Value<'a>) {
    match (a, b) {
        (Value::Moment(Moment::Span(a)), Value::Moment(Moment::Span(b))) => (Value::Int(a), Value::Int(b)),
        values => values,
    }
}
