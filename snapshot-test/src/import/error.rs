//! Defects of logs of other tools, with their cures.

use std::borrow::Cow;

use thiserror::Error;

use super::Stamp;

/// Why a log cannot be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// Bytes that are not UTF-8.
    #[error("not UTF-8: expected UTF-8 text, found other bytes")]
    NotUtf8,
    /// A log without operations.
    #[error("expected operations, found nothing")]
    Empty,
    /// A syntax error of CSV.
    #[error("expected CSV with a header line: {message}")]
    Csv {
        /// Message of the reader.
        message: String,
    },
    /// A syntax error of JSON.
    #[error("expected JSON: {message}")]
    Json {
        /// Message of the reader.
        message: String,
    },
    /// A syntax error of EDN.
    #[error("expected EDN: {message}")]
    Edn {
        /// Message of the reader.
        message: String,
    },
    /// A bracket that is never closed.
    #[error("`{open}` is never closed: expected its end, found the end of the log")]
    Unclosed {
        /// The bracket or quote.
        open: &'static str,
    },
    /// Values within values, too many of them.
    #[error("expected an event, found brackets or tags nested more than {most} deep")]
    TooDeep {
        /// The most.
        most: usize,
    },
    /// More than can be held, or numbered.
    #[error("expected at most {most} {what}, found more")]
    TooMany {
        what: &'static str,
        /// The most.
        most: usize,
    },
    /// An invocation without a response, or the reverse.
    #[error("process {process} {deed}")]
    Unpaired {
        /// The process, as the log names it.
        process: i64,
        /// Verb phrase for the report.
        deed: &'static str,
    },
    /// A field is missing.
    #[error("expected the field `{field}`, found none")]
    Missing {
        field: &'static str,
        /// Imperative sentence without a full stop.
        cure: &'static str,
    },
    /// A field that no log of this kind has.
    #[error(
        "the field `{field}` is not known; expected client, operation, key, segment, value, \
         call, return, outcome or comment"
    )]
    UnknownField { field: String },
    /// A field given twice.
    #[error("expected the field `{field}` at most once, found it again{}", also(.field, .found))]
    DuplicateField {
        /// The field.
        field: &'static str,
        /// As it stands in the log.
        found: String,
    },
    /// A field with an unexpected value.
    #[error("expected {expected} as `{field}`, found {found}")]
    Field {
        field: &'static str,
        /// Expected value, as a noun phrase.
        expected: &'static str,
        /// Value in the log.
        found: String,
        /// Imperative sentence without a full stop.
        cure: &'static str,
    },
    /// Values that are not one per segment.
    #[error("expected {expected} value(s), one per segment, found {found}")]
    Width {
        /// How many segments there are.
        expected: usize,
        found: usize,
    },
    /// A list of values where segments have names.
    #[error(
        "expected values by the names of their segments, since segments have names in this log, \
         found a list"
    )]
    Unnamed,
    /// An operation that cannot be judged as one of a snapshot.
    #[error("{operation} {reason}")]
    Operation {
        /// As in the log.
        operation: String,
        /// Why it cannot be taken for one.
        reason: &'static str,
        /// Imperative sentence without a full stop.
        cure: &'static str,
    },
    /// An operation whose response is about something else than its invocation.
    #[error("{operation} was invoked with {given} and returned {returned}")]
    OtherValue {
        /// As in the log.
        operation: String,
        /// The value of the invocation.
        given: String,
        /// The value of the response.
        returned: String,
    },
    /// An operation returns before it is called.
    #[error("the operation is called at {call} and returns at {end}, before that")]
    Backwards { call: Stamp, end: Stamp },
    /// A client has two operations at a time.
    #[error("client {client} is called at {call}, but its operation before returns only at {end}")]
    Concurrent {
        /// The client.
        client: String,
        /// The second call.
        call: Stamp,
        /// The return of the first operation.
        end: Stamp,
    },
}

fn also(field: &str, found: &str) -> String {
    if field == found { String::new() } else { format!(", as `{found}`") }
}

impl ImportErrorKind {
    /// Returns the label of the place that a defect contradicts.
    pub(crate) fn contradicted(&self) -> &'static str {
        match self {
            Self::Unclosed { .. } => "the end of the log",
            Self::Width { .. } => "the segments are counted here",
            Self::Unnamed => "a segment with a name",
            Self::Unpaired { .. } | Self::Concurrent { .. } => "the operation before",
            Self::Missing { field: "segment", .. } => "the segments are several here",
            Self::Missing { .. } => "an operation that has it",
            Self::OtherValue { .. } => "its invocation",
            Self::Operation { .. } => "an operation of another kind",
            Self::Edn { .. } => "the bracket that is open",
            _ => "the first one",
        }
    }

    /// Returns true if the defect has a place in the log: an option has none.
    pub(crate) const fn is_placed(&self) -> bool {
        match self {
            Self::Field { field, .. } => !matches!(field.as_bytes(), [b'-', b'-', ..]),
            _ => true,
        }
    }

    /// Returns the cure, as an imperative sentence without a full stop.
    pub fn cure(&self) -> Option<Cow<'static, str>> {
        let cure = match self {
            Self::Missing { cure, .. }
            | Self::Field { cure, .. }
            | Self::Operation { cure, .. } => *cure,
            Self::UnknownField { .. } => "",
            Self::NotUtf8 => "save the file as UTF-8",
            Self::Empty => "an empty log is usually a failed recording: record again",
            Self::Csv { .. } => {
                "separated by commas, one operation per line, with the fields of the header line: \
                 client,operation,key,segment,value,call,return,outcome"
            }
            Self::Json { .. } => {
                "an operation is an object such as {\"client\":\"a\",\"operation\":\"update\",\
                 \"segment\":0,\"value\":5,\"call\":10,\"return\":20}"
            }
            Self::Edn { .. } => {
                "an event is a map such as {:type :invoke, :process 0, :f :write, :value 5}"
            }
            Self::Unclosed { .. } => {
                "if the log was cut off, delete the event that is not whole and close the \
                 brackets around it: its operation is then pending"
            }
            Self::TooDeep { .. } => {
                "an event is a map whose values are numbers, texts, or lists and maps of them"
            }
            Self::TooMany { .. } => "split the log by keys, each of which can be judged by itself",
            Self::Unpaired { .. } => {
                "a process has one operation at a time: begin each with :invoke, end it with :ok, \
                 :fail or :info; if the log was put together from several, --sort-by-time orders it"
            }
            Self::DuplicateField { .. } => "leave one of the two out",
            Self::Width { .. } => {
                "write a value for each segment, `_` (in JSON null) for one that was not returned; \
                 or name in `segment` the one that was read"
            }
            Self::Unnamed => {
                "name the segments of a read in `segment`, or, in JSON, write its values as an \
                 object from names to values"
            }
            Self::OtherValue { .. } => {
                "the client that made the log is broken: correct it, since neither value can be \
                 trusted"
            }
            Self::Backwards { .. } => "are the two fields exchanged, or of different units?",
            Self::Concurrent { .. } => "give each thread or task a client of its own",
        };
        Some(Cow::Borrowed(cure)).filter(|cure| !cure.is_empty())
    }
}
