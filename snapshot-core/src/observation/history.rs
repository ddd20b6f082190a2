//! Concurrent histories of a test.

use thiserror::Error;

use super::{Shape, Thread};
use crate::OperationId;

/// An event of an execution of a test.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Event<R> {
    /// A thread calls its next operation.
    Call(Thread),
    /// The open operation of a thread returns.
    Return(Thread, R),
}

impl<R> Event<R> {
    /// Returns the thread of the event.
    pub const fn thread(&self) -> Thread {
        match self {
            Self::Call(thread) | Self::Return(thread, _) => *thread,
        }
    }
}

/// Events that form no history of a test.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum HistoryError {
    /// A call of a thread that has an operation open, or no operation left.
    #[error("event {event}: thread {thread} cannot call an operation now")]
    Call {
        /// Number of the event, from 0.
        event: usize,
        /// The thread.
        thread: Thread,
    },
    /// A return of a thread that has no operation open.
    #[error("event {event}: thread {thread} has no operation to return from")]
    Return {
        /// Number of the event, from 0.
        event: usize,
        /// The thread.
        thread: Thread,
    },
    /// The history is not stuck, but an operation did not return.
    #[error("the history is not stuck, but not every operation of the test returned")]
    NotFull,
    /// The history is stuck, but has no open operation.
    #[error("the history is stuck, but no operation is open")]
    NothingStuck,
}

/// An execution of a test: calls and returns in the order of time.
///
/// Full (every operation of the test returned) or stuck (some operations are open and can never
/// return).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ConcurrentHistory<R> {
    events: Vec<Event<R>>,
    stuck: bool,
}

impl<R> ConcurrentHistory<R> {
    /// Creates the history of these events.
    ///
    /// # Errors
    /// If the events form no history of a test of this shape.
    pub fn new(shape: &Shape, events: Vec<Event<R>>, stuck: bool) -> Result<Self, HistoryError> {
        let mut called = [0; Thread::LIMIT + 1];
        let mut open = [false; Thread::LIMIT + 1];
        for (event, happened) in events.iter().enumerate() {
            let thread = happened.thread();
            let t = thread.index();
            match happened {
                Event::Call(_) if open[t] || called[t] == shape.length(thread) => {
                    return Err(HistoryError::Call { event, thread });
                }
                Event::Call(_) => called[t] += 1,
                Event::Return(..) if !open[t] => {
                    return Err(HistoryError::Return { event, thread });
                }
                Event::Return(..) => {}
            }
            open[t] = matches!(happened, Event::Call(_));
        }
        if stuck && !open.contains(&true) {
            return Err(HistoryError::NothingStuck);
        }
        if !stuck && events.len() != 2 * shape.operations() {
            return Err(HistoryError::NotFull);
        }
        Ok(Self { events, stuck })
    }

    /// The events.
    pub fn events(&self) -> &[Event<R>] {
        &self.events
    }

    /// Returns true if the history is stuck.
    pub const fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Returns the threads whose last operation never returned.
    pub fn pending(&self) -> Vec<Thread> {
        let mut open = [false; Thread::LIMIT + 1];
        for event in &self.events {
            open[event.thread().index()] = matches!(event, Event::Call(_));
        }
        (0..=Thread::LIMIT).filter(|t| open[*t]).map(Thread::from_index).collect()
    }

    /// Returns the operations in the order of their calls, with the indices of their call and
    /// return events.
    pub(super) fn operations(&self, shape: &Shape) -> Vec<Operation<'_, R>> {
        let mut operations: Vec<Operation<'_, R>> = Vec::with_capacity(self.events.len());
        let mut called = [0; Thread::LIMIT + 1];
        let mut open = [0; Thread::LIMIT + 1];
        for (position, event) in self.events.iter().enumerate() {
            let t = event.thread().index();
            match event {
                Event::Call(thread) => {
                    let id = shape.operation(*thread, called[t]);
                    called[t] += 1;
                    open[t] = operations.len();
                    operations.push(Operation { id, thread: *thread, call: position, end: None });
                }
                Event::Return(_, response) => operations[open[t]].end = Some((position, response)),
            }
        }
        operations
    }

    /// Returns for each operation of the test, by number, the set of operations that returned
    /// before its call (the real-time order `<H` of the paper).
    pub(super) fn precedence(&self, shape: &Shape) -> Vec<u64> {
        let mut precedence = vec![0; shape.operations()];
        let mut called = [0; Thread::LIMIT + 1];
        let mut returned = 0_u64;
        for event in &self.events {
            let thread = event.thread();
            let t = thread.index();
            match event {
                Event::Call(_) => {
                    precedence[shape.operation(thread, called[t]).index()] = returned;
                    called[t] += 1;
                }
                Event::Return(..) => {
                    returned |= 1 << shape.operation(thread, called[t] - 1).index();
                }
            }
        }
        precedence
    }

    /// Returns the history without some operations, given as a set of bits, as a history of the
    /// test without them ([`Shape::without`]).
    ///
    /// `None` if no history remains: only removed operations were stuck.
    #[must_use]
    pub fn without(&self, shape: &Shape, struck: u64) -> Option<Self>
    where
        R: Clone,
    {
        let mut called = [0; Thread::LIMIT + 1];
        let mut kept = Vec::with_capacity(self.events.len());
        for event in &self.events {
            let thread = event.thread();
            let t = thread.index();
            called[t] += usize::from(matches!(event, Event::Call(_)));
            if struck >> shape.operation(thread, called[t] - 1).index() & 1 == 0 {
                kept.push(event.clone());
            }
        }
        Self::new(&shape.without(struck), kept, self.stuck).ok()
    }
}

pub(super) struct Operation<'h, R> {
    pub(super) id: OperationId,
    pub(super) thread: Thread,
    /// Index of the call event.
    pub(super) call: usize,
    /// Index of the return event, with the response.
    pub(super) end: Option<(usize, &'h R)>,
}
