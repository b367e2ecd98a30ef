//! Where a byte is among others, for texts in which it is often: a search begins anew behind each place, this one does not.

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Calls `take` with each place of a byte, in order. O(bytes).
#[inline]
pub(crate) fn places(byte: u8, text: &[u8], mut take: impl FnMut(usize)) {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        each_bit(equal(block, byte), |bit| take(number * BLOCK + bit));
    }
    let start = text.len() - rest.len();
    if let Some(last) = text.last_chunk::<BLOCK>() {
        // the last block overlaps the one before it
        let seen = BLOCK - rest.len();
        let bits = if rest.is_empty() { 0 } else { equal(last, byte) >> seen };
        each_bit(bits, |bit| take(start + bit));
    } else {
        let mut block = [!byte; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        each_bit(equal(&block, byte), take);
    }
}

#[inline]
fn each_bit(mut bits: u64, mut take: impl FnMut(usize)) {
    while bits != 0 {
        take(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// A bit for each byte, the lowest for the first: whether it is this one.
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let (lanes, _) = block.as_chunks::<16>();
    lanes.iter().enumerate().fold(0, |bits, (number, lane)| {
        // SAFETY: every processor of this architecture has SSE2, and the lane has the 16 bytes that are read.
        let mask = unsafe {
            let lane = _mm_loadu_si128(lane.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(lane, _mm_set1_epi8(byte as i8)))
        };
        bits | u64::from(mask as u32) << (16 * number)
    })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    block.iter().enumerate().fold(0, |bits, (number, &other)| bits | u64::from(other == byte) << number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_places_are_in_order(text in prop::collection::vec(prop_oneof![Just(b','), any::<u8>()], 0..300)) {
            let mut found = Vec::new();
            super::places(b',', &text, |place| found.push(place));
            prop_assert_eq!(found, memchr::memchr_iter(b',', &text).collect::<Vec<_>>());
        }
    }
}
