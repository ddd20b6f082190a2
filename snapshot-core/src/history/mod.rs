//! Recorded executions of a snapshot object, in memory.
//!
//! A [`History`] is the sequence of events in the order in which they happened, grouped into
//! operations. The position of an event in that sequence is its time: operation A *precedes* B iff
//! A's response comes before B's invocation. In the theory, real time means these positions, never
//! clocks.

mod admission;
mod builder;
mod declaration;
mod display;
mod error;
mod event;
mod operation;

pub use admission::Admission;
pub use builder::HistoryBuilder;
pub use declaration::{Declaration, Writers};
pub use error::{HistoryError, HistoryErrorKind};
pub use event::{Action, Event};
pub use operation::{Operation, OperationKind, Outcome};

use crate::{OperationId, Segment};

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
