//! Values returned by the scans of an alarm.

use crate::history::{Action, Event};
use crate::monitor::Alarm;
use crate::{OperationId, Segment};

/// The values that the scans of an alarm returned for its segments, collected from the events up to
/// the alarm.
#[derive(Clone, Debug)]
pub struct ReturnedValues<V> {
    scans: Vec<OperationId>,
    pub(super) segments: Vec<Segment>,
    /// For each process, its open scan if the alarm names it.
    open: Vec<Option<OperationId>>,
    operations: usize,
    pub(super) returned: Vec<(OperationId, Vec<V>)>,
}

impl<V: Clone> ReturnedValues<V> {
    /// Creates an empty collection for the scans and segments of this alarm.
    pub fn new(alarm: &Alarm) -> Self {
        Self {
            scans: alarm.violation.scans(),
            segments: alarm.violation.segments(),
            open: Vec::new(),
            operations: 0,
            returned: Vec::new(),
        }
    }

    /// Takes the next event of the recording, from its first one on.
    pub fn observe(&mut self, event: &Event<'_, V>) {
        let process = event.process.index();
        match event.action {
            Action::InvokeUpdate { .. } => self.operations += 1,
            Action::InvokeScan => {
                let id = OperationId::from_index(self.operations);
                self.operations += 1;
                if self.scans.contains(&id) {
                    *slot(&mut self.open, process) = Some(id);
                }
            }
            Action::RespondScan { values } => {
                if let Some(id) = slot(&mut self.open, process).take() {
                    let entries = self.segments.iter().map(|k| values[k.index()].clone()).collect();
                    self.returned.push((id, entries));
                }
            }
            Action::RespondPartialScan { entries, .. } => {
                let Some(id) = slot(&mut self.open, process).take() else { return };
                let value = |k: &Segment| {
                    let found = entries.binary_search_by_key(k, |entry| entry.0).ok()?;
                    Some(entries[found].1.clone())
                };
                let returned = self.segments.iter().map(value).collect::<Option<_>>();
                self.returned.extend(returned.map(|returned| (id, returned)));
            }
            Action::Fail | Action::Unknown => *slot(&mut self.open, process) = None,
            Action::RespondUpdate => {}
        }
    }
}

/// Returns the entry of a process in a table that grows with the processes that occur.
pub(super) fn slot<T: Default>(table: &mut Vec<T>, process: usize) -> &mut T {
    if process >= table.len() {
        table.resize_with(process + 1, T::default);
    }
    &mut table[process]
}
