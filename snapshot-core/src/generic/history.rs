//! Recorded executions of any object.
//!
//! As for snapshots ([`crate::history`]), the position of an event is its time,
//! and a process has at most one open operation.

use std::fmt::{self, Display};

use crate::history::MAX_EVENTS;
use crate::{Names, OperationId, Process};

/// How an operation ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending<O> {
    /// The operation has a response.
    Complete {
        /// Number of the response event.
        response: usize,
        /// What it returned.
        output: O,
    },
    /// It certainly had no effect.
    Failed {
        /// Number of the event that says so.
        event: usize,
    },
    /// It may or may not have taken effect, at any time after its invocation.
    Pending,
}

/// An operation: an invocation with what became of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operation<I, O> {
    /// The process of the operation.
    pub process: Process,
    /// What was invoked.
    pub input: I,
    /// Number of the event that invoked it.
    pub invocation: usize,
    /// End of the operation.
    pub ending: Ending<O>,
}

impl<I, O> Operation<I, O> {
    /// Number of its response event, if it is complete.
    pub const fn response(&self) -> Option<usize> {
        match self.ending {
            Ending::Complete { response, .. } => Some(response),
            Ending::Failed { .. } | Ending::Pending => None,
        }
    }

    /// What it returned, if it is complete.
    pub const fn output(&self) -> Option<&O> {
        match &self.ending {
            Ending::Complete { output, .. } => Some(output),
            Ending::Failed { .. } | Ending::Pending => None,
        }
    }

    /// Whether it certainly had no effect.
    pub const fn is_failed(&self) -> bool {
        matches!(self.ending, Ending::Failed { .. })
    }

    /// Real-time precedence: `self` responded before `other` was invoked.
    pub const fn precedes(&self, other: &Self) -> bool {
        matches!(self.ending, Ending::Complete { response, .. } if response < other.invocation)
    }
}

/// A recorded execution: operations in the order of their invocations.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct History<I, O> {
    operations: Vec<Operation<I, O>>,
    events: usize,
}

impl<I, O> History<I, O> {
    /// Starts recording a history.
    pub fn builder() -> HistoryBuilder<I, O> {
        HistoryBuilder::default()
    }

    /// The history of operations that are known to be one.
    pub(super) const fn new(operations: Vec<Operation<I, O>>, events: usize) -> Self {
        Self { operations, events }
    }

    /// Returns the history of the first events. Operations that end later are pending in it, also
    /// those that fail.
    #[must_use]
    pub fn prefix(&self, events: usize) -> Self
    where
        I: Clone,
        O: Clone,
    {
        let begun = self.operations.partition_point(|operation| operation.invocation < events);
        let cut = self.operations[..begun].iter().map(|operation| {
            let mut operation: Operation<I, O> = operation.clone();
            let end = match &operation.ending {
                Ending::Complete { response: event, .. } | Ending::Failed { event } => *event,
                Ending::Pending => 0,
            };
            if end >= events {
                operation.ending = Ending::Pending;
            }
            operation
        });
        Self { operations: cut.collect(), events: events.min(self.events) }
    }

    /// All operations, in the order of their invocations.
    pub fn operations(&self) -> &[Operation<I, O>] {
        &self.operations
    }

    /// Number of events.
    pub const fn len(&self) -> usize {
        self.events
    }

    /// Whether there is no event at all.
    pub const fn is_empty(&self) -> bool {
        self.events == 0
    }
}

/// An event that no history can have at its place.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HistoryError {
    /// A response, failure or unknown outcome of an idle process.
    NothingOpen {
        /// Number of the refused event, from 0.
        event: usize,
        /// The idle process.
        process: Process,
    },
    /// An invocation by a process whose previous operation is still open.
    AlreadyOpen {
        /// Number of the refused event, from 0.
        event: usize,
        /// The busy process.
        process: Process,
        /// Open operation of the process.
        open: OperationId,
    },
    /// A process number above the limit of [`Process`].
    NoSuchProcess {
        /// Number of the refused event, from 0.
        event: usize,
        /// The number given.
        given: usize,
        /// The largest possible.
        limit: usize,
    },
    /// More events than one history can number.
    TooLong {
        /// The largest number of events.
        limit: usize,
    },
}

impl HistoryError {
    /// Returns the sentence for this error, with its cure; processes have these names.
    pub fn told(&self, names: &Names) -> String {
        match *self {
            Self::NothingOpen { event, process } => format!(
                "event {event}: {} ends an operation, but it has none open; record its invocation \
                 before its response",
                names.process(process)
            ),
            Self::AlreadyOpen { event, process, open } => format!(
                "event {event}: {} invokes an operation while {open} is still open (a process has \
                 at most one open operation); record its response first, or that its outcome is \
                 unknown, or use another process {}",
                names.process(process),
                if names.processes().is_empty() { "number" } else { "name" }
            ),
            Self::NoSuchProcess { event, given, limit } => format!(
                "event {event}: process {given} does not exist: the largest allowed is {limit}"
            ),
            Self::TooLong { limit } => {
                format!("the history is too long: at most {limit} events are possible")
            }
        }
    }
}

/// Writes the sentence for this error, with numbers.
impl Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Names::default()))
    }
}

impl std::error::Error for HistoryError {}

/// Builds a [`History`] event by event, refusing what no history can have. A
/// refused event changes nothing. Each event costs O(1).
#[derive(Clone, Debug)]
pub struct HistoryBuilder<I, O> {
    history: History<I, O>,
    /// The open operation of each process.
    open: Vec<Option<OperationId>>,
}

impl<I, O> Default for HistoryBuilder<I, O> {
    fn default() -> Self {
        let history = History { operations: Vec::new(), events: 0 };
        Self { history, open: Vec::new() }
    }
}

impl<I, O> HistoryBuilder<I, O> {
    /// `process` invokes an operation.
    ///
    /// # Errors
    /// If it has one open, or a limit is exceeded.
    pub fn invoke(&mut self, process: usize, input: I) -> Result<OperationId, HistoryError> {
        let (event, id) = self.next(process)?;
        if process >= self.open.len() {
            self.open.resize(process + 1, None);
        }
        if let Some(open) = self.open[process] {
            return Err(HistoryError::AlreadyOpen { event, process: id, open });
        }
        let operation = OperationId::from_index(self.history.operations.len());
        self.open[process] = Some(operation);
        self.history.operations.push(Operation {
            process: id,
            input,
            invocation: event,
            ending: Ending::Pending,
        });
        self.history.events += 1;
        Ok(operation)
    }

    /// The open operation of `process` responds.
    ///
    /// # Errors
    /// If it has none open, or a limit is exceeded.
    pub fn respond(&mut self, process: usize, output: O) -> Result<OperationId, HistoryError> {
        let response = self.history.events;
        self.end(process, Ending::Complete { response, output })
    }

    /// The open operation of `process` certainly had no effect.
    ///
    /// # Errors
    /// As [`Self::respond`].
    pub fn fail(&mut self, process: usize) -> Result<OperationId, HistoryError> {
        let event = self.history.events;
        self.end(process, Ending::Failed { event })
    }

    /// The outcome of the open operation of `process` will never be known: it
    /// stays pending, though the process goes on.
    ///
    /// # Errors
    /// As [`Self::respond`].
    pub fn unknown(&mut self, process: usize) -> Result<OperationId, HistoryError> {
        self.end(process, Ending::Pending)
    }

    fn end(&mut self, process: usize, ending: Ending<O>) -> Result<OperationId, HistoryError> {
        let (event, id) = self.next(process)?;
        let Some(operation) = self.open.get_mut(process).and_then(Option::take) else {
            return Err(HistoryError::NothingOpen { event, process: id });
        };
        self.history.operations[operation.index()].ending = ending;
        self.history.events += 1;
        Ok(operation)
    }

    /// The number of the next event, if there can be one, and the process it is of.
    fn next(&self, process: usize) -> Result<(usize, Process), HistoryError> {
        let event = self.history.events;
        if event >= MAX_EVENTS {
            return Err(HistoryError::TooLong { limit: MAX_EVENTS });
        }
        let limit = Process::LIMIT;
        let id = Process::new(process).map_err(|_| HistoryError::NoSuchProcess {
            event,
            given: process,
            limit,
        })?;
        Ok((event, id))
    }

    /// Drops operations by the events of their invocations, unless they are open; the others are
    /// numbered anew, and have their events. Returns which are kept.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) -> Vec<bool> {
        let operations = &mut self.history.operations;
        let mut kept: Vec<bool> = operations.iter().map(|one| is_kept(one.invocation)).collect();
        for open in self.open.iter().flatten() {
            kept[open.index()] = true;
        }
        let mut numbers = Vec::with_capacity(kept.len());
        let mut count = 0;
        for is_kept in &kept {
            numbers.push(count);
            count += usize::from(*is_kept);
        }
        for open in self.open.iter_mut().flatten() {
            *open = OperationId::from_index(numbers[open.index()]);
        }
        let mut flags = kept.iter();
        operations.retain(|_| flags.next().is_some_and(|is_kept| *is_kept));
        kept
    }

    /// The open operation of a process.
    pub fn open(&self, process: usize) -> Option<OperationId> {
        self.open.get(process).copied().flatten()
    }

    /// The history of the events so far; what is open is pending.
    pub const fn so_far(&self) -> &History<I, O> {
        &self.history
    }

    /// The history of the events so far; what is open is pending.
    pub fn finish(self) -> History<I, O> {
        self.history
    }
}
