//! murmur3_128 (x64 variant, seed 0), the hash behind every OperatorID.
//!
//! This file must never change what it computes: IDs written into savepoints years ago are looked up with it. The vectors
//! below hold it. Flink uses Guava's `Hashing.murmur3_128(0)`; the 16 bytes are h1 then h2, each little-endian.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The 16 bytes of murmur3_128 with seed 0. O(length), no allocation.
pub fn murmur3_128(data: &[u8]) -> [u8; 16] {
    let (mut h1, mut h2) = (0u64, 0u64);
    let mut blocks = data.chunks_exact(16);
    for block in &mut blocks {
        let (k1, k2) = (word(&block[..8]), word(&block[8..]));
        h1 = (h1 ^ mix1(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ mix2(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let mut tail = [0; 16]; // bytes that are not there count as zeros, and zeros mix to zero
    tail[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
    h2 ^= mix2(word(&tail[8..]));
    h1 ^= mix1(word(&tail[..8]));
    finish(h1, h2, data.len() as u64)
}

/// murmur3_128 of one little-endian `i32` repeated, which is how Flink feeds the position of a node.
pub fn murmur3_128_of_repeated(value: i32, times: usize) -> [u8; 16] {
    let pair = u64::from(value as u32) << 32 | u64::from(value as u32);
    let (m1, m2) = (mix1(pair), mix2(pair));
    let (mut h1, mut h2) = (0u64, 0u64);
    for _ in 0..times / 4 {
        h1 = (h1 ^ m1).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ m2).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let single = u64::from(value as u32);
    match times % 4 {
        1 => h1 ^= mix1(single),
        2 => h1 ^= m1,
        3 => {
            h1 ^= m1;
            h2 ^= mix2(single);
        }
        _ => {}
    }
    finish(h1, h2, 4 * times as u64)
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn mix1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(mut h1: u64, mut h2: u64, length: u64) -> [u8; 16] {
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = avalanche(h1);
    h2 = avalanche(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&h1.to_le_bytes());
    bytes[8..].copy_from_slice(&h2.to_le_bytes());
    bytes
}

fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ h >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(bytes: [u8; 16]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn golden_vectors() {
        assert_eq!(hex(murmur3_128(b"a")), "897859f6655555855a890e51483ab5e6");
        assert_eq!(hex(murmur3_128(b"b")), "eed1d3b157a9987ae9944e541e132efa");
        assert_eq!(hex(murmur3_128(b"")), "0".repeat(32));
        assert_eq!(hex(murmur3_128_of_repeated(0, 1)), "bc764cd8ddf7a0cff126f51c16239658");
    }

    proptest! {
        #[test]
        fn repeated_equals_the_bytes_written_out(value: i32, times in 1usize..40) {
            let bytes = value.to_le_bytes().repeat(times);
            prop_assert_eq!(murmur3_128_of_repeated(value, times), murmur3_128(&bytes));
        }
    }
}
