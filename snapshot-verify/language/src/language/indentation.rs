//! Lines and blocks: from symbols to symbols with their indentation.
//!
//! A logical line ends with a `Newline`; what is indented further than the line
//! before stands between an `Indent` and a `Dedent`. Inside parentheses and
//! brackets lines go on, except that a line which begins in the first column
//! never continues another: a forgotten parenthesis spoils one declaration, not
//! the rest of the text.
//!
//! The result ends with as many `Dedent`s as there were `Indent`s, and an `End`.

use logos::Logos;

use super::diagnostic::{DiagnosticKind, Reporter};
use super::token::{Token, TokenKind};
use super::{Source, Span};

/// The symbols of the source with their layout. Errors are reported, and what
/// they concern is left out.
pub(crate) fn tokens(source: &Source, reporter: &mut Reporter) -> Vec<Token> {
    let end = source.text().len() as u32;
    let mut layout = Layout {
        source,
        reporter,
        tokens: Vec::new(),
        indentations: vec![0],
        open: 0,
        at_line_begin: true,
        line_begin: 0,
        tabs: None,
    };
    for (kind, range) in TokenKind::lexer(source.text()).spanned() {
        layout.symbol(kind, Span { begin: range.start as u32, end: range.end as u32 });
    }
    layout.finish(Span { begin: end, end })
}

/// The symbols of a part of the source, in which lines mean nothing: the text
/// of an edit.
pub(crate) fn fragment(
    source: &Source,
    part: Span,
    origin: u32,
    reporter: &mut Reporter,
) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (kind, range) in TokenKind::lexer(source.slice(part)).spanned() {
        let span =
            Span { begin: part.begin + range.start as u32, end: part.begin + range.end as u32 };
        tokens.push(Token { kind: accepted(kind, span, source, reporter), span, origin });
    }
    tokens
}

struct Layout<'a> {
    source: &'a Source,
    reporter: &'a mut Reporter,
    tokens: Vec<Token>,
    /// The columns of the open blocks, increasing, the first 0.
    indentations: Vec<u32>,
    /// How many parentheses and brackets are open.
    open: usize,
    at_line_begin: bool,
    line_begin: u32,
    /// The first line with a tab in its indentation, and the number of others: one report
    /// stands for all.
    tabs: Option<(Span, usize)>,
}

impl Layout<'_> {
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
        if let Some((line, more)) = self.tabs {
            self.reporter.report(DiagnosticKind::TabInIndentation { more }, line);
        }
        self.tokens
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
        while self.indentations.last().is_some_and(|&open| open > column) {
            self.indentations.pop();
            self.push(TokenKind::Dedent, here);
        }
        if self.indentations.last() != Some(&column) {
            let blocks = self.indentations.clone();
            self.reporter.report(DiagnosticKind::UnevenIndentation { column, blocks }, span);
        }
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(Token { kind, span, origin: 0 });
    }
}

/// The symbol; [`TokenKind::Wrong`] if it is none, which is reported.
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
            DiagnosticKind::UnknownSymbol { symbol: "//".to_owned() }
        }
        Ok(TokenKind::UnclosedString) => DiagnosticKind::UnclosedString,
        Ok(TokenKind::UnclosedQuote) => DiagnosticKind::UnclosedQuote,
        Ok(kind) => return kind,
        Err(()) => DiagnosticKind::UnknownSymbol { symbol: source.slice(span).to_owned() },
    };
    reporter.report(error, span);
    TokenKind::Wrong
}
