//! `counters`: versions and counters as canonical numbers.
//!
//! A program cannot name a version or a counter, only compare it. So states with the same outcomes
//! of comparisons are indistinguishable, and in every state the numbers can be chosen afresh,
//! always the same for the same relations. Unbounded numbers become finite, without a bound on the
//! number of operations.
//!
//! Slots between which numbers are moved or compared form a *class*; classes are independent.
//!
//! * **Versions** ([`version_renaming`]): only equality matters. Two slots are *related* if a
//!   descendant of the one may be compared with a descendant of the other. The equality of related
//!   slots determines all outcomes.
//! * **Counters** ([`counter_gaps`]): the order, the successor relation, and remainders matter.
//!   Larger gaps are kept as *at least* [`CAP`]; all cases that the successors of one move can
//!   distinguish are explored (`widening`).
//! * **Bits** that are only compared with each other ([`bit_flips`]): they are flipped.
//!
//! Without the reduction, [`plain`] takes its place: the oracle of this module.
//!
//! Empty slots (`none`: dead, or never set) are ignored.

pub mod bit_flips;
pub mod classes;
pub mod counter_gaps;
pub mod plain;
pub mod successors;
pub mod version_renaming;
mod widening;

use smallvec::SmallVec;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Scalar, SlotId};
use crate::search::canonical;
use crate::search::layout::Registers;
use bit_flips::BitClass;
use classes::{Class, Classes, Content};
use counter_gaps::CounterClass;
use successors::most_successors;
use version_renaming::VersionClass;

/// Smaller gaps between counters are kept exactly; this and larger ones as at least this.
pub const CAP: Scalar = 2;

/// A number of slots that classes seldom exceed.
const INLINE_SLOTS: usize = 32;

type Few = SmallVec<[usize; INLINE_SLOTS]>;

/// The canonical renumbering of an instance's versions and counters.
#[derive(Clone, Debug, Default)]
pub struct CanonicalRenaming {
    versions: Vec<VersionClass>,
    counters: Vec<CounterClass>,
    bits: Vec<BitClass>,
    /// The greatest number of successors of counters in a move, over all classes.
    most_successors: u32,
}

impl CanonicalRenaming {
    /// Prepares the renumbering of an instance, with gaps between counters capped at `cap`, 2 or
    /// more. O(size of the instance + the square of the slots concerned).
    pub fn new(instance: &Instance, cap: Scalar, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        let classes = Classes::new(instance);
        let mut numbering = Self::default();
        let mut counters: Vec<&Class> = Vec::new();
        for class in classes.iter() {
            match class.content {
                Content::Version => numbering.versions.push(VersionClass::new(class, deadline)?),
                Content::Counter => counters.push(class),
                Content::Bit => numbering.bits.push(BitClass::new(class, deadline)?),
            }
        }
        let mut bounded: Vec<(&Class, u32)> = Vec::new();
        for class in counters {
            let is_counted = |slot: SlotId| class.slots.binary_search(&slot).is_ok();
            let most = most_successors(instance, is_counted, deadline)?;
            bounded.extend(most.map(|most| (class, most)));
        }
        let is_counted = |slot: SlotId| {
            bounded.iter().any(|(class, _)| class.slots.binary_search(&slot).is_ok())
        };
        numbering.most_successors = most_successors(instance, is_counted, deadline)?.unwrap_or(0);
        for (class, most) in bounded {
            numbering.counters.push(CounterClass::new(class, cap, most, deadline)?);
        }
        Ok(numbering)
    }

    /// Returns true if the instance has no slots to renumber.
    pub fn is_trivial(&self) -> bool {
        self.versions.is_empty() && self.counters.is_empty() && self.bits.is_empty()
    }

    /// Returns true if the search may explore infeasible behaviour: see [`counter_gaps`].
    pub fn is_approximate(&self) -> bool {
        !self.counters.is_empty()
    }

    fn largest(&self) -> impl Iterator<Item = (SlotId, Scalar)> {
        let versions = self.versions.iter().flat_map(VersionClass::largest);
        versions.chain(self.counters.iter().flat_map(CounterClass::largest))
    }

    /// Renumbers a state's slots. Two states that comparisons cannot distinguish become equal.
    pub fn normalise(&self, slots: &mut [Scalar]) {
        self.normalise_where(slots, |_, _| true);
    }

    /// Renumbers a state that was made from a normal one, skipping unchanged classes.
    pub fn normalise_since(&self, normal: &[Scalar], slots: &mut [Scalar]) {
        self.normalise_where(slots, |of, slots| {
            of.iter().any(|slot| slots[slot.index()] != normal[slot.index()])
        });
    }

    /// Renumbers the classes for which `wanted` returns true.
    #[inline]
    fn normalise_where(&self, slots: &mut [Scalar], wanted: impl Fn(&[SlotId], &[Scalar]) -> bool) {
        for class in &self.versions {
            if wanted(class.slots(), slots) {
                class.normalise(slots);
            }
        }
        for class in &self.counters {
            if wanted(class.slots(), slots) {
                class.normalise(slots);
            }
        }
        for class in &self.bits {
            if wanted(class.slots(), slots) {
                class.normalise(slots);
            }
        }
    }

    /// Replaces a normal state by the `number`-th of the states that it represents, as far as a
    /// move can distinguish them. Number 0 is the state itself; the others have widened gaps.
    /// Returns `false` if there are fewer.
    pub fn widen(&self, slots: &mut [Scalar], number: u32) -> bool {
        widening::widen(&self.counters, self.most_successors, slots, number)
    }
}

impl canonical::Numbering for CanonicalRenaming {
    fn numbers(&self, slot: SlotId) -> u32 {
        let largest = self.largest().find(|(numbered, _)| *numbered == slot);
        largest.map_or(1, |(_, largest)| largest as u32 + 1)
    }

    fn is_renamed(&self, slot: SlotId) -> bool {
        self.bits.iter().any(|class| class.slots().contains(&slot))
    }

    fn first_fresh(&self) -> Scalar {
        // Versions are not widened; a successor is a counter.
        let largest = self.largest().map(|(_, largest)| largest).max();
        largest.map_or(0, |largest| 2 * (largest + 1))
    }

    fn expand(&self, registers: Registers, state: &mut [Scalar], number: u32) -> bool {
        self.widen(&mut state[..registers.slots()], number)
    }

    fn normalise(&self, registers: Registers, state: &mut [Scalar]) {
        self.normalise(&mut state[..registers.slots()]);
    }

    fn classes(&self) -> Vec<Vec<SlotId>> {
        let versions = self.versions.iter().map(VersionClass::slots);
        let counters = self.counters.iter().map(CounterClass::slots);
        let bits = self.bits.iter().map(BitClass::slots);
        versions.chain(counters).chain(bits).map(<[SlotId]>::to_vec).collect()
    }

    fn normalise_since(&self, registers: Registers, normal: &[Scalar], state: &mut [Scalar]) {
        self.normalise_since(normal, &mut state[..registers.slots()]);
    }
}
