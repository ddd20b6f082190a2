//! Lines and blocks: adds the layout to the symbols.
//!
//! A logical line ends with a `Newline`; lines with deeper indentation stand between an `Indent`
//! and a `Dedent`. Inside parentheses and brackets lines continue. But a line that begins in the
//! first column never continues another: so a missing parenthesis spoils one declaration, not the
//! rest of the text.
//!
//! The result contains a `Dedent` for every `Indent`, and ends with an `End`.

use crate::language::diagnostic::syntax::unknown_symbol;
use logos::Logos;

use super::diagnostic::{Parsed, Reported, Reporter, message};
use super::token::{Token, TokenKind};
use super::{Source, Span};

/// Returns the symbols of the source with their layout. Errors are reported; an invalid symbol
/// becomes [`TokenKind::Wrong`].
pub(crate) fn tokens(source: &Source, reporter: &mut Reporter) -> Vec<Token> {
    let end = source.text().len() as u32;
    let mut layout = Layout::new(source, 0, reporter);
    for (kind, range) in TokenKind::lexer(source.text()).spanned() {
        layout.symbol(kind, Span { begin: range.start as u32, end: range.end as u32 });
    }
    layout.finish(Span { begin: end, end })
}

/// Returns the symbols of a part of the source, the text of an edit. On one line, it has no layout.
/// On several lines, the column of its first symbol is the column of its block, which has no
/// `Indent` of its own; deeper lines form blocks, each of which it closes. The last line ends with
/// a `Newline` only if a block does.
pub(crate) fn fragment(
    source: &Source,
    part: Span,
    origin: u32,
    reporter: &mut Reporter,
) -> Parsed<Vec<Token>> {
    let mut layout = Layout::new(source, origin, reporter);
    for (kind, range) in TokenKind::lexer(source.slice(part)).spanned() {
        let span =
            Span { begin: part.begin + range.start as u32, end: part.begin + range.end as u32 };
        if layout.tokens.is_empty() && kind != Ok(TokenKind::Newline) {
            layout.line_begin = source.line_begin(span.begin);
            layout.indentations = vec![span.begin - layout.line_begin];
            layout.at_line_begin = false;
        }
        layout.symbol(kind, span);
    }
    layout.finish_fragment(Span { begin: part.end, end: part.end })
}

struct Layout<'a> {
    source: &'a Source,
    /// Origin of all symbols; see [`Token`].
    origin: u32,
    reporter: &'a mut Reporter,
    tokens: Vec<Token>,
    /// Columns of the open blocks, increasing. The first is 0, except in the text of an edit.
    indentations: Vec<u32>,
    /// Number of open parentheses and brackets.
    open: usize,
    at_line_begin: bool,
    line_begin: u32,
    /// First line with a tab in its indentation, and the number of others: one report covers all.
    tabs: Option<(Span, usize)>,
    /// Report of a line that belongs to no block.
    uneven: Option<Reported>,
}

impl<'a> Layout<'a> {
    fn new(source: &'a Source, origin: u32, reporter: &'a mut Reporter) -> Self {
        Self {
            source,
            origin,
            reporter,
            tokens: Vec::new(),
            indentations: vec![0],
            open: 0,
            at_line_begin: true,
            line_begin: 0,
            tabs: None,
            uneven: None,
        }
    }

    fn symbol(&mut self, kind: Result<TokenKind, ()>, span: Span) {
        if kind == Ok(TokenKind::Newline) {
            self.line_begin = span.end;
            if !self.at_line_begin && self.open == 0 {
                self.push(TokenKind::Newline, span);
                self.at_line_begin = true;
            }
            return;
        }
        let kind = accepted(kind, span, self.source, self.reporter);
        if self.open > 0 && span.begin - self.line_begin == 0 {
            self.open = 0;
            let end = self.tokens.last().map_or(span.begin, |last| last.span.end);
            self.push(TokenKind::Newline, Span { begin: end, end });
            self.at_line_begin = true;
        }
        if self.at_line_begin {
            self.indent(span);
            self.at_line_begin = false;
        }
        match kind {
            TokenKind::Open | TokenKind::OpenBracket => self.open += 1,
            TokenKind::Close | TokenKind::CloseBracket => {
                self.open = self.open.saturating_sub(1);
            }
            _ => {}
        }
        self.push(kind, span);
    }

    fn finish(mut self, end: Span) -> Vec<Token> {
        if !self.at_line_begin {
            self.push(TokenKind::Newline, end);
        }
        for _ in 1..self.indentations.len() {
            self.push(TokenKind::Dedent, end);
        }
        self.push(TokenKind::End, end);
        self.report_tabs();
        self.tokens
    }

    fn finish_fragment(mut self, end: Span) -> Parsed<Vec<Token>> {
        self.report_tabs();
        if let Some(uneven) = self.uneven {
            return Err(uneven);
        }
        if self.indentations.len() > 1 {
            if !self.at_line_begin {
                self.push(TokenKind::Newline, end);
            }
            for _ in 1..self.indentations.len() {
                self.push(TokenKind::Dedent, end);
            }
        } else if self.tokens.last().is_some_and(|last| last.kind == TokenKind::Newline) {
            self.tokens.pop();
        }
        Ok(self.tokens)
    }

    fn report_tabs(&mut self) {
        if let Some((line, more)) = self.tabs {
            let cure = "indent with spaces: tabs have no fixed width";
            let message = message!("tab-in-indentation", "a tab in the indentation");
            let message = match more {
                0 => message.help(cure),
                1 => message.help(format!("{cure}; there is one on 1 more line")),
                more => message.help(format!("{cure}; there are some on {more} more lines")),
            };
            self.reporter.report(message, line);
        }
    }

    /// Opens or closes blocks, for a line that begins with a symbol here.
    fn indent(&mut self, span: Span) {
        let column = span.begin - self.line_begin;
        let line = Span { begin: self.line_begin, end: span.begin };
        if self.source.slice(line).contains('\t') {
            match &mut self.tabs {
                Some((_, more)) => *more += 1,
                none => *none = Some((line, 0)),
            }
        }
        let here = Span { begin: span.begin, end: span.begin };
        let innermost = self.indentations.last().copied().unwrap_or(0);
        if column > innermost {
            self.indentations.push(column);
            self.push(TokenKind::Indent, here);
            return;
        }
        // The outermost block, of a text or of an edit, is never closed.
        while self.indentations.len() > 1
            && self.indentations.last().is_some_and(|&open| open > column)
        {
            self.indentations.pop();
            self.push(TokenKind::Dedent, here);
        }
        if self.indentations.last() != Some(&column) {
            let blocks: Vec<String> = self.indentations.iter().map(u32::to_string).collect();
            let message =
                message!("uneven-indentation", "the line is indented like no block before it")
                    .label(format!("found {column} spaces, expected {}", blocks.join(" or ")))
                    .help("indent it like the block that it belongs to");
            self.uneven = Some(self.reporter.report(message, span));
        }
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(Token { kind, span, origin: self.origin });
    }
}

/// Returns the symbol; reports an invalid one and returns [`TokenKind::Wrong`].
fn accepted(
    kind: Result<TokenKind, ()>,
    span: Span,
    source: &Source,
    reporter: &mut Reporter,
) -> TokenKind {
    let mut span = span;
    let error = match kind {
        Ok(TokenKind::ForeignComment) => {
            span.end = span.begin + 2;
            unknown_symbol("//")
        }
        Ok(TokenKind::ForeignUnequal) => unknown_symbol("/="),
        Ok(TokenKind::UnclosedString) => message!("unclosed-string", "the string is not closed")
            .help("a string ends with `\"`, before a line that begins in the first column"),
        Ok(TokenKind::UnclosedQuote) => message!("unclosed-quote", "the quotation is not closed")
            .help(
                "a quotation ends with a backquote, before a line that begins in the first column",
            ),
        Ok(kind) => return kind,
        Err(()) => unknown_symbol(source.slice(span)),
    };
    reporter.report(error, span);
    TokenKind::Wrong
}
