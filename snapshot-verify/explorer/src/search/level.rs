//! One level of a search: its states, handed out chunk by chunk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::budget::Memory;
use super::store::{Chunk, Frontier};

/// The states of one level that no thread has taken yet, and perhaps those that
/// were explored.
pub(super) struct Level<'a, const W: usize> {
    waiting: Mutex<Vec<Chunk<W>>>,
    /// Explored, if they are to be kept.
    explored: Option<Mutex<Vec<Chunk<W>>>>,
    states: u64,
    explored_states: AtomicU64,
    memory: &'a Memory,
}

impl<'a, const W: usize> Level<'a, W> {
    /// All states of a level; `keep` says whether [`Self::into_kept`] will give
    /// them back. Otherwise their memory is free as soon as they were explored.
    pub(super) fn new(chunks: Vec<Chunk<W>>, keep: bool, memory: &'a Memory) -> Self {
        Self {
            states: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            waiting: Mutex::new(chunks),
            explored: keep.then(Mutex::default),
            explored_states: AtomicU64::new(0),
            memory,
        }
    }

    /// Some states to explore, unless there are none left.
    pub(super) fn take(&self) -> Option<Chunk<W>> {
        lock(&self.waiting).pop()
    }

    /// These were taken, and not explored to the end: they wait again.
    pub(super) fn put_back(&self, chunk: Chunk<W>) {
        lock(&self.waiting).push(chunk);
    }

    /// Whether no states are left to take.
    pub(super) fn is_done(&self) -> bool {
        lock(&self.waiting).is_empty()
    }

    /// Calls with each chunk that waits, until it fails.
    pub(super) fn each_waiting<E>(
        &self,
        each: impl FnMut(&Chunk<W>) -> Result<(), E>,
    ) -> Result<(), E> {
        lock(&self.waiting).iter().try_for_each(each)
    }

    /// These were explored.
    pub(super) fn explored(&self, chunk: Chunk<W>) {
        self.explored_states.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        match &self.explored {
            Some(explored) => lock(explored).push(chunk),
            None => self.memory.give(Frontier::<W>::CHUNK_BYTES),
        }
    }

    /// How many states the level has.
    pub(super) const fn states(&self) -> u64 {
        self.states
    }

    /// How many of them were explored.
    pub(super) fn explored_states(&self) -> u64 {
        self.explored_states.load(Ordering::Relaxed)
    }

    /// The states that were explored, if they were to be kept, in any order.
    pub(super) fn into_kept(self) -> Option<Vec<Chunk<W>>> {
        Some(self.explored?.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere ends the search anyway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
