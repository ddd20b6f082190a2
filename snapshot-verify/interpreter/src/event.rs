//! Invocations and responses, as the interpreter reports them.

use std::fmt;
use std::sync::Arc;

use snapshot_core::history::{Declaration, Event as HistoryEvent};
use snapshot_core::{History, Process, Segment};

use super::data::Data;
use crate::program::{Object, OperationId};

/// Invocation or response of an operation.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Event {
    pub process: Process,
    pub action: Action,
}

/// Kind of an event, with its data.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Action {
    /// Invocation of an update of the process's own segment with this value.
    InvokeUpdate(u32),
    InvokeScan,
    RespondUpdate,
    /// Response of a scan, with one value per segment.
    RespondScan(Vec<u32>),
    /// Invocation of an operation of an object.
    Begin {
        call: OperationCall,
        /// Text of the call, such as `push(1)`.
        text: Arc<str>,
    },
    /// Response of an operation of an object.
    End {
        /// Returned data, if any.
        result: Option<Data>,
        /// Name of the operation.
        operation: Arc<str>,
        /// Text of the result; empty without a result.
        text: Arc<str>,
    },
}

impl Action {
    /// Returns true for a response.
    pub const fn is_response(&self) -> bool {
        matches!(self, Self::RespondUpdate | Self::RespondScan(_) | Self::End { .. })
    }
}

/// An operation without its arguments.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    Update,
    Scan,
    /// Operation of an object that the text declares.
    Declared(OperationId),
}

impl From<Call> for Operation {
    fn from(call: Call) -> Self {
        match call {
            Call::Update(_) => Self::Update,
            Call::Scan => Self::Scan,
            Call::Operation(call) => Self::Declared(call.operation),
        }
    }
}

/// An operation, with its arguments.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Call {
    /// `update(v)` of the process's own segment.
    Update(u32),
    Scan,
    /// Operation of an object.
    Operation(OperationCall),
}

/// An operation of an object, with its arguments.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationCall {
    pub operation: OperationId,
    /// Arguments by parameter; the rest are [`Argument::NONE`].
    pub arguments: [Argument; Object::MOST_PARAMETERS],
}

/// An argument: a number, or the number of a value, a process, a truth value (0 or 1).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Argument(pub i32);

impl Argument {
    pub const NONE: Self = Self(i32::MIN);
}

impl OperationCall {
    /// Creates a call without arguments.
    pub const fn new(operation: OperationId) -> Self {
        Self { operation, arguments: [Argument::NONE; Object::MOST_PARAMETERS] }
    }
}

/// Formats as `update(1) begins`, `scan returns [1, 0]`.
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

/// Returns the history of n processes with these events in this order. Process k writes segment k;
/// initially all segments hold 0.
///
/// # Panics
/// If no history has these events: they are events of an object, or not of a [`super::Machine`].
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
