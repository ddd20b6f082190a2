//! The reasons why no history can have an event.

use std::fmt::{self, Display};

use thiserror::Error;

use crate::{Names, Process, Segment};

/// An event that no history can have at its position.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{kind}")]
pub struct HistoryError {
    /// Number of the refused event, from 0.
    pub event: usize,
    /// The fault of the event.
    pub kind: HistoryErrorKind,
}

/// The fault of a refused event.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HistoryErrorKind {
    /// A response, failure or unknown outcome of an idle process.
    NothingOpen {
        /// The idle process.
        process: Process,
    },
    /// An invocation by a process whose previous operation is still open.
    AlreadyOpen {
        /// The busy process.
        process: Process,
        /// Number of the event that invoked the open operation.
        invocation: usize,
    },
    /// The response of a scan for an open update, or the reverse.
    WrongResponse {
        /// The process.
        process: Process,
        /// True if the open operation is a scan.
        open_is_scan: bool,
        /// Number of the event that invoked the open operation.
        invocation: usize,
    },
    /// A scan returned too many or too few values.
    WrongEntryCount {
        /// The scanning process.
        process: Process,
        /// Number of segments.
        expected: usize,
        /// Number of values returned.
        found: usize,
    },
    /// A partial scan returned a segment twice, or segments out of order.
    EntryOrder {
        /// The scanning process.
        process: Process,
        /// The entry out of order.
        segment: Segment,
        /// The entry before it.
        after: Segment,
    },
    /// An update or an entry of a segment that does not exist.
    NoSuchSegment {
        /// The segment named.
        segment: Segment,
        /// Number of segments.
        segments: usize,
    },
    /// An event of a process that does not exist.
    NoSuchProcess {
        /// The process named.
        process: Process,
        /// Number of processes declared.
        processes: usize,
    },
    /// An update of a segment that another process writes.
    SecondWriter {
        /// The segment.
        segment: Segment,
        /// The process that updated it first.
        writer: Process,
        /// The process that updates it now.
        process: Process,
    },
    /// More events or operations than one history can number.
    TooLong {
        /// The largest number of events.
        limit: usize,
    },
    /// A declaration that contradicts itself.
    TooManyInitialValues {
        /// Number of initial values.
        initial: usize,
        /// Number of segments.
        segments: usize,
    },
    /// A declared number of segments or processes is outside the possible range.
    BadSize {
        /// `"segments"` or `"processes"`.
        what: &'static str,
        /// The number declared.
        given: usize,
        /// The largest number possible.
        limit: usize,
    },
}

impl HistoryErrorKind {
    /// Returns the sentence for this fault, with its cure; processes and segments have these names.
    pub fn told(&self, names: &Names) -> String {
        match *self {
            Self::NothingOpen { process } => format!(
                "{} ends an operation, but it has none open; record its invocation before its \
                 response",
                names.process(process)
            ),
            Self::AlreadyOpen { process, .. } => format!(
                "{} invokes an operation while its previous one is still open (a process has at \
                 most one open operation); record the response of the previous one first, or \
                 `unknown` if its outcome was lost, or use another process {}",
                names.process(process),
                if names.processes().is_empty() { "number" } else { "name" }
            ),
            Self::WrongResponse { process, open_is_scan, .. } => {
                let (found, open) = if open_is_scan {
                    ("an update", "a scan, whose response lists one value per segment")
                } else {
                    ("a scan", "an update, whose response has no values")
                };
                let process = names.process(process);
                format!("{process} gets the response of {found}, but its open operation is {open}")
            }
            Self::WrongEntryCount { process, expected, found } => format!(
                "a scan of {} returned {}, but there {}; a scan returns one value per segment",
                names.process(process),
                if found == 1 { "1 value".to_owned() } else { format!("{found} values") },
                if expected == 1 {
                    "is 1 segment".to_owned()
                } else {
                    format!("are {expected} segments")
                }
            ),
            Self::EntryOrder { process, segment, after } if segment == after => format!(
                "a scan of {} returned {} twice; a partial scan returns each segment at most once",
                names.process(process),
                names.segment(segment)
            ),
            Self::EntryOrder { process, segment, after } => format!(
                "a scan of {} returned {} after {}; a partial scan returns each segment at most \
                 once, in ascending order",
                names.process(process),
                names.segment(segment),
                names.segment(after)
            ),
            Self::NoSuchSegment { segment, segments } if names.segments().is_empty() => format!(
                "segment {segment} does not exist: there are {segments} segments, numbered from 0; \
                 correct the segment or the number of segments"
            ),
            Self::NoSuchSegment { segment, .. } => format!(
                "segment {segment} has no name, and the others have; declare its name in the \
                 header, or correct the segment"
            ),
            Self::NoSuchProcess { process, processes } if names.processes().is_empty() => format!(
                "process {process} does not exist: {processes} processes are declared, numbered \
                 from 0; correct the process or the declaration"
            ),
            Self::NoSuchProcess { process, .. } => format!(
                "process {process} has no name, and the others have; declare its name in the \
                 header, or correct the process"
            ),
            Self::SecondWriter { segment, writer, process } => format!(
                "{} updates {}, which {} writes (a segment has one writer); correct the process or \
                 the segment, or declare `writers many` if several processes may write one segment",
                names.process(process),
                names.segment(segment),
                names.process(writer)
            ),
            Self::TooLong { limit } => {
                format!("the history is too long: at most {limit} events are possible")
            }
            Self::TooManyInitialValues { initial, segments } => format!(
                "{initial} initial values are declared for {segments} segments; give at most one \
                 per segment"
            ),
            Self::BadSize { what, given, limit } => {
                format!("{given} {what} are declared, but from 1 to {limit} are possible")
            }
        }
    }
}

/// Writes the sentence for this fault, with numbers.
impl Display for HistoryErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Names::default()))
    }
}

impl std::error::Error for HistoryErrorKind {}
