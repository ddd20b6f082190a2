//! A first-in, first-out queue.

use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Beyond, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Proof, RelevantValues, Specification};

/// A queue, empty at first. It has no parts: that x was enqueued before y matters to dequeues.
///
/// Rules decide queues of any length; with a bound a queue has no parts by values either, since all
/// values take room.
#[derive(Clone, Copy, Debug)]
pub struct Queue<V> {
    most: Option<usize>,
    values: PhantomData<V>,
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self { most: None, values: PhantomData }
    }
}

impl<V> Queue<V> {
    /// Creates a queue that has room for this many values.
    pub fn bounded(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// Returns true if it has room for a number of values only.
    pub const fn is_bounded(&self) -> bool {
        self.most.is_some()
    }

    fn is_full(&self, state: &VecDeque<V>) -> bool {
        self.most.is_some_and(|most| state.len() >= most)
    }
}

/// An operation of a queue.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum QueueInput<V> {
    /// Adds a value, if there is room.
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
    /// There was no room to add the value.
    Full,
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
            (QueueInput::Enqueue(_), output) if self.is_full(state) => {
                matches!(output, None | Some(QueueOutput::Full))
            }
            (QueueInput::Enqueue(value), None | Some(QueueOutput::Enqueued)) => {
                state.push_back(value.clone());
                true
            }
            (QueueInput::Enqueue(_), Some(_))
            | (QueueInput::Dequeue, Some(QueueOutput::Enqueued | QueueOutput::Full)) => false,
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
        matches!(output, Some(QueueOutput::Empty | QueueOutput::Full))
    }

    fn allows(
        &self,
        state: &VecDeque<V>,
        input: &QueueInput<V>,
        output: Option<&QueueOutput<V>>,
    ) -> bool {
        match (input, output) {
            (QueueInput::Dequeue, Some(QueueOutput::Empty)) => state.is_empty(),
            (QueueInput::Enqueue(_), Some(QueueOutput::Full)) => self.is_full(state),
            _ => false,
        }
    }

    fn bytes(&self, state: &VecDeque<V>) -> usize {
        size_of_val(state) + state.len() * size_of::<V>()
    }

    fn has_rules(&self) -> bool {
        self.most.is_none()
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        if self.most.is_some() {
            return None;
        }
        Some(online::by_parts(self, |()| online::Queue::default(), effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<QueueInput<V>, QueueOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        if self.most.is_some() {
            return Decision::Beyond(Beyond::Object);
        }
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

    fn concern(&self, input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> RelevantValues<V> {
        match (input, output) {
            _ if self.most.is_some() => RelevantValues::All,
            (QueueInput::Enqueue(value), _) | (_, Some(QueueOutput::Dequeued(value))) => {
                RelevantValues::Value(value.clone())
            }
            _ => RelevantValues::All,
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
