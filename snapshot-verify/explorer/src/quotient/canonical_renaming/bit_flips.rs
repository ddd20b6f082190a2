//! Anonymous bits: handshakes and toggles.
//!
//! Of some bits the program only ever tests whether two are equal, and moves or
//! negates them; it never looks at one. Exchanging 0 and 1 in all of them at
//! once changes no outcome. Nor does it in fewer: connect slots that are related
//! (see [`super::classes::Class::related`]) and hold something; a test compares
//! descendants of one slot, or of two in one component, so that a component
//! can be flipped by itself. The representative has 0 in the first slot of each
//! component.
//!
//! Empty slots must be known as such, so `dead` blanks these bits to none.

use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{NONE, Scalar, SlotId};

/// One class of anonymous bits.
#[derive(Clone, Debug)]
pub struct BitClass {
    slots: Vec<SlotId>,
    /// Per slot, by position, the positions of related slots.
    related: Vec<Set>,
}

/// A set of positions: one word, seldom more.
type Set = SmallVec<[u64; 1]>;

impl BitClass {
    /// Of this class.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn new(class: &Class, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        Ok(Self::related(class.slots.clone(), &class.related(deadline)?))
    }

    fn related(slots: Vec<SlotId>, related: &[Vec<usize>]) -> Self {
        let words = slots.len().div_ceil(64);
        let set = |positions: &Vec<usize>| {
            let mut set = smallvec![0; words];
            positions.iter().for_each(|at| set[at / 64] |= 1_u64 << (at % 64));
            set
        };
        Self { related: related.iter().map(set).collect(), slots }
    }

    /// Its slots.
    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    /// Flips components. O(slots * words of a set).
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let words = self.slots.len().div_ceil(64);
        let mut left: Set = smallvec![0; words];
        let mut ones: Set = smallvec![0; words];
        for (position, slot) in self.slots.iter().enumerate() {
            let (held, bit) = (slots[slot.index()], 1 << (position % 64));
            if held != NONE {
                left[position / 64] |= bit;
            }
            if held == 1 {
                ones[position / 64] |= bit;
            }
        }
        let mut flipped: Set = smallvec![0; words];
        while let Some(first) = first(&left) {
            let is_one = ones[first / 64] >> (first % 64) & 1 == 1;
            let mut open: Set = smallvec![0; words];
            open[first / 64] = 1 << (first % 64);
            while let Some(at) = self::first(&open) {
                let (word, bit) = (at / 64, 1 << (at % 64));
                open[word] &= !bit;
                left[word] &= !bit;
                if is_one {
                    flipped[word] |= bit;
                }
                for ((open, related), left) in open.iter_mut().zip(&self.related[at]).zip(&left) {
                    *open |= related & left;
                }
            }
        }
        while let Some(at) = first(&flipped) {
            flipped[at / 64] &= !(1 << (at % 64));
            slots[self.slots[at].index()] ^= 1;
        }
    }
}

/// The least position of a set.
fn first(set: &[u64]) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    Some(word * 64 + set[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of slots, each related to the next.
    fn chain(length: usize) -> BitClass {
        let near = |at: usize| [at.wrapping_sub(1), at + 1].into_iter().filter(|&at| at < length);
        let slots = (0..length as u32).map(SlotId).collect();
        BitClass::related(slots, &(0..length).map(|at| near(at).collect()).collect::<Vec<_>>())
    }

    #[test]
    fn components_are_flipped_by_themselves_and_only_if_they_begin_with_1() {
        let normal = |mut slots: Vec<Scalar>| {
            chain(slots.len()).normalise(&mut slots);
            slots
        };
        assert_eq!(normal(vec![1, 0, NONE, 0, 1]), [0, 1, NONE, 0, 1]);
        assert_eq!(normal(vec![NONE, 1, 1, NONE, 1]), [NONE, 0, 0, NONE, 0]);
        let long: Vec<Scalar> = (0..150).map(|at| (at + 1) % 2).collect();
        let flipped: Vec<Scalar> = (0..150).map(|at| at % 2).collect();
        assert_eq!(normal(long), flipped);
        assert_eq!(normal(flipped.clone()), flipped);
    }
}
