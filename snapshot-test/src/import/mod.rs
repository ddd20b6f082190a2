//! Logs with clocks, as histories.
//!
//! A recording is a sequence of events; a foreign log has intervals on clocks. What the
//! clocks mean must be said, or an import raises false alarms:
//!
//! * Intervals are closed, and operations of two clients that touch overlap: a clock that
//!   shows the same twice does not say which came first.
//! * A client has one operation at a time, whatever its clock shows: those that touch keep
//!   their order.
//! * With a skew s each clock may be off by s: every interval is widened by s at both ends.
//!
//! So the import never adds an order that the log does not vouch for, and never raises a
//! false alarm. It can lose order, and says so: `timeline` has the argument.
//!
//! `docs/formats.md` describes the logs for users.

mod edn;
mod intervals;
mod json;
mod stamp;
mod table;
mod timeline;

use std::fmt;

use snapshot_core::History;
use snapshot_core::history::HistoryError;
use thiserror::Error;

pub use self::edn::{Options as EdnOptions, edn};
pub use self::intervals::intervals;
pub use self::stamp::Stamp;
use crate::Value;

/// A log as a history.
#[derive(Debug)]
pub struct Imported {
    /// What the log says happened.
    pub history: History<Value>,
    /// What its reader should know: order that was lost.
    pub warnings: Vec<Warning>,
    /// What the segments are in the log, a line each; empty if they have numbers there.
    pub comments: Vec<String>,
}

/// What was lost on the way.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Operations of one client whose order could not be kept.
    OrderLost {
        /// The client.
        client: String,
        /// How many of its operations overlap others of its own in the history.
        operations: usize,
    },
    /// Time stamps that contradict the order of the log.
    Backwards {
        /// The line of the first.
        line: u64,
        /// How many events are earlier than the one before.
        events: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrderLost { client, operations } => write!(
                f,
                "{operations} operation(s) of client {client} are too close to the one before \
                 for clocks of this resolution and skew: their order is not used (no alarm is \
                 false for that, but one may be missed)"
            ),
            Self::Backwards { line, events } => write!(
                f,
                "{events} event(s) are earlier than the one before, the first in line {line}: the \
                 order of the log was used; with --sort-by-time, that of the time stamps is"
            ),
        }
    }
}

/// A log that cannot be imported.
#[derive(Debug, Error)]
#[error("line {line}: {kind}")]
pub struct ImportError {
    /// The line of the log in which the operation stands, from 1.
    pub line: u64,
    /// What is wrong there.
    pub kind: ImportErrorKind,
}

/// Why a log cannot be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// It cannot be read.
    #[error("cannot read on: {0}")]
    Io(#[from] std::io::Error),
    /// It is no CSV.
    #[error("expected CSV with a header line: {0}")]
    Csv(csv::Error),
    /// It is no JSON.
    #[error("expected JSON: {0}")]
    Json(serde_json::Error),
    /// It is no EDN.
    #[error("expected EDN: {0}")]
    Edn(String),
    /// Events that are no operations, since begins and ends do not fit.
    #[error(
        "process {process} {what}{}",
        if *.earlier > 0 { format!(" (line {earlier})") } else { String::new() }
    )]
    Unpaired {
        /// The process, as the log names it.
        process: i64,
        /// What it does.
        what: &'static str,
        /// The line of the operation that it contradicts; 0 if there is none.
        earlier: u64,
    },
    /// More than can be held, or numbered.
    #[error("the log has more than {most} registers, elements or entries of reads; split it")]
    TooMany {
        /// The most.
        most: usize,
    },
    /// There is nothing in it.
    #[error("expected operations, found nothing: the recording has probably failed")]
    Empty,
    /// A field is missing.
    #[error("expected the field `{field}`{}", .cure)]
    Missing {
        /// Its name.
        field: &'static str,
        /// What to do; begins with `; ` unless empty.
        cure: &'static str,
    },
    /// A field that no log of this kind has.
    #[error(
        "the field `{field}` is not known; expected client, operation, segment, value, call, \
         return, outcome or comment"
    )]
    UnknownField {
        /// Its name.
        field: String,
    },
    /// A field does not say what it should.
    #[error("expected {expected} as `{field}`, found {found}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What should stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// An operation that snapshots do not have.
    #[error("{operation} is no operation of a snapshot: {reason}")]
    Operation {
        /// As in the log.
        operation: String,
        /// Why it cannot be taken for one.
        reason: &'static str,
    },
    /// An operation returns before it is called.
    #[error(
        "the operation is called at {call} and returns at {end}, before that; are the two \
             columns exchanged, or of different units?"
    )]
    Backwards {
        /// Its call.
        call: Stamp,
        /// Its return.
        end: Stamp,
    },
    /// A client has two operations at a time.
    #[error(
        "client {client} is called at {call}, but its operation of line {earlier} returns \
             only at {end}; give each thread or task a client of its own"
    )]
    Concurrent {
        /// The client.
        client: String,
        /// The second call.
        call: Stamp,
        /// The line of the first operation.
        earlier: u64,
        /// Its return.
        end: Stamp,
    },
    /// A history cannot have the operation.
    #[error("{}", .0.kind)]
    History(HistoryError),
}

impl ImportErrorKind {
    const fn at(self, line: u64) -> ImportError {
        ImportError { line, kind: self }
    }
}
