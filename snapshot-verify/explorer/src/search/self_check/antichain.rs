//! Checks that steps preserve domination, and that a dropped state is dominated by a stored one.
//!
//! Domination is compared register by register in unpacked states, whereas the store compares
//! packed words.
//!
//! * A random state d is made that s dominates. For each move of d, s must have the same move,
//!   which violates if d's does, and leads to a dominating state. By induction, this holds for all
//!   continuations.
//! * The canonical successors of s are looked up in the store once the level is complete: each must
//!   be stored or dominated by a stored state.

use super::{Claims, End, Examination, Examiner, Step};
use crate::instance::Scalar;
use crate::search::layout::{Registers, Variable};
use crate::search::product::{Scratch, Successor};
use crate::search::store::Store;
use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};

const NAME: &str = "antichain";

/// The number of successors looked up per level.
const STORED: usize = 64;

/// Returns true if the first state dominates the second, register by register.
pub(super) fn dominates(registers: Registers, more: &[Scalar], less: &[Scalar]) -> bool {
    let mut pairs = registers.variables().zip(more.iter().zip(less));
    pairs.all(|(variable, (&more, &less))| match variable {
        Variable::Must(_) | Variable::NeededAndBad | Variable::Due => less & !more == 0,
        Variable::Left(_) | Variable::Barriers => more >= less,
        Variable::Slot(_) | Variable::Location(_) | Variable::Invoked => more == less,
    })
}

impl Claims<'_> {
    pub(super) fn antichain(&mut self, state: &[Scalar], steps: &[Step]) -> Examination {
        if !self.antichain {
            return Ok(());
        }
        let Some(less) = self.dominated(state) else { return Ok(()) };
        self.examined.antichain += 1;
        for step in self.steps(&less) {
            // If no operation has ended, no barrier is tried.
            let of = |choice| {
                let same = |found: &&Step| (found.process, found.choice) == (step.process, choice);
                steps.iter().find(same)
            };
            let found = of(step.choice).or_else(|| of(step.choice.invocation()));
            let keeps = found.is_some_and(|found| match (step.end, found.end) {
                (_, End::Violation) => true,
                (End::Well, End::Well) => dominates(self.registers, &found.after, &step.after),
                (one, other) => one == other,
            });
            if !keeps {
                let what = format!(
                    "from {}, which it dominates, the step leads to more",
                    self.describe(&less)
                );
                return Err(self.defect(NAME, what, &step, state));
            }
        }
        Ok(())
    }

    /// Returns another state that this one dominates, if there is one.
    fn dominated(&mut self, state: &[Scalar]) -> Option<Vec<Scalar>> {
        let mut less = state.to_vec();
        for (register, variable) in self.registers.variables().enumerate() {
            let held = state[register];
            less[register] = match variable {
                Variable::Must(_) | Variable::NeededAndBad | Variable::Due => {
                    held & self.below(16) as Scalar
                }
                Variable::Left(_) | Variable::Barriers if held > 0 => {
                    held - self.below(2) as Scalar
                }
                _ => held,
            };
        }
        if self.product.counts_barriers() {
            // The current bits are also known behind the next barrier.
            less[self.registers.due()] |= less[self.registers.needed_and_bad()];
        }
        let (invoked, rest) = (self.registers.invoked(), self.registers.needed_and_bad());
        let bits = less[invoked] | less[rest] << crate::search::layout::INVOKED_BITS;
        let musts = (0..self.registers.processes()).map(Process::from_index);
        let mut musts = musts.map(|process| less[self.registers.must_bits(process)] as u8);
        let is_one = ObserverState::from_bits(bits as u8).is_some()
            && musts.all(|must| Must::from_bits(must).is_some());
        (is_one && less != state).then_some(less)
    }
}

impl<const W: usize> Examiner<'_, W> {
    /// Keeps the canonical successors of a state for [`Self::is_stored`].
    pub(super) fn expect_successors(&mut self, state: &[u64; W]) {
        let product = self.claims.product;
        if self.claims.antichain && self.stored.len() < STORED {
            let stored = &mut self.stored;
            let mut keep = |_, successor: Successor<W>| stored.extend(successor.state);
            product.successors_dyn(state, &mut Scratch::new(product), &mut keep);
        }
    }

    /// Checks that the store holds a state or one that dominates it.
    pub(super) fn is_stored(&self, packed: &[u64; W], store: &Store<'_, W>) -> Examination {
        let Claims { product, registers, .. } = self.claims;
        let unpacked = |packed: &[u64; W]| {
            let mut state = vec![0; registers.count()];
            product.layout().unpack(packed, &mut state);
            state
        };
        let state = unpacked(packed);
        if store.any_alike(packed, |kept| dominates(registers, &unpacked(kept), &state)) {
            return Ok(());
        }
        Err(super::Defect {
            reduction: NAME,
            what: "a state was dropped, and none that is kept dominates it".to_owned(),
            step: "the end of its level".to_owned(),
            state: self.claims.describe(&state),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::super::SelfCheck;
    use super::*;
    use crate::instance::Instance;
    use crate::language::parse;
    use crate::search::Exploration;
    use crate::search::budget::Memory;
    use crate::search::store::shard_of;

    /// Stores two states of which one dominates the other, and returns the names of the states not
    /// found in a store with this order.
    fn missing(reversed: bool) -> Vec<&'static str> {
        let text = corpus::algorithm("bowman").unwrap().text;
        let program = parse("bowman", text).unwrap().program(None).unwrap();
        let instance = Instance::new(&program, 2, (0, 1)).unwrap();
        let exploration = Exploration { operations: Some(2), ..Exploration::default() };
        let layout = exploration.layout(&instance).unwrap();
        assert_eq!(layout.words(), 1, "the state fits a word");
        let missing = exploration.product(&instance, |product| {
            let registers = product.layout().registers();
            let less = product.initial().0;
            let mut more = less.clone();
            more[registers.needed_and_bad()] = 4;
            let monotone = product.layout().monotone();
            let monotone = if reversed { monotone.reversed() } else { monotone.clone() };
            let memory = Memory::new(1 << 24);
            let store = Store::<1>::new(&memory, &monotone).unwrap();
            let states = [("less", &less), ("more", &more)];
            let packed = states.map(|(name, state)| (name, product.layout().pack::<1>(state)));
            for (_, state) in packed {
                store.insert(shard_of(store.hash(&state)), &[state]).unwrap();
            }
            let examiner = Examiner::<1>::new(product, &instance, SelfCheck::DEFAULT, true);
            let is_missing = |state| examiner.is_stored(state, &store).is_err();
            packed.iter().filter(|(_, state)| is_missing(state)).map(|(name, _)| *name).collect()
        });
        missing.unwrap()
    }

    #[test]
    fn a_reversed_order_is_found() {
        assert_eq!(missing(false), [""; 0]);
        assert_eq!(missing(true), ["more"]);
    }
}
