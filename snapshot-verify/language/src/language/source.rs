//! Source text with its name.

use super::Span;

/// Source text with its name, for diagnostics that show places.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Longest valid text in bytes: positions must fit, and no algorithm comes near.
    pub const LIMIT: usize = 1 << 18;

    /// Creates a text with a name, usually the path of its file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a span; empty if the span lies outside of the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.begin as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the line and the column, both from 1, the column in characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let before = self.text.get(..span.begin as usize).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let begin = self.line_begin(span.begin) as usize;
        (line, before[begin..].chars().count() + 1)
    }

    /// Returns the begin of a span as `name:line:column`.
    pub fn place(&self, span: Span) -> String {
        let (line, column) = self.position(span);
        format!("{}:{line}:{column}", self.name())
    }

    /// Returns the begin of the line of a position, in bytes.
    pub(crate) fn line_begin(&self, place: u32) -> u32 {
        let before = self.text.get(..place as usize).unwrap_or(&self.text);
        before.rfind('\n').map_or(0, |newline| newline as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let source = Source::new("x", "ab\n\u{2260}cd\n");
        let at = |begin| source.position(Span { begin, end: begin });
        assert_eq!([at(0), at(1), at(3), at(6), at(9)], [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]);
        assert_eq!(source.place(Span { begin: 6, end: 7 }), "x:2:2");
        assert_eq!(source.slice(Span { begin: 3, end: 7 }), "\u{2260}c");
        assert_eq!(source.slice(Span { begin: 4, end: 7 }), "", "no place in the text");
    }
}
