//! Uniform layout of texts, as `snapshot-verify fmt` writes it.
//!
//! Lines stay lines, and comments keep their places. Only white space changes:
//!
//! * a block is indented by four columns more than the line that opens it; lines inside
//!   parentheses, strings and quotations move with the line that they continue;
//! * one space between symbols, none inside parentheses and before `,`, `;` and `:`; around `+`,
//!   `-` and `*` as written, but the same on both sides;
//! * a comment on its own line is indented like its block; a comment after code stays in its column
//!   if there is room;
//! * at most one empty line in a row, none at the beginning and the end.
//!
//! The symbols, and so the meaning, stay the same: this is checked independently of the rules
//! above. Formatting is idempotent.

use std::collections::HashMap;

use logos::Logos;

use super::algorithm::parse;
use super::diagnostic::{Diagnostics, Reporter};
use super::indentation;
use super::token::{Token, TokenKind};
use super::{Source, Span};

/// Columns per level of indentation.
const INDENTATION: usize = 4;

/// Returns the text with a uniform layout; O(its length). The name is for diagnostics.
///
/// # Errors
/// The syntax errors that [`parse`] finds: such a text has no layout.
pub fn format(name: &str, text: &str) -> Result<String, Diagnostics> {
    parse(name, text)?;
    let source = Source::new(name, text);
    let formatted = Formatter::new(&source).format();
    let same = same_symbols(&source, &Source::new(name, formatted.as_str()));
    debug_assert!(same, "only the layout changes:\n{formatted}");
    // If the rules would change the symbols, the text is returned as it is.
    Ok(if same { formatted } else { text.to_owned() })
}

/// Content of one line; a string or quotation of several lines ends on a later one.
#[derive(Debug, Default)]
struct Line {
    symbols: Vec<(TokenKind, Span)>,
    comment: Option<Span>,
}

struct Formatter<'a> {
    source: &'a Source,
    /// Number of open blocks at each logical line, by the position of its first symbol.
    depths: HashMap<u32, usize>,
    out: String,
    /// Columns, as written, of the blocks that are open at the last logical line.
    columns: Vec<usize>,
    /// Columns by which the last logical line moved to the right.
    moved: isize,
    /// True if the last logical line is an `expect` line.
    expectation: bool,
}

impl<'a> Formatter<'a> {
    fn new(source: &'a Source) -> Self {
        let mut depths = HashMap::new();
        let (mut depth, mut begins) = (0, true);
        for token in indentation::tokens(source, &mut Reporter::default()) {
            match token.kind {
                TokenKind::Indent => depth += 1,
                TokenKind::Dedent => depth -= 1,
                TokenKind::Newline => begins = true,
                _ if begins => {
                    depths.insert(token.span.begin, depth);
                    begins = false;
                }
                _ => {}
            }
        }
        let (out, columns) = (String::with_capacity(source.text().len()), vec![0]);
        Self { source, depths, out, columns, moved: 0, expectation: false }
    }

    fn format(mut self) -> String {
        let lines = lines(self.source);
        let mut next = None;
        let mut after = Vec::with_capacity(lines.len());
        for line in lines.iter().rev() {
            next = line.symbols.first().map(|&(_, span)| span).or(next);
            after.push(next);
        }
        let mut is_empty = false;
        for (line, next) in lines.iter().zip(after.into_iter().rev()) {
            if line.symbols.is_empty() && line.comment.is_none() {
                is_empty = !self.out.is_empty();
                continue;
            }
            if std::mem::take(&mut is_empty) {
                self.out.push('\n');
            }
            match line.symbols.first() {
                Some(&(_, first)) => self.code(line, first),
                None => self.comment(line, next),
            }
            self.out.push('\n');
        }
        self.out
    }

    /// Returns the column of a position, as written.
    fn column(&self, place: u32) -> usize {
        let begin = self.source.line_begin(place);
        self.source.slice(Span { begin, end: place }).chars().count()
    }

    fn indent(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }

    /// Returns the column, from 0, of the next character in the output.
    fn written(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        self.out[line..].chars().count()
    }

    /// Writes a line that begins with a symbol.
    fn code(&mut self, line: &Line, first: Span) {
        let written = self.column(first.begin);
        let column = match self.depths.get(&first.begin) {
            Some(&depth) => {
                self.columns.truncate(depth);
                self.columns.push(written);
                let column = depth * INDENTATION;
                self.moved = column as isize - written as isize;
                self.expectation = depth == 0 && self.source.slice(first) == "expect";
                column
            }
            // A line in the first column would not continue the line before.
            None => (written as isize + self.moved).max(1) as usize,
        };
        self.indent(column);
        let moved = column as isize - written as isize;
        for (number, &(kind, span)) in line.symbols.iter().enumerate() {
            if number > 0 && self.is_apart(&line.symbols, number) {
                self.out.push(' ');
            }
            match kind {
                TokenKind::String | TokenKind::Quote => self.quoted(span, moved),
                _ => self.out.push_str(self.source.slice(span)),
            }
        }
        if let Some(comment) = line.comment {
            let column = (self.column(comment.begin) as isize + moved).max(0) as usize;
            let spaces = column.saturating_sub(self.written()).max(1);
            self.indent(spaces);
            self.out.push_str(self.source.slice(comment).trim_end());
        }
    }

    /// Writes a string or quotation. Its later lines move with its first line, or with the
    /// enclosing line if no text follows the opening mark.
    fn quoted(&mut self, span: Span, line_moved: isize) {
        let text = self.source.slice(span);
        if !text.contains('\n') {
            self.out.push_str(text);
            return;
        }
        let here = self.written() as isize - self.column(span.begin) as isize;
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or_default();
        let moved = if first[1..].trim().is_empty() { line_moved } else { here };
        self.out.push_str(first.trim_end());
        let indentation = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let least = lines.clone().filter(|line| !line.trim().is_empty()).map(indentation).min();
        // Later lines must not begin in the first column.
        let moved = moved.max(1 - least.unwrap_or(1) as isize);
        for line in lines {
            self.out.push('\n');
            if line.trim().is_empty() {
                continue;
            }
            let column = (indentation(line) as isize + moved).max(0) as usize;
            self.indent(column);
            self.out.push_str(line.trim_start_matches(' ').trim_end());
        }
    }

    /// Returns true if a space precedes the symbol with this number.
    fn is_apart(&self, symbols: &[(TokenKind, Span)], number: usize) -> bool {
        use TokenKind as K;
        let ((before, span), (kind, next)) = (symbols[number - 1], symbols[number]);
        let as_written = span.end < next.begin;
        match (before, kind) {
            (K::Open | K::OpenBracket | K::Dot | K::Range, _)
            | (_, K::Comma | K::Semicolon | K::Colon | K::Close | K::CloseBracket)
            | (_, K::Dot | K::Range) => false,
            // `pair 0,1`
            (K::Comma, K::Number) if self.expectation => as_written,
            (K::Name, K::Open | K::OpenBracket) => {
                as_written && BEFORE_PARENTHESES.contains(&self.source.slice(span))
            }
            (K::Close | K::CloseBracket, K::Open | K::OpenBracket) => false,
            (K::Plus | K::Minus | K::Times | K::Over, _) => is_spaced(symbols, number - 1),
            (_, K::Plus | K::Minus | K::Times | K::Over) => is_spaced(symbols, number),
            _ => true,
        }
    }

    /// Writes a line that consists of a comment; `next` is the first symbol that follows.
    fn comment(&mut self, line: &Line, next: Option<Span>) {
        let Some(comment) = line.comment else { return };
        let written = self.column(comment.begin);
        let column = match next.map(|span| self.depths.get(&span.begin).copied()) {
            // Inside parentheses.
            Some(None) => (written as isize + self.moved).max(0) as usize,
            next => {
                // At the end of blocks, it may belong to a block that ends.
                let least = next.flatten().unwrap_or(0);
                let last = self.columns.len() - 1;
                let block = (least..=last).rev().find(|&depth| self.columns[depth] <= written);
                block.unwrap_or(least) * INDENTATION
            }
        };
        self.indent(column);
        self.out.push_str(self.source.slice(comment).trim_end());
    }
}

/// Words before a parenthesis that does not belong to a call or an index.
const BEFORE_PARENTHESES: [&str; 9] =
    ["array", "await", "by", "cas", "llsc", "of", "operations", "record", "when"];

/// Returns true if an operator has a space on at least one side.
fn is_spaced(symbols: &[(TokenKind, Span)], operator: usize) -> bool {
    let (_, span) = symbols[operator];
    let before = operator.checked_sub(1).map(|before| symbols[before].1);
    let after = symbols.get(operator + 1).map(|(_, after)| after);
    before.is_none_or(|before| before.end < span.begin)
        || after.is_none_or(|after| span.end < after.begin)
}

/// Returns the symbols and comments of a text, line by line.
fn lines(source: &Source) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut end = 0;
    let comment = |begin: u32, end: u32| {
        let gap = source.slice(Span { begin, end });
        gap.find('#').map(|at| Span { begin: begin + at as u32, end })
    };
    let length = source.text().len() as u32;
    let symbols = TokenKind::lexer(source.text()).spanned().map(|(kind, range)| {
        let span = Span { begin: range.start as u32, end: range.end as u32 };
        (kind.unwrap_or(TokenKind::Wrong), span)
    });
    let last = (TokenKind::End, Span { begin: length, end: length });
    for (kind, span) in symbols.chain([last]) {
        let line = lines.last_mut().expect("there is one from the beginning");
        if let Some(comment) = comment(end, span.begin) {
            line.comment = Some(comment);
        }
        end = span.end;
        match kind {
            TokenKind::Newline => lines.push(Line::default()),
            TokenKind::End => {}
            _ => line.symbols.push((kind, span)),
        }
    }
    lines
}

/// Returns true if two texts differ only in their layout.
fn same_symbols(one: &Source, other: &Source) -> bool {
    fn comments(source: &Source) -> impl Iterator<Item = &str> {
        lines(source).into_iter().filter_map(|line| Some(source.slice(line.comment?).trim_end()))
    }
    let tokens = |source: &Source| indentation::tokens(source, &mut Reporter::default());
    let (ones, others) = (tokens(one), tokens(other));
    let same = |(a, b): (&Token, &Token)| {
        let (text, like) = (one.slice(a.span), other.slice(b.span));
        a.kind == b.kind
            && match a.kind {
                kind if kind.is_layout() => true,
                TokenKind::String => text.lines().map(str::trim).eq(like.lines().map(str::trim)),
                TokenKind::Quote => same_fragments(one, a.span, other, b.span),
                _ => text == like,
            }
    };
    ones.len() == others.len()
        && ones.iter().zip(&others).all(same)
        && comments(one).eq(comments(other))
}

/// Returns true if two quotations have the same symbols and blocks.
fn same_fragments(one: &Source, a: Span, other: &Source, b: Span) -> bool {
    let fragment = |source: &Source, span: Span| {
        let inner = Span { begin: span.begin + 1, end: span.end - 1 };
        indentation::fragment(source, inner, 0, &mut Reporter::default())
    };
    let (Ok(ones), Ok(others)) = (fragment(one, a), fragment(other, b)) else { return false };
    let same = |(a, b): (&Token, &Token)| {
        a.kind == b.kind && (a.kind.is_layout() || one.slice(a.span) == other.slice(b.span))
    };
    ones.len() == others.len() && ones.iter().zip(&others).all(same)
}
