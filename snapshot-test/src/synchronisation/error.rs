//! What can be wrong with a recording of an object whose operations take effect together.

use std::borrow::Cow;
use std::fmt;
use std::io;

use snapshot_core::Names;
use snapshot_core::check::counted;
use snapshot_core::generic::HistoryError;
use thiserror::Error;

use super::interface::Beyond;
use super::reader::LINE_LIMIT;
use crate::Value;
use crate::error::InputErrorKind;
use crate::format::{Location, did_you_mean, of_another_object};
use crate::input::unopened;

/// A recording that cannot be read, with the place of the defect.
#[derive(Debug, Error)]
#[error("{location}: {kind}")]
pub struct ReadError {
    pub location: Location,
    pub kind: ReadErrorKind,
    /// The line, if it is short and printable.
    pub line: Option<String>,
}

/// What is wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The operating system could not open it or read on.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// Nothing at all, or blank lines and comments only.
    #[error("empty input: expected a history, found nothing")]
    Empty,
    /// The last line has no end.
    #[error("truncated last line: expected a newline at its end, found the end of the input")]
    Truncated,
    /// A line that is too long.
    #[error("expected at most {} MiB up to the end of the line, found more", LINE_LIMIT >> 20)]
    TooLong,
    /// Bytes that are no text.
    #[error("not UTF-8: expected UTF-8 text, found other bytes")]
    NotUtf8,
    /// Something else than was expected.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would be right.
        expected: String,
        /// What is there.
        found: String,
        /// The word most like it.
        nearest: Option<&'static str>,
    },
    /// An operation that the object does not have.
    #[error("expected {expected}, found {}", quoted(Some(found)))]
    NoOperation {
        /// The operations, and the other words.
        expected: String,
        found: String,
        /// The word most like it.
        nearest: Option<&'static str>,
    },
    /// A line of JSON that cannot be read.
    #[error("{message}")]
    Json {
        /// Why.
        message: String,
    },
    /// The recording says that it is of another object.
    #[error("the object of the recording is `{found}`, and --object is `{wanted}`")]
    OtherObject {
        /// As in the header.
        found: String,
        /// As wanted.
        wanted: String,
    },
    /// A header behind an event.
    #[error("expected the header in the first line, found it behind an event")]
    LateHeader,
    /// An event with a key behind events without, or the reverse.
    #[error("expected {} key, as in the events before it, found {} one",
        if *has_key { "no" } else { "a" }, if *has_key { "an event with" } else { "an event without" })]
    Keys {
        /// True if the event has a key.
        has_key: bool,
    },
    /// Several objects, where one is wanted.
    #[error("expected a recording of one object, found several")]
    SeveralObjects,
    /// No event has the wanted key.
    #[error("expected events with the key {wanted}, found none")]
    NoKey {
        /// The key.
        wanted: Value,
    },
    /// A list of calls with their times, which has no events.
    #[error("a list of calls with their times is judged as a snapshot only, and --object is given")]
    Intervals,
    /// An argument beyond its declared range.
    #[error("{}", .0.told())]
    Beyond(Beyond),
    /// The declared object is faulty in this recording.
    #[error("the declared object is faulty{at}: {fault}")]
    Faulty {
        /// The fault.
        fault: String,
        /// The operation, behind `at`; empty if it is not known.
        at: String,
    },
    /// A defect of a log of another tool.
    #[error(transparent)]
    Log(Box<InputErrorKind>),
    /// A defect of the names of processes.
    #[error(transparent)]
    Names(Box<crate::format::ReadErrorKind>),
    /// An event that no history can have there.
    #[error("{}", error.told(names))]
    History {
        /// The reason.
        error: HistoryError,
        /// The names of processes.
        names: Names,
    },
}

impl ReadErrorKind {
    /// Returns the defect, told with these names.
    pub(super) fn named(self, names: Names) -> Self {
        match self {
            Self::History { error, .. } => Self::History { error, names },
            other => other,
        }
    }

    /// What to do about it.
    fn cure(&self) -> Option<String> {
        Some(match self {
            Self::Io(_) | Self::History { .. } => return None,
            Self::Intervals => {
                "leave out --object; or log the events of other objects in the order in which they \
                 happen, as EDN, text or JSON Lines"
                    .to_owned()
            }
            Self::Faulty { .. } => {
                "widen the bounds of its states in the declaration, or shorten the recording".to_owned()
            }
            Self::Beyond(_) => {
                "correct the value, or widen its range in the declaration".to_owned()
            }
            Self::Names(kind) => return kind.cure(),
            Self::Log(kind) => return kind.cure().map(Cow::into_owned),
            Self::Empty => "an empty history is a header line such as `object channel`".to_owned(),
            Self::Truncated => {
                "end the file with a newline if its last line is whole; otherwise the recording was \
                 cut off: delete that line, its operation is then pending"
                    .to_owned()
            }
            Self::TooLong => "put each event on a line of its own".to_owned(),
            Self::NotUtf8 => "save the file as UTF-8".to_owned(),
            Self::NoOperation { found, nearest, .. } => {
                did_you_mean(*nearest, of_another_object(found)).unwrap_or_else(listed)
            }
            Self::Unexpected { nearest, .. } => did_you_mean(*nearest, None).unwrap_or_else(listed),
            Self::Json { .. } => {
                "a line is one JSON object such as {\"process\":0,\"event\":\"invoke\",\
                 \"operation\":\"send\",\"value\":5} or {\"process\":0,\"event\":\"ok\"}"
                    .to_owned()
            }
            Self::OtherObject { found, .. } => format!("use --object {found}"),
            Self::Keys { .. } => "all events have a key, or none".to_owned(),
            Self::SeveralObjects => "take one with --key".to_owned(),
            Self::NoKey { .. } => "leave out --key to judge each object".to_owned(),
            Self::LateHeader => "move it to the beginning of the file".to_owned(),
        })
    }
}

fn listed() -> String {
    "docs/synchronisation.md lists the operations of each object".to_owned()
}

impl ReadError {
    /// Why nothing could be read, in a few words: `no such file`.
    pub fn unopened(&self) -> Option<String> {
        match &self.kind {
            ReadErrorKind::Io(error) => Some(unopened(error)),
            _ => None,
        }
    }

    /// The verdict in a word.
    pub const fn verdict(&self) -> &'static str {
        if matches!(self.kind, ReadErrorKind::Io(_)) { "unreadable" } else { "malformed" }
    }

    /// The report for people, on an input of this name: several lines, the last without end.
    pub fn report(&self, name: &str) -> String {
        let mut text = match &self.kind {
            ReadErrorKind::Io(_) => format!("{name}: {}", self.kind),
            kind => format!("{name}:{}: {kind}", self.location),
        };
        if let Some(line) = &self.line {
            let before = " ".repeat(self.location.column as usize - 1);
            text += &format!("\n  {line}\n  {before}^");
        }
        if let Some(cure) = self.kind.cure() {
            text += &format!("\nhelp: {cure}");
        }
        text
    }
}

/// `` `word` ``, shortened, or the end of the line.
pub(super) fn quoted(word: Option<impl fmt::Display>) -> String {
    const MOST: usize = 60;
    let Some(word) = word else { return "the end of the line".to_owned() };
    let word = word.to_string();
    let mut short: String = word.chars().take(MOST).flat_map(char::escape_default).collect();
    if word.chars().nth(MOST).is_some() {
        short += "...";
    }
    format!("`{}`", short.replace("\\\"", "\""))
}

impl Beyond {
    fn told(&self) -> String {
        let Self { argument, given, low, high, processes } = self;
        let processes = processes.map_or_else(String::new, |count| {
            format!(", for {}", counted(count as u64, "process", "processes"))
        });
        let place = argument + 1;
        format!(
            "expected a number from {low} to {high} as argument {place}{processes}, found {given}"
        )
    }
}

impl From<Beyond> for ReadErrorKind {
    fn from(beyond: Beyond) -> Self {
        Self::Beyond(beyond)
    }
}

impl From<HistoryError> for ReadErrorKind {
    fn from(error: HistoryError) -> Self {
        Self::History { error, names: Names::default() }
    }
}

impl From<crate::format::ReadErrorKind> for ReadErrorKind {
    fn from(kind: crate::format::ReadErrorKind) -> Self {
        Self::Names(Box::new(kind))
    }
}
