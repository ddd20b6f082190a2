//! Pieces of a long text, which any thread can parse.
//!
//! A piece is a number of whole lines. Where events have no keys, the meaning of a line behind the
//! header does not depend on its position, so pieces are parsed independently of each other:
//! [`Pieces`] hands out bytes, [`Batch::parse`] makes events of them.
//!
//! Pieces record neither positions nor the details of a malformed line ([`Irregular`]). Both are
//! needed at most a few times per recording, and then a reader reads it again from its beginning:
//! so errors and positions equal those of reading line by line.

use std::io::{self, Chain, Cursor, Read};

use super::source::LINE_LIMIT;

/// Size of a piece in bytes, unless a line is longer: with its events, a piece fits into the cache
/// of a processor.
pub(crate) const SIZE: usize = 1 << 17;

/// A malformed line; [`Reader`](super::Reader) finds the reason.
#[derive(Debug)]
pub(crate) enum Irregular {
    /// The bytes of the line are malformed.
    Line,
    /// The operating system could not read it.
    Io(io::Error),
}

/// Consecutive lines. The buffer is reused and never shrinks.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    /// End of the last line.
    end: usize,
}

impl Piece {
    pub(super) fn lines(&self) -> &[u8] {
        &self.bytes[..self.end]
    }
}

/// The rest of a text, cut at line ends.
pub(crate) struct Pieces<'i> {
    input: Chain<Cursor<Vec<u8>>, &'i mut (dyn Read + Send)>,
    /// The incomplete line read behind the last piece.
    carry: Vec<u8>,
    size: usize,
}

impl<'i> Pieces<'i> {
    /// Cuts the contents of `buffer`, followed by `input`.
    pub(super) fn new(buffer: Vec<u8>, input: &'i mut (dyn Read + Send)) -> Self {
        Self { input: Cursor::new(buffer).chain(input), carry: Vec::new(), size: SIZE }
    }

    /// Sets the approximate size of pieces in bytes.
    #[must_use]
    pub fn of_size(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    /// Fills a piece with the next lines. Returns false at the end of the input.
    ///
    /// # Errors
    /// If the input ends within a line, if a line is longer than [`LINE_LIMIT`], or if it cannot
    /// be read.
    pub fn next(&mut self, piece: &mut Piece) -> Result<bool, Irregular> {
        let Piece { bytes, end } = piece;
        let mut filled = self.carry.len();
        if bytes.len() < filled + self.size {
            bytes.resize((filled + self.size).min(LINE_LIMIT), 0);
        }
        bytes[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            if filled == bytes.len() {
                if filled >= LINE_LIMIT {
                    return Err(Irregular::Line);
                }
                bytes.resize((2 * filled).min(LINE_LIMIT), 0);
            }
            let read = match self.input.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(Irregular::Line),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Irregular::Io(error)),
            };
            let fresh = filled..filled + read;
            filled = fresh.end;
            if let Some(found) = memchr::memrchr(b'\n', &bytes[fresh.clone()]) {
                *end = fresh.start + found + 1;
                self.carry.extend_from_slice(&bytes[*end..filled]);
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the pieces of a text of which `buffered` bytes were read before.
    fn pieces(text: &str, buffered: usize, size: usize) -> (Vec<String>, Result<(), Irregular>) {
        let (buffer, mut input) = text.as_bytes().split_at(buffered);
        let mut pieces = Pieces::new(buffer.to_vec(), &mut input).of_size(size);
        let (mut cut, mut piece) = (Vec::new(), Piece::default());
        loop {
            match pieces.next(&mut piece) {
                Ok(true) => cut.push(String::from_utf8_lossy(piece.lines()).into_owned()),
                Ok(false) => return (cut, Ok(())),
                Err(irregular) => return (cut, Err(irregular)),
            }
        }
    }

    #[test]
    fn every_line_end_ends_some_piece() {
        let text: String = (0..40).map(|line| format!("{}\n", "x".repeat(line * 7 % 23))).collect();
        let ends = |lines: &[String]| -> BTreeSet<usize> {
            lines
                .iter()
                .scan(0, |end, line| {
                    Some({
                        *end += line.len();
                        *end
                    })
                })
                .collect()
        };
        let mut met = BTreeSet::new();
        for size in 1..=text.len() {
            for buffered in [0, 1, 100, text.len()] {
                let (cut, ending) = pieces(&text, buffered, size);
                assert!(ending.is_ok());
                assert_eq!(cut.concat(), text);
                assert!(cut.iter().all(|piece| piece.ends_with('\n')));
                met.append(&mut ends(&cut));
            }
        }
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        assert_eq!(met, ends(&lines));
        assert_eq!(met.len(), 40);
    }

    #[test]
    fn input_ending_within_a_line_is_irregular() {
        for size in 1..20 {
            let (cut, ending) = pieces("one\ntwo\nthree", 5, size);
            assert_eq!(cut.concat(), "one\ntwo\n");
            assert!(matches!(ending, Err(Irregular::Line)));
        }
    }

    #[test]
    fn lines_are_limited_as_by_a_reader() {
        for (excess, is_read) in [(0, true), (1, false)] {
            let line = "x".repeat(LINE_LIMIT - 1 + excess) + "\n";
            for before in ["", "p0 scan\n"] {
                let (cut, ending) = pieces(&format!("{before}{line}p0 ok\n"), 0, 1000);
                assert_eq!(
                    (!cut.is_empty(), ending.is_ok()),
                    (is_read || !before.is_empty(), is_read)
                );
            }
        }
    }
}
