//! Versions and counters without the reduction `counters`.
//!
//! **Counters** are unchanged: natural numbers, bounded because operations are. A loop may still
//! increment them without bound; then the search ends only with its budget.
//!
//! **Versions** have neither order nor size; a state contains them by name. They are named 1, 2,
//! ... in the order of the slots that hold them; 0 is the initial version, which programs can name.
//! States that differ only in names are the same state of the program. The interpreter names
//! versions likewise. All equalities are kept, even if they can never be noticed.
//!
//! So this is not a reduction but the oracle of one: it shares neither classes nor relations with
//! [`CanonicalRenaming`](super::CanonicalRenaming).

use crate::instance::{Domain, Instance, NONE, Scalar, SlotId};
use crate::search::canonical;
use crate::search::layout::Registers;

/// Names versions in the order of their slots.
#[derive(Clone, Debug)]
pub struct Plain {
    /// The slots that hold versions.
    versions: Vec<SlotId>,
    has_counters: bool,
}

impl Plain {
    /// Prepares the names for an instance.
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

    /// Returns true if there are counters. They are finitely many only if operations are bounded.
    pub const fn has_counters(&self) -> bool {
        self.has_counters
    }

    /// Returns true if there are neither versions nor counters.
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
            // The limit of a register.
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
    fn versions_are_renumbered_and_counters_kept() {
        let plain = Plain { versions: vec![SlotId(1), SlotId(2), SlotId(4)], has_counters: true };
        let mut slots = [7, 9, 0, 5, 9];
        plain.rename(&mut slots);
        assert_eq!(slots, [7, 1, 0, 5, 1]);
        let mut slots = [7, NONE, 4, 5, 9];
        plain.rename(&mut slots);
        assert_eq!(slots, [7, NONE, 1, 5, 2]);
    }
}
