//! Checks that an ample step commutes with the moves of other processes.
//!
//! An ample step of p is taken in the state u. Others make a few random moves, after p's step and,
//! alternatively, before it. Both orders must result in the same slots and locations. The observer
//! must know at least as much where p's step came first, since this only adds precedence. If the
//! step violates or faults when taken last, it must do the same when taken first.
//!
//! If p has reacted to the moves of others, nothing is compared: reactions are optional, and p may
//! be at another of several locations with the same future.
//!
//! Numbers are compared in normal form, since the two orders may create them in different order.

use snapshot_core::Process;

use super::antichain::dominates;
use super::{Claims, End, Examination, Step};
use crate::instance::Scalar;
use crate::search::code::RegisterMachine;
use crate::search::product::Choice;

const NAME: &str = "ample";

/// The number of random continuations, and their length.
const CONTINUATIONS: usize = 2;
const LENGTH: usize = 5;

impl Claims<'_> {
    pub(super) fn ample(&mut self, steps: &[Step]) -> Examination {
        if self.product.ample.is_none() {
            return Ok(());
        }
        for step in steps.iter().filter(|step| step.end == End::Well) {
            let mut state = step.after.clone();
            self.product.canonicalise(&mut state);
            if let Some((process, Ok(()))) = self.product.leader(&state, &mut self.ahead) {
                for _ in 0..CONTINUATIONS {
                    self.commutes(&state, process)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that the step of a process commutes with moves of others.
    fn commutes(&mut self, state: &[Scalar], process: Process) -> Examination {
        self.examined.ample += 1;
        let mut last = self.machine.clone();
        last.begin();
        last.state_mut().copy_from_slice(state);
        let mut first = last.clone();
        // Fresh versions stay distinct as long as the machine does not begin a new step.
        let mut ended = End::from_step(self.product.take(process, Choice::Step, &mut first));
        for _ in 0..LENGTH {
            let moves = self.product.moves(&last);
            let moves: Vec<_> = moves.into_iter().filter(|(other, _)| *other != process).collect();
            if ended != End::Well || moves.is_empty() {
                return Ok(());
            }
            let (other, choice) = moves[self.below(moves.len())];
            let step = Step { process: other, choice, end: End::Well, after: Vec::new() };
            let fail = |this: &Self,
                        what: &str,
                        last: &RegisterMachine,
                        first: &RegisterMachine| {
                let what = format!(
                    "the step of p{process} was taken at once, and {what}: {} with it first, {} \
                     without it yet",
                    this.describe(first.state()),
                    this.describe(last.state())
                );
                Err(this.defect(NAME, what, &step, state))
            };
            if !self.product.moves(&first).contains(&(other, choice)) {
                return fail(self, "another move is no longer possible", &last, &first);
            }
            ended = End::from_step(self.product.take(other, choice, &mut first));
            let end = End::from_step(self.product.take(other, choice, &mut last));
            match (end, ended) {
                (_, End::Violation) => return Ok(()),
                (End::Well, End::Well) => {}
                (end, ended) if end == ended => return Ok(()),
                _ => return fail(self, "another move ends otherwise", &last, &first),
            }
            // Reactions are optional: if made earlier or not at all, p is at another location.
            let location = self.registers.location(process);
            if last.get(location) != state[location] {
                return Ok(());
            }
            let mut both = last.clone();
            if End::from_step(self.product.take(process, Choice::Step, &mut both)) != End::Well {
                return fail(self, "later it goes wrong", &both, &first);
            }
            let [more, less] = [&first, &both].map(|machine| {
                let mut state = machine.state().to_vec();
                if let Some(numbering) = self.product.numbering {
                    numbering.normalise(self.registers, &mut state);
                }
                state
            });
            if !dominates(self.registers, &more, &less) {
                return fail(self, "it does not commute with another move", &both, &first);
            }
        }
        Ok(())
    }
}
