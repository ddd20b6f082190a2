//! Snapshots with many writers: `update` names its segment, and the text declares no object.
//!
//! Such a text implements the object
//!
//! ```text
//! object multi_writer_snapshot:
//!     state memory[segment]: value
//!     update(s: segment, v: value): memory[s] := v
//!     scan: view: return memory
//! ```

use super::declaration::{Declaration, DeclarationKind};
use super::token::TokenKind;
use super::tree::{
    By, Expression, ExpressionKind, Indices, IndicesKind, Name, Object, Operation, Procedure,
    Statement, StatementKind, TypeExpression, TypeKind, Variable,
};
use super::{Source, Span};
use crate::program;

/// Returns the object of a text whose `update` has two parameters, of which the first is a segment
/// if it has a type; its spans are that of the `update`.
pub(super) fn object(source: &Source, declarations: &[Declaration]) -> Option<Object> {
    let update = |one: &&Declaration| one.kind == DeclarationKind::Procedure("update".to_owned());
    let span = named_segment(source, declarations.iter().find(update)?)?;
    let name = |text: &str| Name { text: text.to_owned(), span };
    let content = |text: &str| TypeExpression { kind: TypeKind::Named(text.to_owned()), span };
    let expression = |kind| Expression { kind, span };
    let variable = |text: &str| expression(ExpressionKind::Variable(text.to_owned()));
    let cell = ExpressionKind::Index(Box::new(variable("memory")), Box::new(variable("s")));
    let write = StatementKind::Assign(expression(cell), variable("v"));
    let operation = |title, parameters: &[(&str, &str)], returns: Option<&str>, kind| {
        let parameters = parameters.iter();
        let procedure = Procedure {
            name: name(title),
            parameters: parameters.map(|(one, kind)| (name(one), Some(content(kind)))).collect(),
            returns: returns.map(content),
            locals: Vec::new(),
            body: vec![Statement { kind, span, mark: None }],
        };
        Operation { procedure, by: By::All, when: None, awaits: None }
    };
    Some(Object {
        name: name(program::Object::MULTI_WRITER_SNAPSHOT),
        state: vec![Variable {
            name: name("memory"),
            dimensions: vec![Indices { kind: IndicesKind::Segments, span }],
            cell: None,
            content: content("value"),
            initial: None,
        }],
        operations: vec![
            operation("update", &[("s", "segment"), ("v", "value")], None, write),
            operation("scan", &[], Some("view"), StatementKind::Return(Some(variable("memory")))),
        ],
    })
}

/// Returns the span of the name of an `update` that names its segment.
fn named_segment(source: &Source, update: &Declaration) -> Option<Span> {
    let is_name = |token: &&super::token::Token| source.slice(token.span) == "update";
    let name = update.tokens.iter().find(is_name)?.span;
    let (mut depth, mut commas) = (0_usize, 0);
    let mut first = Vec::new();
    for token in &update.tokens {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Colon if depth == 0 => break,
            TokenKind::Comma if depth == 1 => commas += 1,
            _ if depth > 0 && commas == 0 => first.push(source.slice(token.span)),
            _ => {}
        }
    }
    let is_segment = matches!(first[..], [_] | [_, ":", "segment"]);
    (commas == 1 && is_segment).then_some(name)
}
