//! The calendar of `datetime`: that of Gregory, for all years from 1 to 9999.

use crate::value::Doubt;

pub use crate::value::{DAY, DAYS, EPOCH};

/// Microseconds.
pub const SECOND: i64 = 1_000_000;

/// The fields of a time, as attributes.
pub const NAMES: [&str; 7] = ["year", "month", "day", "hour", "minute", "second", "microsecond"];

/// Days of a year before each month, which is no leap year.
const BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// A time by field.
#[allow(missing_docs, reason = "their names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micro: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The days before a year.
fn before_year(year: i64) -> i64 {
    let years = year - 1;
    365 * years + years / 4 - years / 100 + years / 400
}

/// The days of a year before a month, which is counted from 0.
fn before_month(year: i64, month: usize) -> i64 {
    BEFORE[month] + i64::from(month > 1 && is_leap(year))
}

/// Year, month and day.
pub fn date(day: i64) -> (i64, i64, i64) {
    let mut year = day * 400 / 146_097 + 1; // 400 years have so many days; it is off by one at the most
    while before_year(year) > day {
        year -= 1;
    }
    while before_year(year + 1) <= day {
        year += 1;
    }
    let rest = day - before_year(year);
    let mut month = (rest / 32) as usize; // at most one too early
    while before_month(year, month + 1) <= rest {
        month += 1;
    }
    (year, month as i64 + 1, rest - before_month(year, month) + 1)
}

/// The day of its year, from 1.
pub fn day_of_year(day: i64) -> i64 {
    day - before_year(date(day).0) + 1
}

impl Fields {
    /// Those of a time in microseconds.
    pub fn of(local: i64) -> Self {
        let (year, month, day) = date(local / DAY);
        let rest = local % DAY;
        let (second, micro) = (rest / SECOND, rest % SECOND);
        Self { year, month, day, hour: second / 3600, minute: second / 60 % 60, second: second % 60, micro }
    }

    /// In the order of [`NAMES`].
    pub fn numbers(self) -> [i64; 7] {
        [self.year, self.month, self.day, self.hour, self.minute, self.second, self.micro]
    }
}

/// The time of fields in the order of [`NAMES`], in microseconds. Doubt: there is no such time.
pub fn local(&[year, month, day, hour, minute, second, micro]: &[i64; 7]) -> Result<i64, Doubt> {
    let fits = (1..=9999).contains(&year) && (1..=12).contains(&month);
    let fits = fits && (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second) && (0..SECOND).contains(&micro);
    if !fits {
        return Err(Doubt);
    }
    let before = before_month(year, month as usize - 1);
    if !(1..=before_month(year, month as usize) - before).contains(&day) {
        return Err(Doubt);
    }
    let days = before_year(year) + before + day - 1;
    Ok(days * DAY + (hour * 3600 + minute * 60 + second) * SECOND + micro)
}
