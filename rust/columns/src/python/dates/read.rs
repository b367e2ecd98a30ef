//! `fromisoformat`: what all versions of Python read alike, and from 3.11 on a `Z` for UTC; and dates and times in files.

use super::calendar::{self, DAY};
use crate::value::{Doubt, Moment, Unit, Value};

/// A time in microseconds and the seconds of its offset; `modern`: whether the version of Python reads a `Z`.
pub fn datetime(text: &str, modern: Value<'_>) -> Result<(i64, Option<i32>), Doubt> {
    let (date, rest) = text.as_bytes().split_at_checked(10).ok_or(Doubt)?;
    let day = day(date)?;
    let Some((separator, time)) = rest.split_first() else { return Ok((day * DAY, None)) };
    if !matches!(separator, b'T' | b' ') {
        return Err(Doubt);
    }
    let end = time.iter().position(|byte| matches!(byte, b'+' | b'-' | b'Z')).unwrap_or(time.len());
    let (clock, zone) = time.split_at(end);
    let offset = match zone {
        [] => None,
        b"Z" if matches!(modern, Value::Bool(true)) => Some(0),
        [sign, hours_and_minutes @ ..] if hours_and_minutes.len() == 5 && *sign != b'Z' => {
            let [hours, minutes] = clock_of(hours_and_minutes)?[..2] else { return Err(Doubt) };
            if hours > 23 || minutes > 59 {
                return Err(Doubt);
            }
            let seconds = (hours * 3600 + minutes * 60) as i32;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => return Err(Doubt),
    };
    let [hour, minute, second, micro] = clock_of(clock)?;
    Ok((day * DAY + calendar::local(&[1, 1, 1, hour, minute, second, micro])?, offset))
}

/// A date or time of a file or message: whole seconds, and at most six digits more. With `utc` there is a `Z` behind it; else a
/// space may be between date and time.
pub fn written(unit: Unit, text: &str, utc: bool) -> Result<Moment, Doubt> {
    if unit == Unit::Days {
        return day(text.as_bytes()).map(Moment::Day);
    }
    let text = if utc { text.strip_suffix('Z').ok_or(Doubt)? } else { text };
    let (date, clock) = text.as_bytes().split_at_checked(if unit == Unit::Clock { 0 } else { 11 }).ok_or(Doubt)?;
    let start = match date {
        [] => 0,
        [date @ .., b'T'] => day(date)? * DAY,
        [date @ .., b' '] if !utc => day(date)? * DAY,
        _ => return Err(Doubt),
    };
    let (clock, fraction) = clock.split_at_checked(8).ok_or(Doubt)?;
    let micro = match fraction {
        [] => 0,
        [b'.', fraction @ ..] if (1..=6).contains(&fraction.len()) && !(utc && unit == Unit::Clock) => {
            digits(fraction)? * 10_i64.pow(6 - fraction.len() as u32)
        }
        _ => return Err(Doubt),
    };
    let [hour, minute, second, _] = clock_of(clock)?;
    let rest = calendar::local(&[1, 1, 1, hour, minute, second, micro])?;
    Ok(if unit == Unit::Clock { Moment::Clock(rest) } else { Moment::At(start + rest, None) })
}

/// The day of a text such as `2026-11-28`.
pub fn day(text: &[u8]) -> Result<i64, Doubt> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return Err(Doubt) };
    let date = [digits(&[y1, y2, y3, y4])?, digits(&[m1, m2])?, digits(&[d1, d2])?];
    Ok(calendar::local(&[date[0], date[1], date[2], 0, 0, 0, 0])? / DAY)
}

/// Hour, minute, second and microseconds of a text with all or the first of them.
fn clock_of(text: &[u8]) -> Result<[i64; 4], Doubt> {
    let (clock, fraction) = text.split_at(text.len().min(8));
    let mut numbers = [0; 4];
    for (place, part) in clock.chunks(3).enumerate() {
        let [tens, ones, colon @ ..] = part else { return Err(Doubt) };
        let more = place * 3 + 3 < clock.len();
        if colon != if more { &b":"[..] } else { &[] } {
            return Err(Doubt);
        }
        numbers[place] = digits(&[*tens, *ones])?;
    }
    numbers[3] = match fraction {
        [] if !clock.is_empty() => 0,
        [b'.', digits_of @ ..] if clock.len() == 8 && digits_of.len() == 3 => digits(digits_of)? * 1000,
        [b'.', digits_of @ ..] if clock.len() == 8 && digits_of.len() == 6 => digits(digits_of)?,
        _ => return Err(Doubt),
    };
    Ok(numbers)
}

pub(super) fn digits(text: &[u8]) -> Result<i64, Doubt> {
    let digit = |number: i64, byte: &u8| if byte.is_ascii_digit() { Ok(number * 10 + i64::from(byte - b'0')) } else { Err(Doubt) };
    text.iter().try_fold(0, digit)
}
