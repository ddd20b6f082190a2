//! The queue that ends when all threads wait.

use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::{bond, returns};
use crate::synchronisation::{Bond, Member, Synchronisation};

/// A queue for n threads whose dequeues wait while it is empty; when all n wait, they all return
/// that the queue has ended.
#[derive(Clone, Copy, Debug)]
pub struct TerminatingQueue<V> {
    threads: usize,
    values: PhantomData<V>,
}

impl<V> TerminatingQueue<V> {
    /// Creates the queue for this many threads.
    pub const fn new(threads: usize) -> Self {
        Self { threads, values: PhantomData }
    }
}

/// An operation of a terminating queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum TerminatingInput<V> {
    /// Adds a value.
    Enqueue(V),
    /// Removes the oldest value.
    Dequeue,
}

/// The output of an operation of a terminating queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum TerminatingOutput<V> {
    /// The value was added.
    Enqueued,
    /// The value removed.
    Dequeued(V),
    /// The queue was empty, and all threads waited.
    Ended,
}

impl<V: Clone + Eq + Hash> Synchronisation for TerminatingQueue<V> {
    type State = VecDeque<V>;
    type Input = TerminatingInput<V>;
    type Output = TerminatingOutput<V>;

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=self.threads
    }

    fn together(
        &self,
        queue: &mut VecDeque<V>,
        group: &[Member<'_, TerminatingInput<V>, TerminatingOutput<V>>],
    ) -> Bond {
        match *group {
            [member @ (TerminatingInput::Enqueue(value), _)] => {
                queue.push_back(value.clone());
                return bond(returns(member, &TerminatingOutput::Enqueued));
            }
            [(TerminatingInput::Dequeue, output)] if !queue.is_empty() => {
                let value = queue.pop_front();
                return bond(match output {
                    None => true,
                    Some(TerminatingOutput::Dequeued(dequeued)) => Some(dequeued) == value.as_ref(),
                    Some(_) => false,
                });
            }
            _ => {}
        }
        let waits = |member: &Member<'_, _, _>| {
            matches!(member, (TerminatingInput::Dequeue, None | Some(TerminatingOutput::Ended)))
        };
        if !queue.is_empty() || !group.iter().all(waits) || group.len() > self.threads {
            Bond::No
        } else if group.len() == self.threads {
            Bond::Yes
        } else {
            Bond::Prefix
        }
    }

    fn bytes(&self, queue: &VecDeque<V>) -> usize {
        size_of_val(queue) + queue.len() * size_of::<V>()
    }
}
