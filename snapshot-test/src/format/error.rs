//! Defects of inputs, their positions, and remedies.
//!
//! Every message contains the expected and the found text; every error except those of the
//! operating system has a remedy.

use std::fmt;

use snapshot_core::IdError;
use snapshot_core::history::HistoryErrorKind;
use thiserror::Error;

use super::location::{Excerpt, Location};
use super::names::Kind;
use super::source::LINE_LIMIT;
use super::{Format, Object};
use crate::Value;

/// An input that cannot be read, with the position of the defect.
#[derive(Debug, Error)]
#[error("{location}: {kind}", location = .inner.location, kind = .inner.kind)]
pub struct ReadError {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    location: Location,
    kind: ReadErrorKind,
    excerpt: Option<Excerpt>,
}

impl ReadError {
    pub(crate) fn new(location: Location, kind: ReadErrorKind, excerpt: Option<Excerpt>) -> Self {
        Self { inner: Box::new(Inner { location, kind, excerpt }) }
    }

    pub fn location(&self) -> Location {
        self.inner.location
    }

    pub fn kind(&self) -> &ReadErrorKind {
        &self.inner.kind
    }

    /// Returns the position, the defect and the input around it.
    pub fn into_parts(self) -> (Location, ReadErrorKind, Option<Excerpt>) {
        let Inner { location, kind, excerpt } = *self.inner;
        (location, kind, excerpt)
    }
}

/// A defect in the unit that is being parsed.
#[derive(Debug)]
pub(super) struct Fault {
    /// Bytes of the unit before the defect.
    pub at: usize,
    /// Number of defective bytes.
    pub width: usize,
    pub kind: ReadErrorKind,
}

impl Fault {
    /// Boxed, so that the result of a parsing step stays small.
    #[cold]
    pub(super) fn new(at: usize, width: usize, kind: ReadErrorKind) -> Box<Self> {
        Box::new(Self { at, width, kind })
    }
}

/// The defect of an input.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The operating system could not continue reading.
    #[error("cannot read on: {0}")]
    Io(#[from] std::io::Error),
    /// The input is empty, or has only blank lines.
    #[error("empty input: expected a history, found nothing")]
    Empty,
    /// The input ends within a line or event.
    #[error("truncated last {unit}: expected {end} at its end, found the end of the input",
        unit = unit(*terminator), end = end(*terminator))]
    Truncated {
        /// The terminator of every line or event.
        terminator: char,
    },
    /// A line or event longer than [`LINE_LIMIT`].
    #[error(
        "expected at most {} MiB up to the end of the line or event, found more",
        LINE_LIMIT >> 20
    )]
    TooLong,
    /// A byte that no format contains.
    #[error("binary data: expected text, found the control byte 0x{0:02x}")]
    ControlByte(u8),
    /// A byte that is not part of a UTF-8 character.
    #[error("not UTF-8: expected UTF-8 text, found the byte 0x{0:02x}")]
    NotUtf8(u8),
    /// The input has no known format.
    #[error("unknown format: expected a text, JSON Lines or disc22 history, found {found}")]
    UnknownFormat {
        /// The beginning of the input.
        found: Found,
    },
    /// An event of another format than the input's.
    #[error("expected {expected} input, found an event in the {found} format", expected = reading)]
    OtherFormat {
        /// The format that is being read.
        reading: Format,
        /// The format of the event.
        found: Format,
    },
    /// A log of another tool, where a recording is needed.
    #[error("this is a log of another tool ({format}), and a recording is needed here")]
    ForeignLog { format: Format },
    /// A word, field or mark that the format does not allow here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The allowed text.
        expected: &'static str,
        /// The text found.
        found: Found,
        /// The allowed word closest to it.
        nearest: Option<&'static str>,
    },
    /// A line that continues after its event is complete.
    #[error("expected the end of the line after {after}, found {found}")]
    Trailing {
        /// The complete part.
        after: &'static str,
        /// The text after it.
        found: Found,
    },
    /// A text without its closing quote.
    #[error("unterminated string: expected a closing `\"`, found the end of the line")]
    UnterminatedString,
    /// A backslash with something after it that JSON does not know.
    #[error(
        "bad escape: expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found `{found}`"
    )]
    BadEscape {
        /// The escape.
        found: String,
    },
    /// An integer outside 64 bits.
    #[error(
        "value out of range: expected an integer from {} to {}, found {found}",
        i64::MIN,
        i64::MAX
    )]
    ValueOutOfRange {
        /// The integer.
        found: Found,
        /// The format that is being read.
        reading: Format,
    },
    /// A process or segment beyond the limit.
    #[error("{what} out of range: expected at most {limit}, found {found}")]
    IdOutOfRange {
        /// `"process"` or `"segment"`.
        what: &'static str,
        /// The largest possible index.
        limit: u64,
        /// The number given.
        found: Found,
    },
    /// A size in the header that is zero or beyond the limit.
    #[error("number of {what} out of range: expected 1 to {limit}, found {found}")]
    SizeOutOfRange {
        /// `"segments"` or `"processes"`.
        what: &'static str,
        /// The number declared.
        found: Found,
        /// The largest possible number.
        limit: u64,
    },
    /// More values than a snapshot can have segments.
    #[error("too many values: expected at most {limit}, one per segment, found more")]
    TooManyValues {
        /// The largest number of values.
        limit: usize,
    },
    /// A header after the first event.
    #[error("header after an event: expected {keyword} before the first event, found it here")]
    HeaderAfterEvent { keyword: &'static str },
    /// A header given twice.
    #[error("duplicate header: expected {keyword} at most once, found it again")]
    DuplicateHeader {
        keyword: &'static str,
        /// The line of the first such header.
        first: u64,
    },
    /// Headers that contradict each other.
    #[error("contradictory header: {0}")]
    Declaration(HistoryErrorKind),
    /// A version of the JSON Lines format that does not exist.
    #[error("unknown version: expected \"snapshot-history\":1, found {found}")]
    UnknownVersion {
        /// The version.
        found: u64,
    },
    /// A line that is not JSON, or JSON of the wrong shape.
    #[error("not a JSON Lines event: {message}")]
    Json {
        /// The message of the JSON parser.
        message: String,
    },
    /// A field that is missing.
    #[error("missing field: expected `{field}` in {within}, found none")]
    MissingField {
        /// The field.
        field: &'static str,
        within: &'static str,
    },
    /// A field that the format does not have.
    #[error("unknown field: expected a field of {within}, found {found}")]
    UnknownField {
        within: &'static str,
        /// The field.
        found: Found,
        /// The field closest to it.
        nearest: Option<&'static str>,
    },
    /// A field given twice.
    #[error("duplicate field: expected {found} at most once, found it again")]
    DuplicateField {
        /// The field.
        found: Found,
    },
    /// An update of several segments at once.
    #[error("an update writes one segment: expected one `segment` and one `value`")]
    SeveralSegments,
    /// An operation that the recording's object does not have.
    #[error(
        "`{found}` is not an operation of {}, the object of this recording{}",
        if *object == Object::Snapshot { "a snapshot" } else { "an immediate snapshot" },
        if *object == Object::Snapshot { "; declare `object immediate` in the header" }
        else { ": its operation is `exchange`" }
    )]
    ForeignOperation {
        /// The object.
        object: Object,
        /// The operation.
        found: &'static str,
    },
    /// A recording of an immediate snapshot where a snapshot is needed.
    #[error("this is a recording of an immediate snapshot, and only a snapshot can be read here")]
    ForeignObject,
    /// An operation of an immediate snapshot that does not return all segments.
    #[error("expected one value per segment: an exchange returns all segments")]
    ValuePerSegment,
    /// An event without a key in a recording of several objects.
    #[error(
        "expected a key: in a recording of several objects every event has one, as line {first} has; \
         found an event without"
    )]
    MissingKey {
        /// The line of the first event.
        first: u64,
    },
    /// An event with a key in a recording of one object.
    #[error(
        "expected an event without a key, as that of line {first}: this recording is of one \
         object; found a key"
    )]
    UnexpectedKey {
        /// The line of the first event.
        first: u64,
    },
    /// A recording of several objects where one is needed.
    #[error("this recording has several objects, each with a key, and one object is needed here")]
    SeveralObjects,
    /// An object that the recording does not have.
    #[error("expected events with the key {0}, found none")]
    NoSuchKey(Value),
    /// A name where numbers are used.
    #[error(
        "expected the number of a {}, as in line {first}, found the name {found}",
        kind.name()
    )]
    NameAmongNumbers { kind: Kind, found: Found, first: u64 },
    /// A number where names are used.
    #[error("expected the name of a {}, as in line {first}, found the number {found}", kind.name())]
    NumberAmongNames { kind: Kind, found: Found, first: u64 },
    /// A name that the header does not declare.
    #[error(
        "expected the name of a {} that is declared in line {first}, found {found}",
        kind.name()
    )]
    Undeclared { kind: Kind, found: Found, first: u64 },
    /// One name for two things.
    #[error(
        "expected each name of a {} once, found {found} again (first in line {first})",
        kind.name()
    )]
    NameTwice { kind: Kind, found: Found, first: u64 },
    /// A second name for one thing.
    #[error(
        "expected one name for {} {number}, found another: line {first} names it {found}",
        kind.name()
    )]
    NamedTwice { kind: Kind, number: usize, found: Found, first: u64 },
    /// A thing without a name where others have one.
    #[error("expected a name for each {}, found none for {} {number}", kind.name(), kind.name())]
    Unnamed { kind: Kind, number: usize },
    /// A name for a thing beyond the declared number.
    #[error("expected names for {size} {}, found one for {} {number}", kind.plural(), kind.name())]
    NameBeyond { kind: Kind, number: usize, size: usize },
    /// More names than there can be numbers.
    #[error("expected at most {limit} names of {}, found more", kind.plural())]
    TooManyNames { kind: Kind, limit: usize },
    /// A list of values where the order of the names is unknown.
    #[error("expected values by the names of their segments, found a list")]
    ListOfNamed { kind: Kind },
    /// disc22: the two ends of an update name different values.
    #[error(
        "expected endUpdate!{process},{started}, as the open update of process {process} \
         was started, found the value {ended}"
    )]
    OtherValue {
        /// The process.
        process: usize,
        /// The value of `startUpdate`.
        started: Value,
        /// The value of `endUpdate`.
        ended: Value,
    },
}

impl ReadErrorKind {
    pub(super) fn id_out_of_range(error: IdError, found: &str) -> Self {
        Self::IdOutOfRange { what: error.kind, limit: error.limit, found: Found::new(found) }
    }
}

/// The text found instead: a word, or the end of the line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found(String);

impl Found {
    const LIMIT: usize = 40;

    /// Returns the word itself; empty for the end of the line.
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn new(text: &str) -> Self {
        if text.chars().count() <= Self::LIMIT {
            return Self(text.to_owned());
        }
        Self(text.chars().take(Self::LIMIT - 3).chain("...".chars()).collect())
    }
}

/// Writes the word in backquotes, or `the end of the line`.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("the end of the line")
        } else {
            write!(f, "`{}`", self.0)
        }
    }
}

fn unit(terminator: char) -> &'static str {
    if terminator == '\n' { "line" } else { "event" }
}

fn end(terminator: char) -> &'static str {
    if terminator == '\n' { "a newline" } else { "`;`" }
}
