//! Interned rows of numbers of equal width.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use snapshot_core::seeded::SeededState;

/// Interner of rows, numbered by first occurrence.
#[derive(Debug)]
pub struct Rows {
    width: usize,
    all: Vec<u32>,
    numbers: HashTable<u32>,
    /// Seeded, because the author of a certificate chooses its rows.
    hasher: SeededState,
}

impl Rows {
    pub fn new(width: usize) -> Self {
        let hasher = SeededState::default();
        Self { width, all: Vec::new(), numbers: HashTable::new(), hasher }
    }

    pub const fn len(&self) -> usize {
        self.all.len() / self.width
    }

    pub fn get(&self, number: usize) -> &[u32] {
        &self.all[number * self.width..(number + 1) * self.width]
    }

    /// Returns the number of a row, if present.
    pub fn find(&self, row: &[u32]) -> Option<usize> {
        let is_it = |&number: &u32| self.get(number as usize) == row;
        self.numbers.find(self.hasher.hash_one(row), is_it).map(|number| *number as usize)
    }

    /// Adds a row that must be absent.
    pub fn push(&mut self, row: &[u32]) -> usize {
        debug_assert_eq!(row.len(), self.width);
        let number = self.len();
        self.all.extend_from_slice(row);
        let (all, width, hasher) = (&self.all, self.width, &self.hasher);
        self.numbers.insert_unique(hasher.hash_one(row), number as u32, |&number| {
            hasher.hash_one(&all[number as usize * width..(number as usize + 1) * width])
        });
        number
    }

    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<u32>() + self.numbers.allocation_size()
    }
}
