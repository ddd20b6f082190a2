//! Versions and counters without the reduction `counters`: as the text has them.
//!
//! **Counters** are what they are: natural numbers, bounded because operations are. A
//! loop that increments may still make them as large as it likes; then the search has no
//! end but its budget.
//!
//! **Versions** have no order and no size. A state has them by name, and fresh ones need
//! names: they are named 1, 2, ... in the order in which the slots hold them, 0 being the
//! first version of all, which programs can name. Two states that differ in names only
//! are the same state of the program, as they are to the interpreter, which names
//! versions likewise. No equality is forgotten, whether or not it can ever be noticed.
//!
//! So this is no reduction but the oracle of one: it shares nothing with
//! [`CanonicalRenaming`](super::CanonicalRenaming), neither classes nor relations.

use crate::instance::{Domain, Instance, NONE, Scalar, SlotId};
use crate::search::canonical;
use crate::search::layout::Registers;

/// Names for versions, in the order of their slots.
#[derive(Clone, Debug)]
pub struct Plain {
    /// The slots that hold versions.
    versions: Vec<SlotId>,
    has_counters: bool,
}

impl Plain {
    /// Of this instance.
    pub fn new(instance: &Instance) -> Self {
        let slots = || (0..instance.slots.len() as u32).map(SlotId);
        let domain = |slot: SlotId| instance.slot(slot).domain;
        Self {
            versions: slots()
                .filter(|&slot| matches!(domain(slot), Domain::Version { .. }))
                .collect(),
            has_counters: slots().any(|slot| matches!(domain(slot), Domain::Counter { .. })),
        }
    }

    /// Whether there are counters, which are finitely many only where operations are
    /// bounded.
    pub const fn has_counters(&self) -> bool {
        self.has_counters
    }

    /// Whether there is nothing to name or count.
    pub const fn is_trivial(&self) -> bool {
        self.versions.is_empty() && !self.has_counters
    }

    /// Names versions in the order of their slots. O(the square of their number).
    pub fn rename(&self, slots: &mut [Scalar]) {
        let mut known: Vec<Scalar> = vec![0];
        for slot in &self.versions {
            let version = slots[slot.index()];
            if version == NONE {
                continue;
            }
            let name = known.iter().position(|one| *one == version).unwrap_or_else(|| {
                known.push(version);
                known.len() - 1
            });
            slots[slot.index()] = name as Scalar;
        }
    }
}

impl canonical::Numbering for Plain {
    fn numbers(&self, slot: SlotId) -> u32 {
        match self.versions.contains(&slot) {
            true => self.versions.len() as u32 + 1,
            // As many as a register holds.
            false => Scalar::MAX as u32,
        }
    }

    fn first_fresh(&self) -> Scalar {
        self.versions.len() as Scalar + 1
    }

    fn normalise(&self, registers: Registers, state: &mut [Scalar]) {
        self.rename(&mut state[..registers.slots()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_named_in_order_and_counters_stay() {
        let plain = Plain { versions: vec![SlotId(1), SlotId(2), SlotId(4)], has_counters: true };
        let mut slots = [7, 9, 0, 5, 9];
        plain.rename(&mut slots);
        assert_eq!(slots, [7, 1, 0, 5, 1]);
        let mut slots = [7, NONE, 4, 5, 9];
        plain.rename(&mut slots);
        assert_eq!(slots, [7, NONE, 1, 5, 2]);
    }
}
