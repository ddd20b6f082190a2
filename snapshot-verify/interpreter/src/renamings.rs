//! Cached renamings.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Renamed parts of states by the part and its new names; parts are numbers.
#[derive(Debug, Default)]
pub struct Renamings {
    known: HashTable<Renaming>,
    /// New names of all renamings.
    words: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Renaming {
    part: u32,
    start: u32,
    length: u32,
    renamed: u32,
}

impl Renamings {
    /// Returns the part with these new names, if it is known.
    pub fn find(&self, part: u32, names: &[u32]) -> Option<u32> {
        let is_it = |known: &Renaming| known.part == part && known.names(&self.words) == names;
        self.known.find(hash(part, names), is_it).map(|known| known.renamed)
    }

    /// Adds a renamed part, which must be new.
    pub fn insert(&mut self, part: u32, names: &[u32], renamed: u32) {
        let (start, length) = (self.words.len() as u32, names.len() as u32);
        self.words.extend_from_slice(names);
        let renaming = Renaming { part, start, length, renamed };
        let hash_of = |known: &Renaming| hash(known.part, known.names(&self.words));
        self.known.insert_unique(hash(part, names), renaming, hash_of);
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.known.allocation_size() + self.words.capacity() * size_of::<u32>()
    }
}

impl Renaming {
    fn names<'w>(&self, words: &'w [u32]) -> &'w [u32] {
        &words[self.start as usize..][..self.length as usize]
    }
}

fn hash(part: u32, names: &[u32]) -> u64 {
    FxBuildHasher.hash_one((part, names))
}
