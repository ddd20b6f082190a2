//! Anonymous bits: handshakes and toggles.
//!
//! Some bits are only ever compared with each other, moved or negated; the program never reads
//! their value. Exchanging 0 and 1 in all of them changes no outcome. Nor does exchanging them in
//! one component of the following graph: its nodes are nonempty slots, and related slots are
//! connected (see [`super::classes::Class::related`]). A test compares descendants of one slot, or
//! of two slots in one component, so each component can be flipped separately. The representative
//! has 0 in the first slot of each component.
//!
//! Empty slots must be recognisable, so `dead` blanks these bits to `none`.

use std::mem;

use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{NONE, Scalar, SlotId};

#[derive(Clone, Debug)]
pub struct BitClass {
    slots: Vec<SlotId>,
    /// Per slot, by position, the positions of related slots.
    related: Vec<Vec<usize>>,
}

impl BitClass {
    /// Prepares the flips for a class.
    pub fn new(class: &Class, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        Ok(Self { slots: class.slots.clone(), related: class.related(deadline)? })
    }

    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    /// Flips components. O(slots + related pairs).
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let mut reached: SmallVec<[bool; 64]> = smallvec![false; self.slots.len()];
        let mut open: SmallVec<[usize; 64]> = SmallVec::new();
        for first in 0..self.slots.len() {
            let held = slots[self.slots[first].index()];
            let mut reach = |at: usize, open: &mut SmallVec<_>, slots: &[Scalar]| {
                if slots[self.slots[at].index()] != NONE && !mem::replace(&mut reached[at], true) {
                    open.push(at);
                }
            };
            reach(first, &mut open, slots);
            while let Some(at) = open.pop() {
                self.related[at].iter().for_each(|&next| reach(next, &mut open, slots));
                slots[self.slots[at].index()] ^= held;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a chain of slots, each related to the next.
    fn chain(length: usize) -> BitClass {
        let near = |at: usize| [at.wrapping_sub(1), at + 1].into_iter().filter(|&at| at < length);
        let slots = (0..length as u32).map(SlotId).collect();
        BitClass { slots, related: (0..length).map(|at| near(at).collect()).collect() }
    }

    #[test]
    fn components_starting_with_1_are_flipped_separately() {
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
