//! Recorded executions of an immediate snapshot, in memory.

use super::admission::{Admission, ExchangeError};
use crate::history::{Declaration, Outcome};
use crate::{OperationId, Process};

/// The action of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action<'a, V> {
    /// `exchange(value)` is invoked.
    Invoke {
        /// The value written to the segment of the process.
        value: &'a V,
    },
    /// The open operation returns these values, one per segment.
    Respond {
        /// The returned values.
        values: &'a [V],
    },
    /// The open operation certainly had no effect.
    Fail,
    /// The outcome of the open operation will never be known; the process stops.
    Unknown,
}

/// One event of an execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event<'a, V> {
    /// The process, which is also the number of its segment.
    pub process: usize,
    /// The action.
    pub action: Action<'a, V>,
}

/// One operation of an execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operation {
    /// The process, which is also the number of its segment.
    pub process: Process,
    /// Number of the event that invoked the operation.
    pub invocation: usize,
    /// The outcome.
    pub outcome: Outcome,
    /// Position of the vector, in units of vectors, if the operation is complete.
    vector: u32,
}

impl Operation {
    /// Number of the response event, if the operation is complete.
    pub const fn response(&self) -> Option<usize> {
        match self.outcome {
            Outcome::Complete { response } => Some(response),
            Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Pending => None,
        }
    }

    /// Returns true if the operation responded.
    pub const fn is_complete(&self) -> bool {
        matches!(self.outcome, Outcome::Complete { .. })
    }

    /// Returns true if the operation certainly had no effect.
    pub const fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }

    /// Returns true if this operation responded before `other` was invoked (real-time precedence).
    pub fn precedes(&self, other: &Self) -> bool {
        self.response().is_some_and(|response| response < other.invocation)
    }
}

/// A recorded execution of an immediate snapshot.
///
/// The position of an event is its time, as in [`crate::history`]. Memory: 48 bytes per
/// operation, 4 per event, and the values.
///
/// ```
/// use snapshot_core::history::Declaration;
/// use snapshot_core::immediate::{History, Verdict, check};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke(0, 5).unwrap();
/// history.invoke(1, 8).unwrap();
/// history.respond(0, &[5, 8]).unwrap();
/// history.respond(1, &[5, 8]).unwrap(); // both in one block
/// let verdict = check(&history.finish());
/// assert!(matches!(verdict, Verdict::SetLinearizable(blocks) if blocks.len() == 1));
/// ```
#[derive(Clone, Debug)]
pub struct History<V> {
    declaration: Declaration<V>,
    segments: usize,
    operations: Vec<Operation>,
    /// The value that each operation writes.
    written: Vec<V>,
    /// `segments` consecutive values per complete operation.
    returned: Vec<V>,
    /// Operation number times 2, plus 1 at its end.
    steps: Vec<u32>,
}

impl<V> History<V> {
    /// Starts recording an execution. Of the declaration only the sizes, which must be equal, and
    /// the initial values count.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn builder(declaration: Declaration<V>) -> Result<HistoryBuilder<V>, ExchangeError> {
        let admission = Admission::new(&declaration)?;
        let history = Self {
            declaration,
            segments: 1,
            operations: Vec::new(),
            written: Vec::new(),
            returned: Vec::new(),
            steps: Vec::new(),
        };
        Ok(HistoryBuilder { admission, open: Vec::new(), history })
    }

    /// Number of segments, and of processes: at least 1.
    pub const fn segments(&self) -> usize {
        self.segments
    }

    /// The initial value of segment number `segment`.
    pub fn initial_value(&self, segment: usize) -> &V {
        self.declaration.initial_value(segment)
    }

    /// The declaration of the execution.
    pub const fn declaration(&self) -> &Declaration<V> {
        &self.declaration
    }

    /// All operations, in the order of their invocations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The identifiers of all operations, in the order of their invocations.
    pub fn operation_ids(&self) -> impl ExactSizeIterator<Item = OperationId> + use<V> {
        (0..self.operations.len()).map(OperationId::from_index)
    }

    /// Returns one operation.
    ///
    /// # Panics
    /// If the history has no such operation.
    #[inline]
    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.index()]
    }

    /// The value that an operation writes.
    ///
    /// # Panics
    /// If the history has no such operation.
    #[inline]
    pub fn written(&self, id: OperationId) -> &V {
        &self.written[id.index()]
    }

    /// Returns the values of a complete operation, one per segment.
    ///
    /// # Panics
    /// If the history has no such operation.
    #[inline]
    pub fn returned(&self, id: OperationId) -> Option<&[V]> {
        let operation = self.operation(id);
        let start = operation.vector as usize * self.segments;
        operation.is_complete().then(|| &self.returned[start..start + self.segments])
    }

    /// Number of events.
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if the history is empty.
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the events in the order of time, with their operations.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (OperationId, Event<'_, V>)> {
        self.steps.iter().map(|&step| {
            let id = OperationId::from_index((step >> 1) as usize);
            let operation = self.operation(id);
            let action = match (step & 1 == 1, operation.outcome) {
                (false, _) => Action::Invoke { value: self.written(id) },
                (true, Outcome::Failed { .. }) => Action::Fail,
                (true, Outcome::Unknown { .. } | Outcome::Pending) => Action::Unknown,
                (true, Outcome::Complete { .. }) => {
                    Action::Respond { values: self.returned(id).unwrap_or_default() }
                }
            };
            (id, Event { process: operation.process.index(), action })
        })
    }
}

/// Builds a [`History`] event by event. A refused event changes nothing.
#[derive(Clone, Debug)]
pub struct HistoryBuilder<V> {
    admission: Admission,
    /// The open or last operation of each process.
    open: Vec<u32>,
    history: History<V>,
}

impl<V> HistoryBuilder<V> {
    /// Appends the invocation of `exchange(value)` by `process`.
    ///
    /// # Errors
    /// If the process cannot invoke it here; see [`ExchangeErrorKind`](super::ExchangeErrorKind).
    pub fn invoke(&mut self, process: usize, value: V) -> Result<OperationId, ExchangeError> {
        let invocation = self.admission.events();
        let id = self.admission.invoke(process)?;
        if process >= self.open.len() {
            self.open.resize(process + 1, 0);
        }
        let number = self.history.operations.len();
        self.open[process] = number as u32;
        self.history.operations.push(Operation {
            process: id,
            invocation,
            outcome: Outcome::Pending,
            vector: 0,
        });
        self.history.written.push(value);
        self.history.steps.push((number as u32) << 1);
        Ok(OperationId::from_index(number))
    }

    /// Appends the response of the open operation of `process`, with one value per segment.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn respond(&mut self, process: usize, values: &[V]) -> Result<OperationId, ExchangeError>
    where
        V: Clone,
    {
        let response = self.admission.events();
        self.admission.respond(process, values.len())?;
        let vector = (self.history.returned.len() / values.len()) as u32;
        self.history.returned.extend_from_slice(values);
        let id = self.end(process, Outcome::Complete { response });
        self.history.operations[id.index()].vector = vector;
        Ok(id)
    }

    /// Appends the failure of the open operation of `process`, which certainly had no effect.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn fail(&mut self, process: usize) -> Result<OperationId, ExchangeError> {
        let event = self.admission.events();
        self.admission.fail(process)?;
        Ok(self.end(process, Outcome::Failed { event }))
    }

    /// Appends the unknown outcome of the open operation of `process`.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn unknown(&mut self, process: usize) -> Result<OperationId, ExchangeError> {
        let event = self.admission.events();
        self.admission.unknown(process)?;
        Ok(self.end(process, Outcome::Unknown { event }))
    }

    /// Appends the next event.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn push(&mut self, event: &Event<'_, V>) -> Result<OperationId, ExchangeError>
    where
        V: Clone,
    {
        match event.action {
            Action::Invoke { value } => self.invoke(event.process, value.clone()),
            Action::Respond { values } => self.respond(event.process, values),
            Action::Fail => self.fail(event.process),
            Action::Unknown => self.unknown(event.process),
        }
    }

    fn end(&mut self, process: usize, outcome: Outcome) -> OperationId {
        let number = self.open[process];
        self.history.operations[number as usize].outcome = outcome;
        self.history.steps.push(number << 1 | 1);
        OperationId::from_index(number as usize)
    }

    /// Returns the history of the events so far; open operations are pending.
    pub fn finish(mut self) -> History<V> {
        let initial = self.history.declaration.initial.len();
        self.history.segments = self.admission.segments().max(initial);
        self.history
    }
}
