//! Rows of numbers, packed, in the order in which they were added.
//!
//! A full chunk of rows stores each column as the difference to the least number of the column in
//! the chunk, in as many bits as the greatest difference needs (*frame of reference*: Goldstein,
//! Ramakrishnan and Shaft, *Compressing relations and indexes*, ICDE 1998). Rows of a chunk have the
//! same length, so each is found without reading others. Growth copies nothing but the last chunk.

use std::mem::size_of;

/// Rows per chunk.
const CHUNK: usize = 1 << 10;

/// Sequence of rows of one width.
#[derive(Debug)]
pub struct Rows {
    width: usize,
    len: usize,
    packed: Vec<Chunk>,
    /// Rows of the last chunk, one after the other, not yet packed.
    last: Vec<u32>,
    /// Bytes of the packed chunks.
    bytes: usize,
}

#[derive(Debug)]
struct Chunk {
    columns: Box<[Column]>,
    /// Bits per row.
    stride: usize,
    /// Two words more than the rows need: a column without bits may begin behind the last row.
    words: Box<[u64]>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    least: u32,
    /// Largest difference that the bits can hold.
    mask: u32,
    /// First bit in a row.
    start: u32,
}

impl Rows {
    pub const fn new(width: usize) -> Self {
        Self { width, len: 0, packed: Vec::new(), last: Vec::new(), bytes: 0 }
    }

    pub const fn len(&self) -> usize {
        self.len
    }

    pub const fn width(&self) -> usize {
        self.width
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        if self.last.len() == CHUNK * self.width {
            let chunk = Chunk::new(&self.last, self.width);
            self.bytes += chunk.bytes();
            self.packed.push(chunk);
            self.last.clear();
        }
        if self.last.capacity() == 0 {
            self.last.reserve_exact(CHUNK * self.width);
        }
        self.last.extend(row);
        self.len += 1;
        debug_assert_eq!(self.last.len(), ((self.len - 1) % CHUNK + 1) * self.width);
    }

    /// Returns a number.
    #[inline]
    pub fn get(&self, row: u32, column: usize) -> u32 {
        let (chunk, row) = (row as usize / CHUNK, row as usize % CHUNK);
        match self.packed.get(chunk) {
            Some(chunk) => chunk.get(row, &chunk.columns[column]),
            None => self.last[row * self.width + column],
        }
    }

    /// Copies the columns from `first` on.
    pub fn copy(&self, row: u32, first: usize, to: &mut [u32]) {
        let (chunk, row) = (row as usize / CHUNK, row as usize % CHUNK);
        match self.packed.get(chunk) {
            Some(chunk) => {
                let columns = &chunk.columns[first..first + to.len()];
                to.iter_mut().zip(columns).for_each(|(to, column)| *to = chunk.get(row, column));
            }
            None => {
                let from = row * self.width + first;
                to.copy_from_slice(&self.last[from..from + to.len()]);
            }
        }
    }

    /// Returns true if the first columns of a row are these.
    #[inline]
    pub fn begins_with(&self, row: u32, numbers: &[u32]) -> bool {
        let (chunk, row) = (row as usize / CHUNK, row as usize % CHUNK);
        match self.packed.get(chunk) {
            Some(chunk) => {
                let mut columns = numbers.iter().zip(&*chunk.columns);
                columns.all(|(number, column)| chunk.get(row, column) == *number)
            }
            None => self.last[row * self.width..][..numbers.len()] == *numbers,
        }
    }

    /// Approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes + self.last.capacity() * size_of::<u32>()
    }

    /// Bound on the additional bytes for one more row.
    pub const fn growth(&self) -> usize {
        let is_full = self.len > 0 && self.last.len() == CHUNK * self.width;
        if self.last.capacity() == 0 || is_full {
            CHUNK * self.width * size_of::<u32>()
                + self.width * size_of::<Column>()
                + size_of::<[u64; 3]>()
        } else {
            0
        }
    }
}

impl Chunk {
    fn new(rows: &[u32], width: usize) -> Self {
        let column = |column: usize| rows[column..].iter().step_by(width).copied();
        let mut start = 0;
        let columns: Box<[Column]> = (0..width)
            .map(|number| {
                let least = column(number).min().unwrap_or(0);
                let range = column(number).max().unwrap_or(0) - least;
                let bits = u32::BITS - range.leading_zeros();
                let mask = u32::MAX.checked_shr(range.leading_zeros()).unwrap_or(0);
                start += bits;
                Column { least, mask, start: start - bits }
            })
            .collect();
        let stride = start as usize;
        let mut words = vec![0_u64; (CHUNK * stride).div_ceil(64) + 2].into_boxed_slice();
        for (row, numbers) in rows.chunks_exact(width).enumerate() {
            for (number, column) in numbers.iter().zip(&columns) {
                let bit = row * stride + column.start as usize;
                let difference = u64::from(number - column.least);
                words[bit / 64] |= difference << (bit % 64);
                words[bit / 64 + 1] |= (difference >> 1) >> (63 - bit % 64);
            }
        }
        Self { columns, stride, words }
    }

    #[inline]
    fn get(&self, row: usize, column: &Column) -> u32 {
        let bit = row * self.stride + column.start as usize;
        let (low, high) = (self.words[bit / 64], self.words[bit / 64 + 1]);
        let difference = (low >> (bit % 64)) | ((high << 1) << (63 - bit % 64));
        column.least + (difference as u32 & column.mask)
    }

    const fn bytes(&self) -> usize {
        size_of_val(&*self.columns) + size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that are constant, narrow, of odd width, and of all bits; also by chunks.
    #[test]
    fn rows_are_read_as_they_were_added() {
        let row = |number: u32| {
            let mixed = number.wrapping_mul(0x9e37_79b9);
            let by_chunk = mixed.wrapping_mul(number / CHUNK as u32);
            [7, number, number % 2, mixed, mixed >> 13, u32::MAX - number % 3, by_chunk, 9]
        };
        for width in 1..=8 {
            let mut rows = Rows::new(width);
            let count = 2 * CHUNK as u32 + 3;
            (0..count).for_each(|number| rows.push(row(number)[..width].iter().copied()));
            assert_eq!((rows.len(), rows.packed.len()), (count as usize, 2));
            let mut copied = vec![0; width];
            for number in 0..count {
                let expected = &row(number)[..width];
                rows.copy(number, 0, &mut copied);
                assert_eq!(copied, expected, "{number}");
                rows.copy(number, width / 2, &mut copied[width / 2..]);
                assert_eq!(copied, expected, "{number}");
                assert_eq!(rows.get(number, width - 1), expected[width - 1]);
                assert!(rows.begins_with(number, expected) && rows.begins_with(number, &[]));
                copied[width - 1] ^= 1;
                assert!(!rows.begins_with(number, &copied), "{number}");
            }
        }
    }

    #[test]
    fn packed_rows_take_the_bits_of_their_differences() {
        let mut rows = Rows::new(3);
        (0..=CHUNK as u32).for_each(|number| rows.push([1 << 20, number, 1_000_000 + number % 5]));
        // None, 12, and 3 bits.
        assert!(rows.packed[0].bytes() < CHUNK * 15 / 8 + 64);
    }
}
