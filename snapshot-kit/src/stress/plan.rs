//! What a thread does in a round, drawn before the round begins.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Noise;

/// One operation, and how long the thread is to pause after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Choice {
    pub(super) is_update: bool,
    /// For [`crate::noise`]; 0: not at all.
    pub(super) pause: u16,
}

/// The choices of one thread in one round. Threads that `may_update` do so every second
/// time, on average.
pub(super) fn plan(
    seed: u64,
    (round, thread): (usize, usize),
    operations: usize,
    may_update: bool,
    noise: Noise,
) -> Vec<Choice> {
    let mut random =
        ChaCha8Rng::seed_from_u64(seed ^ (thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.set_stream(round as u64);
    let rarity = match noise {
        Noise::Off => 0,
        Noise::Some => 8,
        Noise::Much => 2,
    };
    (0..operations)
        .map(|_| Choice {
            is_update: may_update && random.random(),
            pause: if rarity > 0 && random.random_ratio(1, rarity) {
                random.random_range(1..=u16::MAX)
            } else {
                0
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_follow_from_the_seed_the_round_and_the_thread() {
        let of = |seed, round, thread| plan(seed, (round, thread), 64, true, Noise::Some);
        assert_eq!(of(1, 2, 3), of(1, 2, 3));
        for other in [of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)] {
            assert_ne!(other, of(1, 2, 3));
        }
        assert!(
            plan(1, (2, 3), 64, false, Noise::Off)
                .iter()
                .all(|choice| !choice.is_update && choice.pause == 0)
        );
    }
}
