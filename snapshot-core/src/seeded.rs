//! Hash tables for keys that a recording chooses.
//!
//! Values, keys, and the states made of them come from outside. With a hash that is the same in
//! every process, an attacker can write a recording whose values all collide, and each access takes
//! time linear in the size of the table. So each process draws a seed, and all tables of this crate
//! hash with it. The hash is foldhash, which multiplies the sum of a key and a secret, and folds
//! the product: no set of keys collides for most seeds. If the secret is added after a product that
//! is known, as in `rustc-hash`, such sets exist. The hash does not protect against an attacker who
//! can measure the process while it runs.
//!
//! No answer depends on the order of a table. To let tests verify this, a program can [`set`] the
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

/// The seed of the process: the seed of each table, and the shared seed.
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

/// Derives two seeds, neither of which reveals the other.
fn seeds(seed: [u64; 2]) -> (u64, SharedSeed) {
    (seed[0], SharedSeed::from_u64(seed[1]))
}

/// Sets the seed of the process. Returns false if it was set, or drawn for a table, before.
pub fn set(seed: u64) -> bool {
    PROCESS.set(seeds([seed, !seed])).is_ok()
}

/// Draws a seed from the keys that the operating system provides for tables of `std`.
fn drawn() -> [u64; 2] {
    [RandomState::new().hash_one(0), RandomState::new().hash_one(1)]
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn hashes_depend_on_the_seed() {
        let hash = |seed: u64| {
            let (own, shared) = seeds([seed, !seed]);
            let mut hasher = FoldHasher::with_seed(own, &shared);
            hasher.write_i64(5);
            hasher.finish()
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
        assert_ne!(drawn(), drawn());
        // All tables of a process have one seed.
        assert_eq!(SeededState::default().hash_one(5), SeededState::default().hash_one(5));
    }
}
