//! The set of states that were reached, and which of them are new.
//!
//! The set is exact: it holds whole states. It is cut into shards by hash, each
//! behind a lock of its own, and states come in batches that belong to one shard:
//! one lock, and one small region of memory, for many states. A shard grows by
//! itself, so that the copying of its places costs a small part of the whole at a
//! time, and growth by a quarter keeps the tables well filled.
//!
//! With an antichain (see `shard`) a state stands for all that it dominates.

mod frontier;
mod shard;

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use frontier::{CHUNK, Chunk, Frontier};

use super::budget::{Exhausted, Memory};
use crate::search::layout::Monotone;
pub use shard::Shard;

/// How many shards there are.
pub const SHARDS: usize = 256;

/// The set of reached states.
#[derive(Debug)]
pub struct Store<'a, const W: usize> {
    shards: Vec<Mutex<Shard<'a, W>>>,
    memory: &'a Memory,
    /// The bits of word 0 that do not matter for identity; 0 without antichain.
    dominance: u64,
}

impl<'a, const W: usize> Store<'a, W> {
    /// What an empty store takes.
    pub const LEAST_BYTES: usize = SHARDS * Shard::<'_, W>::LEAST_BYTES;

    /// An empty store. In what is `monotone`, states are compared, and those with more
    /// make others unnecessary.
    ///
    /// # Errors
    /// If that is too much for the memory.
    pub fn new(memory: &'a Memory, monotone: &'a Monotone) -> Result<Self, Exhausted> {
        let shards = (0..SHARDS).map(|_| Ok(Mutex::new(Shard::new(memory, monotone)?)));
        let dominance = monotone.mask();
        Ok(Self { shards: shards.collect::<Result<_, _>>()?, memory, dominance })
    }

    /// The hash by which a state belongs to a shard, and lies in it.
    #[inline]
    pub fn hash(&self, state: &[u64; W]) -> u64 {
        hash(state, self.dominance)
    }

    /// Adds states that all belong to the shard with this number.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then of no use any more.
    pub fn insert(&self, shard: usize, batch: &[[u64; W]]) -> Result<(), Exhausted> {
        self.lock(shard).insert(batch, self.memory)
    }

    /// Makes room for states that a shard is to hold. Without it, states that are restored in
    /// the order in which they lay in another table crowd at the front of one that grows, and
    /// their number is squared in the cost.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then of no use any more.
    pub fn reserve(&self, shard: usize, states: usize) -> Result<(), Exhausted> {
        self.lock(shard).reserve(states, self.memory)
    }

    /// Adds states as [`Self::insert`] added them once: as visited, or of these as new.
    ///
    /// # Errors
    /// If the memory does not suffice. The store is then of no use any more.
    pub fn restore(&self, shard: usize, batch: &[[u64; W]], is_new: bool) -> Result<(), Exhausted> {
        self.lock(shard).restore(batch, is_new, self.memory)
    }

    /// Hands a shard's states over, sorted, and of these those that are new; it has none then.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn drain<E>(
        &self,
        shard: usize,
        compare: impl Fn(&[u64; W], &[u64; W]) -> Ordering,
        take: impl FnOnce(&[[u64; W]], &[[u64; W]]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.lock(shard).drain(compare, take, self.memory)
    }

    /// Lets a look be taken at a shard, while nothing is added to it.
    pub fn look_into<R>(&self, shard: usize, look: impl FnOnce(&Shard<'a, W>) -> R) -> R {
        look(&self.lock(shard))
    }

    /// The budget of all states.
    pub const fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Takes the states out that were new since the last time, shard by shard:
    /// those that no later one dominates.
    pub fn take_new(&self, shard: usize) -> Vec<Chunk<W>> {
        self.lock(shard).take_new(self.memory)
    }

    /// Whether that holds of a state that differs from this one at most in what is
    /// monotone.
    pub fn any_alike(&self, state: &[u64; W], holds: impl FnMut(&[u64; W]) -> bool) -> bool {
        self.lock(shard_of(self.hash(state))).any_alike(state, holds)
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Shard<'a, W>> {
        // A panic elsewhere ends the search anyway.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shard of a state with this hash: the top bits. The rest places it there.
#[inline]
pub const fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARDS.trailing_zeros())) as usize
}

/// Multiplies and folds, word by word; `dominance` is left out.
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
    // Once more: the fold's top bits depend on the high bits of the last word only.
    let product = u128::from(hash) * u128::from(SEED);
    product as u64 ^ (product >> 64) as u64
}
