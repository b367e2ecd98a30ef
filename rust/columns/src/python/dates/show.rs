//! Dates and times as texts.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use super::calendar::{self, DAY, Fields, SECOND};
use crate::value::{Doubt, Moment, Unit, Value};

/// The first year that all C libraries write with four digits.
const FOUR_DIGITS: i64 = 1000;

type Written = Result<(), Doubt>;

/// `str(moment)`.
pub fn text(bump: &Bump, moment: Moment) -> Result<&str, Doubt> {
    match moment {
        Moment::Span(span) => span_text(bump, span),
        _ => iso_text(bump, moment, ' ', "auto"),
    }
}

/// `repr(moment)`, of what columns have.
pub fn repr(text: &mut String<'_>, moment: Moment) -> Written {
    let (unit, number) = moment.number().ok_or(Doubt)?;
    let local = if unit == Unit::Days { number * DAY } else { number };
    let [year, month, day, hour, minute, second, micro] = Fields::of(local).numbers();
    match (unit, second, micro) {
        (Unit::Days, ..) => write!(text, "datetime.date({year}, {month}, {day})"),
        (Unit::Clock, 0, 0) => write!(text, "datetime.time({hour}, {minute})"),
        (Unit::Clock, _, 0) => write!(text, "datetime.time({hour}, {minute}, {second})"),
        (Unit::Clock, ..) => write!(text, "datetime.time({hour}, {minute}, {second}, {micro})"),
        (_, 0, 0) => write!(text, "datetime.datetime({year}, {month}, {day}, {hour}, {minute})"),
        (_, _, 0) => write!(text, "datetime.datetime({year}, {month}, {day}, {hour}, {minute}, {second})"),
        _ => write!(text, "datetime.datetime({year}, {month}, {day}, {hour}, {minute}, {second}, {micro})"),
    }
    .map_err(|_| Doubt)
}

/// What Java's classes for SQL show of what columns have.
pub fn sql_text(bump: &Bump, moment: Moment) -> Result<&str, Doubt> {
    let Moment::At(local, None) = moment else { return iso_text(bump, moment, ' ', "seconds") };
    let text = iso_text(bump, moment, ' ', if local % SECOND == 0 { "seconds" } else { "microseconds" })?;
    let shown = text.trim_end_matches('0');
    Ok(match local % SECOND {
        0 => bump.alloc_str(&format!("{text}.0")),
        _ => shown,
    })
}

/// What stands in a file or message for what columns have. With `utc` it has a `Z`, and a time of day whole seconds.
pub fn file_text(bump: &Bump, moment: Moment, utc: bool) -> Result<&str, Doubt> {
    let (unit, number) = moment.number().ok_or(Doubt)?;
    let whole = number % SECOND == 0 || (utc && unit == Unit::Clock);
    let text = iso_text(bump, moment, if utc { 'T' } else { ' ' }, if whole { "seconds" } else { "microseconds" })?;
    let text = if whole || unit == Unit::Days { text } else { text.trim_end_matches('0') };
    Ok(if utc && unit != Unit::Days { bump.alloc_str(&format!("{text}Z")) } else { text })
}

/// `format(moment, spec)`, where the spec is not empty.
pub fn formatted<'a>(bump: &'a Bump, moment: Moment, spec: &str) -> Result<&'a str, Doubt> {
    strftime(bump, moment, spec)
}

fn put(text: &mut String<'_>, width: usize, number: i64) -> Written {
    write!(text, "{number:0width$}").map_err(|_| Doubt)
}

/// Numbers of two digits with something between them.
fn put_pairs(text: &mut String<'_>, numbers: &[i64], between: &str) -> Written {
    for (at, &number) in numbers.iter().enumerate() {
        text.push_str(if at > 0 { between } else { "" });
        put(text, 2, number)?;
    }
    Ok(())
}

fn put_offset(text: &mut String<'_>, offset: i32, colon: &str) -> Written {
    text.push(if offset < 0 { '-' } else { '+' });
    let seconds = i64::from(offset.unsigned_abs());
    let all = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    put_pairs(text, &all[..if all[2] == 0 { 2 } else { 3 }], colon)
}

/// `moment.isoformat(…)`.
pub fn iso<'a>(bump: &'a Bump, values: &[Value<'a>]) -> Result<&'a str, Doubt> {
    let (separator, precision) = match values {
        [_] => ("T", "auto"),
        [_, Value::Text(separator)] => (*separator, "auto"),
        [_, Value::Text(separator), Value::Text(precision)] => (*separator, *precision),
        _ => return Err(Doubt),
    };
    let mut characters = separator.chars();
    let (Some(separator), None) = (characters.next(), characters.next()) else { return Err(Doubt) };
    match values[0] {
        Value::Moment(Moment::Day(_) | Moment::Clock(_)) if values.len() > 1 => Err(Doubt),
        Value::Moment(Moment::Span(_)) => Err(Doubt),
        Value::Moment(moment) => iso_text(bump, moment, separator, precision),
        _ => Err(Doubt),
    }
}

fn iso_text<'a>(bump: &'a Bump, moment: Moment, separator: char, precision: &str) -> Result<&'a str, Doubt> {
    let mut text = String::with_capacity_in(32, bump);
    let (local, offset) = match moment {
        Moment::At(local, offset) => (local, offset),
        Moment::Day(day) => (day * DAY, None),
        Moment::Clock(rest) => (rest, None),
        Moment::Span(_) => return Err(Doubt),
    };
    let Fields { year, month, day, hour, minute, second, micro } = Fields::of(local);
    if !matches!(moment, Moment::Clock(_)) {
        put(&mut text, 4, year)?;
        text.push('-');
        put_pairs(&mut text, &[month, day], "-")?;
    }
    match moment {
        Moment::Day(_) => return Ok(text.into_bump_str()),
        Moment::At(..) => text.push(separator),
        _ => {}
    }
    put_clock(&mut text, [hour, minute, second, micro], precision)?;
    if let Some(offset) = offset {
        put_offset(&mut text, offset, ":")?;
    }
    Ok(text.into_bump_str())
}

/// Hour, minute, second and microseconds, as far as they are wanted.
fn put_clock(text: &mut String<'_>, [hour, minute, second, micro]: [i64; 4], precision: &str) -> Written {
    let (parts, fraction) = match precision {
        "hours" => (1, None),
        "minutes" => (2, None),
        "auto" if micro == 0 => (3, None),
        "seconds" => (3, None),
        "milliseconds" => (3, Some((3, micro / 1000))),
        "auto" | "microseconds" => (3, Some((6, micro))),
        _ => return Err(Doubt),
    };
    put_pairs(text, &[hour, minute, second][..parts], ":")?;
    let Some((width, fraction)) = fraction else { return Ok(()) };
    text.push('.');
    put(text, width, fraction)
}

/// `str` of a `timedelta`.
fn span_text(bump: &Bump, span: i64) -> Result<&str, Doubt> {
    let mut text = String::new_in(bump);
    let (days, rest) = (span.div_euclid(DAY), span.rem_euclid(DAY));
    if days != 0 {
        write!(text, "{days} day{}, ", if days.abs() == 1 { "" } else { "s" }).map_err(|_| Doubt)?;
    }
    let (seconds, micro) = (rest / SECOND, rest % SECOND);
    write!(text, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60).map_err(|_| Doubt)?;
    if micro != 0 {
        text.push('.');
        put(&mut text, 6, micro)?;
    }
    Ok(text.into_bump_str())
}

/// `moment.strftime(form)`, of what no locale and no C library writes in its own way.
pub fn strftime<'a>(bump: &'a Bump, moment: Moment, form: &str) -> Result<&'a str, Doubt> {
    let (local, offset) = match moment {
        Moment::At(local, offset) => (local, offset),
        Moment::Day(day) => (day * DAY, None),
        Moment::Clock(_) | Moment::Span(_) => return Err(Doubt),
    };
    let fields = Fields::of(local);
    let mut text = String::with_capacity_in(2 * form.len() + 8, bump);
    let mut characters = form.chars();
    while let Some(character) = characters.next() {
        match character {
            '%' => put_code(&mut text, characters.next().ok_or(Doubt)?, fields, local, offset)?,
            ' '..='~' => text.push(character),
            _ => return Err(Doubt),
        }
    }
    Ok(text.into_bump_str())
}

fn put_code(text: &mut String<'_>, code: char, fields: Fields, local: i64, offset: Option<i32>) -> Written {
    let Fields { year, month, day, hour, minute, second, micro } = fields;
    let weekday = local / DAY % 7;
    if matches!(code, 'Y' | 'F') && year < FOUR_DIGITS {
        return Err(Doubt);
    }
    match code {
        'Y' => put(text, 4, year),
        'm' => put(text, 2, month),
        'd' => put(text, 2, day),
        'H' => put(text, 2, hour),
        'M' => put(text, 2, minute),
        'S' => put(text, 2, second),
        'f' => put(text, 6, micro),
        'y' => put(text, 2, year % 100),
        'j' => put(text, 3, calendar::day_of_year(local / DAY)),
        'I' => put(text, 2, (hour + 11) % 12 + 1),
        'u' => put(text, 1, weekday + 1),
        'w' => put(text, 1, (weekday + 1) % 7),
        'F' => {
            put(text, 4, year)?;
            text.push('-');
            put_pairs(text, &[month, day], "-")
        }
        'T' => put_pairs(text, &[hour, minute, second], ":"),
        'R' => put_pairs(text, &[hour, minute], ":"),
        'D' => put_pairs(text, &[month, day, year % 100], "/"),
        'z' => offset.map_or(Ok(()), |offset| put_offset(text, offset, "")),
        'Z' => offset.map_or(Ok(()), |offset| {
            text.push_str("UTC");
            if offset == 0 { Ok(()) } else { put_offset(text, offset, ":") }
        }),
        '%' => {
            text.push('%');
            Ok(())
        }
        _ => Err(Doubt),
    }
}
