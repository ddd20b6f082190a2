//! Places of the protocol: lines, and in them UTF-16 code units.

use lsp_types::{Position, Range};
use snapshot_verify::language::Span;

/// A text with the starts of its lines, which end with `\n`, `\r\n` or `\r`.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a str,
    begins: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Cost: O(length of the text).
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = |&(at, byte): &(usize, &u8)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let after = bytes.iter().enumerate().filter(ends).map(|(at, _)| at + 1);
        Self { text, begins: std::iter::once(0).chain(after).collect() }
    }

    /// Returns the position of a byte. A byte within a character has the position of the character,
    /// a byte after the text that of its end.
    pub fn position(&self, byte: u32) -> Position {
        let mut byte = (byte as usize).min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.begins.partition_point(|&begin| begin <= byte) - 1;
        let units = self.text[self.begins[line]..byte].encode_utf16().count();
        Position { line: line as u32, character: units as u32 }
    }

    /// Returns the byte at a position. A position after the end of its line is that end, a line
    /// after the last one the end of the text.
    pub fn byte(&self, position: Position) -> u32 {
        let Some(&begin) = self.begins.get(position.line as usize) else {
            return self.text.len() as u32;
        };
        let end = self.begins.get(position.line as usize + 1).copied();
        let line = &self.text[begin..end.unwrap_or(self.text.len())];
        let line = line.trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            units += character.len_utf16() as u32;
            if units > position.character {
                return (begin + at) as u32;
            }
        }
        (begin + line.len()) as u32
    }

    /// Converts a span into a range.
    pub fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.begin), end: self.position(span.end.max(span.begin)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_utf_16_units() {
        // Characters of 1, 2, 3 and 4 bytes; the last one has two code units.
        let lines = Lines::new("a\u{e9}\u{2260}\u{1f600}b\r\nc\rd\n");
        let places = [
            (0, at(0, 0)),
            (1, at(0, 1)),
            (3, at(0, 2)),
            (6, at(0, 3)),
            (10, at(0, 5)),
            (11, at(0, 6)),
            (13, at(1, 0)),
            (15, at(2, 0)),
            (17, at(3, 0)),
        ];
        for (byte, position) in places {
            assert_eq!((lines.position(byte), lines.byte(position)), (position, byte));
        }
        assert_eq!(lines.byte(at(0, 4)), 6, "between the halves of a character");
        assert_eq!(lines.position(8), at(0, 3), "within a character");
        assert_eq!(lines.byte(at(0, 99)), 11, "after the end of the line");
        assert_eq!(lines.byte(at(9, 9)), 17, "after the last line");
        assert_eq!(lines.position(u32::MAX), at(3, 0));
    }
}
