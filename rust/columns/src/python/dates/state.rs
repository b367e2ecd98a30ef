//! Dates and times as the bytes that Python pickles them as.

use super::calendar::{self, DAY, Fields, SECOND};
use crate::value::Unit;

/// The bytes of a date or time, and how many they are.
pub fn state_of(unit: Unit, number: i64) -> ([u8; 10], usize) {
    let local = if unit == Unit::Days { number * DAY } else { number };
    let Fields { year, month, day, hour, minute, second, micro } = Fields::of(local);
    let bytes = [year >> 8, year, month, day, hour, minute, second, micro >> 16, micro >> 8, micro];
    (bytes.map(|byte| byte as u8), if unit == Unit::Days { 4 } else { 10 })
}

/// The number that such bytes stand for; `None` where they stand for no date or time.
pub fn number_of_state(unit: Unit, bytes: &[u8]) -> Option<i64> {
    let at = |place: usize| bytes.get(place).copied().map(i64::from);
    let number = |places: std::ops::Range<usize>| places.map(at).try_fold(0, |so_far, byte| Some(so_far << 8 | byte?));
    let mut fields = [number(0..2)?, at(2)?, at(3)?, 0, 0, 0, 0];
    if unit == Unit::Days {
        return calendar::local(&fields).ok().map(|local| local / DAY);
    }
    fields[3..].copy_from_slice(&[at(4)?, at(5)?, at(6)?, number(7..10).filter(|&micro| micro < SECOND)?]);
    calendar::local(&fields).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(day in 0..calendar::DAYS, rest in 0..DAY) {
            for (unit, number) in [(Unit::Days, day), (Unit::Micros, day * DAY + rest)] {
                let (bytes, length) = state_of(unit, number);
                prop_assert_eq!(number_of_state(unit, &bytes[..length]), Some(number));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            for unit in [Unit::Days, Unit::Micros] {
                prop_assert!(number_of_state(unit, &bytes).is_none_or(|number| unit.has(number)));
            }
        }
    }
}
