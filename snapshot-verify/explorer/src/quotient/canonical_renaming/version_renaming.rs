//! Versions: numbered by first occurrence, as far as equality can be noticed.
//!
//! Two slots are related if a descendant of the one may be compared with a descendant of the other
//! ([`super::classes::Class::related`]). A copy is related at most to the slots that its original
//! is related to. So the equality of two unrelated slots is never noticed, not even through copies.
//!
//! Connect related slots that are equal. The components determine all equalities that can be
//! noticed: slots in one component are equal; related slots in two components differ. So every
//! numbering in which slots have equal numbers iff they are in one component describes a bisimilar
//! state. This one numbers components by their first slots. An old version that no process can
//! compare thus counts as different from all others.
//!
//! Number 0 is the initial version, if the program names it.

use smallvec::{SmallVec, smallvec};

use super::classes::Class;
use super::{Few, INLINE_SLOTS};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{NONE, Scalar, SlotId};

#[derive(Clone, Debug)]
pub struct VersionClass {
    slots: Vec<SlotId>,
    /// Per slot, by position, the positions of related slots.
    related: Vec<Vec<usize>>,
    /// The number of the first component.
    first: Scalar,
}

impl VersionClass {
    /// Prepares the renumbering of a class.
    pub fn new(class: &Class, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        Ok(Self {
            slots: class.slots.clone(),
            related: class.related(deadline)?,
            first: Scalar::from(!class.constants.is_empty()),
        })
    }

    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    /// Returns per slot the largest number in a normal state: one component per slot up to it.
    pub fn largest(&self) -> impl Iterator<Item = (SlotId, Scalar)> {
        self.slots.iter().zip(self.first..).map(|(&slot, largest)| (slot, largest))
    }

    /// Renumbers the versions of the class. O(related pairs).
    pub fn normalise(&self, slots: &mut [Scalar]) {
        let mut open = Few::new();
        let mut numbers: SmallVec<[Scalar; INLINE_SLOTS]> = smallvec![NONE; self.slots.len()];
        let mut next = self.first;
        for start in 0..self.slots.len() {
            let value = slots[self.slots[start].index()];
            if value == NONE || numbers[start] != NONE {
                continue;
            }
            numbers[start] = next;
            open.push(start);
            let mut is_constant = false;
            let mut members: Few = smallvec![start];
            while let Some(at) = open.pop() {
                is_constant |= self.first == 1 && value == 0;
                for &other in &self.related[at] {
                    if numbers[other] == NONE && slots[self.slots[other].index()] == value {
                        numbers[other] = next;
                        members.push(other);
                        open.push(other);
                    }
                }
            }
            if is_constant {
                members.iter().for_each(|&member| numbers[member] = 0);
            } else {
                next += 1;
            }
        }
        for (slot, number) in self.slots.iter().zip(numbers) {
            slots[slot.index()] = number;
        }
    }
}
