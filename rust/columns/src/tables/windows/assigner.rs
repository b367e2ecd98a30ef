//! Which windows a time belongs to, and which of two that become one comes first.

use crate::value::Doubt;

/// The times from a start to before an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first time.
    pub start: i64,
    /// The one behind its last.
    pub end: i64,
}

impl Window {
    /// The only one, whose end never comes, where there is one only.
    pub const GLOBAL: Self = Self { start: 0, end: i64::MIN };

    /// The last time in it.
    pub fn last(self) -> i64 {
        self.end.wrapping_sub(1)
    }

    /// The one of a number, whose end never comes.
    pub fn numbered(number: i64) -> Self {
        Self { start: number, ..Self::GLOBAL }
    }

    /// Whether its end never comes.
    pub fn is_endless(self) -> bool {
        self.end == Self::GLOBAL.end
    }

    /// The one that has this time alone.
    pub fn at(time: i64) -> Self {
        Self { start: time, end: time.wrapping_add(1) }
    }
}

/// What gives a time its windows. All spans are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigner {
    /// Windows of one length that begin at equal distances.
    Panes {
        /// Their length.
        size: i64,
        /// From one start to the next; the size where each begins as the last one ends.
        slide: i64,
        /// Of a start from the epoch.
        offset: i64,
    },
    /// Windows that grow together while records come within a gap.
    Sessions {
        /// The gap.
        gap: i64,
    },
    /// Windows of a number of records, by the place that a record has among those of its key.
    Counted {
        /// How many records are in one.
        size: i64,
        /// From the first record of one to that of the next.
        slide: i64,
    },
    /// The only window of a key.
    Global,
}

impl Assigner {
    /// Whether spans are positive.
    pub fn fits(self) -> bool {
        match self {
            Self::Panes { size, slide, .. } => size > 0 && slide > 0,
            Self::Sessions { gap } => gap > 0,
            Self::Counted { size, slide } => size > 0 && slide > 0,
            Self::Global => true,
        }
    }

    /// Whether its windows have ends, at which they can fire.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Panes { .. } | Self::Sessions { .. })
    }

    /// Whether windows that touch become one.
    pub fn merges(self) -> bool {
        matches!(self, Self::Sessions { .. })
    }
}

/// The windows that hold a time, the last one first. Doubt: one of them begins or ends beyond 64 bits.
#[inline]
pub fn panes(time: i64, size: i64, slide: i64, offset: i64) -> Result<impl Iterator<Item = Window>, Doubt> {
    let past = time.checked_sub(offset).ok_or(Doubt)?.rem_euclid(slide);
    let last = time.checked_sub(past).ok_or(Doubt)?;
    let before = time.checked_sub(size).ok_or(Doubt)?;
    last.checked_add(size).ok_or(Doubt)?;
    let mut next = (last > before).then_some(last);
    Ok(std::iter::from_fn(move || {
        let start = next?;
        next = start.checked_sub(slide).filter(|&start| start > before);
        Some(Window { start, end: start + size })
    }))
}

/// The windows that hold the record at a place, from 0, the last one first.
pub fn numbered(place: i64, size: i64, slide: i64) -> impl Iterator<Item = Window> {
    let before = place.saturating_sub(size); // the windows that begin here do not reach so far
    let first = if before < 0 { 0 } else { before / slide + 1 };
    (first..=place / slide).rev().map(Window::numbered)
}

/// Puts windows in the order of a Java `HashSet` that they entered by start, and that has held up to `size` windows.
pub fn java_order(windows: &mut [(Window, usize)], size: usize) {
    let mut buckets = 16;
    while size > buckets * 3 / 4 {
        buckets *= 2;
    }
    windows.sort_by_key(|(window, _)| (spread(*window) as usize & (buckets - 1), window.start));
}

/// The low half of Java's mix of start and end, spread as a `HashMap` does.
fn spread(window: Window) -> u32 {
    let mut x = window.start.wrapping_add(window.end) as u64;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let hash = (x ^ (x >> 31)) as u32;
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_windows_hold_the_records_between_their_first_and_last() {
        for (size, slide) in [(1, 1), (3, 3), (4, 2), (5, 1), (2, 5), (3, 2)] {
            for place in 0..40 {
                let holds = |number: &i64| (number * slide..number * slide + size).contains(&place);
                let expected: Vec<i64> = (0..=place).rev().filter(holds).collect();
                let numbers: Vec<i64> = numbered(place, size, slide).map(|window| window.start).collect();
                assert_eq!(numbers, expected, "{place} of {size} each {slide}");
            }
        }
        assert_eq!(numbered(i64::MAX, 2, 1).count(), 2);
    }
}
