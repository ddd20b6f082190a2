//! One level of a search, handed out in chunks of states.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::budget::{Memory, Supervisor, Unfinished};
use super::spill::Reader;
use super::store::{CHUNK, Chunk, Frontier};

/// The states of one level that no thread has taken yet, and, if they are kept, the explored
/// states.
pub(super) struct Level<'a, const W: usize> {
    waiting: Mutex<Waiting<W>>,
    /// The explored states, if they are kept.
    explored: Option<Mutex<Vec<Chunk<W>>>>,
    states: u64,
    explored_states: AtomicU64,
    memory: &'a Memory,
}

/// States to be explored.
struct Waiting<const W: usize> {
    chunks: Vec<Chunk<W>>,
    /// States that wait on the disk.
    on_disk: Option<Reader<W>>,
}

impl<'a, const W: usize> Level<'a, W> {
    /// Creates a level. With `keep`, [`Self::into_kept`] returns the states; otherwise their memory
    /// is freed as soon as they are explored.
    pub(super) fn new(chunks: Vec<Chunk<W>>, keep: bool, memory: &'a Memory) -> Self {
        Self {
            states: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            waiting: Mutex::new(Waiting { chunks, on_disk: None }),
            explored: keep.then(Mutex::default),
            explored_states: AtomicU64::new(0),
            memory,
        }
    }

    /// Creates a level whose states are on the disk.
    pub(super) fn on_disk(reader: Reader<W>, memory: &'a Memory) -> Self {
        let states = reader.left();
        let waiting = Mutex::new(Waiting { chunks: Vec::new(), on_disk: Some(reader) });
        let (explored, explored_states) = (None, AtomicU64::new(0));
        Self { waiting, explored, states, explored_states, memory }
    }

    /// Moves the waiting states to the disk, unless explored states are kept in memory.
    pub(super) fn spill(
        &self,
        write: impl FnOnce(&[Chunk<W>]) -> io::Result<Reader<W>>,
    ) -> io::Result<()> {
        let mut waiting = lock(&self.waiting);
        if self.explored.is_none() && waiting.on_disk.is_none() && !waiting.chunks.is_empty() {
            waiting.on_disk = Some(write(&waiting.chunks)?);
            let chunks = std::mem::take(&mut waiting.chunks);
            self.memory.give(chunks.len() * Frontier::<W>::CHUNK_BYTES);
        }
        Ok(())
    }

    /// Takes a chunk of states to explore. Returns `None` if none are left or the watch ends.
    pub(super) fn take(&self, watch: &Supervisor<'_>) -> Option<Chunk<W>> {
        let mut waiting = lock(&self.waiting);
        if let Some(chunk) = waiting.chunks.pop() {
            return Some(chunk);
        }
        let reader = waiting.on_disk.as_mut().filter(|reader| reader.left() > 0)?;
        if self.memory.take(Frontier::<W>::CHUNK_BYTES).is_err() {
            watch.end(Unfinished::Memory);
            return None;
        }
        match reader.next_chunk(CHUNK) {
            Ok(chunk) => Some(chunk),
            Err(error) => {
                watch.fail(error);
                None
            }
        }
    }

    /// Returns a chunk that was taken but not fully explored.
    pub(super) fn put_back(&self, chunk: Chunk<W>) {
        lock(&self.waiting).chunks.push(chunk);
    }

    /// Returns true if no states are left to take.
    pub(super) fn is_done(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.chunks.is_empty() && waiting.on_disk.as_ref().is_none_or(|disk| disk.left() == 0)
    }

    /// Calls `each` with every chunk that waits in memory, until a call fails.
    pub(super) fn each_waiting<E>(
        &self,
        each: impl FnMut(&Chunk<W>) -> Result<(), E>,
    ) -> Result<(), E> {
        lock(&self.waiting).chunks.iter().try_for_each(each)
    }

    /// Records that a chunk was explored.
    pub(super) fn explored(&self, chunk: Chunk<W>) {
        self.explored_states.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        match &self.explored {
            Some(explored) => lock(explored).push(chunk),
            None => self.memory.give(Frontier::<W>::CHUNK_BYTES),
        }
    }

    pub(super) const fn states(&self) -> u64 {
        self.states
    }

    /// Returns the number of explored states.
    pub(super) fn explored_states(&self) -> u64 {
        self.explored_states.load(Ordering::Relaxed)
    }

    /// Returns the explored states in any order, if they were kept.
    pub(super) fn into_kept(self) -> Option<Vec<Chunk<W>>> {
        Some(self.explored?.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere ends the search anyway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
