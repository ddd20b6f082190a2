//! Checks that a step of the permuted state is the permuted step: pi(step(s)) = step(pi(s)).
//!
//! Only exchanges of two processes are tried; they generate all permutations. Slots of an operation
//! are meaningless while its process is idle, and are left out: they may still name a process, the
//! same one for all idle processes. Numbers that a step creates are the same on both sides, so the
//! two states are compared as they are.

use snapshot_core::Process;

use super::{Claims, End, Examination, Step};
use crate::instance::{Location, Owner, Scalar};
use crate::search::canonical::Permutation;

const NAME: &str = "symmetry";

impl Claims<'_> {
    pub(super) fn symmetry(&mut self, state: &[Scalar], steps: &[Step]) -> Examination {
        let Some(symmetry) = self.product.symmetry else { return Ok(()) };
        for orbit in symmetry.orbits() {
            // Exchanges with one member generate all permutations.
            let first = orbit[self.below(orbit.len())];
            for &second in orbit.iter().filter(|&&second| second != first) {
                self.exchange(state, steps, first, second)?;
            }
        }
        Ok(())
    }

    fn exchange(
        &mut self,
        state: &[Scalar],
        steps: &[Step],
        first: Process,
        second: Process,
    ) -> Examination {
        self.examined.symmetry += 1;
        let by = Permutation::exchange(first, second);
        let permuted = |state: &[Scalar]| {
            let mut state = state.to_vec();
            self.product.permute(&by, &mut state);
            state
        };
        let of_permuted = permuted(state);
        let images: Vec<Vec<Scalar>> = steps.iter().map(|step| permuted(&step.after)).collect();
        for (step, image) in steps.iter().zip(images) {
            let found = self.step(&of_permuted, by.image(step.process), step.choice);
            let same = found.end == step.end
                && (step.end != End::Well || self.meant(&found.after) == self.meant(&image));
            if !same {
                let what = format!(
                    "with p{first} and p{second} exchanged the step leads elsewhere: {} instead of {}",
                    self.describe(&found.after),
                    self.describe(&image)
                );
                return Err(self.defect(NAME, what, step, state));
            }
        }
        Ok(())
    }

    /// Returns the state without meaningless values.
    fn meant(&self, state: &[Scalar]) -> Vec<Scalar> {
        let mut meant = state.to_vec();
        for (slot, held) in self.instance.slots.iter().zip(&mut meant) {
            if let Owner::Operation(process) = slot.owner
                && state[self.registers.location(process)] == Location::IDLE.index() as Scalar
            {
                *held = 0;
            }
        }
        meant
    }
}
