//! Histories built event by event.

use super::{
    Action, Admission, Declaration, Event, History, HistoryError, HistoryErrorKind, MAX_EVENTS,
    Operation, Outcome,
};
use crate::{OperationId, Process, Segment};

/// Builds a [`History`] event by event, and refuses events that no history can have.
#[derive(Clone, Debug)]
pub struct HistoryBuilder<V> {
    admission: Admission,
    /// The open operation of each process.
    open: Vec<Option<OperationId>>,
    history: History<V>,
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

    fn begin(&mut self, operation: Operation) -> OperationId {
        let id = OperationId::from_index(self.operations.len());
        self.operations.push(operation);
        self.steps.push((id.index() as u32) << 1);
        id
    }
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
