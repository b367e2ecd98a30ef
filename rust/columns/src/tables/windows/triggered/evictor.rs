//! Evictors: which records of a window stay when it fires.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::trigger::Delta;
use crate::value::{Doubt, Value};
use std::cmp::Ordering;

/// Which records of a window stay when it fires.
#[derive(Clone, Debug)]
pub struct Evictor {
    /// Which do.
    pub rule: Rule,
    /// Whether the others go after the window was shown, or before.
    pub after: bool,
}

/// Which records stay.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The last ones, so many.
    Count(usize),
    /// Those that are younger than the youngest less a span.
    Time(i64),
    /// Those that differ from the last one by less than a threshold.
    Delta(Box<Delta>),
}

impl Evictor {
    /// Whether records have their timestamps with them, as pairs.
    pub fn is_timed(&self) -> bool {
        matches!(self.rule, Rule::Time(_))
    }

    /// Whether its function takes what it will be given.
    pub fn fits(&self) -> bool {
        if let Rule::Delta(delta) = &self.rule { delta.fits() } else { true }
    }

    /// The constants of its function.
    pub fn constants<'p>(&'p self, arena: &'p Bump) -> &'p [Value<'p>] {
        if let Rule::Delta(delta) = &self.rule { delta.function.constants(arena) } else { &[] }
    }

    /// The records that stay.
    pub fn evicted<'a>(&'a self, constants: &'a [Value<'a>], records: &'a [Value<'a>], arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
        match &self.rule {
            Rule::Count(most) => Ok(&records[records.len().saturating_sub(*most)..]),
            Rule::Time(span) => young(records, *span, arena),
            Rule::Delta(delta) => {
                let Some(&last) = records.last() else { return Ok(records) };
                let mut left = Items::with_capacity_in(records.len(), arena);
                for &record in records {
                    if delta.is(Ordering::Less, constants, (record, last), arena)? {
                        left.push(record);
                    }
                }
                Ok(left.into_bump_slice())
            }
        }
    }
}

/// Of pairs of records and their times those that are younger than the youngest less a span; all if the first has no time.
fn young<'a>(records: &'a [Value<'a>], span: i64, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
    let time = |record: &Value<'_>| match *record {
        Value::Tuple(&[_, Value::Int(time)]) => Ok(Some(time)),
        Value::Tuple(&[_, Value::None]) => Ok(None),
        _ => Err(Doubt),
    };
    match records.first().map(time).transpose()? {
        None | Some(None) => return Ok(records),
        Some(Some(_)) => {}
    }
    let mut youngest = i64::MIN;
    for record in records {
        youngest = youngest.max(time(record)?.unwrap_or(i64::MIN));
    }
    let limit = youngest.checked_sub(span).ok_or(Doubt)?;
    let mut left = Items::with_capacity_in(records.len(), arena);
    for record in records {
        if time(record)?.is_some_and(|time| time > limit) {
            left.push(*record);
        }
    }
    Ok(left.into_bump_slice())
}
