//! Where canonical forms come into the search.
//!
//! A step leads from one unpacked state to another; before that is packed, it
//! may be replaced by the representative of its equivalence class. Each of three
//! equivalences is computed elsewhere and passed to the search through a trait of this
//! module: forgetting what no process reads again ([`Forgetting`]), renaming versions and
//! counters ([`Numbering`]), and renaming processes ([`Symmetry`]). They apply in
//! this order, and after a permutation versions and counters are renamed once more: their
//! canonical numbers go by the order of slots, and how many a slot may hold is known of
//! canonical numbers only.
//!
//! Both work on a whole unpacked state, see [`Registers`].

use std::fmt::Debug;

use snapshot_core::Process;

use crate::instance::{Scalar, SlotId};
use crate::search::layout::{MAX_PROCESSES, Register, Registers};

/// A canonical form for versions and counters.
///
/// Contract: states with equal canonical forms have the same future, as far as
/// the observer can tell; a canonical form is its own canonical form; every slot
/// of it that holds a version or counter holds a number from 0 to
/// [`Self::numbers`] - 1, or none; none stays none. (Versions and counters that an
/// idle process's operations own mean nothing and hold none, whatever their domain.)
pub trait Numbering: Debug + Sync {
    /// How many numbers the slot needs in canonical states; at least 1.
    fn numbers(&self, slot: SlotId) -> u32;

    /// Whether what the slot holds may be replaced, though it is no version and no
    /// counter.
    fn is_renamed(&self, slot: SlotId) -> bool {
        let _ = slot;
        false
    }

    /// A version that no canonical state contains, nor any expansion; neither do
    /// they contain any larger one.
    fn first_fresh(&self) -> Scalar;

    /// Makes a canonical state the `number`-th of the states that it stands for
    /// as far as one step can tell them apart; steps are tried from each of them.
    /// `false` if there are fewer. Number 0 always is one.
    fn expand(&self, registers: Registers, state: &mut [Scalar], number: u32) -> bool {
        let _ = (registers, state);
        number == 0
    }

    /// Makes a state canonical.
    fn normalise(&self, registers: Registers, state: &mut [Scalar]);

    /// The same, where a canonical state is known from which the state differs little.
    fn normalise_since(&self, registers: Registers, canonical: &[Scalar], state: &mut [Scalar]) {
        let _ = canonical;
        self.normalise(registers, state);
    }

    /// Slots that are renumbered together: where a self-check looks for states with the
    /// same canonical form.
    fn classes(&self) -> Vec<Vec<SlotId>> {
        Vec::new()
    }
}

/// Resets slots that no process will read before they are overwritten.
///
/// Contract: what is forgotten is replaced by a scalar such that every step that would
/// read it ends in a fault.
pub trait Forgetting: Debug + Sync {
    /// Forgets.
    fn forget(&self, registers: Registers, state: &mut [Scalar]);

    /// Whether a register that holds this scalar holds nothing that the program can put
    /// there, so that a step may move it, but not look at it.
    fn is_blank(&self, registers: Registers, register: Register, scalar: Scalar) -> bool {
        let _ = (registers, register, scalar);
        false
    }
}

/// What processes may still do in a state, as [`Ample::look`] notes it.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// By process, a number for where it stands; none if nothing is known about that.
    pub places: Vec<Option<usize>>,
    /// By process, what all others may do.
    pub others: Vec<u64>,
}

/// Which steps commute with all that others may still do.
///
/// Contract: if [`Self::commutes`], then no step that another process may take before
/// this one writes what this one read, or touches what it changed.
pub trait Ample: Debug + Sync {
    /// Notes what processes may still do, for the questions below; `false` if no step
    /// commutes in this state.
    fn look(&self, registers: Registers, state: &[Scalar], around: &mut Around) -> bool;

    /// Whether a process has a next step and it may commute.
    fn may_commute(&self, around: &Around, state: &[Scalar], process: Process) -> bool;

    /// Whether a step that may commute does: it led from `before` to `after`, and wrote
    /// these registers.
    fn commutes(
        &self,
        around: &Around,
        process: Process,
        before: &[Scalar],
        after: &[Scalar],
        written: &[u16],
    ) -> bool;
}

/// Permutations of processes that lead from states to states alike.
///
/// Contract: a step of process p from a state is a step of process
/// [`Permutation::image`] p from the permuted state, to the permuted next state, and
/// the observer accepts both or neither.
pub trait Symmetry: Debug + Sync {
    /// Makes a state the representative of those that permutations lead to, and
    /// tells by which.
    fn canonicalise(&self, registers: Registers, state: &mut [Scalar]) -> Permutation;

    /// Permutes a state.
    fn permute(&self, registers: Registers, by: &Permutation, state: &mut [Scalar]);

    /// Processes of which any two may change places: what a self-check tries.
    fn orbits(&self) -> Vec<Vec<Process>> {
        Vec::new()
    }
}

/// A permutation of processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Permutation {
    images: [u8; MAX_PROCESSES],
}

impl Permutation {
    /// Everything stays where it is.
    pub const IDENTITY: Self = {
        let mut images = [0; MAX_PROCESSES];
        let mut process = 0;
        while process < MAX_PROCESSES {
            images[process] = process as u8;
            process += 1;
        }
        Self { images }
    };

    /// The permutation with these images, of processes 0, 1, ...; the rest stay.
    ///
    /// # Panics
    /// If that is no permutation.
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

    /// Two processes change places.
    pub const fn exchange(first: Process, second: Process) -> Self {
        let mut permutation = Self::IDENTITY;
        permutation.images[first.index()] = second.index() as u8;
        permutation.images[second.index()] = first.index() as u8;
        permutation
    }

    /// Where a process goes.
    pub fn image(&self, process: Process) -> Process {
        Process::from_index(usize::from(self.images[process.index()]))
    }

    /// First `self`, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self { images: self.images.map(|image| next.images[usize::from(image)]) }
    }

    /// The way back.
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
    fn what_is_no_permutation_is_refused() {
        let _ = Permutation::new([0, 0].map(Process::from_index));
    }
}
