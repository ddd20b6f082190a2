//! The bytes of an input, one *unit* at a time: a line, or an event that ends
//! with `;`.
//!
//! Invariant: `start <= complete <= end <= buffer.len()`, and the bytes
//! `buffer[start..complete]` are zero or more whole units, each with its
//! terminator. So a parser runs over many units without asking for more input,
//! and meets the terminator before it meets the end. Only an unfinished unit is
//! ever moved, to the front of the buffer; the buffer grows only for a unit
//! that does not fit, up to [`LINE_LIMIT`]. Memory is thus bounded by the
//! longest unit allowed, never by the input.

use std::io::{self, Read};

use super::Format;
use super::detect::looks_like;
use super::error::{Fault, ReadError, ReadErrorKind};
use super::location::{Excerpt, Location};

/// The longest line (disc22: event) that is read, in bytes with its end. The response of a scan of
/// 65,536 segments with the longest integers takes 1.4 MB; a far longer line is no recording.
pub const LINE_LIMIT: usize = 8 << 20;

const INITIAL_BUFFER: usize = 1 << 20;

/// The buffer of an input, with the current position. The input itself stays with the caller:
/// the readers are compiled once for all types of inputs.
#[derive(Debug)]
pub(super) struct Source {
    buffer: Vec<u8>,
    /// The first byte that is not yet parsed.
    start: usize,
    /// The end of the last whole unit.
    complete: usize,
    /// The end of the bytes read.
    end: usize,
    /// Offset of `buffer[0]` in the input.
    base: u64,
    /// Number of the line that `start` is in, from 1.
    line: u64,
    /// Offset of that line in the input.
    line_offset: u64,
    /// Start in the buffer of the unit parsed last.
    last: usize,
    reading: Format,
    /// The terminator of a unit of the format.
    terminator: u8,
    at_end: bool,
    failed: bool,
}

impl Source {
    pub(super) fn new(reading: Format) -> Self {
        Self {
            buffer: vec![0; INITIAL_BUFFER],
            start: 0,
            complete: 0,
            end: 0,
            base: 0,
            line: 1,
            line_offset: 0,
            last: 0,
            reading,
            terminator: if reading == Format::Disc22 { b';' } else { b'\n' },
            at_end: false,
            failed: false,
        }
    }

    /// Ensures that there is a whole unit, reading more if necessary. Returns false at the end of
    /// the input; the bytes then left in [`Self::rest`] lack a terminator.
    #[inline]
    pub(super) fn fill(&mut self, input: &mut dyn Read) -> Result<bool, ReadError> {
        Ok(self.start < self.complete || self.refill(input)?)
    }

    #[cold]
    fn refill(&mut self, input: &mut dyn Read) -> Result<bool, ReadError> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        self.complete = 0;
        self.last = 0;
        loop {
            if self.end == self.buffer.len() {
                if self.end >= LINE_LIMIT {
                    let fault =
                        self.foreign().unwrap_or_else(|| Fault::new(0, 1, ReadErrorKind::TooLong));
                    return Err(self.fail_in(0..self.end, *fault));
                }
                self.buffer.resize((2 * self.end).min(LINE_LIMIT), 0);
            }
            let read = match input.read(&mut self.buffer[self.end..]) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(self.fail(Fault { at: 0, width: 1, kind: error.into() }));
                }
            };
            if read == 0 {
                self.at_end = true;
                return Ok(false);
            }
            let fresh = self.end..self.end + read;
            self.end += read;
            if self.base == 0 && self.end >= 3 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.skip_byte_order_mark();
            }
            if let Some(found) = memchr::memrchr(self.terminator, &self.buffer[fresh.clone()]) {
                self.complete = fresh.start + found + 1;
                return Ok(true);
            }
        }
    }

    fn skip_byte_order_mark(&mut self) {
        let length = BYTE_ORDER_MARK.len();
        self.start = length;
        self.last = length;
        self.line_offset = length as u64;
    }

    /// Returns the whole units that are not yet parsed.
    #[inline]
    pub(super) fn units(&self) -> &[u8] {
        &self.buffer[self.start..self.complete]
    }

    /// Returns all bytes that are not yet parsed; at the end of the input, the unfinished last
    /// unit.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Passes one line of `length` bytes, with its end.
    #[inline]
    pub(super) fn pass_line(&mut self, length: usize) {
        self.last = self.start;
        self.start += length;
        self.line += 1;
        self.line_offset = self.base + self.start as u64;
    }

    /// Passes `length` bytes without a line end.
    #[inline]
    pub(super) fn pass(&mut self, length: usize) {
        self.last = self.start;
        self.start += length;
    }

    /// Returns the position of the byte `ahead` bytes from here, where all characters between are
    /// ASCII and on this line.
    #[inline]
    pub(super) fn location(&self, ahead: usize) -> Location {
        let offset = self.base + (self.start + ahead) as u64;
        Location { line: self.line, column: offset - self.line_offset + 1, offset }
    }

    /// Returns the position of the first byte that is not yet parsed, which begins a line (disc22:
    /// an event).
    pub(super) const fn place(&self) -> Location {
        let offset = self.base + self.start as u64;
        Location { line: self.line, column: offset - self.line_offset + 1, offset }
    }

    /// Returns all bytes that are not yet parsed: this source is exhausted then.
    pub(super) fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.rest().to_vec();
        self.start = self.end;
        self.complete = self.end;
        self.last = self.end;
        self.at_end = true;
        rest
    }

    /// Returns the unit passed last, until more is read.
    pub(super) fn last_unit(&self) -> &[u8] {
        &self.buffer[self.last..self.start]
    }

    /// Returns the unit passed last, with the word at byte `at` marked.
    pub(super) fn excerpt(&self, at: usize) -> Option<Excerpt> {
        let unit = self.last_unit();
        let width = unit[at.min(unit.len())..].iter().take_while(|b| b.is_ascii_graphic()).count();
        Excerpt::new(unit, at, width)
    }

    /// Returns true if reading ended with an error, not with the input.
    pub(super) const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Returns the error for a defect in the unit at `start`; nothing more is read.
    #[cold]
    pub(super) fn fail(&mut self, fault: Fault) -> ReadError {
        let rest = &self.buffer[self.start..self.end];
        let length =
            memchr::memchr2(b'\n', self.terminator, rest).map_or(rest.len(), |end| end + 1);
        self.fail_in(self.start..self.start + length, fault)
    }

    fn fail_in(&mut self, unit: std::ops::Range<usize>, fault: Fault) -> ReadError {
        let unit = &self.buffer[unit];
        let before = String::from_utf8_lossy(&unit[..fault.at.min(unit.len())]);
        let start = self.location(0);
        let location = Location {
            column: start.column + before.chars().count() as u64,
            offset: start.offset + fault.at as u64,
            ..start
        };
        let excerpt = Excerpt::new(unit, fault.at, fault.width);
        self.stop();
        ReadError::new(location, fault.kind, excerpt)
    }

    /// Returns the error for an input that ends within a unit.
    #[cold]
    pub(super) fn fail_truncated(&mut self) -> ReadError {
        let at = self.end - self.start;
        let kind = ReadErrorKind::Truncated { terminator: char::from(self.terminator) };
        let fault = self.foreign().unwrap_or_else(|| Fault::new(at, 1, kind));
        self.fail(*fault)
    }

    /// Returns the evidence that the unfinished unit is foreign to this format: a byte that no
    /// recording contains, or the beginning of an event of another format.
    fn foreign(&self) -> Option<Box<Fault>> {
        let rest = self.rest();
        let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(at) = rest.iter().position(control) {
            return Some(Fault::new(at, 1, ReadErrorKind::ControlByte(rest[at])));
        }
        let indent = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let found = looks_like(&rest[indent..]).filter(|found| *found != self.reading)?;
        let kind = ReadErrorKind::OtherFormat { reading: self.reading, found };
        Some(Fault::new(indent, 1, kind))
    }

    fn stop(&mut self) {
        self.start = self.end;
        self.complete = self.end;
        self.last = self.end;
        self.at_end = true;
        self.failed = true;
    }
}

/// The byte order mark that some editors put before UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
