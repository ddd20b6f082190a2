//! Splits a text into declarations with their symbols, to which edits of bugs apply.

use super::diagnostic::{Reporter, message};
use super::token::{Token, TokenKind};
use super::{Source, Span};
use crate::language::diagnostic::syntax::unexpected_indentation;

#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub kind: DeclarationKind,
    pub tokens: Vec<Token>,
}

impl Declaration {
    /// Returns the span from the first symbol to the last; `None` without symbols.
    pub fn span(&self) -> Option<Span> {
        let mut symbols = self.tokens.iter().filter(|token| !token.kind.is_layout());
        let first = symbols.next()?;
        Some(first.span.to(symbols.next_back().unwrap_or(first).span))
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum DeclarationKind {
    Header,
    Citation,
    Size,
    Type,
    Object,
    Node,
    Initially,
    Shared,
    Private,
    /// A procedure of this name, or without a name.
    Procedure(String),
    Bug,
    Expectation,
}

/// Splits the symbols at the lines that are not indented.
pub(super) fn declarations(
    source: &Source,
    tokens: &[Token],
    reporter: &mut Reporter,
) -> Vec<Declaration> {
    let operations = operation_names(source, tokens);
    let mut declarations = Vec::new();
    let mut begin = 0;
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate() {
        let followed_by_block =
            tokens.get(position + 1).is_some_and(|next| next.kind == TokenKind::Indent);
        let ends = match token.kind {
            TokenKind::Indent => {
                depth += 1;
                false
            }
            TokenKind::Dedent => {
                depth -= 1;
                depth == 0
            }
            TokenKind::Newline => depth == 0 && !followed_by_block,
            TokenKind::End => true,
            _ => false,
        };
        if !ends {
            continue;
        }
        let part = &tokens[begin..=position];
        begin = position + 1;
        if let Some(kind) = kind_of(source, part, &operations, reporter) {
            declarations.push(Declaration { kind, tokens: part.to_vec() });
        }
    }
    declarations
}

/// Returns the kind of a declaration, by its first word.
fn kind_of(
    source: &Source,
    tokens: &[Token],
    operations: &[&str],
    reporter: &mut Reporter,
) -> Option<DeclarationKind> {
    let first = tokens.first()?;
    let name_of = |token: Option<&Token>| {
        token.map_or_else(String::new, |token| source.slice(token.span).to_owned())
    };
    let kind = match first.kind {
        TokenKind::End | TokenKind::Newline | TokenKind::Dedent | TokenKind::Wrong => return None,
        TokenKind::Indent => {
            let span = tokens.get(1).map_or(first.span, |token| token.span);
            reporter.report(unexpected_indentation(), span);
            return None;
        }
        _ => match source.slice(first.span) {
            "algorithm" => DeclarationKind::Header,
            "source" => DeclarationKind::Citation,
            "size" if !operations.contains(&"size") => DeclarationKind::Size,
            "type" => DeclarationKind::Type,
            "object" => DeclarationKind::Object,
            "node" if !operations.contains(&"node") => DeclarationKind::Node,
            "initially" if !operations.contains(&"initially") => DeclarationKind::Initially,
            "shared" => DeclarationKind::Shared,
            "private" => DeclarationKind::Private,
            "procedure" => DeclarationKind::Procedure(name_of(tokens.get(1))),
            "update" | "scan" => DeclarationKind::Procedure(name_of(Some(first))),
            "bug" => DeclarationKind::Bug,
            "expect" => DeclarationKind::Expectation,
            found if operations.contains(&found) => DeclarationKind::Procedure(found.to_owned()),
            found => {
                let message = message!("unknown-item", "a line that begins no declaration");
                let message = message.help(match found {
                    "local" => {
                        "`local` stands at the top of a procedure, indented; what all procedures \
                         of a process use is `private`"
                    }
                    "end" => "a block is opened by `:` and indented; it needs no `do` and no `end`",
                    _ => {
                        "a line without indentation begins with algorithm, source, size, type, \
                         object, node, initially, shared, private, update, scan, procedure, bug \
                         or expect"
                    }
                });
                reporter.report(message, first.span);
                return None;
            }
        },
    };
    Some(kind)
}

/// Returns the names of the operations of all declared objects: the procedures of operations begin
/// with their names.
fn operation_names<'a>(source: &'a Source, tokens: &[Token]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let (mut depth, mut is_object, mut begins) = (0, false, true);
    for token in tokens {
        match token.kind {
            TokenKind::Indent => depth += 1,
            TokenKind::Dedent => depth -= 1,
            TokenKind::Newline => {}
            _ if begins => match (depth, source.slice(token.span)) {
                (0, word) => is_object = word == "object",
                (1, word) if is_object && word != "state" => names.push(word),
                _ => {}
            },
            _ => {}
        }
        begins = matches!(token.kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent);
    }
    names
}
