//! The random numbers of the shapes: SplitMix64 (Steele, Lea and Flood 2014; `java.util.SplittableRandom` has the same mixer).
//!
//! The whole definition, so that a shape can be built again in any language: the state starts as the seed; a draw adds
//! `0x9E3779B97F4A7C15` to it, modulo 2⁶⁴, and returns the state after three rounds of shift, xor and multiplication; a
//! number below `n` is the upper half of a draw, times `n`, shifted right by 32 bits.

/// A stream of random numbers.
pub(super) struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(n)) >> 32) as u32
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn equals_the_published_stream() {
        let mut random = Random::new(1_234_567);
        let drawn = [(); 3].map(|()| random.draw());
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_below_a_bound_reach_both_ends() {
        let mut random = Random::new(0);
        let drawn: Vec<u32> = (0..1000).map(|_| random.below(7)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&0), Some(&6)));
        assert_eq!(random.below(1), 0);
    }
}
