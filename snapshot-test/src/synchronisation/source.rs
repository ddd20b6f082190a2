//! Recordings of objects in all formats, as lines.

use std::io::{Cursor, Read};

use snapshot_core::Names;

use super::error::{ReadError, ReadErrorKind};
use super::foreign::Foreign;
use super::reader::{Defect, Id, Line, Lines};
use super::vocabulary::Vocabulary;
use crate::format::{
    BYTE_ORDER_MARK, Backwards, Format, Location, begins_like_edn, is_decisive, is_table,
};

/// Bytes by which the format is recognised.
const MOST_FIRST: usize = 64 << 10;

/// A recording in a format of this program, or a log of another one.
pub(super) enum Source<R> {
    Lines(Box<Lines<R>>),
    Foreign(Box<Foreign<R>>),
}

/// Returns an input and its format, if `format` or its beginning says that it is a log of another
/// tool.
///
/// # Errors
/// If the input cannot be read, or is a list of intervals.
pub(super) fn begun<R: Read>(
    mut input: R,
    format: Option<Format>,
) -> Result<(impl Read, Option<Format>), ReadError> {
    let mut first = Vec::new();
    let mut piece = [0; 4096];
    while format.is_none() && first.len() < MOST_FIRST && !is_decisive(&first) {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => first.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let kind = ReadErrorKind::Io(error);
                return Err(ReadError { location: Location::START, kind, line: None });
            }
        }
    }
    let rest = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&first).trim_ascii_start();
    if format == Some(Format::Intervals) || format.is_none() && is_table(rest) {
        let (location, kind) = (Location::START, ReadErrorKind::Intervals);
        return Err(ReadError { location, kind, line: None });
    }
    let is_edn = format.is_none() && begins_like_edn(&first);
    Ok((Cursor::new(first).chain(input), if is_edn { Some(Format::Edn) } else { format }))
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R, format: Option<Format>, vocabulary: Vocabulary) -> Self {
        match format {
            Some(Format::Edn) => Self::Foreign(Box::new(Foreign::new(input, vocabulary))),
            _ => Self::Lines(Box::new(Lines::new(input, format))),
        }
    }

    pub(super) fn next(&mut self) -> Option<Result<(Location, Line), ReadError>> {
        match self {
            Self::Lines(lines) => lines.next(),
            Self::Foreign(events) => events.next(),
        }
    }

    /// Returns the names of processes so far.
    pub(super) fn names(&self) -> Names {
        match self {
            Self::Lines(lines) => lines.names(),
            Self::Foreign(events) => events.names(),
        }
    }

    /// Takes the names of processes that a header declares.
    pub(super) fn declare(&mut self, names: Vec<Box<str>>) -> Result<(), ReadErrorKind> {
        match self {
            Self::Lines(lines) => lines.declare(names),
            Self::Foreign(_) => Ok(()),
        }
    }

    /// Takes the name of a process from a header line.
    pub(super) fn declare_one(&mut self, process: usize, name: &str) -> Result<(), ReadErrorKind> {
        match self {
            Self::Lines(lines) => lines.declare_one(process, name),
            Self::Foreign(_) => Ok(()),
        }
    }

    /// Returns the number of the process of an event.
    pub(super) fn process(&mut self, process: &Id) -> Result<usize, ReadErrorKind> {
        match (self, process) {
            (Self::Lines(lines), process) => lines.process(process),
            (Self::Foreign(_), Id::Number(number)) => Ok(*number),
            (Self::Foreign(_), Id::Name(_)) => Ok(0),
        }
    }

    /// Returns the error of an argument, or of the operation, of the line or event that was read
    /// last.
    pub(super) fn fail_at(&self, argument: Option<usize>, kind: ReadErrorKind) -> ReadError {
        match self {
            Self::Lines(lines) => lines.fail((lines.part(argument), kind)),
            Self::Foreign(events) => events.fail_at_value(kind),
        }
    }

    /// Returns the error of a defect of the line or event that was read last.
    pub(super) fn fail(&self, defect: Defect) -> ReadError {
        match self {
            Self::Lines(lines) => lines.fail(defect),
            Self::Foreign(events) => events.fail(defect.1),
        }
    }

    /// Returns the format, once a line was read.
    pub(super) fn format(&self) -> Option<Format> {
        match self {
            Self::Lines(lines) => lines.format(),
            Self::Foreign(_) => Some(Format::Edn),
        }
    }

    /// Returns true if the recording has something besides operations: a nemesis.
    pub(super) const fn has_others(&self) -> bool {
        match self {
            Self::Lines(_) => false,
            Self::Foreign(events) => events.has_others(),
        }
    }

    /// Returns the times so far that contradict the order.
    pub(super) fn backwards(&self) -> Option<Backwards> {
        match self {
            Self::Lines(lines) => lines.backwards(),
            Self::Foreign(events) => events.backwards(),
        }
    }
}
