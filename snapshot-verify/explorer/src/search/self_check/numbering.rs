//! Checks that states with the same canonical form have the same canonical successors.
//!
//! A canonical state s represents all states with the same normal form: counters with gaps of any
//! width, versions renamed, bits flipped. Such a state t is made by random changes, each kept only
//! if the normal form stays the same: gaps are widened by any amount, and versions are exchanged,
//! split and merged. Then each move from t must lead to the normal form of a successor of s, or of
//! one of its expansions, by the same move.

use super::{Claims, End, Examination, Step};
use crate::instance::{Domain, NONE, Scalar, SlotId};
use crate::search::canonical::Numbering;

const NAME: &str = "counters";

/// The number of witnesses per state.
const WITNESSES: usize = 3;

/// The number of changes tried per witness.
const CHANGES: usize = 6;

impl Claims<'_> {
    pub(super) fn numbering(&mut self, state: &[Scalar]) -> Examination {
        let Some(numbering) = self.product.numbering else { return Ok(()) };
        let classes = numbering.classes();
        if classes.is_empty() {
            return Ok(());
        }
        let mut expected: Option<Vec<Step>> = None;
        for _ in 0..WITNESSES {
            let witness = self.witness(state, numbering, &classes);
            if witness == state {
                continue;
            }
            self.examined.numbering += 1;
            let expected = expected.get_or_insert_with(|| self.of_expansions(state, numbering));
            for step in self.steps(&witness) {
                let after = self.ends_in(&step);
                let is_known = |known: &Step| {
                    (known.process, known.choice, known.end)
                        == (step.process, step.choice, step.end)
                        && known.after == after
                };
                if !expected.iter().any(is_known) {
                    let what = format!(
                        "it stands for the state {} as well, but no canonical successor stands \
                         for {}",
                        self.describe(&witness),
                        self.describe(&step.after)
                    );
                    return Err(self.defect(NAME, what, &step, state));
                }
            }
        }
        Ok(())
    }

    /// Returns the steps from all expansions, in normal form.
    fn of_expansions(&mut self, state: &[Scalar], numbering: &dyn Numbering) -> Vec<Step> {
        let mut all = Vec::new();
        for number in 0.. {
            let mut expanded = state.to_vec();
            if !numbering.expand(self.registers, &mut expanded, number) {
                break;
            }
            let steps = self.steps(&expanded);
            all.extend(steps.into_iter().map(|step| Step { after: self.ends_in(&step), ..step }));
        }
        all
    }

    /// Returns the normal form of the next state; empty without a next state.
    fn ends_in(&self, step: &Step) -> Vec<Scalar> {
        match step.end {
            End::Well => self.normal(step.after.clone()),
            End::Violation | End::Fault(_) => Vec::new(),
        }
    }

    /// Returns a state with the same normal form.
    fn witness(
        &mut self,
        state: &[Scalar],
        numbering: &dyn Numbering,
        classes: &[Vec<SlotId>],
    ) -> Vec<Scalar> {
        let normal = |state: &[Scalar]| {
            let mut state = state.to_vec();
            numbering.normalise(self.registers, &mut state);
            state
        };
        let expected = normal(state);
        let registers = self.registers;
        let mut witness = state.to_vec();
        for _ in 0..CHANGES {
            let class = &classes[self.below(classes.len())];
            let mut changed = witness.clone();
            self.change(&mut changed, class);
            let mut normal = changed.clone();
            numbering.normalise(registers, &mut normal);
            if normal == expected {
                witness = changed;
            }
        }
        witness
    }

    /// Changes some numbers of a class at random.
    fn change(&mut self, state: &mut [Scalar], class: &[SlotId]) {
        let slots: Vec<usize> = class.iter().map(|slot| self.registers.slot(*slot)).collect();
        let held: Vec<usize> = slots.into_iter().filter(|&slot| state[slot] != NONE).collect();
        let Some(&first) = held.get(self.below(held.len().max(1))) else { return };
        let other = held[self.below(held.len())];
        let (one, another) = (state[first], state[other]);
        let is_counter = |domain| matches!(domain, Domain::Counter { .. });
        match self.instance.slots[first].domain {
            Domain::Range { .. } => {
                let all = self.below(2) == 0;
                for &slot in held.iter().filter(|&&slot| all || slot == first) {
                    state[slot] ^= 1;
                }
            }
            domain => match self.below(4) {
                // All numbers from `one` on grow: a gap is widened.
                0 | 1 if is_counter(domain) => {
                    let by = 1 + self.below(7) as Scalar;
                    for slot in held {
                        if state[slot] >= one {
                            state[slot] += by;
                        }
                    }
                }
                0 | 1 => {
                    let number = self.number();
                    for slot in held {
                        state[slot] = match state[slot] {
                            held if held == one => number,
                            held if held == number => one,
                            held => held,
                        };
                    }
                }
                2 => state[first] = another,
                _ => state[first] = self.number(),
            },
        }
    }
}
