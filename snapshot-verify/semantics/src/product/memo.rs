//! Remembered results of functions on numbers: a flat hash table from few numbers to few numbers.
//!
//! An entry has its key and its value beside each other, so a question costs one cache miss. As in
//! [`Table`](super::Table), entries are in the order of their hashes, so growth copies from one
//! place to one place and can be small.

use std::mem::size_of;

/// A function's known results, from K numbers to V numbers.
#[derive(Clone, Debug)]
pub struct Memo<const K: usize, const V: usize> {
    entries: Vec<Entry<K, V>>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry<const K: usize, const V: usize> {
    key: [u32; K],
    value: [u32; V],
}

/// Fewest entries, if there are any.
const FEWEST: usize = 16;

impl<const K: usize, const V: usize> Default for Memo<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), len: 0 }
    }
}

impl<const K: usize, const V: usize> Memo<K, V> {
    /// A key that never occurs.
    const FREE: Entry<K, V> = Entry { key: [u32::MAX; K], value: [0; V] };

    /// Returns the number of known values.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the value of a key, if it is known.
    #[inline]
    pub fn find(&self, key: &[u32; K]) -> Option<[u32; V]> {
        let entry = self.entries.get(self.place(key))?;
        (entry.key == *key).then_some(entry.value)
    }

    /// Adds the value of a key, which must be new and not consist of `u32::MAX` alone.
    pub fn insert(&mut self, key: &[u32; K], value: [u32; V]) {
        debug_assert!(*key != Self::FREE.key && self.find(key).is_none());
        if 4 * (self.len + 1) > 3 * self.entries.len() {
            let wanted = (self.entries.len() + self.entries.len() / 4).max(FEWEST);
            let before = std::mem::replace(&mut self.entries, vec![Self::FREE; wanted]);
            for entry in before.into_iter().filter(|entry| entry.key != Self::FREE.key) {
                let place = self.place(&entry.key);
                self.entries[place] = entry;
            }
        }
        let place = self.place(key);
        self.entries[place] = Entry { key: *key, value };
        self.len += 1;
    }

    /// Returns the value of a key; adds it if it is not known.
    pub fn get_or_insert_with(
        &mut self,
        key: &[u32; K],
        value: impl FnOnce() -> [u32; V],
    ) -> [u32; V] {
        self.find(key).unwrap_or_else(|| {
            let value = value();
            self.insert(key, value);
            value
        })
    }

    /// Returns the place of a key, else the free one for it.
    #[inline]
    fn place(&self, key: &[u32; K]) -> usize {
        let mut place = within(digest(key), self.entries.len());
        while let Some(entry) = self.entries.get(place) {
            if entry.key == *key || entry.key == Self::FREE.key {
                break;
            }
            place = if place + 1 == self.entries.len() { 0 } else { place + 1 };
        }
        place
    }

    /// Memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<K, V>>()
    }
}

/// Returns 32 bits, each of which depends on all numbers.
#[inline]
pub fn digest(numbers: &[u32]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (pairs, rest) = numbers.as_chunks::<2>();
    let mixed = |hash: u64, next: u64| {
        let product = u128::from(hash ^ next) * u128::from(FACTOR);
        product as u64 ^ (product >> u64::BITS) as u64
    };
    let pair = |[one, other]: &[u32; 2]| u64::from(*one) << u32::BITS | u64::from(*other);
    let hash = pairs.iter().map(pair).fold(FACTOR, mixed);
    let hash = rest.iter().map(|one| u64::from(*one)).fold(hash, mixed);
    (hash.wrapping_mul(FACTOR) >> u32::BITS) as u32
}

/// Returns the place of a digest among this many, in the order of digests.
pub const fn within(digest: u32, places: usize) -> usize {
    ((digest as u64 * places as u64) >> u32::BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_all_numbers_of_their_keys() {
        let mut memo: Memo<3, 2> = Memo::default();
        assert_eq!(memo.find(&[0, 0, 0]), None);
        let key = |number: u32| [number % 7, number / 7, number / 100];
        for number in 0..20_000 {
            assert_eq!(memo.find(&key(number)), None, "{number}");
            memo.insert(&key(number), [number, !number]);
        }
        for number in 0..20_000 {
            let [one, two, three] = key(number);
            assert_eq!(memo.find(&[one, two, three]), Some([number, !number]));
            for other in [[one + 7, two, three], [one, two + 20_000, three], [one, two, three + 1]]
            {
                assert_eq!(memo.find(&other), None, "{number}");
            }
        }
        let entry = size_of::<[u32; 5]>();
        assert!(memo.bytes() >= 20_000 * entry && memo.bytes() < 40_000 * entry);
    }

    /// Numbers that count up, and rows that differ in one bit, have digests that differ in about
    /// half of the bits: they fill a table evenly.
    #[test]
    fn digests_spread_similar_rows() {
        for row in (0..4000_u32).map(|number| [number / 100, number % 100, 7, number]) {
            for (column, bit) in (0..4).flat_map(|column| (0..32).map(move |bit| (column, bit))) {
                let mut other = row;
                other[column] ^= 1 << bit;
                let differing = (digest(&row) ^ digest(&other)).count_ones();
                assert!(differing > 2, "{row:?} {column} {bit}");
            }
        }
        let places: Vec<usize> = (0..4096).map(|number| within(digest(&[number, 5]), 64)).collect();
        let fullest = (0..64).map(|place| places.iter().filter(|at| **at == place).count()).max();
        assert!(fullest < Some(120), "{fullest:?}");
    }
}
