//! The disc22 format: the recordings of the supporting material of Amram,
//! Hayoun, Mizrahi, Weiss (DISC 2022).
//!
//! One line of events, each ended by `;`:
//!
//! ```text
//! startUpdate!0,5;startScan!1;endUpdate!0,5;endScan!1,5,0;
//! ```
//!
//! Process p updates segment p. A scan that lists fewer values than there are segments returned the
//! initial value 0 for the rest. The number of segments, which is also the number of processes, is
//! determined by the largest process that occurs and the longest scan. Hence an input must be read
//! once ([`segments`]) before its events have a meaning.

mod writer;

use std::io::Read;

use snapshot_core::history::Declaration;
use snapshot_core::{Process, Segment};

pub use writer::Disc22Writer;

use super::error::{Fault, ReadError, ReadErrorKind};
use super::location::{Excerpt, Location};
use super::source::Source;
use super::text::cursor::{Cursor, Step, saturated};
use super::{Format, Parsed, Shape};
use crate::Value;

/// Returns the number of segments, and of processes, of a disc22 recording, which is read to its
/// end.
///
/// ```
/// use snapshot_test::format::{Reader, disc22};
///
/// let recording = b"startScan!2;endScan!2,0,0;";
/// let segments = disc22::segments(&recording[..])?;
/// assert_eq!(segments, 3);
/// let mut reader = Reader::disc22(&recording[..], segments);
/// assert!(reader.next_event().is_some());
/// # Ok::<(), snapshot_test::format::ReadError>(())
/// ```
///
/// # Errors
/// If the input cannot be read or is empty.
pub fn segments(mut input: impl Read) -> Result<usize, ReadError> {
    let mut reader = Disc22Reader::new(1);
    let mut segments = 1;
    let mut values = Vec::new();
    while let Some(parsed) = reader.advance(&mut input, &mut values)? {
        segments = segments.max(parsed.process.index() + 1).max(values.len());
        values.clear();
    }
    Ok(segments)
}

#[derive(Debug)]
pub(super) struct Disc22Reader {
    source: Source,
    declaration: Declaration<Value>,
    segments: usize,
    /// The value of the open update of each process.
    open_update: Vec<Option<i64>>,
    seen: bool,
}

impl Disc22Reader {
    pub(super) fn new(segments: usize) -> Self {
        let declaration =
            Declaration::new(Value::ZERO).with_segments(segments).with_processes(segments);
        Self {
            source: Source::new(Format::Disc22),
            declaration,
            segments,
            open_update: Vec::new(),
            seen: false,
        }
    }

    pub(super) const fn declaration(&self) -> &Declaration<Value> {
        &self.declaration
    }

    pub(super) const fn place(&self) -> Location {
        self.source.place()
    }

    pub(super) fn excerpt(&self) -> Option<Excerpt> {
        self.source.excerpt(0)
    }

    /// Parses the next event; its values are appended.
    pub(super) fn advance(
        &mut self,
        input: &mut dyn Read,
        values: &mut Vec<Value>,
    ) -> Result<Option<Parsed>, ReadError> {
        let start = values.len();
        let more = self.source.fill(input)?;
        self.skip_white_space();
        if !more {
            return self.end();
        }
        let mut cursor = Cursor::new(self.source.units(), Format::Disc22);
        match event(&mut cursor, values, &mut self.open_update) {
            Ok((process, shape)) => {
                if shape == Shape::RespondScan && values.len() < start + self.segments {
                    values.resize(start + self.segments, Value::ZERO);
                }
                let location = self.source.location(0);
                self.source.pass(cursor.at());
                self.seen = true;
                Ok(Some(Parsed { location, process, shape, key: None }))
            }
            Err(fault) => Err(self.source.fail(*fault)),
        }
    }

    /// Skips white space. Events may be on several lines, though one line is usual.
    fn skip_white_space(&mut self) {
        loop {
            match self.source.rest().first() {
                Some(b'\n') => self.source.pass_line(1),
                Some(b' ' | b'\t' | b'\r') => self.source.pass(1),
                _ => return,
            }
        }
    }

    #[cold]
    fn end(&mut self) -> Result<Option<Parsed>, ReadError> {
        if !self.source.rest().is_empty() {
            // If the next word is no disc22 event at all, that is the better message.
            let name = event_name(&mut Cursor::new(self.source.rest(), Format::Disc22));
            return Err(match name {
                Ok(_) => self.source.fail_truncated(),
                Err(fault) => self.source.fail(*fault),
            });
        }
        if !self.seen && !self.source.has_failed() {
            return Err(self.source.fail(Fault { at: 0, width: 1, kind: ReadErrorKind::Empty }));
        }
        Ok(None)
    }
}

/// The four kinds of events.
#[derive(Clone, Copy)]
enum Name {
    StartUpdate,
    EndUpdate,
    StartScan,
    EndScan,
}

fn event_name(cursor: &mut Cursor<'_>) -> Step<Name> {
    let names = [
        (&b"startUpdate!"[..], Name::StartUpdate),
        (b"endUpdate!", Name::EndUpdate),
        (b"startScan!", Name::StartScan),
        (b"endScan!", Name::EndScan),
    ];
    for (text, name) in names {
        if cursor.passes(text) {
            return Ok(name);
        }
    }
    Err(cursor.unexpected_event("a disc22 event", &[]))
}

/// Parses an event and its `;`. Its values are appended.
fn event(
    cursor: &mut Cursor<'_>,
    values: &mut Vec<Value>,
    open_update: &mut Vec<Option<i64>>,
) -> Step<(Process, Shape)> {
    let name = event_name(cursor)?;
    let process = process(cursor)?;
    let shape = match name {
        Name::StartScan => Shape::InvokeScan,
        Name::StartUpdate => {
            let start = cursor.at();
            let value = next_value(cursor)?;
            if process.index() >= open_update.len() {
                open_update.resize(process.index() + 1, None);
            }
            open_update[process.index()] = Some(value);
            values.push(Value::Integer(value));
            let segment = Segment::new(process.index()).map_err(|error| {
                let kind = ReadErrorKind::id_out_of_range(error, &process.to_string());
                Fault::new(start, 1, kind)
            })?;
            Shape::InvokeUpdate(segment)
        }
        Name::EndUpdate => {
            let start = cursor.at() + 1;
            let ended = next_value(cursor)?;
            let started = open_update.get_mut(process.index()).and_then(Option::take);
            if let Some(started) = started.filter(|started| *started != ended) {
                let kind = ReadErrorKind::OtherValue {
                    process: process.index(),
                    started: Value::Integer(started),
                    ended: Value::Integer(ended),
                };
                return Err(Fault::new(start, cursor.at() - start, kind));
            }
            Shape::RespondUpdate
        }
        Name::EndScan => {
            let limit = values.len() + Segment::LIMIT;
            while cursor.peek() != b';' {
                if values.len() > limit {
                    let kind = ReadErrorKind::TooManyValues { limit: Segment::LIMIT + 1 };
                    return Err(Fault::new(cursor.at(), 1, kind));
                }
                values.push(Value::Integer(next_value(cursor)?));
            }
            Shape::RespondScan
        }
    };
    if cursor.peek() != b';' {
        return Err(cursor.unexpected("`;` at the end of the disc22 event"));
    }
    cursor.advance(1);
    Ok((process, shape))
}

fn process(cursor: &mut Cursor<'_>) -> Step<Process> {
    let start = cursor.at();
    let given = cursor.digits();
    if cursor.at() == start || !matches!(cursor.peek(), b',' | b';') {
        return Err(cursor.unexpected("the number of a process in the disc22 event"));
    }
    Process::new(saturated(given)).map_err(|error| cursor.out_of_range(start, error))
}

/// Parses a comma and an integer.
fn next_value(cursor: &mut Cursor<'_>) -> Step<i64> {
    if cursor.peek() != b',' {
        return Err(cursor.unexpected("`,` and a value of the disc22 event"));
    }
    cursor.advance(1);
    let start = *cursor;
    match cursor.integer() {
        Some(value) => Ok(value),
        None if cursor.at() > start.at() => Err(start.value_out_of_range()),
        None => Err(cursor.unexpected("an integer in the disc22 event")),
    }
}
