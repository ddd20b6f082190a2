//! Warnings about an imported log.

use std::fmt;

use crate::format::{Backwards, Location};

/// A part of a log that an import did not use.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Operations of one client whose order could not be kept.
    OrderLost {
        /// The client.
        client: String,
        /// Number of its operations that overlap others of its own in the history.
        operations: usize,
    },
    /// Time stamps that contradict the order of the log.
    Backwards(Backwards),
    /// Operations with values that show nothing.
    Unused {
        /// The first such operation.
        first: Location,
        /// Number of such operations.
        operations: usize,
        /// The reason why their values show nothing.
        reason: &'static str,
    },
}

impl Warning {
    /// Returns the remedy, as an imperative sentence without a full stop.
    pub const fn cure(&self) -> Option<&'static str> {
        match self {
            Self::Backwards(_) => Some(
                "if the lines do not stand in the order of their events, --sort-by-time takes the \
                 order from `time`",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrderLost { client, operations } => write!(
                f,
                "client {client}: the order of {} is not known, since clocks of this resolution \
                 and skew do not tell it from the one before: it overlaps that one (no alarm is \
                 false for it, but one may be missed)",
                counted(*operations, "operation")
            ),
            Self::Backwards(backwards) => backwards.fmt(f),
            Self::Unused { first, operations, reason } => write!(
                f,
                "{}, the first in line {}, {reason} (no alarm is false for it, but one may be \
                 missed)",
                counted(*operations, "operation"),
                first.line
            ),
        }
    }
}

/// `1 operation`, `2 operations`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
