//! Bug variants: edits of the correct text.
//!
//! An edit changes symbols, which keep their positions, and the edited symbols are parsed and
//! checked again. So a variant differs from the correct text only by its edits. If the text changes
//! so that an edit no longer fits, this is an error: the two cannot drift apart.

use super::diagnostic::{Parsed, Reporter, message};
use super::indentation;
use super::token::{Token, TokenKind};
use super::tree::Name;
use super::{Source, Span};
use crate::language::diagnostic::syntax::too_many;

/// A variant of an algorithm that is wrong on purpose.
#[derive(Clone, Debug)]
pub struct Bug {
    pub name: Name,
    /// Description of the mistake.
    pub description: String,
    /// Edits that make the variant, applied one after the other.
    pub(crate) edits: Vec<Edit>,
}

impl Bug {
    /// Most bugs of an algorithm.
    pub const MOST: usize = 64;
    /// Most edits of a bug.
    pub const EDITS: usize = 16;
    /// Most symbols in the target of an edit.
    const SYMBOLS: usize = 256;
}

#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub scope: Scope,
    /// Text that must occur exactly once in the scope.
    pub target: Quotation,
    pub change: Change,
}

/// Declarations that an edit applies to.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    Procedure(Name),
    Shared,
    Private,
}

/// Change of the target text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Replace(Quotation),
    Delete,
    Before(Quotation),
    After(Quotation),
}

/// A text between backquotes; the span excludes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quotation {
    pub span: Span,
}

impl Edit {
    /// Returns true if this span is a quotation of the edit.
    pub fn quotes(&self, span: Span) -> bool {
        let brought = match self.change {
            Change::Replace(text) | Change::Before(text) | Change::After(text) => Some(text),
            Change::Delete => None,
        };
        self.target.span == span || brought.is_some_and(|text| text.span == span)
    }

    /// Applies the edit to the symbols of the declarations in its scope. `origin` marks the
    /// inserted symbols.
    pub fn apply(
        &self,
        source: &Source,
        origin: u32,
        declarations: &mut [&mut Vec<Token>],
        reporter: &mut Reporter,
    ) -> Parsed<()> {
        let target = indentation::fragment(source, self.target.span, origin, reporter)?;
        if target.is_empty() {
            let message = message!("empty-edit", "the edit has no text to look for")
                .help("to add text, write ``insert `...` before `...` ``");
            return Err(reporter.report(message, self.target.span));
        }
        if target.len() > Bug::SYMBOLS {
            let message = too_many("symbols to look for", Bug::SYMBOLS);
            return Err(reporter.report(message, self.target.span));
        }
        let (number, begin) = self.find(&target, source, declarations, reporter)?;
        let text = match self.change {
            Change::Delete => Vec::new(),
            Change::Replace(text) | Change::Before(text) | Change::After(text) => {
                indentation::fragment(source, text.span, origin, reporter)?
            }
        };
        self.change.make(&target, text, declarations[number], begin, reporter)
    }

    /// Returns the declaration and the symbol at which the target occurs.
    fn find(
        &self,
        target: &[Token],
        source: &Source,
        declarations: &[&mut Vec<Token>],
        reporter: &mut Reporter,
    ) -> Parsed<(usize, usize)> {
        let mut occurrences = Vec::new();
        for (number, tokens) in declarations.iter().enumerate() {
            for begin in 0..(tokens.len() + 1).saturating_sub(target.len()) {
                let same = target.iter().zip(&tokens[begin..]).all(|(a, b)| same(source, a, b));
                if same {
                    occurrences.push((number, begin));
                }
            }
        }
        match occurrences[..] {
            [only] => Ok(only),
            [] => {
                let message =
                    message!("edit-not-found", "the text does not occur in {}", self.scope).help(
                        "the text must occur as it is written there, symbol by symbol, white \
                         space aside",
                    );
                Err(reporter.report(message, self.target.span))
            }
            [first, second, ..] => {
                let at = |(number, begin): (usize, usize)| {
                    let tokens: &[Token] = declarations[number];
                    tokens[begin].span.to(tokens[begin + target.len() - 1].span)
                };
                let message = message!(
                    "edit-ambiguous",
                    "the text occurs {} times in {}",
                    occurrences.len(),
                    self.scope
                )
                .label("expected a text that occurs once")
                .context(at(first), "it occurs here")
                .context(at(second), "it occurs here")
                .help("quote more of what stands around it");
                Err(reporter.report(message, self.target.span))
            }
        }
    }
}

impl Change {
    /// Changes a target, which begins at this symbol; `text` is that of the change.
    fn make(
        self,
        target: &[Token],
        mut text: Vec<Token>,
        tokens: &mut Vec<Token>,
        begin: usize,
        reporter: &mut Reporter,
    ) -> Parsed<()> {
        let end = begin + target.len();
        match self {
            Self::Delete => {
                tokens.drain(begin..end);
            }
            Self::Replace(quotation) => {
                refuse_open_block(&text, tokens.get(end), quotation, reporter)?;
                if closes_block(target) && !closes_block(&text) {
                    separate(&mut text, TokenKind::Newline);
                }
                tokens.splice(begin..end, text);
            }
            Self::Before(quotation) => {
                if begins_statement(tokens, begin) && !closes_block(&text) {
                    refuse_open_block(&text, tokens.get(begin - 1), quotation, reporter)?;
                    let between = between(&text);
                    separate(&mut text, between);
                }
                tokens.splice(begin..begin, text);
            }
            Self::After(quotation) => {
                refuse_open_block(&text, tokens.get(end), quotation, reporter)?;
                if closes_block(target) {
                    if !closes_block(&text) {
                        separate(&mut text, TokenKind::Newline);
                    }
                } else if ends_statement(tokens, end)
                    && let Some(&first) = text.first()
                    && first.kind.begins_statement()
                {
                    let between = between(&text);
                    text.insert(0, Token { kind: between, ..first });
                }
                tokens.splice(end..end, text);
            }
        }
        Ok(())
    }
}

fn same(source: &Source, a: &Token, b: &Token) -> bool {
    a.kind == b.kind && (a.kind.is_layout() || source.slice(a.span) == source.slice(b.span))
}

/// Returns true if a text ends with a block, after which a statement may begin.
fn closes_block(text: &[Token]) -> bool {
    text.last().is_some_and(|last| last.kind == TokenKind::Dedent)
}

/// Returns true if a text ends within a block on one line, such as `if c: x`, to which all that
/// follows on the line belongs.
fn ends_in_block_of_line(text: &[Token]) -> bool {
    use TokenKind as K;
    let mut opens = false;
    let mut is_open = false;
    for token in text {
        match token.kind {
            kind if kind.is_layout() => (opens, is_open) = (false, false),
            K::If | K::Else | K::For | K::While | K::Loop | K::Atomic => opens = true,
            K::Colon | K::Then => is_open |= opens,
            _ => {}
        }
    }
    is_open
}

/// Refuses a text whose last block, on one line, would take statements of the program: `beside` is
/// the symbol between them and the text.
fn refuse_open_block(
    text: &[Token],
    beside: Option<&Token>,
    quotation: Quotation,
    reporter: &mut Reporter,
) -> Parsed<()> {
    let shares_line = beside.is_some_and(|token| token.kind == TokenKind::Semicolon);
    if !shares_line || !ends_in_block_of_line(text) {
        return Ok(());
    }
    let message =
        message!("edit-takes-line", "the statements behind it on the line would be its block")
            .label("this block ends with the line")
            .help("write the block as lines, or quote all statements of the line");
    Err(reporter.report(message, quotation.span))
}

/// Returns the separator between this text and the neighbouring statement.
fn between(text: &[Token]) -> TokenKind {
    let has_lines = text.iter().any(|token| token.kind.is_layout());
    if has_lines || ends_in_block_of_line(text) { TokenKind::Newline } else { TokenKind::Semicolon }
}

/// Ends the last statement of a text, unless the statement is incomplete.
fn separate(text: &mut Vec<Token>, kind: TokenKind) {
    if let Some(&last) = text.last()
        && !matches!(last.kind, TokenKind::Colon | TokenKind::Semicolon)
    {
        text.push(Token { kind, ..last });
    }
}

/// Returns true if a text inserted before this symbol is a statement of its own.
fn begins_statement(tokens: &[Token], begin: usize) -> bool {
    let last = begin.checked_sub(1).and_then(|last| tokens.get(last));
    last.is_some_and(|token| {
        matches!(
            token.kind,
            TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::Semicolon
        )
    }) && tokens.get(begin).is_some_and(|token| token.kind.begins_statement())
}

/// Returns true if a statement ends before this symbol.
fn ends_statement(tokens: &[Token], end: usize) -> bool {
    tokens.get(end).is_none_or(|token| token.kind.is_layout() || token.kind == TokenKind::Semicolon)
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Procedure(name) => write!(f, "`{}`", name.text),
            Self::Shared => f.write_str("the shared declarations"),
            Self::Private => f.write_str("the private declarations"),
        }
    }
}
