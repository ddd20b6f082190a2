//! The online monitor: is the execution so far set-linearizable?
//!
//! The alarm comes with the first event after which no sequence of blocks explains the execution: a
//! response that violates one of I1 to I4, or the failure of an operation whose value was returned.
//! The [module page](super) describes the comparisons.
//!
//! The monitor keeps the vectors from the *floor* of the oldest open operation on (the largest
//! vector returned before its invocation, which by I1, I2 and I4 it exceeds), and the values that
//! such a vector may have. So memory grows with the operations concurrent with the oldest open
//! operation, and with the number of segments.

use std::collections::VecDeque;
use std::hash::Hash;

use thiserror::Error;

use super::admission::{Admission, ExchangeError};
use super::history::{Action, Event};
use super::violation::Violation;
use super::window::Window;
use crate::chain::{Chain, Conflict};
use crate::history::Declaration;
use crate::sights::Sights;
use crate::{Names, OperationId, Process};

/// Up to this many vectors and values are never forgotten.
const MIN_RETAINED: usize = 24;

/// The judgement after an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// The execution so far is set-linearizable.
    SetLinearizable,
    /// The execution so far is not set-linearizable; its continuations are not, either.
    Violation(Alarm),
    /// A process wrote a value twice: the four conditions do not apply.
    Undecided(Repeated),
}

/// A violation, at the first event that completes one.
///
/// A violation of validity without a writer has two causes: the value was not written before, or so
/// long ago that the monitor has forgotten it. [`super::check`] distinguishes them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alarm {
    /// Number of the event.
    pub event: usize,
    /// The violation.
    pub violation: Violation,
}

/// A process wrote a value a second time, or wrote its initial value.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("{}", self.told(&Names::default()))]
pub struct Repeated {
    /// The operation.
    pub operation: OperationId,
    /// The process of the operation.
    pub process: Process,
}

impl Repeated {
    /// Returns the sentence for it, with its cure; processes have these names.
    pub fn told(&self, names: &Names) -> String {
        let Self { operation, process } = self;
        format!(
            "operation {operation} of {} writes the initial value of its segment, or a value that \
             the process wrote before, so it is open which of them was read; record values that do \
             not repeat",
            names.process(*process)
        )
    }
}

/// An operation that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    operation: u64,
    /// The sum of the largest vector returned before its invocation.
    floor: u64,
}

/// Judges a stream of events as they happen.
///
/// Cost: O(segments) per response, O(1) per other event. A forgotten value that is written again is
/// not recognised as repeated.
///
/// ```
/// use snapshot_core::history::Declaration;
/// use snapshot_core::immediate::{Action, Event, Judgement, Monitor};
///
/// let mut monitor = Monitor::new(Declaration::new(0).with_segments(2)).unwrap();
/// let event = |process, action| Event { process, action };
/// monitor.observe(&event(0, Action::Invoke { value: &5 })).unwrap();
/// // It does not return what it wrote:
/// let judgement = monitor.observe(&event(0, Action::Respond { values: &[0, 0] })).unwrap();
/// assert!(matches!(judgement, Judgement::Violation(alarm) if alarm.event == 1));
/// ```
#[derive(Clone, Debug)]
pub struct Monitor<V> {
    declaration: Declaration<V>,
    admission: Admission,
    judgement: Judgement,
    chain: Chain,
    windows: Vec<Window<V>>,
    /// The open operation of each process.
    open: Vec<Option<Open>>,
    /// Open operations in the order of their invocations; ended operations are skipped when they
    /// reach the front.
    order: VecDeque<(u32, u64)>,
    operations: u64,
    pending: u64,
    failed: u64,
    /// The vector of the operation that responds.
    vector: Vec<u64>,
    /// The operations whose values were returned, if they are wanted.
    sights: Option<Box<Sights>>,
}

impl<V: Clone + Eq + Hash> Monitor<V> {
    /// Creates a monitor before the first event.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn new(declaration: Declaration<V>) -> Result<Self, ExchangeError> {
        let admission = Admission::new(&declaration)?;
        Ok(Self::with(declaration, admission))
    }

    fn with(declaration: Declaration<V>, admission: Admission) -> Self {
        Self {
            admission,
            declaration,
            judgement: Judgement::SetLinearizable,
            chain: Chain::default(),
            windows: Vec::new(),
            open: Vec::new(),
            order: VecDeque::new(),
            operations: 0,
            pending: 0,
            failed: 0,
            vector: Vec::new(),
            sights: None,
        }
    }

    /// Keeps the operations whose values were returned, from now on.
    pub(super) fn keep(&mut self, sights: Sights) {
        self.sights = Some(Box::new(sights));
    }

    /// Returns the operations whose values were returned, if they were kept.
    pub(super) fn into_sights(self) -> Option<Sights> {
        self.sights.map(|sights| *sights)
    }

    /// The judgement so far.
    pub const fn judgement(&self) -> Judgement {
        self.judgement
    }

    /// Number of events so far.
    pub const fn events(&self) -> usize {
        self.admission.events()
    }

    /// Number of operations invoked so far.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Number of operations that neither responded nor failed so far.
    pub const fn pending(&self) -> u64 {
        self.pending
    }

    /// Number of operations that certainly had no effect.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Number of segments as known so far.
    pub fn segments(&self) -> usize {
        self.admission.segments()
    }

    /// Number of segments, if it was declared or an operation has responded.
    pub const fn known_segments(&self) -> Option<usize> {
        self.admission.known_segments()
    }

    /// Number of vectors, values and open operations kept for comparison.
    pub fn retained(&self) -> usize {
        self.windows.iter().map(Window::len).sum::<usize>() + self.chain.len() + self.order.len()
    }

    /// Takes the next event. After a violation, or once undecided, events are still admitted and
    /// counted, and the judgement stays.
    ///
    /// # Errors
    /// If no execution can have this event here; the event then changes nothing.
    pub fn observe(&mut self, event: &Event<'_, V>) -> Result<Judgement, ExchangeError> {
        let now = self.admission.events();
        self.admission.admit(event)?;
        self.follow(event, now);
        Ok(self.judgement)
    }

    /// Creates a monitor for the events of a valid execution.
    pub(super) fn of_history(history: &super::History<V>) -> Self {
        let declaration = history.declaration().clone();
        let admission = Admission::known(history.segments());
        Self::with(declaration, admission)
    }

    /// Takes event number `now`, which was admitted.
    pub(super) fn follow(&mut self, event: &Event<'_, V>, now: usize) {
        let process = event.process;
        match event.action {
            Action::Invoke { .. } => {
                self.operations += 1;
                self.pending += 1;
            }
            Action::Respond { .. } => self.pending -= 1,
            Action::Fail => {
                self.pending -= 1;
                self.failed += 1;
            }
            Action::Unknown => {}
        }
        if self.judgement != Judgement::SetLinearizable {
            return;
        }
        match event.action {
            Action::Invoke { value } => self.begin(process, value),
            Action::Respond { values } => self.respond(process, values, now),
            Action::Fail => self.fail(process, now),
            // Later operations are compared only with its value.
            Action::Unknown => self.open[process] = None,
        }
    }

    fn begin(&mut self, index: usize, value: &V) {
        let operation = self.operations - 1;
        if index >= self.open.len() {
            self.open.resize(index + 1, None);
            self.windows.resize_with(index + 1, Window::default);
        }
        if value == self.declaration.initial_value(index)
            || self.windows[index].find(value).is_some()
        {
            let process = Process::from_index(index);
            self.judgement = Judgement::Undecided(Repeated { operation: id(operation), process });
            return;
        }
        self.windows[index].write(value, operation);
        self.open[index] = Some(Open { operation, floor: self.chain.floor() });
        self.order.push_back((index as u32, operation));
    }

    fn respond(&mut self, index: usize, values: &[V], now: usize) {
        let Some(open) = self.open[index].take() else { return };
        if self.windows.len() < values.len() {
            self.open.resize(values.len(), None);
            self.windows.resize_with(values.len(), Window::default);
        }
        if let Err(violation) = self.place(index, open, values) {
            self.alarm(violation, now);
        } else if self.chain.len() + self.order.len() > MIN_RETAINED
            || self.windows[index].len() > MIN_RETAINED
        {
            self.tidy();
        }
    }

    /// Checks I1 to I4 for the values of an operation, and keeps its vector.
    fn place(&mut self, own: usize, open: Open, values: &[V]) -> Result<(), Violation> {
        let operation = id(open.operation);
        let number = self.windows[own].respond();
        if self.windows[own].find(&values[own]).is_none_or(|(found, _)| found != number) {
            return Err(Violation::OwnValue { operation });
        }
        self.vector.clear();
        for (segment, value) in values.iter().enumerate() {
            let number = if let Some((number, _)) = self.windows[segment].find(value) {
                number
            } else if value == self.declaration.initial_value(segment) {
                0
            } else {
                return Err(Violation::Validity { operation, segment, writer: None });
            };
            self.vector.push(number);
        }
        let sum = self.vector.iter().sum();
        let is_new = match self.chain.insert(&self.vector, open.operation, open.floor) {
            Ok(is_new) => is_new,
            Err(Conflict::Above(other, slot) | Conflict::Incomparable(other, slot)) => {
                return Err(self.containment(operation, other, self.chain.vector(slot)));
            }
        };
        let (viewer, below) = self.chain.below(sum).unwrap_or((open.operation, &[]));
        if below.get(own) == Some(&number) {
            let newer = ahead(&self.vector, below).unwrap_or(own);
            return Err(Violation::Immediacy { viewer: id(viewer), seen: operation, newer });
        }
        if is_new {
            self.immediacy(own, operation, below)?;
        }
        if let Some(sights) = &mut self.sights {
            let seen = self.windows.iter().zip(&self.vector);
            sights.push(operation, sum, seen.map(|(window, &number)| window.operation(number)));
        }
        Ok(())
    }

    /// Checks I3 for a new vector: no entry where it grows beyond `below` (missing entries: zero)
    /// belongs to another complete operation.
    fn immediacy(&self, own: usize, viewer: OperationId, below: &[u64]) -> Result<(), Violation> {
        for (segment, &number) in self.vector.iter().enumerate() {
            let grows = number > below.get(segment).copied().unwrap_or(0);
            if segment == own || !grows {
                continue;
            }
            let window = &self.windows[segment];
            if number <= window.responded()
                && let Some(seen) = window.operation(number)
            {
                // Its vector is not `self.vector`, which is new, so it is at least the next one.
                let above = self.chain.above(self.vector.iter().sum());
                let ahead = above.and_then(|(_, above)| ahead(above, &self.vector));
                let newer = ahead.unwrap_or(segment);
                return Err(Violation::Immediacy { viewer, seen: id(seen), newer });
            }
        }
        Ok(())
    }

    /// Returns the violation of containment by `operation` and a kept vector: each exceeds the
    /// other at some entry.
    fn containment(&self, operation: OperationId, other: u64, vector: &[u64]) -> Violation {
        let i = ahead(&self.vector, vector).unwrap_or(0);
        let j = ahead(vector, &self.vector).unwrap_or(0);
        Violation::Containment { first: operation, second: id(other), i, j }
    }

    fn fail(&mut self, segment: usize, now: usize) {
        let Some(open) = self.open[segment].take() else { return };
        let window = &mut self.windows[segment];
        if let Some((viewer, vector)) = self.chain.largest()
            && vector.get(segment) == Some(&window.newest())
        {
            let writer = Some(id(open.operation));
            let operation = id(viewer);
            self.alarm(Violation::Validity { operation, segment, writer }, now);
        } else {
            window.fail();
        }
    }

    fn alarm(&mut self, violation: Violation, event: usize) {
        self.judgement = Judgement::Violation(Alarm { event, violation });
    }

    /// Forgets vectors and values that no open operation can be compared with.
    fn tidy(&mut self) {
        let open = &self.open;
        let is_open = |&(process, operation): &(u32, u64)| {
            open[process as usize].is_some_and(|open| open.operation == operation)
        };
        while self.order.front().is_some_and(|entry| !is_open(entry)) {
            self.order.pop_front();
        }
        if self.order.len() > 2 * open.len() + MIN_RETAINED {
            self.order.retain(is_open);
        }
        let oldest = self.order.front().and_then(|&(process, _)| open[process as usize]);
        let floor = oldest.map_or_else(|| self.chain.floor(), |open| open.floor);
        self.chain.forget_below(floor);
        if let Some((_, slot)) = self.chain.at_floor(floor) {
            for (window, &number) in self.windows.iter_mut().zip(self.chain.vector(slot)) {
                window.forget_before(number);
            }
        }
    }
}

/// Returns the identifier of an operation of the stream.
fn id(operation: u64) -> OperationId {
    OperationId::from_index(operation as usize)
}

/// Returns the first entry at which one vector exceeds another.
fn ahead(vector: &[u64], other: &[u64]) -> Option<usize> {
    vector.iter().zip(other).position(|(a, b)| a > b)
}
