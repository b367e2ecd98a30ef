//! Dates and times as the bytes that Python pickles them as.

use std::ops::Range;

use super::calendar::{self, DAY, Fields};
use crate::value::Unit;

/// Where the bytes of a date or time are among those of all fields.
fn part(unit: Unit) -> Range<usize> {
    match unit {
        Unit::Days => 0..4,
        Unit::Micros => 0..10,
        Unit::Clock => 4..10,
    }
}

/// How many bytes a date or time has.
pub fn state_size(unit: Unit) -> usize {
    part(unit).len()
}

/// The bytes of a date or time, in some room.
pub fn state_of(unit: Unit, number: i64, room: &mut [u8; 10]) -> &[u8] {
    let local = if unit == Unit::Days { number * DAY } else { number };
    let Fields { year, month, day, hour, minute, second, micro } = Fields::of(local);
    let bytes = [year >> 8, year, month, day, hour, minute, second, micro >> 16, micro >> 8, micro];
    *room = bytes.map(|byte| byte as u8);
    &room[part(unit)]
}

/// The number that such bytes stand for; `None` where they stand for no date or time.
pub fn number_of_state(unit: Unit, bytes: &[u8]) -> Option<i64> {
    let mut all = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]; // the first day
    all.get_mut(part(unit)).filter(|own| own.len() == bytes.len())?.copy_from_slice(bytes);
    let [century, year, month, day, hour, minute, second, high, middle, low] = all.map(i64::from);
    let local = calendar::local(&[century << 8 | year, month, day, hour, minute, second, high << 16 | middle << 8 | low]).ok()?;
    Some(if unit == Unit::Days { local / DAY } else { local })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(day in 0..calendar::DAYS, rest in 0..DAY) {
            for (unit, number) in [(Unit::Days, day), (Unit::Micros, day * DAY + rest), (Unit::Clock, rest)] {
                prop_assert_eq!(number_of_state(unit, state_of(unit, number, &mut [0; 10])), Some(number));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            for unit in [Unit::Days, Unit::Micros, Unit::Clock] {
                prop_assert!(number_of_state(unit, &bytes).is_none_or(|number| unit.has(number)));
            }
        }
    }
}
