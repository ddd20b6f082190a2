//! Recorded executions of a snapshot object, in memory.
//!
//! A [`History`] is the sequence of events in the order in which they happened, grouped into
//! operations. The position of an event in that sequence is its time: operation A *precedes* B iff
//! A's response comes before B's invocation. In the theory, real time means these positions, never
//! clocks.

mod admission;
mod declaration;
mod display;
mod error;
mod event;
mod operation;

pub use admission::Admission;
pub use declaration::{Declaration, Writers};
pub use error::{HistoryError, HistoryErrorKind};
pub use event::{Action, Event};
pub use operation::{Operation, OperationKind, Outcome};

use crate::{OperationId, Process, Segment};

/// The largest number of events of a history in memory.
pub const MAX_EVENTS: usize = (1 << 31) - 1;

/// One position of a history: the operation that begins or ends there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: OperationId,
    /// True if the operation ends here (response, failure, unknown outcome); false if it is
    /// invoked.
    pub is_end: bool,
}

/// A recorded execution: processes, segments, operations, in memory.
///
/// `V` is the type of the values that segments hold. Memory: 24 bytes per
/// operation and 4 per event, plus the values.
///
/// ```
/// use snapshot_core::{History, history::Declaration};
///
/// let mut history = History::builder(Declaration::new(0)).unwrap();
/// history.invoke_update(0, 0, 7).unwrap(); // p0 begins update(7) of segment 0
/// history.invoke_scan(1).unwrap();
/// history.respond_update(0).unwrap();
/// history.respond_scan(1, &[7, 0]).unwrap();
/// let history = history.finish();
/// assert_eq!((history.segments(), history.operations().len()), (2, 2));
/// ```
#[derive(Clone, Debug)]
pub struct History<V> {
    declaration: Declaration<V>,
    segments: usize,
    processes: usize,
    operations: Vec<Operation>,
    /// Operation number times 2, plus 1 at its end.
    steps: Vec<u32>,
    update_values: Vec<V>,
    /// `segments` consecutive values per full scan.
    scan_values: Vec<V>,
    /// The entries of all partial scans, one scan after the other.
    partial_entries: Vec<(Segment, V)>,
    /// End of the entries of each partial scan.
    partial_ends: Vec<usize>,
}

impl<V> History<V> {
    /// Starts recording a history.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn builder(declaration: Declaration<V>) -> Result<HistoryBuilder<V>, HistoryError> {
        let admission = Admission::new(&declaration)?;
        Ok(HistoryBuilder {
            admission,
            open: Vec::new(),
            history: Self {
                declaration,
                segments: 1,
                processes: 0,
                operations: Vec::new(),
                steps: Vec::new(),
                update_values: Vec::new(),
                scan_values: Vec::new(),
                partial_entries: Vec::new(),
                partial_ends: Vec::new(),
            },
        })
    }

    /// Number of segments, at least 1.
    #[inline]
    pub const fn segments(&self) -> usize {
        self.segments
    }

    /// Number of processes; 0 for an empty history without a declaration.
    #[inline]
    pub const fn processes(&self) -> usize {
        self.processes
    }

    /// The processes that may update a segment.
    #[inline]
    pub const fn writers(&self) -> Writers {
        self.declaration.writers
    }

    /// The initial value of a segment.
    #[inline]
    pub fn initial_value(&self, segment: Segment) -> &V {
        self.declaration.initial_value(segment.index())
    }

    /// All operations, in the order of their invocations.
    #[inline]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns one operation.
    ///
    /// # Panics
    /// If the history has no such operation.
    #[inline]
    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.index()]
    }

    /// The identifiers of all operations, in the order of their invocations.
    pub fn operation_ids(&self) -> impl ExactSizeIterator<Item = OperationId> + use<V> {
        (0..self.operations.len()).map(OperationId::from_index)
    }

    /// Number of events.
    #[inline]
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if the history has no event.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the step at event number `event`.
    ///
    /// # Panics
    /// If the history has no such event.
    #[inline]
    pub fn step(&self, event: usize) -> Step {
        let step = self.steps[event];
        Step { operation: OperationId::from_index((step >> 1) as usize), is_end: step & 1 == 1 }
    }

    /// All steps in the order of time.
    #[inline]
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step> + '_ {
        (0..self.steps.len()).map(|event| self.step(event))
    }

    /// The value that an update writes.
    ///
    /// # Panics
    /// If the operation is a scan.
    #[inline]
    pub fn update_value(&self, operation: &Operation) -> &V {
        assert!(!operation.is_scan(), "a scan writes no value");
        &self.update_values[operation.values as usize]
    }

    /// The values that a full scan returned, one per segment.
    ///
    /// # Panics
    /// If the operation is not a complete scan, or a partial one.
    #[inline]
    pub fn scan_values(&self, operation: &Operation) -> &[V] {
        assert!(
            operation.is_scan() && operation.is_complete() && !operation.is_partial(),
            "only a complete and full scan returned a value per segment"
        );
        let start = operation.values as usize * self.segments;
        &self.scan_values[start..start + self.segments]
    }

    /// Returns the value of an operation for a segment, if it is a complete scan.
    #[inline]
    pub fn entry(&self, operation: &Operation, segment: Segment) -> Option<&V> {
        if operation.is_partial() {
            let entries = self.partial_entries(operation);
            let found = entries.binary_search_by_key(&segment, |entry| entry.0).ok()?;
            Some(&entries[found].1)
        } else if operation.is_scan() && operation.is_complete() {
            self.scan_values(operation).get(segment.index())
        } else {
            None
        }
    }

    /// Returns the values of a partial scan, by segments, ascending.
    ///
    /// # Panics
    /// If the operation is not a partial scan.
    pub fn partial_entries(&self, operation: &Operation) -> &[(Segment, V)] {
        assert!(operation.is_partial(), "only a partial scan has gaps");
        let number = operation.values as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.partial_ends[before]);
        &self.partial_entries[start..self.partial_ends[number]]
    }

    /// Returns the values of a complete scan, full or partial, by segments, ascending; an empty
    /// iterator for any other operation.
    pub fn entries<'h>(
        &'h self,
        operation: &Operation,
    ) -> impl Iterator<Item = (Segment, &'h V)> + use<'h, V> {
        let is_scan = operation.is_scan() && operation.is_complete();
        let partial = if operation.is_partial() { self.partial_entries(operation) } else { &[] };
        let full: &[V] = match is_scan && !operation.is_partial() {
            true => self.scan_values(operation),
            false => &[],
        };
        let full = full.iter().enumerate().map(|(k, value)| (Segment::from_index(k), value));
        full.chain(partial.iter().map(|(segment, value)| (*segment, value)))
    }

    /// Returns true if some scan returned only some of the segments.
    #[inline]
    pub const fn has_partial_scans(&self) -> bool {
        !self.partial_ends.is_empty()
    }

    /// Returns the event at a position, as it was recorded.
    ///
    /// # Panics
    /// If the history has no such event.
    #[inline]
    pub fn event(&self, event: usize) -> Event<'_, V> {
        let step = self.step(event);
        let operation = self.operation(step.operation);
        let action = match (step.is_end, operation.kind(), operation.outcome()) {
            (false, OperationKind::Update { segment }, _) => {
                Action::InvokeUpdate { segment, value: self.update_value(operation) }
            }
            (false, OperationKind::Scan, _) => Action::InvokeScan,
            (true, _, Outcome::Failed { .. }) => Action::Fail,
            (true, _, Outcome::Unknown { .. }) => Action::Unknown,
            (true, OperationKind::Update { .. }, _) => Action::RespondUpdate,
            (true, OperationKind::Scan, _) if operation.is_partial() => {
                let entries = self.partial_entries(operation);
                Action::RespondPartialScan { segments: None, entries }
            }
            (true, OperationKind::Scan, _) => {
                Action::RespondScan { values: self.scan_values(operation) }
            }
        };
        Event { process: operation.process(), action }
    }

    /// All events in the order of time.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event<'_, V>> + '_ {
        (0..self.steps.len()).map(|event| self.event(event))
    }

    /// Returns the declaration of this history, with its sizes filled in.
    pub fn declaration(&self) -> Declaration<V>
    where
        V: Clone,
    {
        let mut declaration = self.declaration.clone();
        declaration.segments = Some(self.segments);
        declaration.processes = (self.processes > 0).then_some(self.processes);
        declaration
    }

    /// Returns the first `events` events as a history.
    ///
    /// # Panics
    /// If `events` exceeds [`Self::len`].
    #[must_use]
    pub fn prefix(&self, events: usize) -> Self
    where
        V: Clone,
    {
        assert!(events <= self.len(), "a prefix is no longer than its history");
        let mut builder =
            Self::builder(self.declaration()).expect("a history's declaration is valid");
        for event in self.events().take(events) {
            builder.push(&event).expect("a prefix of a history is a history");
        }
        builder.finish()
    }

    /// Number of complete scans.
    #[inline]
    pub const fn scans(&self) -> usize {
        self.scan_values.len() / self.segments + self.partial_ends.len()
    }

    /// Number of operations that neither responded nor failed.
    pub fn pending(&self) -> usize {
        self.operations.iter().filter(|operation| operation.is_pending()).count()
    }

    /// Checks the invariants that every method of this type relies on. O(length).
    ///
    /// # Panics
    /// If an invariant is broken, naming it.
    pub fn validate(&self)
    where
        V: Clone,
    {
        let declaration = self.declaration();
        let mut admission = Admission::new(&declaration).expect("the declaration is valid");
        for (position, event) in self.events().enumerate() {
            admission.admit(&event).expect("every event is admissible");
            let step = self.step(position);
            let operation = self.operation(step.operation);
            if !step.is_end {
                assert_eq!(operation.invocation(), position, "an operation knows its invocation");
            }
        }
        assert!(
            self.operations.windows(2).all(|pair| pair[0].invocation() < pair[1].invocation()),
            "operations are in the order of their invocations"
        );
    }
}

/// Builds a [`History`] event by event, and refuses events that no history can have.
#[derive(Clone, Debug)]
pub struct HistoryBuilder<V> {
    admission: Admission,
    /// The open operation of each process.
    open: Vec<Option<OperationId>>,
    history: History<V>,
}

impl<V: Clone> HistoryBuilder<V> {
    /// Appends an event. O(1), or O(segments) for the response of a scan.
    ///
    /// # Errors
    /// If no history can have this event here; the builder is then unchanged.
    pub fn push(&mut self, event: &Event<'_, V>) -> Result<(), HistoryError> {
        let position = self.admission.events();
        if position >= MAX_EVENTS {
            let kind = HistoryErrorKind::TooLong { limit: MAX_EVENTS };
            return Err(HistoryError { event: position, kind });
        }
        self.admission.admit(event)?;
        let history = &mut self.history;
        let process = event.process;
        if process.index() >= self.open.len() {
            self.open.resize(process.index() + 1, None);
        }
        let open = &mut self.open[process.index()];
        let outcome = match event.action {
            Action::InvokeUpdate { segment, value } => {
                let value_index = history.update_values.len() as u32;
                history.update_values.push(value.clone());
                let operation = Operation::update(process, position, segment, value_index);
                *open = Some(history.begin(operation));
                return Ok(());
            }
            Action::InvokeScan => {
                *open = Some(history.begin(Operation::scan(process, position)));
                return Ok(());
            }
            Action::RespondUpdate
            | Action::RespondScan { .. }
            | Action::RespondPartialScan { .. } => Outcome::Complete { response: position },
            Action::Fail => Outcome::Failed { event: position },
            Action::Unknown => Outcome::Unknown { event: position },
        };
        let id = open.take().expect("admission keeps the open operations");
        let operation = &mut history.operations[id.index()];
        if let Action::RespondScan { values } = event.action {
            operation.values = (history.scan_values.len() / values.len()) as u32;
            history.scan_values.extend_from_slice(values);
        } else if let Action::RespondPartialScan { entries, .. } = event.action {
            if self.admission.settled_segments() == Some(entries.len()) {
                // The scan is full.
                operation.values = (history.scan_values.len() / entries.len()) as u32;
                history.scan_values.extend(entries.iter().map(|entry| entry.1.clone()));
            } else {
                operation.values = history.partial_ends.len() as u32;
                operation.set_partial();
                history.partial_entries.extend_from_slice(entries);
                history.partial_ends.push(history.partial_entries.len());
            }
        }
        operation.close(outcome);
        history.steps.push((id.index() as u32) << 1 | 1);
        Ok(())
    }

    /// Begins a history of `declaration`, without events, in the memory of this one: for a
    /// recording that is judged part by part.
    ///
    /// # Errors
    /// As [`History::builder`]; the builder is then unchanged.
    pub fn restart(&mut self, declaration: Declaration<V>) -> Result<(), HistoryError> {
        self.admission = Admission::new(&declaration)?;
        self.open.clear();
        let history = &mut self.history;
        history.declaration = declaration;
        history.operations.clear();
        history.steps.clear();
        history.update_values.clear();
        history.scan_values.clear();
        history.partial_entries.clear();
        history.partial_ends.clear();
        Ok(())
    }

    /// Number of events so far.
    pub const fn len(&self) -> usize {
        self.admission.events()
    }

    /// Returns true if the history is empty so far.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the history of the events so far; open operations become pending.
    pub fn finish(mut self) -> History<V> {
        self.history.segments = self.admission.segments();
        self.history.processes = self.admission.processes();
        self.history
    }

    /// `inv update_segment(value)` by `process`.
    ///
    /// # Errors
    /// As [`Self::push`].
    ///
    /// # Panics
    /// If an index exceeds the limit of its identifier; so do the methods below.
    pub fn invoke_update(
        &mut self,
        process: usize,
        segment: usize,
        value: V,
    ) -> Result<(), HistoryError> {
        self.push(&Event::invoke_update(
            Process::from_index(process),
            Segment::from_index(segment),
            &value,
        ))
    }

    /// `inv scan` by `process`.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn invoke_scan(&mut self, process: usize) -> Result<(), HistoryError> {
        self.push(&Event::invoke_scan(Process::from_index(process)))
    }

    /// `res update` by `process`.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn respond_update(&mut self, process: usize) -> Result<(), HistoryError> {
        self.push(&Event::respond_update(Process::from_index(process)))
    }

    /// `res scan(values)` by `process`.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn respond_scan(&mut self, process: usize, values: &[V]) -> Result<(), HistoryError> {
        self.push(&Event::respond_scan(Process::from_index(process), values))
    }

    /// `res scan(entries)` by `process`, of a scan that returned these segments only,
    /// ascending.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn respond_partial_scan(
        &mut self,
        process: usize,
        entries: &[(usize, V)],
    ) -> Result<(), HistoryError> {
        let entries: Vec<(Segment, V)> =
            entries.iter().map(|(k, value)| (Segment::from_index(*k), value.clone())).collect();
        self.push(&Event::respond_partial_scan(Process::from_index(process), &entries))
    }

    /// The open operation of `process` certainly had no effect.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn fail(&mut self, process: usize) -> Result<(), HistoryError> {
        self.push(&Event::fail(Process::from_index(process)))
    }

    /// The outcome of the open operation of `process` will never be known.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn unknown(&mut self, process: usize) -> Result<(), HistoryError> {
        self.push(&Event::unknown(Process::from_index(process)))
    }
}

impl<V> History<V> {
    fn begin(&mut self, operation: Operation) -> OperationId {
        let id = OperationId::from_index(self.operations.len());
        self.operations.push(operation);
        self.steps.push((id.index() as u32) << 1);
        id
    }
}
