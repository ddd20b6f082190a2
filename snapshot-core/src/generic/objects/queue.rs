//! A first-in, first-out queue.

use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, Concern, History, Proof, Specification};

/// A queue of any length, empty at first. It has no parts: that x was enqueued before y matters
/// to dequeues.
#[derive(Clone, Copy, Debug)]
pub struct Queue<V>(PhantomData<V>);

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// An operation of a queue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum QueueInput<V> {
    /// Adds a value.
    Enqueue(V),
    /// Removes a value, if there is one: the oldest.
    Dequeue,
}

/// What an operation of a queue returns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum QueueOutput<V> {
    /// The value was added.
    Enqueued,
    /// The value removed.
    Dequeued(V),
    /// There was none to remove.
    Empty,
}

impl<V: Clone + Eq + Hash> Specification for Queue<V> {
    type State = VecDeque<V>;
    type Input = QueueInput<V>;
    type Output = QueueOutput<V>;
    type Part = ();

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn apply(
        &self,
        state: &mut VecDeque<V>,
        input: &QueueInput<V>,
        output: Option<&QueueOutput<V>>,
    ) -> bool {
        match (input, output) {
            (QueueInput::Enqueue(value), None | Some(QueueOutput::Enqueued)) => {
                state.push_back(value.clone());
                true
            }
            (QueueInput::Enqueue(_), Some(_))
            | (QueueInput::Dequeue, Some(QueueOutput::Enqueued)) => false,
            (QueueInput::Dequeue, None) => {
                state.pop_front();
                true
            }
            (QueueInput::Dequeue, Some(QueueOutput::Dequeued(value))) => {
                state.pop_front().as_ref() == Some(value)
            }
            (QueueInput::Dequeue, Some(QueueOutput::Empty)) => state.is_empty(),
        }
    }

    fn part(&self, _: &QueueInput<V>) {}

    fn is_query(&self, _: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> bool {
        output == Some(&QueueOutput::Empty)
    }

    fn allows(
        &self,
        state: &VecDeque<V>,
        input: &QueueInput<V>,
        output: Option<&QueueOutput<V>>,
    ) -> bool {
        matches!((input, output), (QueueInput::Dequeue, Some(QueueOutput::Empty)))
            && state.is_empty()
    }

    fn bytes(&self, state: &VecDeque<V>) -> usize {
        size_of_val(state) + state.len() * size_of::<V>()
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        Some(online::by_parts(self, |()| online::Queue::default(), effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<QueueInput<V>, QueueOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        monitors::queue(&Part::new(history, part, effects(history, part, effect)))
    }

    fn check_proof(
        &self,
        history: &History<QueueInput<V>, QueueOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        Facts::new(Kind::Queue, history, part, effects(history, part, effect)).check(proof)
    }
}

/// What remains in the queue without some of the values keeps its order.
impl<V: Clone + Eq + Hash> ByValues for Queue<V> {
    type Value = V;

    fn concern(&self, input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> Concern<V> {
        match (input, output) {
            (QueueInput::Enqueue(value), _) | (_, Some(QueueOutput::Dequeued(value))) => {
                Concern::Value(value.clone())
            }
            _ => Concern::All,
        }
    }
}

fn effect<V: Clone>(input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> Effect<V> {
    match (input, output) {
        (QueueInput::Enqueue(value), None | Some(QueueOutput::Enqueued)) => {
            Effect::Add(value.clone())
        }
        (QueueInput::Dequeue, None) => Effect::Remove(None),
        (QueueInput::Dequeue, Some(QueueOutput::Dequeued(value))) => {
            Effect::Remove(Some(value.clone()))
        }
        (QueueInput::Dequeue, Some(QueueOutput::Empty)) => Effect::Empty,
        _ => Effect::Impossible,
    }
}
