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

use super::classes::Class;
use crate::instance::{NONE, Scalar, SlotId};

/// One class of anonymous bits.
#[derive(Clone, Debug)]
pub struct BitClass {
    slots: Vec<SlotId>,
    related: Vec<Vec<usize>>,
}

impl BitClass {
    /// Of this class.
    pub fn new(class: &Class) -> Self {
        Self { slots: class.slots.clone(), related: class.related() }
    }

    /// Whether the slot is of the class.
    pub fn contains(&self, slot: SlotId) -> bool {
        self.slots.contains(&slot)
    }

    /// Flips components. O(related pairs).
    pub fn normalise(&self, slots: &mut [Scalar]) {
        // Seldom more than 64 slots: then nothing is allocated.
        let mut few = [0_u64; 1];
        let mut many = Vec::new();
        let seen = if self.slots.len() <= 64 {
            &mut few[..]
        } else {
            many.resize(self.slots.len().div_ceil(64), 0);
            &mut many[..]
        };
        for start in 0..self.slots.len() {
            let first = slots[self.slots[start].index()];
            if first != NONE && seen[start / 64] >> (start % 64) & 1 == 0 {
                self.flip(start, first, slots, seen);
            }
        }
    }

    /// Flips what is connected with a slot, if that holds 1.
    fn flip(&self, at: usize, by: Scalar, slots: &mut [Scalar], seen: &mut [u64]) {
        seen[at / 64] |= 1 << (at % 64);
        slots[self.slots[at].index()] ^= by;
        for &other in &self.related[at] {
            let is_new = seen[other / 64] >> (other % 64) & 1 == 0;
            if is_new && slots[self.slots[other].index()] != NONE {
                self.flip(other, by, slots, seen);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of slots, each related to the next.
    fn chain(length: usize) -> BitClass {
        let near = |at: usize| [at.wrapping_sub(1), at + 1].into_iter().filter(|&at| at < length);
        BitClass {
            slots: (0..length as u32).map(SlotId).collect(),
            related: (0..length).map(|at| near(at).collect()).collect(),
        }
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
