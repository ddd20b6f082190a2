//! The text format: one event per line, for people to read and write.
//!
//! ```text
//! segments 3            # header lines, before the first event
//! initial 0 0 "x"
//! p0 update 5           # process 0 invokes update(5) of segment 0
//! p7 update s2 "hello"  # process 7 invokes update("hello") of segment 2
//! p1 scan
//! p0 ok
//! p1 ok 5 0 "x"
//! p1 scan
//! p1 ok 5 _ _           # a partial scan; also `p1 ok s0 5`
//! ```
//!
//! In a recording of several objects each event begins with the key of its object:
//! `@"cart" p0 update 5`.
//!
//! Long recordings are read at the speed of memory rather than of a parser generator: the reader
//! walks once over the bytes of a large buffer, without searching for line ends first, and
//! allocates nothing for integers. `usual.rs` reads lines as programs write them, `event` all
//! others.

pub(super) mod cursor;
mod digits;
mod header;
mod lines;
mod usual;
mod writer;

use std::io::Read;
use std::num::NonZeroU32;

use snapshot_core::history::Declaration;
use snapshot_core::{Process, Segment};

pub(super) use lines::{lines, lines_of_integers};
pub(super) use usual::integer;
pub use writer::TextWriter;
pub(crate) use writer::write_names;

use self::cursor::{Cursor, Step};
use self::header::Header;
use super::error::{Fault, ReadError, ReadErrorKind};
use super::keys::Keys;
use super::location::{Excerpt, Location};
use super::names::Naming;
use super::pieces::Pieces;
use super::source::Source;
use super::{Format, Object, Parsed, Payload, Shape};
use crate::Value;

/// The first words of header lines.
pub(super) const HEADERS: [&str; 7] =
    ["segments", "processes", "initial", "writers", "object", "process", "segment"];

/// The words after a process.
const ACTIONS: [&str; 6] = ["update", "scan", "exchange", "ok", "fail", "unknown"];

#[derive(Debug)]
pub(super) struct TextReader {
    source: Source,
    declaration: Declaration<Value>,
    object: Object,
    keys: Keys,
    naming: Naming,
    /// True if usual lines (see `usual.rs`) are allowed here: updates and scans, without keys.
    is_usual: bool,
    /// True if the input has had any content, even only a comment.
    seen: bool,
}

impl TextReader {
    /// Reads the header. `naming`: the names of the part before, of a recording that is read from
    /// its middle on.
    pub(super) fn new(input: &mut dyn Read, naming: Naming) -> Result<Self, ReadError> {
        let declaration = Declaration::new(Value::ZERO);
        let source = Source::new(Format::Text);
        let mut reader = Self {
            source,
            declaration,
            object: Object::Snapshot,
            keys: Keys::default(),
            naming,
            is_usual: true,
            seen: false,
        };
        reader.read_header(input)?;
        Ok(reader)
    }

    fn read_header(&mut self, input: &mut dyn Read) -> Result<(), ReadError> {
        let mut header = Header::new();
        while self.fill(input)? {
            let mut cursor = Cursor::new(self.source.units(), Format::Text);
            cursor.skip_blanks();
            if cursor.at_id(b'p') || cursor.peek() == b'@' {
                let line = self.source.location(0).line;
                let _ = self.keys.refusal(cursor.peek() == b'@', line);
                break;
            }
            self.seen |= !matches!(cursor.peek(), b'\n' | b'\r');
            let line = self.source.location(0).line;
            if let Err(fault) = header.line(&mut cursor, line) {
                return Err(self.source.fail(*fault));
            }
            let length = cursor.at();
            self.source.pass_line(length);
        }
        let finished = header.finish(&mut self.naming);
        (self.declaration, self.object) =
            finished.map_err(|kind| self.source.fail(Fault { at: 0, width: 1, kind }))?;
        self.is_usual = self.object == Object::Snapshot && !self.keys.are_used();
        Ok(())
    }

    /// As [`Source::fill`], but an input that ends in the middle of a line, or without content, is
    /// an error.
    #[inline]
    fn fill(&mut self, input: &mut dyn Read) -> Result<bool, ReadError> {
        if self.source.fill(input)? { Ok(true) } else { self.end() }
    }

    #[cold]
    fn end(&mut self) -> Result<bool, ReadError> {
        if !self.source.rest().is_empty() {
            return Err(self.source.fail_truncated());
        }
        if !self.seen && !self.source.has_failed() {
            return Err(self.source.fail(Fault { at: 0, width: 1, kind: ReadErrorKind::Empty }));
        }
        Ok(false)
    }

    pub(super) const fn declaration(&self) -> &Declaration<Value> {
        &self.declaration
    }

    pub(super) const fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(super) const fn keys_mut(&mut self) -> &mut Keys {
        &mut self.keys
    }

    pub(super) const fn naming(&self) -> &Naming {
        &self.naming
    }

    pub(super) const fn object(&self) -> Object {
        self.object
    }

    /// Sets the object of a recording that is read from its middle on.
    pub(super) fn set_object(&mut self, object: Object) {
        self.object = object;
        self.is_usual = object == Object::Snapshot && !self.keys.are_used();
    }

    pub(super) const fn place(&self) -> Location {
        self.source.place()
    }

    pub(super) fn excerpt(&self) -> Option<Excerpt> {
        let unit = self.source.last_unit();
        let indent = unit.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.source.excerpt(indent)
    }

    /// Cuts the rest of a recording of a snapshot without keys into pieces for [`lines`]; `None`
    /// for any other recording. Afterwards this reader is exhausted.
    pub(super) fn pieces<'i>(&mut self, input: &'i mut (dyn Read + Send)) -> Option<Pieces<'i>> {
        if self.object != Object::Snapshot || !self.keys.are_unused() {
            return None;
        }
        Some(Pieces::new(self.source.take_rest(), input))
    }

    /// Parses the next event; its values are appended. Inlined, so that the loop that fills a batch
    /// is one loop.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        input: &mut dyn Read,
        payload: &mut Payload,
    ) -> Result<Option<Parsed>, ReadError> {
        let values = &mut payload.values;
        let start = values.len();
        let usual = if self.is_usual { usual::event(self.source.units(), values) } else { None };
        let Some((process, shape, length)) = usual else {
            values.truncate(start);
            return self.advance_in_general(input, payload);
        };
        let location = self.source.location(0);
        self.source.pass_line(length);
        self.seen = true;
        Ok(Some(Parsed { location, process, shape, key: None }))
    }

    /// As [`Self::advance`], for all kinds of lines, and if more must be read first.
    #[inline(never)]
    fn advance_in_general(
        &mut self,
        input: &mut dyn Read,
        payload: &mut Payload,
    ) -> Result<Option<Parsed>, ReadError> {
        while self.fill(input)? {
            let mut cursor = Cursor::new(self.source.units(), Format::Text);
            cursor.skip_blanks();
            let indent = cursor.at();
            let parsed = key(&mut cursor).and_then(|key| {
                let event = match self.keyed_usual(&mut cursor, key.is_some(), payload) {
                    None => event(&mut cursor, self.object, payload)?,
                    usual => usual,
                };
                Ok((key, event))
            });
            match parsed {
                Ok((key, Some((process, shape)))) => {
                    let location = self.source.location(indent);
                    if let Some(kind) = self.keys.refusal(key.is_some(), location.line) {
                        return Err(self.source.fail(Fault { at: indent, width: 1, kind }));
                    }
                    self.source.pass_line(cursor.at());
                    self.seen = true;
                    let key = key.map(|key| self.keys.number(key));
                    return Ok(Some(Parsed { location, process, shape, key }));
                }
                // An empty line, or a comment: an event follows every key.
                Ok((_, None)) => self.source.pass_line(cursor.at()),
                Err(fault) => return Err(self.source.fail(*fault)),
            }
        }
        Ok(None)
    }

    /// Parses the event of a usual line behind its key.
    #[inline]
    fn keyed_usual(
        &self,
        cursor: &mut Cursor<'_>,
        has_key: bool,
        payload: &mut Payload,
    ) -> Option<(Process, Shape)> {
        if !has_key || self.object != Object::Snapshot {
            return None;
        }
        let start = payload.values.len();
        let lines = &self.source.units()[cursor.at()..];
        let Some((process, shape, length)) = usual::event(lines, &mut payload.values) else {
            payload.values.truncate(start);
            return None;
        };
        cursor.advance(length);
        Some((process, shape))
    }
}

/// Passes the optional key before an event, and blanks.
fn key(cursor: &mut Cursor<'_>) -> Step<Option<Value>> {
    if cursor.peek() != b'@' {
        return Ok(None);
    }
    cursor.advance(1);
    if !matches!(cursor.peek(), b'"' | b'-' | b'0'..=b'9') {
        return Err(cursor.unexpected("a key after `@`"));
    }
    let key = cursor.value()?;
    cursor.skip_blanks();
    if cursor.at_line_end() {
        return Err(cursor.unexpected("a process such as `p0` after the key"));
    }
    Ok(Some(key))
}

/// Parses a line; `None` for a line without an event. Its values are appended.
fn event(
    cursor: &mut Cursor<'_>,
    object: Object,
    payload: &mut Payload,
) -> Step<Option<(Process, Shape)>> {
    if !cursor.at_id(b'p') {
        if cursor.at_line_end() {
            cursor.end_line("")?;
            return Ok(None);
        }
        return Err(no_event(cursor));
    }
    let process = cursor.process()?;
    cursor.skip_blanks();
    let at = cursor.at();
    let (shape, after) = match cursor.peek() {
        b'o' if cursor.keyword(b"ok") => (response(cursor, payload)?, "a response"),
        b's' if cursor.keyword(b"scan") => (Shape::InvokeScan, "`scan`"),
        b'u' if cursor.keyword(b"update") => {
            (update(cursor, process, &mut payload.values)?, "the value")
        }
        b'e' if cursor.keyword(b"exchange") => {
            cursor.skip_blanks();
            payload.values.push(cursor.value()?);
            (Shape::InvokeExchange, "the value")
        }
        b'f' if cursor.keyword(b"fail") => (Shape::Fail, "`fail`"),
        b'u' if cursor.keyword(b"unknown") => (Shape::Unknown, "`unknown`"),
        _ => {
            let expected = match object {
                Object::Snapshot => "`update`, `scan`, `ok`, `fail` or `unknown`",
                Object::Immediate => "`exchange`, `ok`, `fail` or `unknown`",
            };
            return Err(cursor.unexpected_word(expected, &ACTIONS));
        }
    };
    if let Some(kind) = object.refusal(shape) {
        let width = match kind {
            ReadErrorKind::ForeignOperation { found, .. } => found.len(),
            _ => "ok".len(),
        };
        return Err(Fault::new(at, width, kind));
    }
    cursor.end_line(after)?;
    Ok(Some((process, shape)))
}

#[inline]
fn response(cursor: &mut Cursor<'_>, payload: &mut Payload) -> Step<Shape> {
    cursor.skip_blanks();
    if cursor.at_line_end() {
        return Ok(Shape::RespondUpdate);
    }
    if cursor.at_id(b's') {
        return named_entries(cursor, &mut payload.entries);
    }
    let start = payload.values.len();
    loop {
        if cursor.keyword(b"_") {
            return rest_with_gaps(cursor, payload, start);
        }
        if payload.values.len() - start > Segment::LIMIT {
            return Err(too_many_values(cursor));
        }
        payload.values.push(cursor.value()?);
        cursor.skip_blanks();
        if cursor.at_line_end() {
            return Ok(Shape::RespondScan);
        }
    }
}

/// Parses entries with their segments: `s0 5 s3 "x"`, in any order.
#[cold]
fn named_entries(cursor: &mut Cursor<'_>, entries: &mut Vec<(Segment, Value)>) -> Step<Shape> {
    let start = entries.len();
    loop {
        if entries.len() - start > Segment::LIMIT {
            return Err(too_many_values(cursor));
        }
        let segment = cursor.segment()?;
        cursor.skip_blanks();
        entries.push((segment, cursor.value()?));
        cursor.skip_blanks();
        if cursor.at_line_end() {
            entries[start..].sort_by_key(|entry| entry.0);
            return Ok(Shape::RespondPartialScan(None));
        }
        if !cursor.at_id(b's') {
            return Err(cursor.unexpected("a segment such as `s0`"));
        }
    }
}

/// Parses the rest of a response after its first gap: values and gaps, one per segment. A single
/// gap stands for any number of segments.
#[cold]
fn rest_with_gaps(cursor: &mut Cursor<'_>, payload: &mut Payload, start: usize) -> Step<Shape> {
    let mut width = payload.values.len() - start + 1;
    let values = payload.values.drain(start..).enumerate();
    payload.entries.extend(values.map(|(k, value)| (Segment::from_index(k), value)));
    loop {
        cursor.skip_blanks();
        if cursor.at_line_end() {
            let declared = if width == 1 { None } else { NonZeroU32::new(width as u32) };
            return Ok(Shape::RespondPartialScan(declared));
        }
        if width > Segment::LIMIT {
            return Err(too_many_values(cursor));
        }
        if !cursor.keyword(b"_") {
            payload.entries.push((Segment::from_index(width), cursor.value()?));
        }
        width += 1;
    }
}

#[cold]
fn too_many_values(cursor: &Cursor<'_>) -> Box<Fault> {
    Fault::new(cursor.at(), 1, ReadErrorKind::TooManyValues { limit: Segment::LIMIT + 1 })
}

/// Parses one or more values up to the end of the line.
#[inline]
fn value_list(cursor: &mut Cursor<'_>, values: &mut Vec<Value>) -> Step<()> {
    let limit = values.len() + Segment::LIMIT;
    loop {
        if values.len() > limit {
            return Err(too_many_values(cursor));
        }
        let value = cursor.value()?;
        values.push(value);
        cursor.skip_blanks();
        if cursor.at_line_end() {
            return Ok(());
        }
    }
}

#[inline]
fn update(cursor: &mut Cursor<'_>, process: Process, values: &mut Vec<Value>) -> Step<Shape> {
    cursor.skip_blanks();
    let start = cursor.at();
    let segment = if cursor.at_id(b's') {
        let segment = cursor.segment()?;
        cursor.skip_blanks();
        segment
    } else {
        Segment::new(process.index()).map_err(|error| {
            let kind = ReadErrorKind::id_out_of_range(error, &process.to_string());
            Fault::new(start, 1, kind)
        })?
    };
    let value = cursor.value()?;
    values.push(value);
    Ok(Shape::InvokeUpdate(segment))
}

/// Returns the fault of a line that should have been an event.
#[cold]
fn no_event(cursor: &Cursor<'_>) -> Box<Fault> {
    for keyword in HEADERS {
        let mut after = *cursor;
        if after.keyword(keyword.as_bytes()) {
            let kind = ReadErrorKind::HeaderAfterEvent { keyword: header::quoted(keyword) };
            return Fault::new(cursor.at(), keyword.len(), kind);
        }
    }
    cursor.unexpected_event("a process such as `p0`", &[])
}
