//! The tokens of a text line, or of a disc22 event.
//!
//! Works on bytes and allocates only for texts. A cursor is given whole lines (events), so it meets
//! their end before the end of its bytes; beyond them it reads line ends, which makes every method
//! total.

use std::borrow::Cow;

use snapshot_core::{IdError, Process, Segment};

use super::digits::leading_digits;
use crate::Value;
use crate::format::detect::is_map_of_edn;
use crate::format::error::{Fault, Found, ReadErrorKind};
use crate::format::nearest::nearest;
use crate::format::quoted::{self, DefectKind};
use crate::format::{Format, detect};

/// The result of a step of parsing, or the fault there.
pub(in crate::format) type Step<T> = Result<T, Box<Fault>>;

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    reading: Format,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(in crate::format) const fn new(bytes: &'a [u8], reading: Format) -> Self {
        Self { bytes, at: 0, reading }
    }

    #[inline]
    pub(in crate::format) const fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(in crate::format) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    #[inline]
    pub(in crate::format) fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    #[inline]
    pub(in crate::format) const fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Passes `text` if it is next.
    #[inline]
    pub(in crate::format) fn passes(&mut self, text: &[u8]) -> bool {
        let is_here = self.rest().starts_with(text);
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    #[inline]
    pub(in crate::format) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Returns true if a token ends here.
    #[inline]
    pub(in crate::format) fn at_delimiter(&self) -> bool {
        matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r' | b'#')
    }

    /// Returns true if the rest of the line is empty or a comment.
    #[inline]
    pub(in crate::format) fn at_line_end(&self) -> bool {
        let byte = self.peek();
        byte == b'\n' || byte == b'#' || (byte == b'\r' && self.peek_at(1) == b'\n')
    }

    /// Passes `word` if it is the next token.
    #[inline]
    pub(in crate::format) fn keyword(&mut self, word: &[u8]) -> bool {
        let mut after = *self;
        let is_here = after.passes(word) && after.at_delimiter();
        if is_here {
            *self = after;
        }
        is_here
    }

    /// Passes blanks, a comment and the line end; `after` names the contents of the line.
    #[inline]
    pub(in crate::format) fn end_line(&mut self, after: &'static str) -> Step<()> {
        self.skip_blanks();
        match self.peek() {
            b'\n' => self.at += 1,
            b'\r' if self.peek_at(1) == b'\n' => self.at += 2,
            b'#' if after.is_empty() && is_tagged_map(self.rest()) => {
                let rest = self.rest();
                let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
                let found = Found::new(String::from_utf8_lossy(line).trim_end());
                return Err(Fault::new(
                    self.at,
                    line.len(),
                    ReadErrorKind::UnknownFormat { found },
                ));
            }
            b'#' => self.comment()?,
            _ => {
                let fault = self.unexpected("the end of the line");
                let (at, width) = (fault.at, fault.width);
                return Err(match fault.kind {
                    ReadErrorKind::Unexpected { found, .. } => {
                        Fault::new(at, width, ReadErrorKind::Trailing { after, found })
                    }
                    kind => Fault::new(at, width, kind),
                });
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Step<()> {
        let rest = self.rest();
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let comment = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        if let Err(error) = std::str::from_utf8(comment) {
            let at = error.valid_up_to();
            return Err(Fault::new(self.at + at, 1, ReadErrorKind::NotUtf8(comment[at])));
        }
        let control = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
        if let Some(at) = comment.iter().position(control) {
            return Err(Fault::new(self.at + at, 1, ReadErrorKind::ControlByte(comment[at])));
        }
        self.at += length + 1;
        Ok(())
    }

    /// Returns true if the next bytes are the `p` or `s` of a process or segment, and a digit.
    #[inline]
    pub(in crate::format) fn at_id(&self, prefix: u8) -> bool {
        self.peek() == prefix && self.peek_at(1).is_ascii_digit()
    }

    /// Passes `p7`; requires [`Self::at_id`].
    #[inline]
    pub(in crate::format) fn process(&mut self) -> Step<Process> {
        let start = self.at;
        self.at += 1;
        let index = self.index(start, "a process such as `p0`")?;
        Process::new(saturated(index)).map_err(|error| self.out_of_range(start, error))
    }

    /// Passes `s7`; requires [`Self::at_id`].
    #[inline]
    pub(in crate::format) fn segment(&mut self) -> Step<Segment> {
        let start = self.at;
        self.at += 1;
        let index = self.index(start, "a segment such as `s0`")?;
        Segment::new(saturated(index)).map_err(|error| self.out_of_range(start, error))
    }

    /// Returns the fault of an index that was passed from byte `start` on.
    #[cold]
    pub(in crate::format) fn out_of_range(&self, start: usize, error: IdError) -> Box<Fault> {
        let kind = ReadErrorKind::id_out_of_range(error, &self.since(start));
        Fault::new(start, self.at - start, kind)
    }

    /// Returns the bytes passed from `start` on.
    pub(in crate::format) fn since(&self, start: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(&self.bytes[start..self.at])
    }

    /// Passes digits and expects the token to end. Saturates.
    #[inline]
    fn index(&mut self, start: usize, expected: &'static str) -> Step<u64> {
        let index = self.digits();
        if self.at_delimiter() {
            return Ok(index);
        }
        self.at = start;
        Err(self.unexpected(expected))
    }

    /// Passes a number without sign, for example the size in a header. Saturates.
    pub(in crate::format) fn number(&mut self, expected: &'static str) -> Step<u64> {
        if !self.peek().is_ascii_digit() {
            return Err(self.unexpected(expected));
        }
        self.index(self.at, expected)
    }

    #[inline]
    pub(in crate::format) fn digits(&mut self) -> u64 {
        let mut number = 0u64;
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                return number;
            }
            number = number.saturating_mul(10).saturating_add(u64::from(digit));
            self.at += 1;
        }
    }

    /// Passes a value: an integer, or a text in double quotes.
    #[inline]
    pub(in crate::format) fn value(&mut self) -> Step<Value> {
        if self.peek() == b'"' {
            return self.text();
        }
        let start = self.at;
        match self.integer() {
            Some(integer) if self.at_delimiter() => Ok(Value::Integer(integer)),
            integer => {
                let is_integer = integer.is_none() && self.at > start && self.at_delimiter();
                self.at = start;
                Err(self.no_value(is_integer))
            }
        }
    }

    /// Passes an optional `-` and digits. `None` if there are no digits (nothing is passed), or if
    /// they exceed 64 bits (all of them are passed).
    #[inline]
    pub(in crate::format) fn integer(&mut self) -> Option<i64> {
        let negative = self.peek() == b'-';
        let first = self.at + usize::from(negative);
        if let Some(chunk) = self.bytes.get(first..).and_then(<[u8]>::first_chunk::<8>) {
            let (magnitude, length) = leading_digits(u64::from_le_bytes(*chunk));
            if (1..8).contains(&length) {
                self.at = first + length as usize;
                return Some(if negative { -(magnitude as i64) } else { magnitude as i64 });
            }
        }
        self.long_integer(first, negative)
    }

    fn long_integer(&mut self, first: usize, negative: bool) -> Option<i64> {
        let rest = self.bytes.get(first..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        self.at = first + length;
        rest[..length].iter().try_fold(0i64, |value, digit| {
            let digit = i64::from(digit - b'0');
            let value = value.checked_mul(10)?;
            if negative { value.checked_sub(digit) } else { value.checked_add(digit) }
        })
    }

    #[cold]
    fn no_value(&self, is_integer: bool) -> Box<Fault> {
        if is_integer { self.value_out_of_range() } else { self.unexpected("a value") }
    }

    /// Returns the fault of the next integer, which exceeds 64 bits.
    #[cold]
    pub(in crate::format) fn value_out_of_range(&self) -> Box<Fault> {
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit() || **b == b'-').count();
        let found = Found::new(&String::from_utf8_lossy(&self.rest()[..digits]));
        let kind = ReadErrorKind::ValueOutOfRange { found, reading: self.reading };
        Fault::new(self.at, digits, kind)
    }

    fn text(&mut self) -> Step<Value> {
        let mut text = String::new();
        match quoted::read(self.rest(), &mut text) {
            Ok(length) => {
                self.at += length;
                if self.at_delimiter() {
                    return Ok(Value::Text(text.into()));
                }
                Err(self.unexpected("a blank after the string"))
            }
            Err(defect) => {
                let (width, kind) = match defect.kind {
                    DefectKind::Unterminated => (1, ReadErrorKind::UnterminatedString),
                    DefectKind::BadEscape(found) => {
                        (found.len(), ReadErrorKind::BadEscape { found })
                    }
                    DefectKind::Control(byte) => (1, ReadErrorKind::ControlByte(byte)),
                    DefectKind::NotUtf8(byte) => (1, ReadErrorKind::NotUtf8(byte)),
                };
                Err(Fault::new(self.at + defect.at, width, kind))
            }
        }
    }

    /// Returns the next token, up to the next blank (or `;`), and its length in bytes.
    fn token(&self) -> (Found, usize) {
        let rest = self.rest();
        let is_end = |byte: &u8| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
                || (*byte == b';' && self.reading == Format::Disc22)
        };
        let width = match rest.iter().position(is_end) {
            Some(0) if rest[0] == b';' => 1,
            end => end.unwrap_or(rest.len()),
        };
        (Found::new(&String::from_utf8_lossy(&rest[..width])), width)
    }

    /// Returns the fault of finding another token instead of `expected`.
    #[cold]
    pub(in crate::format) fn unexpected(&self, expected: &'static str) -> Box<Fault> {
        self.unexpected_word(expected, &[])
    }

    /// As [`Self::unexpected_word`], where an event should begin: the next token may begin an event
    /// of another format.
    #[cold]
    pub(in crate::format) fn unexpected_event(
        &self,
        expected: &'static str,
        words: &[&'static str],
    ) -> Box<Fault> {
        let reading = self.reading;
        match detect::looks_like(self.rest()) {
            Some(found) if found != reading => {
                let kind = ReadErrorKind::OtherFormat { reading, found };
                Fault::new(self.at, self.token().1, kind)
            }
            _ => self.unexpected_word(expected, words),
        }
    }

    /// As [`Self::unexpected`], where one of `words` is allowed.
    #[cold]
    pub(in crate::format) fn unexpected_word(
        &self,
        expected: &'static str,
        words: &[&'static str],
    ) -> Box<Fault> {
        let (found, width) = self.token();
        let token = &self.rest()[..width];
        if let Err(error) = std::str::from_utf8(token) {
            let at = error.valid_up_to();
            return Fault::new(self.at + at, 1, ReadErrorKind::NotUtf8(token[at]));
        }
        let control = |byte: &u8| *byte < 0x20 || *byte == 0x7f;
        if let Some(at) = token.iter().position(control) {
            return Fault::new(self.at + at, 1, ReadErrorKind::ControlByte(token[at]));
        }
        if width == 0 && self.peek() == b'\r' && self.peek_at(1) != b'\n' {
            return Fault::new(self.at, 1, ReadErrorKind::ControlByte(b'\r'));
        }
        let nearest = nearest(found.text(), words);
        let is_comment = self.reading == Format::Text && found.text().starts_with('#');
        let found = if is_comment { Found::new("") } else { found };
        Fault::new(self.at, width.max(1), ReadErrorKind::Unexpected { expected, found, nearest })
    }
}

/// Converts an index so that a too large one stays too large.
pub(in crate::format) fn saturated(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// Returns true if a line begins like `#jepsen.history.Op{:type ...}`: EDN, not a comment.
fn is_tagged_map(line: &[u8]) -> bool {
    let Some(tagged) = line.strip_prefix(b"#") else { return false };
    let is_part =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-');
    let tag = tagged.iter().take_while(is_part).count();
    tag > 0 && is_map_of_edn(tagged[tag..].trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_length_are_read_exactly() {
        let mut numbers = vec![0, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1];
        for length in 0..19 {
            let power = 10i64.pow(length);
            numbers.extend([power - 1, power, power + 1, power / 7 * 3, 1 - power, -power]);
        }
        for number in numbers {
            for tail in ["\n", " 99999999\n", "\t1\n", "#\n"] {
                let source = format!("{number}{tail}");
                let mut cursor = Cursor::new(source.as_bytes(), Format::Text);
                assert_eq!(cursor.integer(), Some(number), "{source:?}");
                assert_eq!(cursor.at(), source.len() - tail.len());
            }
        }
    }

    #[test]
    fn first_non_digit_ends_a_number() {
        for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
            let source = [b'4', b'2', byte, b'7', b'7', b'7', b'7', b'7', b'7'];
            let mut cursor = Cursor::new(&source, Format::Text);
            assert_eq!((cursor.integer(), cursor.at()), (Some(42), 2), "{byte}");
        }
    }

    #[test]
    fn numbers_beyond_64_bits_differ_from_no_number() {
        for source in ["9223372036854775808\n", "-9223372036854775809\n", "99999999999999999999\n"]
        {
            let mut cursor = Cursor::new(source.as_bytes(), Format::Text);
            assert_eq!((cursor.integer(), cursor.at()), (None, source.len() - 1));
        }
        for source in ["x\n", "-\n", "-x2345678\n", "\n"] {
            let mut cursor = Cursor::new(source.as_bytes(), Format::Text);
            assert_eq!((cursor.integer(), cursor.at()), (None, 0));
        }
    }
}
