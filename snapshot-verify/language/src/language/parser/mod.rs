//! Recursive-descent parser from symbols to the syntax tree.
//!
//! Each declaration is parsed from its own symbols, so an error in one does not affect the next.
//! Within a procedure the parser resumes after a line with an error. It is total: any sequence of
//! symbols gives a tree or errors, in linear time and with bounded recursion, because nesting is
//! limited to [`Parser::DEPTH`] and expressions to [`Parser::LENGTH`] symbols.

mod declaration;
mod expectation;
mod expression;
mod statement;
mod types;

pub(crate) use expectation::Clauses;

use super::diagnostic::{Message, Parsed, Reported, Reporter, message};
use super::token::{Token, TokenKind};
use super::tree::Name;
use super::{Source, Span};
use crate::language::diagnostic::syntax::{
    nested_too_deep, number_too_large, reserved_name, unexpected_indentation,
};

/// Parser of the symbols of a declaration.
pub(crate) struct Parser<'a> {
    source: &'a Source,
    reporter: &'a mut Reporter,
    tokens: &'a [Token],
    /// Position of the next symbol.
    position: usize,
    /// Number of open blocks, expressions and types.
    depth: usize,
    /// Begin of the outermost open expression.
    expression: Option<usize>,
    /// Value of `size`; if `None`, `size` is an ordinary name.
    size: Option<i32>,
}

impl<'a> Parser<'a> {
    /// Deepest nesting of blocks, expressions and types.
    pub const DEPTH: usize = 48;
    /// Longest expression, in symbols. It also bounds the depth of chains of operators.
    pub const LENGTH: usize = 256;
    /// Greatest number in a text.
    pub const NUMBER: i32 = 1_000_000;

    pub fn new(source: &'a Source, tokens: &'a [Token], reporter: &'a mut Reporter) -> Self {
        Self { source, reporter, tokens, position: 0, depth: 0, expression: None, size: None }
    }

    /// Sets the value of `size`.
    #[must_use]
    pub fn with_size(self, size: Option<i32>) -> Self {
        Self { size, ..self }
    }

    /// Returns the value of `size`, if it stands here as a number.
    fn at_size(&self) -> Option<i32> {
        self.size.filter(|_| self.at(TokenKind::Name) && self.text() == "size")
    }

    /// Returns the next symbol. After the last symbol, returns an `End` at its end.
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.position + ahead).copied().unwrap_or_else(|| {
            let end = self.tokens.last().map_or(0, |token| token.span.end);
            Token { kind: TokenKind::End, span: Span { begin: end, end }, origin: 0 }
        })
    }

    fn text(&self) -> &'a str {
        self.source.slice(self.peek().span)
    }

    /// Returns true if the next symbol is this word, which need not be a keyword.
    fn at_word(&self, word: &str) -> bool {
        self.peek().kind.is_word() && self.text() == word
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek().kind == kind
    }

    fn at_end(&self) -> bool {
        self.position >= self.tokens.len() || self.at(TokenKind::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        if self.position < self.tokens.len() {
            self.position += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.next();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Parsed<Token> {
        if self.at(kind) { Ok(self.next()) } else { Err(self.unexpected(expected)) }
    }

    /// Consumes the closing parenthesis or bracket that matches `open`.
    fn close(&mut self, kind: TokenKind, open: Token, expected: &'static str) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let token = self.peek();
        if token.kind == TokenKind::Wrong {
            return Err(self.reporter.already());
        }
        let (found, open) = (self.found(token), open.span);
        let message =
            message!("unclosed", "the bracket is not closed: expected {expected}, found {found}")
                .label(format!("expected {expected}"))
                .context(open, "opened here");
        Err(self.report(message, token.span))
    }

    /// Parses parts separated by commas, up to the closing parenthesis.
    fn comma_separated<T>(
        &mut self,
        open: Token,
        mut part: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut parts = Vec::new();
        loop {
            parts.push(part(self)?);
            if !self.eat(TokenKind::Comma) {
                self.close(TokenKind::Close, open, "`,` or `)`")?;
                return Ok(parts);
            }
        }
    }

    fn expect_word(&mut self, word: &str, expected: &'static str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Reports that the next symbol is not the expected one.
    fn unexpected(&mut self, expected: &'static str) -> Reported {
        let token = self.peek();
        if token.kind == TokenKind::Wrong {
            return self.reporter.already();
        }
        let found = self.found(token);
        self.reporter.expected(expected, &found, token.span)
    }

    /// Describes a symbol for diagnostics.
    fn found(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Newline | TokenKind::Dedent => "the end of the line".to_owned(),
            TokenKind::Indent => "an indented line".to_owned(),
            TokenKind::End => "the end of the text".to_owned(),
            kind if kind.is_keyword() => format!("the keyword `{}`", self.source.slice(token.span)),
            TokenKind::Quote | TokenKind::String => {
                let text = self.source.slice(token.span);
                text.split_once('\n').map_or(text.to_owned(), |(first, _)| format!("{first} ..."))
            }
            _ => format!("`{}`", self.source.slice(token.span)),
        }
    }

    pub(super) fn report(&mut self, message: Message, span: Span) -> Reported {
        self.reporter.report(message, span)
    }

    /// Parses a name other than a keyword.
    fn name(&mut self, expected: &'static str) -> Parsed<Name> {
        let token = self.expect(TokenKind::Name, expected)?;
        if self.size.is_some() && self.source.slice(token.span) == "size" {
            return Err(self.report(reserved_name("size"), token.span));
        }
        Ok(Name { text: self.source.slice(token.span).to_owned(), span: token.span })
    }

    /// Parses the name of a field, which may be a keyword.
    fn word(&mut self, expected: &'static str) -> Parsed<Name> {
        if !self.peek().kind.is_word() {
            return Err(self.unexpected(expected));
        }
        let token = self.next();
        Ok(Name { text: self.source.slice(token.span).to_owned(), span: token.span })
    }

    fn number(&mut self, expected: &'static str) -> Parsed<i32> {
        let token = self.expect(TokenKind::Number, expected)?;
        match self.source.slice(token.span).parse() {
            Ok(number) if number <= Self::NUMBER => Ok(number),
            _ => Err(self.report(number_too_large(), token.span)),
        }
    }

    /// Parses a string or quotation, and returns its text without the marks.
    fn quoted(&mut self, kind: TokenKind, expected: &'static str) -> Parsed<(String, Span)> {
        let token = self.expect(kind, expected)?;
        let inner = Span { begin: token.span.begin + 1, end: token.span.end - 1 };
        let text = self.source.slice(inner);
        if !text.contains('\n') {
            return Ok((text.to_owned(), inner));
        }
        // Line breaks become spaces.
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        Ok((lines.join(" "), inner))
    }

    /// Ends a declaration of one line.
    fn end_of_line(&mut self) -> Parsed<()> {
        if self.at_end() {
            return Ok(());
        }
        self.expect(TokenKind::Newline, "the end of the line")?;
        if self.at(TokenKind::Indent) {
            let span = self.peek_at(1).span;
            return Err(self.report(unexpected_indentation(), span));
        }
        Ok(())
    }

    /// Runs a part of the parser one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == Self::DEPTH {
            let limit = Self::DEPTH;
            let span = self.peek().span;
            return Err(self.report(nested_too_deep(limit), span));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Returns the span from the symbol at position `begin` to the last one read. If a bug edit
    /// replaced some of these symbols, only the original symbols count; if it replaced all, its own
    /// symbols count.
    fn since(&self, begin: usize) -> Span {
        let tokens = self.tokens.get(begin..self.position).unwrap_or_default();
        let symbols = || tokens.iter().filter(|token| !token.kind.is_layout());
        let of = |origin: u32| {
            let mut own = symbols().filter(move |token| token.origin == origin);
            let first = own.next()?;
            Some(first.span.to(own.next_back().unwrap_or(first).span))
        };
        of(0).or_else(|| of(symbols().next()?.origin)).unwrap_or_else(|| self.peek_at(0).span)
    }
}
