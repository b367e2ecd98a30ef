//! Memory that will be needed soon comes closer while something else is done.

/// Lines of a value that come closer at the most.
const MOST_LINES: usize = 4;
const LINE: usize = 64;

/// Has a line of memory come closer, where processors can be asked to. Any address will do.
#[inline]
pub fn fetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it is a hint that reads nothing, and every processor of this kind takes it.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The same of so many items, up to a number of lines.
#[inline]
pub fn fetch_all<T>(start: *const T, count: usize) {
    let lines = (count * size_of::<T>()).div_ceil(LINE).min(MOST_LINES);
    (0..lines).for_each(|line| fetch(start.cast::<u8>().wrapping_add(line * LINE)));
}
