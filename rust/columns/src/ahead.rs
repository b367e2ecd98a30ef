//! Memory that is asked for before it is read, so that it comes while something else is done.

/// What the processor reads at once.
const LINE: usize = 64;
/// Lines of one thing that are asked for at the most.
const MOST: usize = 4;

/// Asks for the memory of so many bytes, the first ones at least. It is not read.
#[inline]
pub(crate) fn prefetch(start: *const u8, bytes: usize) {
    for line in 0..bytes.div_ceil(LINE).min(MOST) {
        one(start.wrapping_add(line * LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn one(place: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: it is a hint; the place need not be valid.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn one(_place: *const u8) {}
