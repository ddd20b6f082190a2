//! Seeded choices whose stream never changes.
//!
//! ChaCha8 is a fixed function, but the samplers of `rand` may change with its versions. So this
//! module draws whole 64-bit words and maps them to choices itself.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of choices, fixed by its seed.
#[derive(Clone, Debug)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// Creates a stream. Streams with different labels are independent even for equal seeds.
    pub fn new(seed: u64, label: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&label.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Draws a number below `bound`, which must be positive: the high half of a 128-bit product.
    /// The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0, "a choice needs an alternative");
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Draws any 64 bits: a seed for another stream.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws true with probability `p`: the upper 53 bits are an exact fraction.
    pub fn chance(&mut self, p: f64) -> bool {
        ((self.0.next_u64() >> 11) as f64) < p * (1u64 << 53) as f64
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Draws a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from version 0.1.0.
    const PINNED: [usize; 8] = [381, 294, 798, 916, 855, 139, 733, 784];

    #[test]
    fn the_stream_is_pinned() {
        let mut draw = Draw::new(1, 0);
        let first: Vec<usize> = (0..8).map(|_| draw.below(1000)).collect();
        assert_eq!(first, PINNED, "a recipe's bytes changed: a breaking change of this crate");
    }

    #[test]
    fn chances_and_bounds_hold() {
        let mut draw = Draw::new(2, 0);
        assert!((0..1000).all(|_| draw.chance(1.0) && !draw.chance(0.0)));
        let hits = (0..10_000).filter(|_| draw.chance(0.25)).count();
        assert!((2300..2700).contains(&hits), "{hits} hits of 2500 expected");
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[draw.below(7)] += 1);
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    }

    #[test]
    fn labels_separate_streams() {
        let mut one = Draw::new(3, 0);
        let mut other = Draw::new(3, 1);
        assert!((0..8).any(|_| one.below(1000) != other.below(1000)));
    }
}
