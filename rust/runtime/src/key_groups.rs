//! From the hash of a key to the channel that leads to its owner.
//!
//! Source of the semantics: `KeyGroupRangeAssignment` and `MathUtils.murmurHash` (Flink 1.11). It must never change.

/// One round of 32-bit MurmurHash3 over a hash code, made non-negative as Flink does.
pub fn murmur(hash: i32) -> u32 {
    let k = (hash as u32).wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut h = k.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64) ^ 4;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    match h as i32 {
        i32::MIN => 0,
        signed => signed.unsigned_abs(),
    }
}

/// Which of some channels owns each key group. O(key groups) to make and to hold.
#[derive(Debug)]
pub struct Channels {
    of_group: Vec<u32>,
    count: u32,
    /// Stands in for the remainder where the number of key groups is a power of two, as it mostly is.
    mask: Option<u32>,
}

impl Channels {
    /// The channels to `count` subtasks that share `max_parallelism` key groups; neither is zero.
    pub fn new(max_parallelism: u32, count: u32) -> Self {
        let owner = |group: u32| (u64::from(group) * u64::from(count) / u64::from(max_parallelism)) as u32;
        let mask = max_parallelism.is_power_of_two().then(|| max_parallelism - 1);
        Self { of_group: (0..max_parallelism).map(owner).collect(), count, mask }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The channel of a key with this Java hash code. O(1).
    pub fn of_hash(&self, hash: i32) -> u32 {
        let mixed = murmur(hash);
        self.of_group[self.mask.map_or_else(|| mixed % self.of_group.len() as u32, |mask| mixed & mask) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_groups_are_those_of_flink() {
        let groups = [0, 1, -1, 65536, i32::MAX, i32::MIN].map(|hash| murmur(hash) % 32768);
        assert_eq!(groups, [31198, 16342, 15184, 15177, 19646, 10348]);
    }

    #[test]
    fn channels_share_the_key_groups() {
        let channels = Channels::new(7, 3);
        assert_eq!(channels.of_group, [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(channels.of_hash(97), 0);
        assert_eq!(channels.count(), 3);
        assert!((-300..300).all(|hash| Channels::new(128, 128).of_hash(hash) == murmur(hash) % 128));
    }
}
