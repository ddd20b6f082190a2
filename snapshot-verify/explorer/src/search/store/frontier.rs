//! States still to be explored.
//!
//! They come in chunks of bounded size, so that what is explored can be freed
//! while the next level grows, and nothing large is ever copied to grow.

use crate::search::budget::{Exhausted, Memory};

/// How many states a chunk holds at most.
pub const CHUNK: usize = 256;

/// Some states.
pub type Chunk<const W: usize> = Vec<[u64; W]>;

/// States in chunks, counted in a memory budget.
#[derive(Clone, Debug, Default)]
pub struct Frontier<const W: usize> {
    chunks: Vec<Chunk<W>>,
}

impl<const W: usize> Frontier<W> {
    /// What a chunk takes.
    pub const CHUNK_BYTES: usize = CHUNK * size_of::<[u64; W]>();

    /// No states.
    pub const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Adds a state.
    ///
    /// # Errors
    /// If the memory does not suffice for another chunk.
    #[inline]
    pub fn push(&mut self, state: [u64; W], memory: &Memory) -> Result<(), Exhausted> {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(state),
            _ => {
                memory.take(Self::CHUNK_BYTES)?;
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(state);
                self.chunks.push(chunk);
            }
        }
        Ok(())
    }

    /// Its states, in order.
    pub fn states(&self) -> impl Iterator<Item = &[u64; W]> {
        self.chunks.iter().flatten()
    }

    /// Takes the chunks out; their taker gives their memory back.
    pub fn take(&mut self) -> Vec<Chunk<W>> {
        std::mem::take(&mut self.chunks)
    }
}
