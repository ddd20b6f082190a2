//! Interned rows of numbers, in the order in which they were reached.
//!
//! [`Rows`] hold them; a hash table has their numbers and a part of their hashes, so that it grows
//! without reading rows. Its slots are in the order of these hashes, except for collisions, so that
//! growth copies from one place to one place: it costs no cache misses and can be small.
//! Breadth-first, the rows that have not been expanded are the last ones, so no queue is needed. Each
//! row may have further columns beside it, such as its parent, the row from which it was first
//! reached.
//!
//! Looking up a row mostly waits for memory: its slot, and the row that is compared with it. Rows of a
//! [`Batch`] are looked up together, so that these waits overlap.

use std::hint::black_box;
use std::mem::size_of;

use super::memo::{digest, within};
use super::rows::Rows;

/// Table of rows of one width.
#[derive(Debug)]
pub struct Table {
    width: usize,
    rows: Rows,
    numbers: Numbers,
}

impl Table {
    /// Creates an empty table of rows with this many columns, and further ones `beside` them.
    pub const fn new(width: usize, beside: usize) -> Self {
        Self { width, rows: Rows::new(width + beside), numbers: Numbers::new() }
    }

    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Copies the row with this number.
    pub fn copy(&self, number: u32, to: &mut [u32]) {
        self.rows.copy(number, 0, to);
    }

    /// Returns a column of a row.
    pub fn get(&self, number: u32, column: usize) -> u32 {
        self.rows.get(number, column)
    }

    /// Returns the first column beside a row: its parent.
    pub fn parent(&self, number: u32) -> u32 {
        self.rows.get(number, self.width)
    }

    /// Returns true if this is the row with this number.
    pub fn is(&self, number: u32, row: &[u32]) -> bool {
        self.rows.begins_with(number, row)
    }

    /// Returns the number of a row, if it is known.
    pub fn find(&self, row: &[u32]) -> Option<u32> {
        self.numbers.find(digest(row), |known| self.rows.begins_with(known, row)).ok()
    }

    /// Returns the number of a row. A new row gets the previous number of rows, and these columns
    /// beside it.
    pub fn insert(&mut self, row: &[u32], beside: &[u32]) -> u32 {
        debug_assert_eq!(row.len(), self.width);
        self.numbers.make_room(self.rows.len());
        let tag = digest(row);
        let found = self.numbers.find(tag, |known| self.rows.begins_with(known, row));
        found.unwrap_or_else(|slot| {
            let number = self.rows.len() as u32;
            self.numbers.slots[slot] = Numbers::entry(tag, number);
            self.rows.push(row.iter().chain(beside).copied());
            number
        })
    }

    /// Looks up all rows of a batch.
    pub fn look_up(&self, batch: &mut Batch) {
        let Batch { rows, found, .. } = batch;
        let rows = rows.chunks_exact(self.width);
        found.clear();
        found.extend(rows.clone().map(digest));
        // Loads that do not depend on each other, without a branch between them.
        black_box(found.iter().fold(0, |all, tag| all ^ self.numbers.first_slot(*tag)));
        for tag in &mut *found {
            *tag = self.numbers.find(*tag, |_| true).unwrap_or(Batch::NEW);
        }
        let known = found.iter().filter(|number| **number != Batch::NEW);
        black_box(known.fold(0, |all, number| all ^ self.rows.get(*number, 0)));
        for (number, row) in found.iter_mut().zip(rows) {
            if *number != Batch::NEW && !self.rows.begins_with(*number, row) {
                // The row with the same tag is another one.
                *number = self.find(row).unwrap_or(Batch::NEW);
            }
        }
    }

    /// Returns the number of a row of a batch that was looked up. A new row is inserted, with these
    /// columns beside it.
    pub fn insert_from(&mut self, batch: &Batch, position: usize, beside: &[u32]) -> u32 {
        match batch.found[position] {
            Batch::NEW => self.insert(batch.row(position), beside),
            number => number,
        }
    }

    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.numbers.bytes()
    }

    /// Bound on the temporary additional bytes for one more row.
    pub fn growth(&self) -> usize {
        self.rows.growth() + self.numbers.growth(self.rows.len())
    }
}

/// Rows to be looked up together, one after the other.
#[derive(Debug)]
pub struct Batch {
    width: usize,
    rows: Vec<u32>,
    /// Number of each row; [`Batch::NEW`]: no such row is in the table.
    found: Vec<u32>,
}

impl Batch {
    const NEW: u32 = u32::MAX;

    /// Rows that fill a batch: their cache lines fit into the first cache.
    pub const ROWS: usize = 128;

    /// Creates an empty batch of rows with this many columns.
    pub const fn new(width: usize) -> Self {
        Self { width, rows: Vec::new(), found: Vec::new() }
    }

    pub const fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    pub fn push(&mut self, row: &[u32]) {
        self.rows.extend_from_slice(row);
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows * self.width);
    }

    /// Returns a row.
    pub fn row(&self, position: usize) -> &[u32] {
        &self.rows[position * self.width..][..self.width]
    }

    /// Returns true if inserting a row of the batch, which was looked up, may add it to the table.
    pub fn may_be_new(&self, position: usize) -> bool {
        self.found[position] == Self::NEW
    }
}

/// Numbers of rows by hash, with linear probing.
#[derive(Debug)]
struct Numbers {
    /// Tag and number; [`Numbers::FREE`].
    slots: Vec<u64>,
}

impl Numbers {
    const FREE: u64 = u64::MAX;

    /// Fewest slots, if there are any.
    const FEWEST: usize = 16;

    const fn new() -> Self {
        Self { slots: Vec::new() }
    }

    const fn entry(tag: u32, number: u32) -> u64 {
        (tag as u64) << u32::BITS | number as u64
    }

    /// Returns what is in the first slot for this tag.
    fn first_slot(&self, tag: u32) -> u64 {
        self.slots.get(within(tag, self.slots.len())).copied().unwrap_or(Self::FREE)
    }

    /// Returns the number with this tag that satisfies a condition, else the slot for it.
    fn find(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mut slot = within(tag, self.slots.len());
        while let Some(&entry) = self.slots.get(slot) {
            if entry == Self::FREE {
                break;
            }
            if (entry >> u32::BITS) as u32 == tag && is_it(entry as u32) {
                return Ok(entry as u32);
            }
            slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
        }
        Err(slot)
    }

    /// Returns the number of slots that one more row needs, if there are too few.
    fn wanted(&self, rows: usize) -> Option<usize> {
        let slots = self.slots.len();
        (4 * (rows + 1) > 3 * slots).then(|| (slots + slots / 4).max(Self::FEWEST))
    }

    fn make_room(&mut self, rows: usize) {
        let Some(wanted) = self.wanted(rows) else { return };
        let before = std::mem::replace(&mut self.slots, vec![Self::FREE; wanted]);
        for entry in before.into_iter().filter(|entry| *entry != Self::FREE) {
            if let Err(slot) = self.find((entry >> u32::BITS) as u32, |_| false) {
                self.slots[slot] = entry;
            }
        }
    }

    const fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// While the table grows, both copies exist.
    fn growth(&self, rows: usize) -> usize {
        self.wanted(rows).map_or(0, |wanted| wanted * size_of::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_numbers_in_their_order_and_columns_beside_them() {
        let mut table = Table::new(2, 1);
        let rows = 3 * 4096 + 5;
        for number in 0..rows {
            assert_eq!(table.find(&[number, number / 7]), None);
            assert_eq!(table.insert(&[number, number / 7], &[number / 2]), number);
            assert_eq!(table.insert(&[number / 3, number / 21], &[0]), number / 3);
        }
        assert_eq!(table.len(), rows as usize);
        let mut row = [0, 0];
        for number in 0..rows {
            table.copy(number, &mut row);
            assert_eq!((row, table.parent(number)), ([number, number / 7], number / 2));
            assert_eq!(table.get(number, 1), number / 7);
            assert_eq!(table.find(&row), Some(number));
        }
    }

    /// Rows of a batch, some of them twice, and some known: looked up together, they get the numbers
    /// that they get one after the other.
    #[test]
    fn batches_are_numbered_as_single_rows() {
        let (mut single, mut table) = (Table::new(2, 1), Table::new(2, 1));
        let (mut batch, mut known) = (Batch::new(2), 0);
        for first in (0..200_000).step_by(50) {
            let rows = (first..first + 100).map(|number: u32| [number / 2, number % 1000]);
            rows.clone().for_each(|row| batch.push(&row));
            table.look_up(&mut batch);
            for (position, row) in rows.enumerate() {
                known += usize::from(!batch.may_be_new(position));
                let expected = single.insert(&row, &[first]);
                assert_eq!(table.insert_from(&batch, position, &[first]), expected);
            }
            batch.truncate(0);
        }
        assert_eq!(table.len(), single.len());
        assert!(known > 50_000, "{known}");
    }

    #[test]
    fn growth_is_announced() {
        let mut table = Table::new(1, 1);
        for number in 0..20_000_u32 {
            let announced = table.bytes() + table.growth();
            table.insert(&[number.wrapping_mul(0x9e37_79b9)], &[number]);
            assert!(table.bytes() <= announced, "{number}");
        }
    }
}
