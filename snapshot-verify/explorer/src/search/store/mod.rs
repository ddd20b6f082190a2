//! The set of reached states, including which states are new.
//!
//! The set is exact: it holds whole states. It is split into shards by hash, each behind its own
//! lock. States arrive in batches for one shard, so a batch costs one lock and touches one small
//! region of memory. Each shard grows separately, so that little is copied at a time; growth by a
//! quarter keeps the tables well filled.
//!
//! With an antichain (see `shard`), a state represents all states that it dominates.

mod frontier;
mod shard;

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use frontier::{CHUNK, Chunk, Frontier};

use super::budget::{Exhausted, Memory};
use crate::search::layout::Monotone;
pub use shard::Shard;

pub const SHARDS: usize = 256;

#[derive(Debug)]
pub struct Store<'a, const W: usize> {
    shards: Vec<Mutex<Shard<'a, W>>>,
    memory: &'a Memory,
    /// The bits of word 0 that are not part of a state's identity; 0 without antichain.
    dominance: u64,
}

impl<'a, const W: usize> Store<'a, W> {
    /// The bytes of an empty store.
    pub const LEAST_BYTES: usize = SHARDS * Shard::<'_, W>::LEAST_BYTES;

    /// Creates an empty store. States are compared by their `monotone` part, and states with more
    /// dominate the others.
    pub fn new(memory: &'a Memory, monotone: &'a Monotone) -> Result<Self, Exhausted> {
        let shards = (0..SHARDS).map(|_| Ok(Mutex::new(Shard::new(memory, monotone)?)));
        let dominance = monotone.mask();
        Ok(Self { shards: shards.collect::<Result<_, _>>()?, memory, dominance })
    }

    /// Returns the hash that selects a state's shard and its place there.
    #[inline]
    pub fn hash(&self, state: &[u64; W]) -> u64 {
        hash(state, self.dominance)
    }

    /// Adds states that all belong to the shard with this number.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then unusable.
    pub fn insert(&self, shard: usize, batch: &[[u64; W]]) -> Result<(), Exhausted> {
        self.lock(shard).insert(batch, self.memory)
    }

    /// Makes room for states that a shard is to hold. Without this, states restored in the order of
    /// another table crowd at the front of a growing table, at a cost quadratic in their number.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then unusable.
    pub fn reserve(&self, shard: usize, states: usize) -> Result<(), Exhausted> {
        self.lock(shard).reserve(states, self.memory)
    }

    /// Restores states that [`Self::insert`] added before: as visited, or, with `is_new`, marks
    /// visited states as new.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then unusable.
    pub fn restore(&self, shard: usize, batch: &[[u64; W]], is_new: bool) -> Result<(), Exhausted> {
        self.lock(shard).restore(batch, is_new, self.memory)
    }

    /// Passes a shard's states, sorted, and the new ones among them to `take`, and empties the
    /// shard.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn drain<E>(
        &self,
        shard: usize,
        compare: impl Fn(&[u64; W], &[u64; W]) -> Ordering,
        take: impl FnOnce(&[[u64; W]], &[[u64; W]]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.lock(shard).drain(compare, take, self.memory)
    }

    /// Calls `look` on a shard, which does not change meanwhile.
    pub fn look_into<R>(&self, shard: usize, look: impl FnOnce(&Shard<'a, W>) -> R) -> R {
        look(&self.lock(shard))
    }

    /// Returns the budget of all states.
    pub const fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Takes out the states of a shard that are new since the last call, without states that a
    /// later one dominates.
    pub fn take_new(&self, shard: usize) -> Vec<Chunk<W>> {
        self.lock(shard).take_new(self.memory)
    }

    /// Returns true if `holds` is true for a stored state that equals this one outside the monotone
    /// part.
    pub fn any_alike(&self, state: &[u64; W], holds: impl FnMut(&[u64; W]) -> bool) -> bool {
        self.lock(shard_of(self.hash(state))).any_alike(state, holds)
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Shard<'a, W>> {
        // A panic in another thread ends the search anyway.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the shard of a state with this hash: its top bits. The other bits select the place
/// there.
#[inline]
pub const fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARDS.trailing_zeros())) as usize
}

/// Hashes a state without the bits of `dominance`: multiplies and folds, word by word.
#[inline]
pub fn hash<const W: usize>(state: &[u64; W], dominance: u64) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    const SEED: u64 = 0xd1b5_4a32_d192_ed03;
    let mut hash = SEED;
    for (index, &word) in state.iter().enumerate() {
        let word = if index == 0 { word & !dominance } else { word };
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = product as u64 ^ (product >> 64) as u64;
    }
    // A second round: the fold's top bits depend only on the high bits of the last word.
    let product = u128::from(hash) * u128::from(SEED);
    product as u64 ^ (product >> 64) as u64
}
