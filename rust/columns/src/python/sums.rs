//! `sum`. How floats are added up depends on the version: since 3.12 the errors of roundings are added up too, and corrected at
//! the end; since 3.14 also those of integers among the floats.

use std::sync::atomic::{AtomicU8, Ordering};

use bumpalo::Bump;

use super::Answer;
use super::numbers::{add, float_of, int_of};
use super::sequences::iterate;
use crate::value::{Doubt, Value};

/// The version of the interpreter of this process, 3.x; 0 if that is not known.
static VERSION: AtomicU8 = AtomicU8::new(0);

/// Names the version of the interpreter of this process, 3.`minor`: sums of floats are as it has them. Before that, those that
/// depend on the version are doubtful.
pub fn runs_on(minor: u8) {
    VERSION.store(minor, Ordering::Relaxed);
}

/// `sum(items)` and `sum(items, start)`. Behind a `bool` all versions add one after the other.
pub fn sum<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    let (items, start) = match arguments {
        [items] => (*items, Value::Int(0)),
        [items, start] => (*items, *start),
        _ => return Err(Doubt),
    };
    let items = iterate(bump, items)?;
    let floats = || items.iter().any(|item| matches!(item, Value::Float(_)));
    match start {
        Value::Text(_) | Value::Bytes(_) => Err(Doubt),
        Value::Float(_) => FloatSum::of(start, items)?.value(VERSION.load(Ordering::Relaxed)),
        Value::Int(_) if floats() => FloatSum::of(start, items)?.value(VERSION.load(Ordering::Relaxed)),
        _ => items.iter().try_fold(start, |total, item| add(bump, total, *item)),
    }
}

/// A sum of numbers, some of which are floats.
struct FloatSum {
    /// One after the other.
    total: f64,
    /// What has been lost by adding floats.
    errors: f64,
    /// Whether something has been lost by adding integers.
    integers: bool,
    /// Whether an integer, or a sum of them, has more than 32 bits.
    large: bool,
}

impl FloatSum {
    fn of(start: Value<'_>, items: &[Value<'_>]) -> Result<Self, Doubt> {
        let mut whole = int_of(start);
        let mut sum = Self { total: float_of(start).ok_or(Doubt)?, errors: 0.0, integers: false, large: false };
        for item in items {
            let integer = int_of(*item);
            if let (Some(before), Some(item)) = (whole, integer) {
                let after = before.checked_add(item).ok_or(Doubt)?;
                sum.large |= i32::try_from(after).is_err();
                (whole, sum.total) = (Some(after), after as f64);
                continue;
            }
            let number = float_of(*item).ok_or(Doubt)?;
            let error = sum.add(number);
            match (whole, integer) {
                (Some(_), _) => {} // the first float: as any addition
                (None, Some(integer)) => {
                    sum.integers |= error != 0.0;
                    sum.large |= i32::try_from(integer).is_err();
                }
                (None, None) => sum.errors += error,
            }
            whole = None;
        }
        Ok(sum)
    }

    /// Adds a number, and says what has been lost.
    fn add(&mut self, number: f64) -> f64 {
        let before = self.total;
        self.total = before + number;
        let (large, small) = if before.abs() >= number.abs() { (before, number) } else { (number, before) };
        (large - self.total) + small
    }

    fn value<'a>(&self, version: u8) -> Answer<'a> {
        let corrected = if self.errors != 0.0 && self.errors.is_finite() { self.total + self.errors } else { self.total };
        let long = self.large && cfg!(windows); // where a `long` has 32 bits, and larger integers are added in another way
        let same = corrected.to_bits() == self.total.to_bits() && !self.integers;
        match version {
            10 | 11 => Ok(Value::Float(self.total)),
            12 | 13 if !long => Ok(Value::Float(corrected)),
            14 if !long && !self.integers => Ok(Value::Float(corrected)),
            _ if same && self.total.is_finite() => Ok(Value::Float(self.total)),
            _ => Err(Doubt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(version: u8, items: &[Value<'_>]) -> Option<f64> {
        match FloatSum::of(Value::Int(0), items).and_then(|sum| sum.value(version)) {
            Ok(Value::Float(f)) => Some(f),
            _ => None,
        }
    }

    #[test]
    fn floats_are_added_up_as_the_version_does() {
        let tenths = [Value::Float(0.1); 10];
        assert_eq!([11, 12, 14].map(|version| sum(version, &tenths)), [Some(0.9999999999999999), Some(1.0), Some(1.0)]);
        assert_eq!([0, 15].map(|version| sum(version, &tenths)), [None, None]);
        let first = [Value::List(&tenths), Value::Bool(false)];
        let plain = super::sum(&Bump::new(), &first).map(|total| format!("{total:?}"));
        assert_eq!(plain, Ok("Float(0.9999999999999999)".into()));
        let inexact = [Value::Float(1e16), Value::Int(1), Value::Float(0.5)];
        assert_eq!([11, 13, 14].map(|version| sum(version, &inexact)), [Some(1e16), Some(1e16), None]);
        assert_eq!(sum(0, &[Value::Int(3), Value::Float(0.25), Value::Bool(true)]), Some(4.25));
        assert_eq!(sum(12, &[Value::Float(f64::INFINITY), Value::Float(1.0)]), Some(f64::INFINITY));
    }
}
