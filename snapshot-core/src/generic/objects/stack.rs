//! A last-in, first-out stack.

use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Proof, RelevantValues, Specification};

/// A stack of any height, empty at first.
#[derive(Clone, Copy, Debug)]
pub struct Stack<V>(PhantomData<V>);

impl<V> Default for Stack<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// An operation of a stack.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StackInput<V> {
    /// Adds a value.
    Push(V),
    /// Removes a value, if there is one: the youngest.
    Pop,
}

/// What an operation of a stack returns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StackOutput<V> {
    /// The value was added.
    Pushed,
    /// The value removed.
    Popped(V),
    /// There was none to remove.
    Empty,
}

impl<V: Clone + Eq + Hash> Specification for Stack<V> {
    type State = Vec<V>;
    type Input = StackInput<V>;
    type Output = StackOutput<V>;
    type Part = ();

    fn initial(&self) -> Vec<V> {
        Vec::new()
    }

    fn apply(
        &self,
        state: &mut Vec<V>,
        input: &StackInput<V>,
        output: Option<&StackOutput<V>>,
    ) -> bool {
        match (input, output) {
            (StackInput::Push(value), None | Some(StackOutput::Pushed)) => {
                state.push(value.clone());
                true
            }
            (StackInput::Push(_), Some(_)) | (StackInput::Pop, Some(StackOutput::Pushed)) => false,
            (StackInput::Pop, None) => {
                state.pop();
                true
            }
            (StackInput::Pop, Some(StackOutput::Popped(value))) => {
                state.pop().as_ref() == Some(value)
            }
            (StackInput::Pop, Some(StackOutput::Empty)) => state.is_empty(),
        }
    }

    fn part(&self, _: &StackInput<V>) {}

    fn is_query(&self, _: &StackInput<V>, output: Option<&StackOutput<V>>) -> bool {
        output == Some(&StackOutput::Empty)
    }

    fn allows(
        &self,
        state: &Vec<V>,
        input: &StackInput<V>,
        output: Option<&StackOutput<V>>,
    ) -> bool {
        matches!((input, output), (StackInput::Pop, Some(StackOutput::Empty))) && state.is_empty()
    }

    fn bytes(&self, state: &Vec<V>) -> usize {
        size_of_val(state) + state.len() * size_of::<V>()
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let make = |(): &()| online::Sweep::<V, (), true>::new(|_| ());
        Some(online::by_parts(self, make, effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<StackInput<V>, StackOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        monitors::stack(&Part::new(history, part, effects(history, part, effect)))
    }

    fn check_proof(
        &self,
        history: &History<StackInput<V>, StackOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        Facts::new(Kind::Stack, history, part, effects(history, part, effect)).check(proof)
    }
}

/// What remains in the stack without some of the values keeps its order.
impl<V: Clone + Eq + Hash> ByValues for Stack<V> {
    type Value = V;

    fn concern(&self, input: &StackInput<V>, output: Option<&StackOutput<V>>) -> RelevantValues<V> {
        match (input, output) {
            (StackInput::Push(value), _) | (_, Some(StackOutput::Popped(value))) => {
                RelevantValues::Value(value.clone())
            }
            _ => RelevantValues::All,
        }
    }
}

fn effect<V: Clone>(input: &StackInput<V>, output: Option<&StackOutput<V>>) -> Effect<V> {
    match (input, output) {
        (StackInput::Push(value), None | Some(StackOutput::Pushed)) => Effect::Add(value.clone()),
        (StackInput::Pop, None) => Effect::Remove(None),
        (StackInput::Pop, Some(StackOutput::Popped(value))) => Effect::Remove(Some(value.clone())),
        (StackInput::Pop, Some(StackOutput::Empty)) => Effect::Empty,
        _ => Effect::Impossible,
    }
}
