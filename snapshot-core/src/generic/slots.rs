//! Sets of slots: which of the open operations are taken.
//!
//! An operation holds a slot while it is open, and leaves it to a later one, so
//! there are no more slots than operations open at once (those that never
//! respond keep theirs). At one position of the history the set thus names
//! operations.

use std::hash::Hash;
use std::slice;

use smallvec::{SmallVec, smallvec};

/// A set of slots.
pub(crate) trait SlotSet: Clone + Eq + Hash {
    /// The empty set, for this many slots.
    fn empty(slots: usize) -> Self;
    fn words(&self) -> &[u64];
    fn words_mut(&mut self) -> &mut [u64];

    #[inline]
    fn contains(&self, slot: u32) -> bool {
        self.words()[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    fn insert(&mut self, slot: u32) {
        self.words_mut()[slot as usize / 64] |= 1 << (slot % 64);
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        self.words_mut()[slot as usize / 64] &= !(1 << (slot % 64));
    }

    /// The first slot, from `from` on, in this set and not in `other`.
    #[inline]
    fn next_not_in(&self, other: &Self, from: u32) -> Option<u32> {
        let first = from as usize / 64;
        let mut mask = u64::MAX << (from % 64);
        for (index, word) in self.words().iter().enumerate().skip(first) {
            let left = word & !other.words()[index] & mask;
            if left != 0 {
                return Some(index as u32 * 64 + left.trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }
}

/// A set of at most 64 slots.
impl SlotSet for u64 {
    fn empty(slots: usize) -> Self {
        debug_assert!(slots <= 64, "the set is chosen by the number of slots");
        0
    }

    #[inline]
    fn words(&self) -> &[u64] {
        slice::from_ref(self)
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        slice::from_mut(self)
    }
}

/// A set of any number of slots; of at most 256, without indirection.
pub(crate) type WideSet = SmallVec<[u64; 4]>;

impl SlotSet for WideSet {
    fn empty(slots: usize) -> Self {
        smallvec![0; slots.div_ceil(64)]
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}
