//! Dates and times: `datetime`, aware by a fixed offset or naive, `date` and `timedelta`. What would leave the years 1 to 9999,
//! and what asks for the time zone of the process, is doubtful.

mod calendar;
mod forms;
mod read;
mod show;
mod spans;
mod state;

use std::cmp::Ordering;

use self::calendar::{DAY, DAYS, EPOCH, Fields, SECOND};
use super::numbers::{int_of, quotient};
use super::{Answer, Function, texts};
use crate::value::{Doubt, Moment, Value};

pub use read::written;
pub use show::{file_text, formatted, repr, sql_text, text};
pub use spans::{add, spans, sub, times};
pub use state::{number_of_state, state_of, state_size};

/// A constant of a program.
pub fn moment(kind: &str, numbers: &[Option<i64>]) -> Option<Moment> {
    match (kind, numbers) {
        ("at", &[Some(local), offset]) => at(local, offset.map(i32::try_from).transpose().ok()?).ok(),
        ("day", &[Some(day)]) => (0..DAYS).contains(&day).then_some(Moment::Day(day)),
        ("clock", &[Some(rest)]) => (0..DAY).contains(&rest).then_some(Moment::Clock(rest)),
        ("span", &[Some(span)]) => Some(Moment::Span(span)),
        _ => None,
    }
}

/// A `datetime` within the years that there are.
fn at(local: i64, offset: Option<i32>) -> Result<Moment, Doubt> {
    if (0..DAYS * DAY).contains(&local) { Ok(Moment::At(local, offset)) } else { Err(Doubt) }
}

/// By the clock of UTC; it may be just outside of the years that there are.
fn utc(local: i64, offset: i32) -> i64 {
    local - i64::from(offset) * SECOND
}

/// Whether two are equal.
pub fn same(a: Moment, b: Moment) -> Result<bool, Doubt> {
    match (a, b) {
        (Moment::At(_, Some(_)), Moment::At(_, None)) | (Moment::At(_, None), Moment::At(_, Some(_))) => Ok(false),
        (Moment::At(..), Moment::At(..)) => order(a, b).map(Ordering::is_eq),
        _ => Ok(a == b),
    }
}

/// The order of two of a kind.
pub fn order(a: Moment, b: Moment) -> Result<Ordering, Doubt> {
    match (a, b) {
        (Moment::At(a, Some(ahead)), Moment::At(b, Some(other))) => Ok(utc(a, ahead).cmp(&utc(b, other))),
        (Moment::At(a, None), Moment::At(b, None)) | (Moment::Day(a), Moment::Day(b)) => Ok(a.cmp(&b)),
        (Moment::Clock(a), Moment::Clock(b)) | (Moment::Span(a), Moment::Span(b)) => Ok(a.cmp(&b)),
        _ => Err(Doubt),
    }
}

/// An attribute.
pub fn attribute<'a>(moment: Moment, name: &str) -> Answer<'a> {
    let Fields { year, month, day, hour, minute, second, micro } = match moment {
        Moment::At(local, _) => Fields::of(local),
        Moment::Day(day) if matches!(name, "year" | "month" | "day") => Fields::of(day * DAY),
        Moment::Clock(rest) if matches!(name, "hour" | "minute" | "second" | "microsecond") => Fields::of(rest),
        Moment::Day(_) | Moment::Clock(_) => return Err(Doubt),
        Moment::Span(span) => {
            return Ok(Value::Int(match name {
                "days" => span.div_euclid(DAY),
                "seconds" => span.rem_euclid(DAY) / SECOND,
                "microseconds" => span.rem_euclid(SECOND),
                _ => return Err(Doubt),
            }));
        }
    };
    Ok(Value::Int(match name {
        "year" => year,
        "month" => month,
        "day" => day,
        "hour" => hour,
        "minute" => minute,
        "second" => second,
        "microsecond" => micro,
        _ => return Err(Doubt),
    }))
}

/// A function or class of the module. Time zones are offsets in seconds, or None.
pub fn function(name: &str, arguments: usize) -> Option<Function> {
    Some(match (name, arguments) {
        ("fromtimestamp", 2) => |_, values| from_timestamp(values[0], offset(values[1])?),
        ("fromisoformat", 2) => |_, values| {
            let (local, offset) = read::datetime(texts::text_of(values[0])?, values[1])?;
            at(local, offset).map(Value::Moment)
        },
        ("strptime", 2) => |_, values| at(forms::time_of(texts::text_of(values[0])?, texts::text_of(values[1])?)?, None).map(Value::Moment),
        ("datetime", 8) => |_, values| {
            let numbers = numbers(&values[..7])?;
            at(calendar::local(&numbers)?, offset(values[7])?).map(Value::Moment)
        },
        ("date", 3) => |_, values| Ok(Value::Moment(Moment::Day(calendar::local(&numbers(values)?)? / DAY))),
        ("day_fromisoformat", 1) => |_, values| Ok(Value::Moment(Moment::Day(read::day(texts::text_of(values[0])?.as_bytes())?))),
        ("only_day", 1) => |_, values| if let Value::Moment(Moment::Day(_)) = values[0] { Ok(values[0]) } else { Err(Doubt) },
        ("day_fromordinal", 1) => |_, values| {
            let day = int_of(values[0]).and_then(|day| moment("day", &[day.checked_sub(1)]));
            day.map(Value::Moment).ok_or(Doubt)
        },
        ("timedelta", 7) => |_, values| spans::of(&numbers(values)?),
        _ => return None,
    })
}

/// Whole numbers, and zeros behind them.
fn numbers(values: &[Value<'_>]) -> Result<[i64; 7], Doubt> {
    let mut numbers = [0; 7];
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = int_of(*value).ok_or(Doubt)?;
    }
    Ok(numbers)
}

fn offset(value: Value<'_>) -> Result<Option<i32>, Doubt> {
    match value {
        Value::None => Ok(None),
        Value::Int(offset) => i32::try_from(offset).map(Some).map_err(|_| Doubt),
        _ => Err(Doubt),
    }
}

/// The time so many seconds after the beginning of 1970 in UTC; without a time zone by the clock of UTC.
fn from_timestamp<'a>(seconds: Value<'a>, offset: Option<i32>) -> Answer<'a> {
    const FAR: f64 = 1e12;
    let (seconds, micros) = match (int_of(seconds), seconds) {
        (Some(seconds), _) => (seconds, 0),
        (None, Value::Float(seconds)) if seconds.abs() < FAR => {
            let (whole, micros) = (seconds.trunc(), (seconds.fract() * 1e6).round_ties_even());
            (whole as i64, micros as i64)
        }
        _ => return Err(Doubt),
    };
    let since = seconds.checked_mul(SECOND).and_then(|since| since.checked_add(micros)).ok_or(Doubt)?;
    let Moment::At(utc, _) = at(since.checked_add(EPOCH * DAY).ok_or(Doubt)?, None)? else { return Err(Doubt) };
    at(utc + i64::from(offset.unwrap_or(0)) * SECOND, offset).map(Value::Moment)
}

/// A method; the receiver is the first of the values.
pub fn method(name: &str, arguments: usize) -> Option<Function> {
    /// Of the receiver and the other values.
    macro_rules! of {
        ($pattern:pat => $answer:expr) => {
            Some((|_, values| if let [Value::Moment($pattern), ..] = *values { $answer } else { Err(Doubt) }) as Function)
        };
    }
    match (name, arguments) {
        ("timestamp", 1) => of!(Moment::At(local, Some(offset)) => Ok(Value::Float(quotient(utc(local, offset) - EPOCH * DAY, SECOND)))),
        ("total_seconds", 1) => of!(Moment::Span(span) => Ok(Value::Float(quotient(span, SECOND)))),
        ("date", 1) => of!(Moment::At(local, _) => Ok(Value::Moment(Moment::Day(local / DAY)))),
        ("time", 1) => of!(Moment::At(local, _) => Ok(Value::Moment(Moment::Clock(local % DAY)))),
        ("weekday", 1) => of!(moment => Ok(Value::Int(day_of(moment)? % 7))),
        ("isoweekday", 1) => of!(moment => Ok(Value::Int(day_of(moment)? % 7 + 1))),
        ("toordinal", 1) => of!(moment => Ok(Value::Int(day_of(moment)? + 1))),
        ("isoformat", 1..=3) => Some(|bump, values| show::iso(bump, values).map(Value::Text)),
        ("strftime", 2) => Some(|bump, values| match values {
            [Value::Moment(moment), Value::Text(form)] => show::strftime(bump, *moment, form).map(Value::Text),
            _ => Err(Doubt),
        }),
        ("to_zone", 2) => Some(|_, values| match *values {
            [Value::Moment(Moment::At(local, Some(ahead))), zone] => to_zone(local, ahead, offset(zone)?.ok_or(Doubt)?),
            _ => Err(Doubt),
        }),
        ("with_zone", 2) => Some(|_, values| match *values {
            [Value::Moment(Moment::At(local, _)), zone] => at(local, offset(zone)?).map(Value::Moment),
            _ => Err(Doubt),
        }),
        ("with_fields", 3..=15) if arguments % 2 == 1 => Some(|_, values| with_fields(values)),
        _ => None,
    }
}

fn day_of(moment: Moment) -> Result<i64, Doubt> {
    match moment {
        Moment::At(local, _) => Ok(local / DAY),
        Moment::Day(day) => Ok(day),
        Moment::Clock(_) | Moment::Span(_) => Err(Doubt),
    }
}

/// `moment.astimezone(zone)`.
fn to_zone<'a>(local: i64, ahead: i32, zone: i32) -> Answer<'a> {
    let Moment::At(utc, _) = at(utc(local, ahead), None)? else { return Err(Doubt) };
    at(utc + i64::from(zone) * SECOND, Some(zone)).map(Value::Moment)
}

/// `moment.replace(field=value, …)`: names and values one behind the other.
fn with_fields<'a>(values: &[Value<'a>]) -> Answer<'a> {
    let Some((Value::Moment(moment), changes)) = values.split_first() else { return Err(Doubt) };
    let (start, known, offset) = match *moment {
        Moment::At(local, offset) => (local, 7, offset),
        Moment::Day(day) => (day * DAY, 3, None),
        Moment::Clock(_) | Moment::Span(_) => return Err(Doubt),
    };
    let mut fields = Fields::of(start).numbers();
    for change in changes.as_chunks::<2>().0 {
        let [Value::Text(name), value] = *change else { return Err(Doubt) };
        let place = calendar::NAMES[..known].iter().position(|known| known == &name).ok_or(Doubt)?;
        fields[place] = int_of(value).ok_or(Doubt)?;
    }
    let local = calendar::local(&fields)?;
    if let Moment::Day(_) = moment { Ok(Value::Moment(Moment::Day(local / DAY))) } else { at(local, offset).map(Value::Moment) }
}
