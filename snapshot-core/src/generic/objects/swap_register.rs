//! A register with compare-and-swap.

use std::hash::Hash;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, compare_and_swap, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Proof, RelevantValues, Specification};

/// A register with its initial value.
#[derive(Clone, Copy, Debug, Default)]
pub struct SwapRegister<V> {
    /// The value before any operation.
    pub initial: V,
}

/// An operation of a register with compare-and-swap.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SwapRegisterInput<V> {
    /// Returns the value.
    Read,
    /// Replaces the value.
    Write(V),
    /// Replaces the value if it is the one expected.
    CompareAndSwap {
        /// The value expected.
        expected: V,
        /// The new value.
        new: V,
    },
}

/// What an operation of a register with compare-and-swap returns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SwapRegisterOutput<V> {
    /// The value read.
    Read(V),
    /// A write took place.
    Written,
    /// Whether the value was the one expected, and was replaced.
    Swapped(bool),
}

impl<V: Clone + Eq + Hash> Specification for SwapRegister<V> {
    type State = V;
    type Input = SwapRegisterInput<V>;
    type Output = SwapRegisterOutput<V>;
    type Part = ();

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn apply(
        &self,
        state: &mut V,
        input: &SwapRegisterInput<V>,
        output: Option<&SwapRegisterOutput<V>>,
    ) -> bool {
        match (input, output) {
            (SwapRegisterInput::Read, None) => true,
            (SwapRegisterInput::Read, Some(SwapRegisterOutput::Read(value))) => value == state,
            (SwapRegisterInput::Write(value), None | Some(SwapRegisterOutput::Written)) => {
                state.clone_from(value);
                true
            }
            (
                SwapRegisterInput::CompareAndSwap { expected, new },
                None | Some(SwapRegisterOutput::Swapped(_)),
            ) => {
                let is_equal = state == expected;
                if is_equal {
                    state.clone_from(new);
                }
                output.is_none_or(|output| *output == SwapRegisterOutput::Swapped(is_equal))
            }
            _ => false,
        }
    }

    fn part(&self, _: &SwapRegisterInput<V>) {}

    fn is_query(
        &self,
        input: &SwapRegisterInput<V>,
        output: Option<&SwapRegisterOutput<V>>,
    ) -> bool {
        match input {
            SwapRegisterInput::Read => true,
            SwapRegisterInput::Write(_) => false,
            SwapRegisterInput::CompareAndSwap { expected, new } => {
                expected == new || output == Some(&SwapRegisterOutput::Swapped(false))
            }
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
        history: &History<SwapRegisterInput<V>, SwapRegisterOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        let part = Part::new(history, part, effects(history, part, effect));
        monitors::cell(&part, Some(&self.initial))
    }

    fn check_proof(
        &self,
        history: &History<SwapRegisterInput<V>, SwapRegisterOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let kind = Kind::Cell(Some(&self.initial));
        Facts::new(kind, history, part, effects(history, part, effect)).check(proof)
    }
}

/// Values that replace each other do not stand for themselves: there are no parts.
impl<V: Clone + Eq + Hash> ByValues for SwapRegister<V> {
    type Value = ();

    fn concern(
        &self,
        _: &SwapRegisterInput<V>,
        _: Option<&SwapRegisterOutput<V>>,
    ) -> RelevantValues<()> {
        RelevantValues::All
    }
}

fn effect<V: Clone + Eq>(
    input: &SwapRegisterInput<V>,
    output: Option<&SwapRegisterOutput<V>>,
) -> Effect<V> {
    match (input, output) {
        (SwapRegisterInput::Write(value), None | Some(SwapRegisterOutput::Written)) => {
            Effect::Write(value.clone())
        }
        (SwapRegisterInput::Read, None) => Effect::Nothing,
        (SwapRegisterInput::Read, Some(SwapRegisterOutput::Read(value))) => {
            Effect::Read(value.clone())
        }
        (SwapRegisterInput::CompareAndSwap { expected, new }, None) => {
            compare_and_swap(expected.clone(), new.clone(), None)
        }
        (
            SwapRegisterInput::CompareAndSwap { expected, new },
            Some(SwapRegisterOutput::Swapped(is_swapped)),
        ) => compare_and_swap(expected.clone(), new.clone(), Some(*is_swapped)),
        _ => Effect::Impossible,
    }
}
