//! Interned states as rows of numbers, in the order in which they were reached.
//!
//! Rows lie one after the other in chunks of a fixed size, so that growth copies nothing; a hash
//! table holds their numbers. Breadth-first, the rows that have not been expanded are the last
//! ones, so no queue is needed. Each row stores its parent, the row from which it was first
//! reached.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

const CHUNK: usize = 1 << 12;

/// Bound on the size of the smallest hash table, in bytes.
const SMALLEST: usize = 1 << 7;

/// Table of rows of one width.
#[derive(Debug)]
pub struct Table {
    width: usize,
    rows: Rows,
    numbers: HashTable<Entered>,
}

/// Number of a row, with a part of its hash: a growing table then reads no rows.
#[derive(Clone, Copy, Debug)]
struct Entered {
    number: u32,
    tag: u32,
}

/// Rows, each followed by its parent.
#[derive(Debug)]
struct Rows {
    stride: usize,
    chunks: Vec<Vec<u32>>,
    len: usize,
}

impl Rows {
    fn get(&self, number: u32) -> &[u32] {
        let (chunk, row) = (number as usize / CHUNK, number as usize % CHUNK);
        &self.chunks[chunk][row * self.stride..(row + 1) * self.stride]
    }
}

impl Table {
    pub fn new(width: usize) -> Self {
        let rows = Rows { stride: width + 1, chunks: Vec::new(), len: 0 };
        Self { width, rows, numbers: HashTable::new() }
    }

    pub const fn len(&self) -> usize {
        self.rows.len
    }

    pub fn row(&self, number: u32) -> &[u32] {
        &self.rows.get(number)[..self.width]
    }

    /// Returns the row from which a row was first reached; the first row is its own parent.
    pub fn parent(&self, number: u32) -> u32 {
        self.rows.get(number)[self.width]
    }

    /// Returns the number of a row. A new row gets the previous number of rows.
    pub fn insert(&mut self, row: &[u32], parent: u32) -> u32 {
        debug_assert_eq!(row.len(), self.width);
        let (rows, width) = (&mut self.rows, self.width);
        let tag = tag(row);
        let is_it = |known: &Entered| known.tag == tag && rows.get(known.number)[..width] == *row;
        match self.numbers.entry(spread(tag), is_it, |known| spread(known.tag)) {
            Entry::Occupied(known) => known.get().number,
            Entry::Vacant(place) => {
                let number = rows.len as u32;
                place.insert(Entered { number, tag });
                if rows.len.is_multiple_of(CHUNK) {
                    rows.chunks.push(Vec::with_capacity(CHUNK * rows.stride));
                }
                let chunk = rows.chunks.last_mut().expect("there is one with place");
                chunk.extend_from_slice(row);
                chunk.push(parent);
                rows.len += 1;
                number
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.rows.chunks.len() * self.chunk_bytes() + self.numbers.allocation_size()
    }

    /// Bound on the temporary additional bytes for one more row: while the hash table grows, both
    /// copies exist.
    pub fn growth(&self) -> usize {
        let chunk = if self.rows.len.is_multiple_of(CHUNK) { self.chunk_bytes() } else { 0 };
        let grows = self.numbers.len() == self.numbers.capacity();
        chunk + if grows { (2 * self.numbers.allocation_size()).max(SMALLEST) } else { 0 }
    }

    const fn chunk_bytes(&self) -> usize {
        CHUNK * self.rows.stride * size_of::<u32>()
    }
}

fn tag(row: &[u32]) -> u32 {
    let hash = FxBuildHasher.hash_one(row);
    (hash ^ (hash >> 32)) as u32
}

/// Returns a hash whose high and low bits depend on all of a tag.
const fn spread(tag: u32) -> u64 {
    let product = (tag as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_numbers_in_their_order_and_parents() {
        let mut table = Table::new(2);
        let rows = 3 * CHUNK as u32 + 5;
        for number in 0..rows {
            assert_eq!(table.insert(&[number, number / 7], number / 2), number);
            assert_eq!(table.insert(&[number / 3, number / 21], 0), number / 3);
        }
        assert_eq!(table.len(), rows as usize);
        for number in 0..rows {
            assert_eq!(table.row(number), [number, number / 7]);
            assert_eq!(table.parent(number), number / 2);
        }
    }

    #[test]
    fn growth_is_announced() {
        let mut table = Table::new(1);
        for number in 0..20_000 {
            let announced = table.bytes() + table.growth();
            table.insert(&[number], 0);
            assert!(table.bytes() <= announced, "{number}");
        }
    }
}
