//! Invocations and responses, as the interpreter tells them.

use std::fmt;
use std::sync::Arc;

use snapshot_core::history::{Declaration, Event as HistoryEvent};
use snapshot_core::{History, Process, Segment};

use super::data::Data;
use crate::program::{Object, OperationId};

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
    /// An operation of an object begins.
    Begin {
        /// Which, with what arguments.
        call: OperationCall,
        /// The same, for people: `push(1)`.
        text: Arc<str>,
    },
    /// An operation of an object ends.
    End {
        /// What it returns, if anything.
        result: Option<Data>,
        /// The name of the operation.
        operation: Arc<str>,
        /// What it returns, for people; empty if nothing.
        text: Arc<str>,
    },
}

impl Action {
    /// Whether an operation ends.
    pub const fn is_response(&self) -> bool {
        matches!(self, Self::RespondUpdate | Self::RespondScan(_) | Self::End { .. })
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Call {
    /// `update(v)` of the process's own segment.
    Update(u32),
    /// `scan()`.
    Scan,
    /// An operation of an object.
    Operation(OperationCall),
}

/// An operation of an object, with its arguments.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationCall {
    /// Which.
    pub operation: OperationId,
    /// By parameter; [`Argument::NONE`] from the last on.
    pub arguments: [Argument; Object::MOST_PARAMETERS],
}

/// An argument: a number, or the number of a value, a process, a truth value (0 or 1).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Argument(pub i32);

impl Argument {
    /// `none`.
    pub const NONE: Self = Self(i32::MIN);
}

impl OperationCall {
    /// Without arguments.
    pub const fn new(operation: OperationId) -> Self {
        Self { operation, arguments: [Argument::NONE; Object::MOST_PARAMETERS] }
    }
}

/// `update(1) begins`, `scan returns [1, 0]`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvokeUpdate(value) => write!(f, "update({value}) begins"),
            Self::InvokeScan => f.write_str("scan begins"),
            Self::RespondUpdate => f.write_str("update ends"),
            Self::RespondScan(values) => write!(f, "scan returns {values:?}"),
            Self::Begin { text, .. } => write!(f, "{text} begins"),
            Self::End { result: None, operation, .. } => write!(f, "{operation} ends"),
            Self::End { operation, text, .. } => write!(f, "{operation} returns {text}"),
        }
    }
}

/// The history of n processes in which these events happen in this order.
/// Process k writes segment k; initially all segments hold 0.
///
/// # Panics
/// If no history has these events: they are not those of a [`super::Machine`], or those of an
/// object.
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
            Action::Begin { .. } | Action::End { .. } => {
                panic!("the operations of an object are no history of a snapshot")
            }
        };
        history.push(&event).expect("a machine's events are a history");
    }
    history.finish()
}
