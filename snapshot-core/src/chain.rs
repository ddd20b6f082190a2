//! The vectors of the complete operations, in their only possible order.
//!
//! Shared by the monitors of snapshots ([`crate::monitor`]) and of immediate snapshots
//! ([`crate::immediate`]). "Scan" stands for every operation that returns a vector. In a
//! linearizable history any two vectors are comparable (condition D), so they form a chain, and
//! comparable vectors are ordered by their sums. A new vector is comparable with all others iff it
//! is comparable with its two neighbours. It is at least as large as every scan that precedes it in
//! real time (condition C) iff it is at least as large as the largest of these. So one number per
//! open scan, the *floor*, replaces a vector: the sum of the largest complete scan at its
//! invocation.
//!
//! The chain keeps only the vectors from the floor of the oldest open scan on.

use std::collections::VecDeque;

/// A complete scan that returned one of the vectors.
#[derive(Clone, Copy, Debug)]
struct Element {
    sum: u64,
    /// Position of the vector, in units of vectors.
    slot: u32,
    /// The first scan that returned the vector.
    scan: u64,
}

/// A vector of the chain that contradicts a new one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Conflict {
    /// The vector precedes the new scan and is larger at some entry.
    Above(u64, Slot),
    /// Neither vector is larger than the other.
    Incomparable(u64, Slot),
}

/// Position of a vector in the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Slot(u32);

/// Vectors in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// Entries per vector.
    width: usize,
    /// Sums strictly ascend.
    elements: VecDeque<Element>,
    vectors: Vec<u64>,
    free: Vec<u32>,
}

#[inline]
fn at_most(smaller: &[u64], larger: &[u64]) -> bool {
    smaller.iter().zip(larger).fold(true, |so_far, (a, b)| so_far & (a <= b))
}

impl Chain {
    /// Returns the sum of the largest vector; 0 if the chain is empty.
    #[inline]
    pub fn floor(&self) -> u64 {
        self.elements.back().map_or(0, |element| element.sum)
    }

    /// Number of vectors kept.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// The vector at a slot.
    #[inline]
    pub fn vector(&self, slot: Slot) -> &[u64] {
        let start = slot.0 as usize * self.width;
        &self.vectors[start..start + self.width]
    }

    /// Returns the scan whose vector has the sum `floor`, if kept, and that vector.
    pub fn at_floor(&self, floor: u64) -> Option<(u64, Slot)> {
        let position = self.elements.binary_search_by_key(&floor, |element| element.sum).ok()?;
        let element = self.elements[position];
        Some((element.scan, Slot(element.slot)))
    }

    /// Inserts the vector of `scan`, which was invoked when the floor was `floor`. Returns true if
    /// the chain held no equal vector. O(width), plus the distance to the end of the chain.
    #[inline]
    pub fn insert(&mut self, vector: &[u64], scan: u64, floor: u64) -> Result<bool, Conflict> {
        self.insert_summed(vector, vector.iter().sum(), scan, floor)
    }

    /// As [`Self::insert`], for a vector with a known sum.
    #[inline]
    pub fn insert_summed(
        &mut self,
        vector: &[u64],
        sum: u64,
        scan: u64,
        floor: u64,
    ) -> Result<bool, Conflict> {
        if self.elements.is_empty() {
            self.width = vector.len();
        }
        debug_assert_eq!(self.width, vector.len(), "all scans have the same width");
        debug_assert_eq!(sum, vector.iter().sum());
        if sum < floor {
            return Err(self.below_floor(floor));
        }
        let position = self.position(sum);
        if let Some(&above) = self.elements.get(position) {
            let kept = self.vector(Slot(above.slot));
            if above.sum == sum && kept == vector {
                return Ok(false);
            }
            if above.sum == sum || !at_most(vector, kept) {
                return Err(self.conflict(vector, floor, above));
            }
        }
        if position > 0 {
            let below = self.elements[position - 1];
            if !at_most(self.vector(Slot(below.slot)), vector) {
                return Err(self.conflict(vector, floor, below));
            }
        }
        let slot = self.store(vector);
        let element = Element { sum, slot, scan };
        if position == self.elements.len() {
            self.elements.push_back(element);
        } else {
            self.elements.insert(position, element);
        }
        Ok(true)
    }

    /// Returns the largest vector whose sum is less than `sum`, and a scan that returned it.
    #[inline]
    pub fn below(&self, sum: u64) -> Option<(u64, &[u64])> {
        let element = self.elements.get(self.position(sum).checked_sub(1)?)?;
        Some((element.scan, self.vector(Slot(element.slot))))
    }

    /// Returns the smallest vector whose sum is greater than `sum`, and a scan that returned it.
    pub fn above(&self, sum: u64) -> Option<(u64, &[u64])> {
        let element = self.elements.get(self.position(sum + 1))?;
        Some((element.scan, self.vector(Slot(element.slot))))
    }

    /// Returns the largest vector, and a scan that returned it.
    #[inline]
    pub fn largest(&self) -> Option<(u64, &[u64])> {
        let element = self.elements.back()?;
        Some((element.scan, self.vector(Slot(element.slot))))
    }

    /// Returns the number of elements with a smaller sum. Searches backwards first, since most
    /// scans are recent.
    #[inline]
    fn position(&self, sum: u64) -> usize {
        let len = self.elements.len();
        for back in 0..len.min(4) {
            if self.elements[len - 1 - back].sum < sum {
                return len - back;
            }
        }
        self.elements.partition_point(|element| element.sum < sum)
    }

    #[cold]
    fn below_floor(&self, floor: u64) -> Conflict {
        let position = self.elements.partition_point(|element| element.sum < floor);
        let preceding = self.elements[position];
        debug_assert_eq!(preceding.sum, floor, "the floor of an open scan is kept");
        Conflict::Above(preceding.scan, Slot(preceding.slot))
    }

    #[cold]
    fn conflict(&self, vector: &[u64], floor: u64, neighbour: Element) -> Conflict {
        if let Ok(position) = self.elements.binary_search_by_key(&floor, |element| element.sum) {
            let preceding = self.elements[position];
            if !at_most(self.vector(Slot(preceding.slot)), vector) {
                return Conflict::Above(preceding.scan, Slot(preceding.slot));
            }
        }
        Conflict::Incomparable(neighbour.scan, Slot(neighbour.slot))
    }

    fn store(&mut self, vector: &[u64]) -> u32 {
        if let Some(slot) = self.free.pop() {
            let start = slot as usize * self.width;
            self.vectors[start..start + self.width].copy_from_slice(vector);
            slot
        } else {
            let slot = (self.vectors.len() / self.width) as u32;
            self.vectors.extend_from_slice(vector);
            slot
        }
    }

    /// Forgets the vectors below `floor`.
    #[inline]
    pub fn forget_below(&mut self, floor: u64) {
        while let Some(element) = self.elements.front()
            && element.sum < floor
        {
            self.free.push(element.slot);
            self.elements.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_forgotten_vectors_are_reused() {
        let mut chain = Chain::default();
        for scan in 1..1000 {
            assert_eq!(chain.insert(&[scan, 0, scan], scan, chain.floor()), Ok(true));
            assert_eq!(chain.insert(&[scan, 0, scan], scan, chain.floor()), Ok(false));
            let floor = chain.floor();
            assert_eq!(chain.at_floor(floor).map(|(by, _)| by), Some(scan));
            chain.forget_below(floor);
            assert_eq!((chain.len(), chain.at_floor(floor - 2)), (1, None));
        }
        assert!(chain.vectors.len() <= 2 * chain.width);
        assert!(chain.free.len() <= 2);
    }
}
