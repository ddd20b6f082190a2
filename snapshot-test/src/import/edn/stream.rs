//! The text of a log, of which only a piece is in memory.

use std::io::{ErrorKind, Read};

use super::super::ImportErrorKind;
use super::super::place::{Fault, Spot};
use crate::error::InputErrorKind;
use crate::format::Location;

/// Number of bytes read at a time.
const PIECE: usize = 128 << 10;

/// Reads a log in UTF-8, piece by piece.
#[derive(Debug)]
pub(super) struct Stream<R> {
    input: R,
    /// The piece in memory.
    text: String,
    /// The beginning of a character whose end was not read yet.
    cut: Vec<u8>,
    /// Number of bytes of the log before the piece.
    before: usize,
    /// Number of bytes of the piece that were passed.
    passed: usize,
    /// A place of the piece before what was passed last, and its position there.
    place: (usize, Location),
    end: Option<End>,
    bytes: Vec<u8>,
}

/// The reason why there is nothing to read behind the piece.
#[derive(Debug)]
enum End {
    /// The log ends.
    Log,
    /// Other bytes than UTF-8.
    NotUtf8,
    /// The operating system could not read on.
    Io(std::io::Error),
}

impl<R: Read> Stream<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            text: String::new(),
            cut: Vec::new(),
            before: 0,
            passed: 0,
            place: (0, Location::START),
            end: None,
            bytes: Vec::new(),
        }
    }

    /// Returns the piece, and the position in it of what was not passed yet.
    pub(super) fn piece(&self) -> (&str, usize) {
        (&self.text, self.passed)
    }

    /// Returns the number of bytes of the log before the piece.
    pub(super) const fn before(&self) -> usize {
        self.before
    }

    /// Passes everything before a position of the piece.
    pub(super) fn pass(&mut self, at: usize) {
        self.place = (self.passed, self.location(self.passed));
        self.passed = at;
    }

    /// Returns the place of a position of the log that was passed last, or comes later.
    pub(super) fn locate(&self, at: usize) -> Location {
        self.location(at.saturating_sub(self.before).min(self.text.len()))
    }

    fn location(&self, at: usize) -> Location {
        let (from, place) = self.place;
        let between = &self.text.as_bytes()[from.min(at)..at];
        let lines = memchr::memchr_iter(b'\n', between).count() as u64;
        let last = memchr::memrchr(b'\n', between).map_or(between, |last| &between[last + 1..]);
        // Bytes that begin a character.
        let characters = last.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        Location {
            line: place.line + lines,
            column: characters + if lines > 0 { 1 } else { place.column },
            offset: (self.before + at) as u64,
        }
    }

    /// Returns the line of a position, as far as it is in memory.
    pub(super) fn line(&self, at: usize) -> (&[u8], usize) {
        let at = at.saturating_sub(self.before).min(self.text.len());
        let bytes = self.text.as_bytes();
        let begin = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        (&bytes[begin..end], at - begin)
    }

    /// Returns true if nothing follows the piece.
    pub(super) const fn is_whole(&self) -> bool {
        self.end.is_some()
    }

    /// Returns the reason, other than the end of the log, why it ends behind the piece.
    pub(super) fn fault(&mut self) -> Option<Box<Fault>> {
        let at = self.before + self.text.len();
        match self.end.replace(End::Log)? {
            End::Log => None,
            End::NotUtf8 => Some(ImportErrorKind::NotUtf8.at(Spot::new(at, at + 1))),
            End::Io(error) => Some(InputErrorKind::Io(error).at(Spot::new(at, at))),
        }
    }

    /// Lengthens the piece behind what was not passed yet; in proportion to it, so that a long
    /// event is read in linear time.
    pub(super) fn lengthen(&mut self) {
        self.place = (0, self.location(self.passed));
        self.text.drain(..self.passed);
        self.before += self.passed;
        self.passed = 0;
        self.bytes.resize(PIECE.max(self.text.len()), 0);
        let count = loop {
            match self.input.read(&mut self.bytes) {
                Ok(count) => break count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.end = Some(End::Io(error));
                    return;
                }
            }
        };
        if count == 0 {
            self.end = Some(if self.cut.is_empty() { End::Log } else { End::NotUtf8 });
            return;
        }
        let bytes = &self.bytes[..count];
        let mut start = 0;
        // A character is at most four bytes.
        while !self.cut.is_empty() && start < bytes.len() {
            self.cut.push(bytes[start]);
            start += 1;
            match std::str::from_utf8(&self.cut) {
                Ok(one) => {
                    self.text.push_str(one);
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_some() => {
                    self.end = Some(End::NotUtf8);
                    return;
                }
                Err(_) => {}
            }
        }
        match std::str::from_utf8(&bytes[start..]) {
            Ok(text) => self.text.push_str(text),
            Err(error) => {
                let (valid, rest) = bytes[start..].split_at(error.valid_up_to());
                // Checked above; the empty text is not used.
                self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                match error.error_len() {
                    Some(_) => self.end = Some(End::NotUtf8),
                    None => self.cut.extend_from_slice(rest),
                }
            }
        }
    }
}
