//! Checks that forgotten values do not matter.
//!
//! A state s represents each state t that forgetting maps to s. Such a t is made by filling slots
//! at random, where each filling is kept only if forgetting still leads to s. Then each move must
//! have the same ending from both, and the next states may differ only in slots forgotten there,
//! too, or in blanks that were moved. A move from s that faults is not compared: it refutes a
//! conjecture, and the search restarts.

use super::{Claims, End, Examination, Step};
use crate::instance::Scalar;

const NAME: &str = "stale";

impl Claims<'_> {
    pub(super) fn forgetting(&mut self, state: &[Scalar], steps: &[Step]) -> Examination {
        let Some(forgetting) = self.product.forgetting else { return Ok(()) };
        let registers = self.registers;
        let forgotten = |state: &[Scalar]| {
            let mut state = state.to_vec();
            forgetting.forget(registers, &mut state);
            state
        };
        let expected = forgotten(state);
        let mut filled = state.to_vec();
        for slot in 0..registers.slots() {
            let before = filled[slot];
            filled[slot] = self.scalar(self.instance.slots[slot].domain);
            if filled[slot] != before && forgotten(&filled) != expected {
                filled[slot] = before;
            }
        }
        if filled == state {
            return Ok(());
        }
        self.examined.forgetting += 1;
        for step in steps.iter().filter(|step| !matches!(step.end, End::Fault(_))) {
            let found = self.step(&filled, step.process, step.choice);
            let mut same = found.end == step.end;
            if same && step.end == End::Well {
                let mut after = step.after.clone();
                for (register, scalar) in after.iter_mut().enumerate() {
                    if !forgetting.is_blank(registers, register, *scalar) {
                        *scalar = found.after[register];
                    }
                }
                same = forgotten(&after) == forgotten(&step.after);
            }
            if !same {
                let what = format!(
                    "what is forgotten matters: from {} the step leads to {}, not to {}",
                    self.describe(&filled),
                    self.describe(&found.after),
                    self.describe(&step.after)
                );
                return Err(self.defect(NAME, what, step, state));
            }
        }
        Ok(())
    }
}
