//! A priority queue: the least value leaves first.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Proof, RelevantValues, Specification};

/// A priority queue of any length, empty at first, whose values are their priorities.
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue<V>(PhantomData<V>);

impl<V> Default for PriorityQueue<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// An operation of a priority queue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PriorityQueueInput<V> {
    /// Adds a value.
    Add(V),
    /// Removes the least value, if there is one.
    Remove,
}

/// The output of an operation of a priority queue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PriorityQueueOutput<V> {
    /// The value was added.
    Added,
    /// The value removed.
    Removed(V),
    /// There was none to remove.
    Empty,
}

impl<V: Clone + Eq + Hash + Ord> Specification for PriorityQueue<V> {
    /// Each value with the number of its copies.
    type State = BTreeMap<V, usize>;
    type Input = PriorityQueueInput<V>;
    type Output = PriorityQueueOutput<V>;
    type Part = ();

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn apply(
        &self,
        state: &mut Self::State,
        input: &PriorityQueueInput<V>,
        output: Option<&PriorityQueueOutput<V>>,
    ) -> bool {
        match (input, output) {
            (PriorityQueueInput::Add(value), None | Some(PriorityQueueOutput::Added)) => {
                *state.entry(value.clone()).or_default() += 1;
                true
            }
            (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Empty)) => state.is_empty(),
            (PriorityQueueInput::Remove, None | Some(PriorityQueueOutput::Removed(_))) => {
                let Some(mut least) = state.first_entry() else { return output.is_none() };
                let is_returned = match output {
                    Some(PriorityQueueOutput::Removed(value)) => value == least.key(),
                    _ => true,
                };
                *least.get_mut() -= 1;
                if *least.get() == 0 {
                    least.remove();
                }
                is_returned
            }
            _ => false,
        }
    }

    fn part(&self, _: &PriorityQueueInput<V>) {}

    fn is_query(&self, _: &PriorityQueueInput<V>, output: Option<&PriorityQueueOutput<V>>) -> bool {
        output == Some(&PriorityQueueOutput::Empty)
    }

    fn allows(
        &self,
        state: &Self::State,
        input: &PriorityQueueInput<V>,
        output: Option<&PriorityQueueOutput<V>>,
    ) -> bool {
        matches!((input, output), (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Empty)))
            && state.is_empty()
    }

    fn bytes(&self, state: &Self::State) -> usize {
        // Nodes have room for eleven elements, and all but the first are half full at least.
        let room = if state.is_empty() { 0 } else { 2 * state.len().max(6) };
        size_of_val(state) + room * size_of::<(V, usize)>()
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let make = |(): &()| online::Sweep::<V, V, false>::new(V::clone);
        Some(online::by_parts(self, make, effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<PriorityQueueInput<V>, PriorityQueueOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        let part = Part::new(history, part, effects(history, part, effect));
        monitors::priority_queue(&part, V::cmp)
    }

    fn check_proof(
        &self,
        history: &History<PriorityQueueInput<V>, PriorityQueueOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let kind = Kind::PriorityQueue(&V::cmp);
        Facts::new(kind, history, part, effects(history, part, effect)).check(proof)
    }
}

/// Without some of the values, the least of the others is still the least.
impl<V: Clone + Eq + Hash + Ord> ByValues for PriorityQueue<V> {
    type Value = V;

    fn concern(
        &self,
        input: &PriorityQueueInput<V>,
        output: Option<&PriorityQueueOutput<V>>,
    ) -> RelevantValues<V> {
        match (input, output) {
            (PriorityQueueInput::Add(value), _)
            | (_, Some(PriorityQueueOutput::Removed(value))) => {
                RelevantValues::Value(value.clone())
            }
            _ => RelevantValues::All,
        }
    }
}

fn effect<V: Clone>(
    input: &PriorityQueueInput<V>,
    output: Option<&PriorityQueueOutput<V>>,
) -> Effect<V> {
    match (input, output) {
        (PriorityQueueInput::Add(value), None | Some(PriorityQueueOutput::Added)) => {
            Effect::Add(value.clone())
        }
        (PriorityQueueInput::Remove, None) => Effect::Remove(None),
        (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Removed(value))) => {
            Effect::Remove(Some(value.clone()))
        }
        (PriorityQueueInput::Remove, Some(PriorityQueueOutput::Empty)) => Effect::Empty,
        _ => Effect::Impossible,
    }
}
