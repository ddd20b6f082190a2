//! Invocations and responses, as the interpreter tells them.

use std::fmt;

use snapshot_core::history::{Declaration, Event as HistoryEvent};
use snapshot_core::{History, Process, Segment};

/// An operation begins or ends.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Event {
    /// The process of the operation.
    pub process: Process,
    /// What happens.
    pub action: Action,
}

/// What happens at an event.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Action {
    /// An update of the process's own segment with this value begins.
    InvokeUpdate(u32),
    /// A scan begins.
    InvokeScan,
    /// An update ends.
    RespondUpdate,
    /// A scan ends and returns these, one per segment.
    RespondScan(Vec<u32>),
}

/// What an operation does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Call {
    /// `update(v)` of the process's own segment.
    Update(u32),
    /// `scan()`.
    Scan,
}

/// `update(1) begins`, `scan returns [1, 0]`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvokeUpdate(value) => write!(f, "update({value}) begins"),
            Self::InvokeScan => f.write_str("scan begins"),
            Self::RespondUpdate => f.write_str("update ends"),
            Self::RespondScan(values) => write!(f, "scan returns {values:?}"),
        }
    }
}

/// The history of n processes in which these events happen in this order.
/// Process k writes segment k; initially all segments hold 0.
///
/// # Panics
/// If no history has these events: they are not those of a [`super::Machine`].
pub fn history<'a>(n: usize, events: impl IntoIterator<Item = &'a Event>) -> History<u32> {
    let declaration = Declaration::new(0).with_segments(n).with_processes(n);
    let mut history = History::builder(declaration).expect("a machine has at least one process");
    for Event { process, action } in events {
        let event = match action {
            Action::InvokeUpdate(value) => {
                HistoryEvent::invoke_update(*process, Segment::from_index(process.index()), value)
            }
            Action::InvokeScan => HistoryEvent::invoke_scan(*process),
            Action::RespondUpdate => HistoryEvent::respond_update(*process),
            Action::RespondScan(values) => HistoryEvent::respond_scan(*process, values),
        };
        history.push(&event).expect("a machine's events are a history");
    }
    history.finish()
}
