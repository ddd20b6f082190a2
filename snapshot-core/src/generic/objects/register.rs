//! A register that is read and written.

use std::hash::Hash;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Proof, RelevantValues, Specification};

/// A register with its initial value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register<V> {
    /// What a read returns before any write.
    pub initial: V,
}

/// An operation of a register.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RegisterInput<V> {
    /// Returns the value.
    Read,
    /// Replaces the value.
    Write(V),
}

/// What an operation of a register returns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RegisterOutput<V> {
    /// The value read.
    Read(V),
    /// A write took place.
    Written,
}

impl<V: Clone + Eq + Hash> Specification for Register<V> {
    type State = V;
    type Input = RegisterInput<V>;
    type Output = RegisterOutput<V>;
    type Part = ();

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn apply(
        &self,
        state: &mut V,
        input: &RegisterInput<V>,
        output: Option<&RegisterOutput<V>>,
    ) -> bool {
        match (input, output) {
            (RegisterInput::Read, _) => self.allows(state, input, output),
            (RegisterInput::Write(value), None | Some(RegisterOutput::Written)) => {
                state.clone_from(value);
                true
            }
            (RegisterInput::Write(_), Some(RegisterOutput::Read(_))) => false,
        }
    }

    fn part(&self, _: &RegisterInput<V>) {}

    fn is_query(&self, input: &RegisterInput<V>, _: Option<&RegisterOutput<V>>) -> bool {
        matches!(input, RegisterInput::Read)
    }

    fn allows(&self, state: &V, _: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> bool {
        match output {
            None => true,
            Some(RegisterOutput::Read(value)) => value == state,
            Some(RegisterOutput::Written) => false,
        }
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let make = |(): &()| online::Cell::new(self.initial.clone());
        Some(online::by_parts(self, make, effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<RegisterInput<V>, RegisterOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        let part = Part::new(history, part, effects(history, part, effect));
        monitors::cell(&part, Some(&self.initial))
    }

    fn check_proof(
        &self,
        history: &History<RegisterInput<V>, RegisterOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let kind = Kind::Cell(Some(&self.initial));
        Facts::new(kind, history, part, effects(history, part, effect)).check(proof)
    }
}

/// Between a write and the reads of its value no other write takes effect. The initial value has
/// no write, so what is about it belongs to every part.
impl<V: Clone + Eq + Hash> ByValues for Register<V> {
    type Value = V;

    fn concern(
        &self,
        input: &RegisterInput<V>,
        output: Option<&RegisterOutput<V>>,
    ) -> RelevantValues<V> {
        match (input, output) {
            (RegisterInput::Write(value), _) | (_, Some(RegisterOutput::Read(value)))
                if *value != self.initial =>
            {
                RelevantValues::Value(value.clone())
            }
            _ => RelevantValues::All,
        }
    }
}

fn effect<V: Clone>(input: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> Effect<V> {
    match (input, output) {
        (RegisterInput::Write(value), None | Some(RegisterOutput::Written)) => {
            Effect::Write(value.clone())
        }
        (RegisterInput::Read, None) => Effect::Nothing,
        (RegisterInput::Read, Some(RegisterOutput::Read(value))) => Effect::Read(value.clone()),
        _ => Effect::Impossible,
    }
}
