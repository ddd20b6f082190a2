//! Positions in a log: bytes while it is read, lines and columns in reports.

use super::error::ImportErrorKind;
use crate::error::{InputError, InputErrorKind};
use crate::format::{Excerpt, Location};

/// A piece of a log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Spot {
    /// Number of bytes of the log before it.
    pub at: usize,
    /// Length in bytes.
    pub width: usize,
}

impl Spot {
    pub(super) const fn new(at: usize, end: usize) -> Self {
        Self { at, width: end - at }
    }

    /// Returns the position of its first byte.
    pub(super) fn location(self, log: &[u8]) -> Location {
        let (line, begin, _) = self.line(log);
        let before = String::from_utf8_lossy(&log[begin..self.at.min(log.len())]);
        let column = before.chars().count() as u64 + 1;
        Location { line, column, offset: self.at as u64 }
    }

    /// Returns the number of its line, and the start and end of the line.
    fn line(self, log: &[u8]) -> (u64, usize, usize) {
        let at = self.at.min(log.len());
        let begin = memchr::memrchr(b'\n', &log[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &log[at..]).map_or(log.len(), |newline| at + newline);
        (memchr::memchr_iter(b'\n', &log[..at]).count() as u64 + 1, begin, end)
    }

    /// Returns its line with the piece marked.
    fn excerpt(self, log: &[u8]) -> Option<Excerpt> {
        let (_, begin, end) = self.line(log);
        Excerpt::around(&log[begin..end], self.at - begin, self.width)
    }
}

/// Returns the positions of the first bytes of pieces of a log. O(log + n log n) for n pieces.
pub(super) fn locations(log: &[u8], spots: &[Spot]) -> Vec<Location> {
    let mut order: Vec<usize> = (0..spots.len()).collect();
    order.sort_unstable_by_key(|piece| spots[*piece].at);
    let mut locations = vec![Location::START; spots.len()];
    let (mut line, mut column, mut passed) = (1, 1, 0);
    for piece in order {
        let at = spots[piece].at.min(log.len());
        let between = &log[passed..at];
        if let Some(last) = memchr::memrchr(b'\n', between) {
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            column = 1;
            passed += last + 1;
        }
        // Bytes that begin a character.
        let characters = log[passed..at].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        column += characters as u64;
        passed = at;
        locations[piece] = Location { line, column, offset: at as u64 };
    }
    locations
}

/// A defect of a log, with its position in bytes.
#[derive(Debug)]
pub(crate) struct Fault {
    spot: Spot,
    kind: InputErrorKind,
    /// The piece that contradicts it.
    earlier: Option<Spot>,
}

/// The result of a step of an import.
pub(crate) type Step<T> = Result<T, Box<Fault>>;

impl Fault {
    /// Adds the piece of the log that contradicts this one.
    pub(super) const fn against(mut self: Box<Self>, earlier: Spot) -> Box<Self> {
        self.earlier = Some(earlier);
        self
    }

    /// Returns the position, the kind and the position of what it contradicts.
    pub(crate) fn into_parts(self) -> (Spot, InputErrorKind, Option<Spot>) {
        (self.spot, self.kind, self.earlier)
    }

    /// Returns the fault in a log with this many bytes before the piece that has it.
    pub(super) fn with_offset(mut self: Box<Self>, bytes: usize) -> Box<Self> {
        self.spot.at += bytes;
        if let Some(earlier) = &mut self.earlier {
            earlier.at += bytes;
        }
        self
    }

    /// Returns the error, with lines and columns of this log.
    pub(super) fn located(self, log: &[u8]) -> InputError {
        let Self { spot, kind, earlier } = self;
        let spot = Spot { at: spot.at.min(log.len()), ..spot };
        let earlier = earlier.map(|earlier| earlier.location(log));
        InputError::new(spot.location(log), kind, spot.excerpt(log), earlier)
    }
}

impl InputErrorKind {
    /// Returns the fault of this kind at a piece of the log. Boxed, so that results stay small.
    #[cold]
    pub(crate) fn at(self, spot: Spot) -> Box<Fault> {
        Box::new(Fault { spot, kind: self, earlier: None })
    }
}

impl ImportErrorKind {
    /// Returns the fault of this kind at a piece of the log.
    #[cold]
    pub(crate) fn at(self, spot: Spot) -> Box<Fault> {
        InputErrorKind::from(self).at(spot)
    }
}
