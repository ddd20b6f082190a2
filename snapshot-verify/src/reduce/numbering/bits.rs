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

    /// Flips components. O(related pairs).
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let mut seen = vec![false; self.slots.len()];
        let mut open: Vec<usize> = Vec::with_capacity(self.slots.len());
        for start in 0..self.slots.len() {
            let first = slots[self.slots[start].index()];
            if first == NONE || seen[start] {
                continue;
            }
            seen[start] = true;
            open.push(start);
            while let Some(at) = open.pop() {
                slots[self.slots[at].index()] ^= first;
                for &other in &self.related[at] {
                    if !seen[other] && slots[self.slots[other].index()] != NONE {
                        seen[other] = true;
                        open.push(other);
                    }
                }
            }
        }
    }
}
