//! Lists the declarations of a text, even if it has errors.

use super::declaration::{Declaration, DeclarationKind, declarations};
use super::diagnostic::Reporter;
use super::indentation;
use super::token::TokenKind;
use super::tree::Name;
use super::{Source, Span};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    pub kind: ItemKind,
    pub name: Name,
    /// Span of the whole declaration.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemKind {
    Algorithm,
    Type,
    Object,
    Node,
    InitialNode,
    Shared,
    Private,
    /// `procedure`, or the procedure of an operation.
    Procedure,
    Bug,
}

/// Returns the named declarations in the order of the text; empty for a text longer than
/// [`Source::LIMIT`]. O(length of the text).
pub fn outline(text: &str) -> Vec<Item> {
    if text.len() > Source::LIMIT {
        return Vec::new();
    }
    let source = Source::new("", text);
    let mut reporter = Reporter::default();
    let tokens = indentation::tokens(&source, &mut reporter);
    let declarations = declarations(&source, &tokens, &mut reporter);
    declarations.iter().filter_map(|declaration| item(&source, declaration)).collect()
}

fn item(source: &Source, declaration: &Declaration) -> Option<Item> {
    let kind = match &declaration.kind {
        DeclarationKind::Header => ItemKind::Algorithm,
        DeclarationKind::Type => ItemKind::Type,
        DeclarationKind::Object => ItemKind::Object,
        DeclarationKind::Node => ItemKind::Node,
        DeclarationKind::Initially => ItemKind::InitialNode,
        DeclarationKind::Shared => ItemKind::Shared,
        DeclarationKind::Private => ItemKind::Private,
        DeclarationKind::Procedure(_) => ItemKind::Procedure,
        DeclarationKind::Bug => ItemKind::Bug,
        DeclarationKind::Citation | DeclarationKind::Size | DeclarationKind::Expectation => {
            return None;
        }
    };
    let span = declaration.span()?;
    let [first, second] = [0, 1].map(|number| declaration.tokens.get(number));
    // The procedure of an operation begins with the operation's name, which may be `procedure`.
    let is_keyword = kind != ItemKind::Procedure
        || source.slice(first?.span) == "procedure"
            && second.is_none_or(|second| second.kind != TokenKind::Colon);
    let name = if is_keyword { second? } else { first? };
    let text = source.slice(name.span);
    (name.kind == TokenKind::Name).then(|| {
        let name = Name { text: text.to_owned(), span: name.span };
        Item { kind, name, span }
    })
}
