//! The serial histories of a test, and the judgement by them.

use std::hash::Hash;

use thiserror::Error;

use super::history::Operation;
use super::{ConcurrentHistory, SerialHistory, Shape, Thread};
use crate::OperationId;
use crate::seeded::SeededMap;

/// Two serial histories with the same calls and responses up to a call with two different
/// responses. No deterministic object has both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Nondeterminism<R> {
    /// The earlier history.
    pub first: SerialHistory<R>,
    /// The history that contradicts it.
    pub second: SerialHistory<R>,
    /// Number of complete operations before the call with different responses.
    pub common: usize,
}

/// A serial history that cannot be added.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ObservationError<R> {
    /// Its operations differ from the operations of the test.
    #[error("the serial history is none of this test")]
    OtherTest,
    /// It contradicts an earlier history.
    #[error("two serial histories make the same calls and get different answers")]
    Nondeterministic(Box<Nondeterminism<R>>),
}

/// The judgement of a concurrent history by all serial histories.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// The history has a serial witness; if it is stuck, each stuck operation has one.
    Linearizable,
    /// The history is full and has no serial witness.
    NoWitness,
    /// The history is stuck, and the open operation of this thread has no serial witness: no serial
    /// execution with the same responses gets stuck in it.
    StuckWithoutWitness(Thread),
}

/// The view of each thread: the responses of its complete operations, and the thread whose next
/// operation is stuck, if any.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Seen<R> {
    responses: Vec<Vec<R>>,
    stuck: Option<Thread>,
}

/// A serial order of a group.
#[derive(Clone, Debug)]
struct Order {
    threads: Box<[Thread]>,
    /// For each operation of the test, by number, the set of operations before it.
    before: Box<[u64]>,
}

/// The serial histories with the same responses for every thread.
#[derive(Clone, Copy, Debug)]
pub struct Group<'o, R> {
    seen: &'o Seen<R>,
    orders: &'o [Order],
}

impl<'o, R: Clone> Group<'o, R> {
    /// The responses of each thread's complete operations.
    pub fn responses(&self) -> &'o [Vec<R>] {
        &self.seen.responses
    }

    /// The thread whose next operation is stuck, if any.
    pub const fn stuck(&self) -> Option<Thread> {
        self.seen.stuck
    }

    /// The serial histories of the group.
    pub fn histories(self) -> impl Iterator<Item = SerialHistory<R>> + use<'o, R> {
        self.orders.iter().map(move |order| self.seen.history(&order.threads))
    }
}

impl<R: Clone> Seen<R> {
    /// Returns the history in which the threads take turns in this order.
    fn history(&self, threads: &[Thread]) -> SerialHistory<R> {
        let mut next = [0; Thread::LIMIT + 1];
        let complete = threads.len() - usize::from(self.stuck.is_some());
        let operation = |thread: &Thread| {
            let index = next[thread.index()];
            next[thread.index()] += 1;
            (*thread, self.responses[thread.index()][index].clone())
        };
        let operations = threads[..complete].iter().map(operation).collect();
        SerialHistory { operations, stuck: self.stuck }
    }
}

/// The answer to a call, an edge in the tree of serial histories.
#[derive(Clone, Debug)]
struct Answer<R> {
    /// `None` if the call is stuck.
    response: Option<R>,
    /// The node after the return.
    next: u32,
    /// Index of a history with this answer.
    history: u32,
}

/// The serial histories of a test, grouped by the responses that each thread received.
///
/// Invariant: the histories are deterministic; a history that contradicts an earlier one is
/// refused.
#[derive(Clone, Debug)]
pub struct Observations<R> {
    shape: Shape,
    groups: Vec<(Seen<R>, Vec<Order>)>,
    by_seen: SeededMap<Seen<R>, u32>,
    /// The tree of all histories: the answer to the call of a thread at a node. Determinism is one
    /// answer per node and thread.
    tree: SeededMap<(u32, Thread), Answer<R>>,
    nodes: u32,
    /// Group of each history and index in the group, in the order of insertion.
    places: Vec<(u32, u32)>,
}

impl<R: Clone + Eq + Hash> Observations<R> {
    /// Creates an empty set of serial histories of a test of this shape.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            groups: Vec::new(),
            by_seen: SeededMap::default(),
            tree: SeededMap::default(),
            nodes: 0,
            places: Vec::new(),
        }
    }

    /// The shape of the test.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of distinct serial histories.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Number of serial histories that end stuck.
    pub fn stuck(&self) -> usize {
        self.groups.iter().filter(|(seen, _)| seen.stuck.is_some()).map(|(_, o)| o.len()).sum()
    }

    /// Returns the groups, in the order in which their first histories were inserted.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Group<'_, R>> {
        self.groups.iter().map(|(seen, orders)| Group { seen, orders })
    }

    /// Returns all histories, group by group.
    pub fn histories(&self) -> impl Iterator<Item = SerialHistory<R>> {
        self.groups().flat_map(Group::histories)
    }

    /// Adds a serial history. Returns false if it was present. Linear in its length.
    ///
    /// # Errors
    /// If it is not a history of this test, or contradicts an earlier one: then nothing changes.
    pub fn insert(&mut self, history: SerialHistory<R>) -> Result<bool, ObservationError<R>> {
        if !history.is_of(&self.shape) {
            return Err(ObservationError::OtherTest);
        }
        let answers = history.operations.iter().map(|(thread, response)| (*thread, Some(response)));
        let answers = answers.chain(history.stuck.map(|thread| (thread, None)));
        // Walks the known part first, so that a contradiction changes nothing.
        let mut node = 0;
        let mut known = 0;
        for (thread, response) in answers.clone() {
            match self.tree.get(&(node, thread)) {
                None => break,
                Some(answer) if answer.response.as_ref() == response => node = answer.next,
                Some(answer) => {
                    let first = self.history(answer.history);
                    return Err(ObservationError::Nondeterministic(Box::new(Nondeterminism {
                        first,
                        second: history,
                        common: known,
                    })));
                }
            }
            known += 1;
        }
        let length = history.operations.len() + usize::from(history.stuck.is_some());
        // (The history of an empty test has no operation that could show its presence.)
        if known == length && (length > 0 || !self.places.is_empty()) {
            return Ok(false);
        }
        let number = self.places.len() as u32;
        for (thread, response) in answers.skip(known) {
            self.nodes += 1;
            let answer = Answer { response: response.cloned(), next: self.nodes, history: number };
            self.tree.insert((node, thread), answer);
            node = self.nodes;
        }
        let (seen, order) = self.split(history);
        let group = *self.by_seen.entry(seen).or_insert_with_key(|seen| {
            self.groups.push((seen.clone(), Vec::new()));
            (self.groups.len() - 1) as u32
        });
        let orders = &mut self.groups[group as usize].1;
        self.places.push((group, orders.len() as u32));
        orders.push(order);
        Ok(true)
    }

    fn history(&self, number: u32) -> SerialHistory<R> {
        let (group, place) = self.places[number as usize];
        let (seen, orders) = &self.groups[group as usize];
        seen.history(&orders[place as usize].threads)
    }

    /// Splits a history into the view of each thread and the order of the operations.
    fn split(&self, history: SerialHistory<R>) -> (Seen<R>, Order) {
        let threads = self.shape.threads().len();
        let mut responses: Vec<Vec<R>> = vec![Vec::new(); threads];
        let mut order = Vec::with_capacity(history.operations.len() + 1);
        let mut before = vec![0; self.shape.operations()];
        let mut done = 0_u64;
        for (thread, response) in history.operations {
            let id = self.shape.operation(thread, responses[thread.index()].len()).index();
            before[id] = done;
            done |= 1 << id;
            responses[thread.index()].push(response);
            order.push(thread);
        }
        if let Some(thread) = history.stuck {
            order.push(thread);
        }
        let seen = Seen { responses, stuck: history.stuck };
        (seen, Order { threads: order.into(), before: before.into() })
    }

    /// Judges a concurrent history by these serial histories.
    ///
    /// A witness of a full history is a serial history that gives every thread the same responses
    /// and keeps the order of operations that did not overlap (Definition 1; a full history has no
    /// pending call). A stuck history needs a witness for each pending operation e: a serial
    /// history that gets stuck in e and is otherwise such a witness of the history without the
    /// other pending calls (Definition 2).
    ///
    /// At most one comparison of words per operation and serial history of the group.
    pub fn judge(&self, history: &ConcurrentHistory<R>) -> Judgement {
        let operations = history.operations(&self.shape);
        let precedence = history.precedence(&self.shape);
        let mut responses: Vec<Vec<R>> = vec![Vec::new(); self.shape.threads().len()];
        for Operation { thread, end, .. } in &operations {
            if let Some((_, response)) = end {
                responses[thread.index()].push((*response).clone());
            }
        }
        let complete = |operation: &&Operation<'_, R>| operation.end.is_some();
        let complete: Vec<OperationId> =
            operations.iter().filter(complete).map(|operation| operation.id).collect();
        let mut seen = Seen { responses, stuck: None };
        if !history.is_stuck() {
            return if self.fits(&seen, &complete, &precedence) {
                Judgement::Linearizable
            } else {
                Judgement::NoWitness
            };
        }
        for pending in operations.iter().filter(|operation| operation.end.is_none()) {
            seen.stuck = Some(pending.thread);
            // Real time does not constrain the pending operation: it comes last in each order.
            if !self.fits(&seen, &complete, &precedence) {
                return Judgement::StuckWithoutWitness(pending.thread);
            }
        }
        Judgement::Linearizable
    }

    /// Returns true if some order of a group places each of these operations after all operations
    /// that precede it in time.
    fn fits(&self, seen: &Seen<R>, operations: &[OperationId], precedence: &[u64]) -> bool {
        let Some(group) = self.by_seen.get(seen) else { return false };
        let kept = |order: &Order| {
            operations.iter().all(|id| precedence[id.index()] & !order.before[id.index()] == 0)
        };
        self.groups[*group as usize].1.iter().any(kept)
    }
}
