//! Hash tables for keys that a recording chooses.
//!
//! Values, keys, and the states that are made of them come from outside. With a hash that is
//! the same in every process, a recording can be written whose values all fall into one place
//! of a table, and each access takes as long as the table is large. So each process draws a
//! seed, and all tables of this crate hash with it. The hash is foldhash, which multiplies what
//! a secret was added to, and folds the product: unlike a secret that is added behind a product
//! which is known, as in `rustc-hash`, it leaves no set of keys that collide for most seeds.
//! It is no defence against an attacker who can measure the process while it runs.
//!
//! No answer depends on the order of a table. So that tests can tell, a program can [`set`] the
//! seed.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use foldhash::SharedSeed;
use foldhash::fast::{FoldHasher, SeedableRandomState};

/// A hash map whose keys come from outside.
pub type SeededMap<K, V> = HashMap<K, V, SeededState>;

/// A hash set whose members come from outside.
pub type SeededSet<K> = HashSet<K, SeededState>;

/// The seed of the process: that of each table, and that which they share.
static PROCESS: OnceLock<(u64, SharedSeed)> = OnceLock::new();

/// Hashes with the seed of the process.
#[derive(Clone, Debug)]
pub struct SeededState(SeedableRandomState);

impl Default for SeededState {
    #[inline]
    fn default() -> Self {
        let (own, shared) = PROCESS.get_or_init(|| seeds(drawn()));
        Self(SeedableRandomState::with_seed(*own, shared))
    }
}

impl BuildHasher for SeededState {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        self.0.build_hasher()
    }
}

/// Two seeds that do not tell each other.
fn seeds(seed: [u64; 2]) -> (u64, SharedSeed) {
    (seed[0], SharedSeed::from_u64(seed[1]))
}

/// Sets the seed of the process, before there is any table; whether it was in time.
pub fn set(seed: u64) -> bool {
    PROCESS.set(seeds([seed, !seed])).is_ok()
}

/// A seed from the keys that the operating system has drawn for tables of `std`.
fn drawn() -> [u64; 2] {
    [RandomState::new().hash_one(0), RandomState::new().hash_one(1)]
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn another_seed_is_another_hash() {
        let hash = |seed: u64| {
            let (own, shared) = seeds([seed, !seed]);
            let mut hasher = FoldHasher::with_seed(own, &shared);
            hasher.write_i64(5);
            hasher.finish()
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
        assert_ne!(drawn(), drawn());
        // One seed for a process.
        assert_eq!(SeededState::default().hash_one(5), SeededState::default().hash_one(5));
    }
}
