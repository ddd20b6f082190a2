//! Canonical forms, as the search uses them.
//!
//! A step leads from one unpacked state to another. Before the new state is packed, it may be
//! replaced by the representative of its equivalence class. Three equivalences are computed
//! elsewhere and passed to the search through traits of this module: resetting values that no
//! process reads again ([`Forgetting`]), renaming versions and counters ([`Numbering`]), and
//! renaming processes ([`Symmetry`]). They apply in this order. After a permutation, versions and
//! counters are renamed once more: their canonical numbers follow the order of slots, and the bound
//! on a slot's numbers holds for canonical numbers only. A fourth trait, [`Ample`], selects steps
//! that commute with steps of other processes.
//!
//! All four work on a whole unpacked state, see [`Registers`].

use std::fmt::Debug;

use snapshot_core::Process;

use crate::instance::{Scalar, SlotId};
use crate::search::layout::{MAX_PROCESSES, Register, Registers};

/// A canonical form for versions and counters.
///
/// Contract:
///
/// * States with equal canonical forms have the same future, as far as the observer can tell.
/// * A canonical form is its own canonical form.
/// * In a canonical form, every slot that holds a version or counter holds a number from 0 to
///   [`Self::numbers`] - 1, or `none`; `none` stays `none`.
///
/// (Versions and counters that an idle process's operations own are meaningless and hold `none`, in
/// any domain.)
pub trait Numbering: Debug + Sync {
    /// Returns the number of values that the slot needs in canonical states; at least 1.
    fn numbers(&self, slot: SlotId) -> u32;

    /// Returns true if the slot's value may be replaced although it is neither a version nor a
    /// counter.
    fn is_renamed(&self, slot: SlotId) -> bool {
        let _ = slot;
        false
    }

    /// Returns a version above all versions in canonical states and their expansions.
    fn first_fresh(&self) -> Scalar;

    /// Replaces a canonical state by the `number`-th of its expansions. The expansions represent
    /// all states with this canonical form, as far as one step can tell them apart; steps are tried
    /// from each. Returns `false` if there are fewer expansions. Expansion 0 always exists.
    fn expand(&self, registers: Registers, state: &mut [Scalar], number: u32) -> bool {
        let _ = (registers, state);
        number == 0
    }

    /// Replaces a state by its canonical form.
    fn normalise(&self, registers: Registers, state: &mut [Scalar]);

    /// Makes a state canonical, given a canonical state from which it differs little.
    fn normalise_since(&self, registers: Registers, canonical: &[Scalar], state: &mut [Scalar]) {
        let _ = canonical;
        self.normalise(registers, state);
    }

    /// Returns the classes of slots that are renumbered together. A self-check uses them to find
    /// other states with the same canonical form.
    fn classes(&self) -> Vec<Vec<SlotId>> {
        Vec::new()
    }
}

/// Resets slots that no process will read before they are overwritten.
///
/// Contract: a forgotten value is replaced by a scalar such that every step that would read it ends
/// in a fault.
pub trait Forgetting: Debug + Sync {
    fn forget(&self, registers: Registers, state: &mut [Scalar]);

    /// Returns true if the scalar is a blank, which the program itself never writes to the
    /// register: a step may move it but not read it.
    fn is_blank(&self, registers: Registers, register: Register, scalar: Scalar) -> bool {
        let _ = (registers, register, scalar);
        false
    }
}

/// The possible future accesses of processes in a state, as noted by [`Ample::persistent_step`].
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// By process, the number of its abstract location; `None` if unknown.
    pub places: Vec<Option<usize>>,
    /// By process, the future accesses of all other processes.
    pub others: Vec<u64>,
}

/// Selects steps that commute with all future steps of other processes.
///
/// Contract: if [`Self::commutes`] holds, no step that another process may take before this one
/// writes a location that this one read, or touches a location that this one changed.
pub trait Ample: Debug + Sync {
    /// Notes the future accesses of processes in `around`. Returns `false` if no step commutes in
    /// this state.
    fn persistent_step(&self, registers: Registers, state: &[Scalar], around: &mut Around) -> bool;

    /// Returns true if the process has a next step that may commute.
    fn may_commute(&self, around: &Around, state: &[Scalar], process: Process) -> bool;

    /// Returns true if a step that may commute does. The step led from `before` to `after` and
    /// wrote these registers.
    fn commutes(
        &self,
        around: &Around,
        process: Process,
        before: &[Scalar],
        after: &[Scalar],
        written: &[u16],
    ) -> bool;
}

/// Permutations of processes that preserve behaviour.
///
/// Contract: a step of process p from a state is a step of process
/// [`Permutation::image`] p from the permuted state, to the permuted next state, and
/// the observer accepts both or neither.
pub trait Symmetry: Debug + Sync {
    /// Replaces a state by the representative of its orbit, and returns the permutation used.
    fn canonicalise(&self, registers: Registers, state: &mut [Scalar]) -> Permutation;

    /// Applies a permutation to a state.
    fn permute(&self, registers: Registers, by: &Permutation, state: &mut [Scalar]);

    /// Returns sets of processes of which any two may be exchanged. A self-check tries these
    /// exchanges.
    fn orbits(&self) -> Vec<Vec<Process>> {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Permutation {
    images: [u8; MAX_PROCESSES],
}

impl Permutation {
    pub const IDENTITY: Self = {
        let mut images = [0; MAX_PROCESSES];
        let mut process = 0;
        while process < MAX_PROCESSES {
            images[process] = process as u8;
            process += 1;
        }
        Self { images }
    };

    /// Creates the permutation with these images of processes 0, 1, ...; the others are fixed.
    ///
    /// # Panics
    /// If the images do not form a permutation.
    pub fn new(images: impl IntoIterator<Item = Process>) -> Self {
        let mut permutation = Self::IDENTITY;
        let mut count = 0;
        let mut seen = [false; MAX_PROCESSES];
        for image in images {
            permutation.images[count] = image.index() as u8;
            seen[image.index()] = true;
            count += 1;
        }
        assert!(seen[..count].iter().all(|&seen| seen), "a permutation hits every process once");
        permutation
    }

    /// Returns the exchange of two processes.
    pub const fn exchange(first: Process, second: Process) -> Self {
        let mut permutation = Self::IDENTITY;
        permutation.images[first.index()] = second.index() as u8;
        permutation.images[second.index()] = first.index() as u8;
        permutation
    }

    /// Returns the image of a process.
    pub fn image(&self, process: Process) -> Process {
        Process::from_index(usize::from(self.images[process.index()]))
    }

    /// Returns the composition: first `self`, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self { images: self.images.map(|image| next.images[usize::from(image)]) }
    }

    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = Self::IDENTITY;
        for (process, &image) in self.images.iter().enumerate() {
            inverse.images[usize::from(image)] = process as u8;
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_compose_and_have_inverses() {
        let p = Permutation::new([2, 0, 1, 3].map(Process::from_index));
        let q = Permutation::new([1, 0, 3, 2].map(Process::from_index));
        for process in (0..4).map(Process::from_index) {
            assert_eq!(p.then(&q).image(process), q.image(p.image(process)));
            assert_eq!(p.inverse().image(p.image(process)), process);
        }
        assert_eq!(p.then(&p.inverse()), Permutation::IDENTITY);
    }

    #[test]
    #[should_panic(expected = "every process once")]
    fn invalid_permutation_panics() {
        let _ = Permutation::new([0, 0].map(Process::from_index));
    }
}
