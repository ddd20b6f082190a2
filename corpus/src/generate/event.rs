//! Events that own their values, so that a stream can return them.

use snapshot_core::history::{Action, Event};
use snapshot_core::{Process, Segment};

/// A generated event; see [`Event`] for its meaning.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct OwnedEvent {
    pub process: Process,
    pub action: OwnedAction,
}

/// Action of a generated event; see [`Action`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum OwnedAction {
    /// `inv update_segment(value)`.
    InvokeUpdate {
        segment: Segment,
        /// Value of the update.
        value: i64,
    },
    /// `inv scan`.
    InvokeScan,
    /// `res update`.
    RespondUpdate,
    /// `res scan(values)`: one value per segment.
    RespondScan {
        /// Entry `k` is the result for segment `k`.
        values: Vec<i64>,
    },
    /// `res scan(entries)` of a scan that returned only some of the segments.
    RespondPartialScan {
        /// Returned entries, in ascending order of segments.
        entries: Vec<(Segment, i64)>,
    },
    /// The open operation certainly had no effect.
    Fail,
    /// The outcome of the open operation was lost.
    Unknown,
}

impl OwnedEvent {
    /// Borrows the event, as builders and checkers require.
    pub fn as_event(&self) -> Event<'_, i64> {
        let process = self.process;
        match &self.action {
            OwnedAction::InvokeUpdate { segment, value } => {
                Event::invoke_update(process, *segment, value)
            }
            OwnedAction::InvokeScan => Event::invoke_scan(process),
            OwnedAction::RespondUpdate => Event::respond_update(process),
            OwnedAction::RespondScan { values } => Event::respond_scan(process, values),
            OwnedAction::RespondPartialScan { entries } => {
                Event::respond_partial_scan(process, entries)
            }
            OwnedAction::Fail => Event::fail(process),
            OwnedAction::Unknown => Event::unknown(process),
        }
    }
}

impl From<Event<'_, i64>> for OwnedEvent {
    fn from(event: Event<'_, i64>) -> Self {
        let action = match event.action {
            Action::InvokeUpdate { segment, value } => {
                OwnedAction::InvokeUpdate { segment, value: *value }
            }
            Action::InvokeScan => OwnedAction::InvokeScan,
            Action::RespondUpdate => OwnedAction::RespondUpdate,
            Action::RespondScan { values } => OwnedAction::RespondScan { values: values.to_vec() },
            Action::RespondPartialScan { entries, .. } => {
                OwnedAction::RespondPartialScan { entries: entries.to_vec() }
            }
            Action::Fail => OwnedAction::Fail,
            Action::Unknown => OwnedAction::Unknown,
        };
        Self { process: event.process, action }
    }
}
