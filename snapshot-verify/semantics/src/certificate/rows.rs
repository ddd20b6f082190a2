//! Rows of numbers, all of one width, each once.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Rows, by number in the order in which they came.
#[derive(Debug)]
pub struct Rows {
    width: usize,
    all: Vec<u32>,
    numbers: HashTable<u32>,
}

impl Rows {
    /// Without rows.
    pub const fn new(width: usize) -> Self {
        Self { width, all: Vec::new(), numbers: HashTable::new() }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.all.len() / self.width
    }

    /// One of them.
    pub fn get(&self, number: usize) -> &[u32] {
        &self.all[number * self.width..(number + 1) * self.width]
    }

    /// The number of a row that is there.
    pub fn find(&self, row: &[u32]) -> Option<usize> {
        let is_it = |&number: &u32| self.get(number as usize) == row;
        self.numbers.find(hash(row), is_it).map(|number| *number as usize)
    }

    /// Adds a row that is not there.
    pub fn push(&mut self, row: &[u32]) -> usize {
        debug_assert_eq!(row.len(), self.width);
        let number = self.len();
        self.all.extend_from_slice(row);
        let (all, width) = (&self.all, self.width);
        self.numbers.insert_unique(hash(row), number as u32, |&number| {
            hash(&all[number as usize * width..(number as usize + 1) * width])
        });
        number
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<u32>() + self.numbers.allocation_size()
    }
}

fn hash(row: &[u32]) -> u64 {
    FxBuildHasher.hash_one(row)
}
