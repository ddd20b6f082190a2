//! States still to be explored.
//!
//! States are held in chunks of bounded size, so that explored chunks can be freed while the next
//! level grows, and growth never copies large blocks.

use crate::search::budget::{Exhausted, Memory};

/// The greatest number of states in a chunk.
pub const CHUNK: usize = 256;

pub type Chunk<const W: usize> = Vec<[u64; W]>;

/// States in chunks, counted in a memory budget.
#[derive(Clone, Debug, Default)]
pub struct Frontier<const W: usize> {
    chunks: Vec<Chunk<W>>,
}

impl<const W: usize> Frontier<W> {
    /// The bytes of a chunk.
    pub const CHUNK_BYTES: usize = CHUNK * size_of::<[u64; W]>();

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

    /// Returns the states, in order.
    pub fn states(&self) -> impl Iterator<Item = &[u64; W]> {
        self.chunks.iter().flatten()
    }

    /// Takes the chunks out. The caller returns their memory to the budget.
    pub fn take(&mut self) -> Vec<Chunk<W>> {
        std::mem::take(&mut self.chunks)
    }
}
