//! Where bytes are among others. For texts in which one is often: a search begins anew behind each place, [`places`] does not.

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

/// How many bytes at the beginning are plain within quotes: neither a quote, nor a backslash, nor a control character.
#[inline]
pub(crate) fn plain(text: &[u8]) -> usize {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // of each byte the highest bit, if it is less than a number; behind the first one so in others too
    let less = |word: u64, than: u8| word.wrapping_sub(EACH * u64::from(than)) & !word & HIGH;
    let is = |word: u64, byte: u8| less(word ^ (EACH * u64::from(byte)), 1);
    let (words, rest) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = is(word, b'"') | is(word, b'\\') | less(word, 0x20);
        if special != 0 {
            return number * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    text.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
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

        #[test]
        fn plain_bytes_end_at_the_first_special_one(text in prop::collection::vec(prop_oneof![
            3 => 0x20..=0xffu8, 1 => prop::sample::select(vec![0x00, 0x1f, 0x20, 0x21, b'"', b'\\', 0x7f, 0x80, 0xff])
        ], 0..40)) {
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            prop_assert_eq!(super::plain(&text), text.iter().position(special).unwrap_or(text.len()));
        }
    }
}
