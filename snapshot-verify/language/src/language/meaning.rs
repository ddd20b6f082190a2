//! Meanings of words and their declarations, for editors.
//!
//! No name hides another (`docs/language.md`), so a name refers to its declaration in the
//! procedure, or else outside of procedures. The types of locals come from the checked program, if
//! the text has one.

use logos::Logos;

use super::Span;
use super::algorithm::Algorithm;
use super::bug::Scope;
use super::declaration::DeclarationKind;
use super::token::{Token, TokenKind};
use super::tree::{Name, Procedure, Tree, Variable};
use super::written::written;
use crate::program::{Expression, ExpressionKind, Program, Statement, StatementKind};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Meaning {
    pub span: Span,
    pub text: MeaningText,
    /// Declaration of the name; `None` for words of the language.
    pub declared: Option<Span>,
}

/// Text of a meaning.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MeaningText {
    /// A declaration, as the language writes it.
    Declaration(String),
    /// The meaning of a word of the language.
    Word(&'static str),
}

/// A word with its context.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    span: Span,
    /// True for a field of the preceding expression.
    is_field: bool,
    /// Procedure that contains the word, also within the text of an edit.
    procedure: Option<&'a str>,
    /// True within an `expect` line.
    of_expectation: bool,
    /// True within the declaration of the object.
    of_object: bool,
}

impl Algorithm {
    /// Returns the meaning of the word at a position, a byte of the text; `None` without a word or
    /// a known meaning. O(length of the text).
    pub fn meaning(&self, place: u32) -> Option<Meaning> {
        let word = self.word(place)?;
        let tree = self.tree(None).ok()?;
        let program = self.program_with_points(None).ok();
        let meaning = |text, declared| Meaning {
            span: word.span,
            text: MeaningText::Declaration(text),
            declared,
        };
        if word.is_field {
            let text = field(program.as_ref()?, word.span)?;
            return Some(meaning(format!("{}: {text}", word.text), None));
        }
        let declared = self
            .in_procedure(word, program.as_ref(), &tree)
            .or_else(|| self.outside(word, &tree))
            .map(|(text, span)| meaning(text, Some(span)));
        declared.or_else(|| {
            let (_, says) = WORDS.iter().find(|(known, _)| *known == word.text)?;
            Some(Meaning { span: word.span, text: MeaningText::Word(says), declared: None })
        })
    }

    /// Returns the word at a position.
    fn word(&self, place: u32) -> Option<Word<'_>> {
        let declaration = self.declarations().iter().find(|declaration| {
            declaration.span().is_some_and(|span| span.begin <= place && place <= span.end)
        })?;
        let mut procedure = match &declaration.kind {
            DeclarationKind::Procedure(name) => Some(name.as_str()),
            _ => None,
        };
        let whole = Span { begin: 0, end: self.source().text().len() as u32 };
        let mut found = self.symbol(whole, place)?;
        if found.0 == TokenKind::Quote {
            let within = Span { begin: found.1.begin + 1, end: found.1.end - 1 };
            let edits = self.bugs().iter().flat_map(|bug| &bug.edits);
            let edit = edits.into_iter().find(|edit| edit.quotes(within));
            if let Some(Scope::Procedure(name)) = edit.map(|edit| &edit.scope) {
                procedure = Some(&name.text);
            }
            found = self.symbol(within, place)?;
        }
        let (kind, span, is_field) = found;
        kind.is_word().then(|| Word {
            text: self.source().slice(span),
            span,
            is_field,
            procedure,
            of_expectation: declaration.kind == DeclarationKind::Expectation,
            of_object: declaration.kind == DeclarationKind::Object,
        })
    }

    /// Returns the symbol at or before a position in a part of the text, preferably a word; and
    /// true if a dot precedes it.
    fn symbol(&self, part: Span, place: u32) -> Option<(TokenKind, Span, bool)> {
        let mut found = None;
        let mut before = TokenKind::Newline;
        for (kind, range) in TokenKind::lexer(self.source().slice(part)).spanned() {
            let [begin, end] = [range.start, range.end].map(|at| part.begin + at as u32);
            if begin > place {
                break;
            }
            let kind = kind.unwrap_or(TokenKind::Wrong);
            if place <= end && (found.is_none() || kind.is_word() || kind == TokenKind::Quote) {
                found = Some((kind, Span { begin, end }, before == TokenKind::Dot));
            }
            before = kind;
        }
        found
    }

    /// Looks up a parameter, a local variable or an index.
    fn in_procedure(
        &self,
        word: Word<'_>,
        program: Option<&Program>,
        tree: &Tree,
    ) -> Option<(String, Span)> {
        let name = word.procedure?;
        if let Some(program) = program {
            let procedure = program.procedures.iter().find(|procedure| procedure.name == name)?;
            let named = procedure
                .locals
                .iter()
                .filter(|local| !local.hidden && local.name == word.text)
                .collect::<Vec<_>>();
            // Of successive loops with the same index, the last one that has begun.
            let begun = named.iter().rev().find(|local| local.span.begin <= word.span.begin);
            let local = begun.or(named.first())?;
            return Some((format!("{}: {}", local.name, local.content), local.span));
        }
        let procedure = tree.procedures.iter().find(|procedure| procedure.name.text == name)?;
        let parameter = procedure.parameters.iter().find(|(name, _)| name.text == word.text);
        if let Some((name, content)) = parameter {
            let content = content.as_ref();
            let content = content.map_or("value", |content| self.source().slice(content.span));
            return Some((format!("{}: {content}", name.text), name.span));
        }
        self.variable(&procedure.locals, "local", word.text)
    }

    /// Looks up a variable by name.
    fn variable(
        &self,
        variables: &[Variable],
        keyword: &str,
        name: &str,
    ) -> Option<(String, Span)> {
        let found = variables.iter().find(|variable| variable.name.text == name)?;
        Some((self.declared(found.name.span, keyword, None)?, found.name.span))
    }

    /// Returns the symbols of the line of a name, from the name on and before it.
    fn line(&self, name: Span) -> Option<(&[Token], &[Token])> {
        let is_it = |token: &Token| token.span == name;
        let mut declarations = self.declarations().iter().map(|one| &one.tokens);
        let tokens = declarations.find(|tokens| tokens.iter().any(is_it))?;
        let (before, from) = tokens.split_at(tokens.iter().position(is_it)?);
        let ends = |token: &Token| token.kind.is_layout() || token.kind == TokenKind::Semicolon;
        let begin = before.iter().rposition(ends).map_or(0, |end| end + 1);
        let end = from.iter().position(ends).unwrap_or(from.len());
        Some((&before[begin..], &from[..end]))
    }

    /// Returns the declaration of a name as written, from its keyword to the end of the line, or
    /// to a symbol.
    fn declared(&self, name: Span, keyword: &str, until: Option<TokenKind>) -> Option<String> {
        let (before, from) = self.line(name)?;
        let is_keyword = |token: &Token| self.source().slice(token.span) == keyword;
        let begin = before.iter().rposition(is_keyword)?;
        let end = from.iter().position(|token| Some(token.kind) == until).unwrap_or(from.len());
        let tokens = [&before[begin..], &from[..end]].concat();
        Some(written(self.source(), &tokens))
    }

    /// Returns the name of a procedure with its parameters and result, as written.
    fn signature(&self, procedure: &Procedure) -> Option<String> {
        let (before, from) = self.line(procedure.name.span)?;
        let mut parameters = from.iter();
        let last = match &procedure.returns {
            Some(returns) => from.iter().rposition(|token| token.span.end <= returns.span.end),
            None if from.get(1).is_some_and(|token| token.kind == TokenKind::Open) => {
                parameters.position(|token| token.kind == TokenKind::Close)
            }
            None => Some(0),
        };
        let tokens = [before, &from[..=last?]].concat();
        Some(written(self.source(), &tokens))
    }

    /// Looks up a declaration outside of procedures.
    fn outside(&self, word: Word<'_>, tree: &Tree) -> Option<(String, Span)> {
        let is_it = |name: &Name| name.text == word.text;
        if word.of_expectation {
            let bug = self.bugs().iter().find(|bug| is_it(&bug.name))?;
            let text = format!("bug {} \"{}\"", bug.name.text, bug.description);
            return Some((text, bug.name.span));
        }
        if let Some(object) = &tree.object {
            if is_it(&object.name) {
                return Some((format!("object {}", object.name.text), object.name.span));
            }
            if word.of_object {
                if let Some(found) = self.variable(&object.state, "state", word.text) {
                    return Some(found);
                }
                let mut operations = object.operations.iter().map(|one| &one.procedure);
                if let Some(operation) = operations.find(|one| is_it(&one.name)) {
                    return Some((self.signature(operation)?, operation.name.span));
                }
            }
        }
        let procedure = tree.procedures.iter().find(|procedure| is_it(&procedure.name));
        let procedure =
            procedure.and_then(|procedure| Some((self.signature(procedure)?, procedure.name.span)));
        let declared = tree.types.iter().find(|declared| is_it(&declared.name));
        let declared = declared
            .and_then(|one| Some((self.declared(one.name.span, "type", None)?, one.name.span)));
        let bug = self.bugs().iter().find(|bug| is_it(&bug.name));
        let bug = bug
            .map(|bug| (format!("bug {} \"{}\"", bug.name.text, bug.description), bug.name.span));
        let node = tree.nodes.iter().find(|node| is_it(&node.name));
        let until = Some(TokenKind::Colon);
        let node = node
            .and_then(|one| Some((self.declared(one.name.span, "node", until)?, one.name.span)));
        let initially = tree.initially.iter().find(|one| is_it(&one.name));
        let initially = initially
            .map(|one| (format!("initially {}: {}", one.name.text, one.node.text), one.name.span));
        self.variable(&tree.shared, "shared", word.text)
            .or_else(|| self.variable(&tree.private, "private", word.text))
            .or(procedure)
            .or(declared)
            .or(node)
            .or(initially)
            .or(bug)
    }
}

/// Returns the type of the field whose name ends an expression.
fn field(program: &Program, name: Span) -> Option<String> {
    let mut found = None;
    let mut look = |expression: &Expression| {
        let is_it =
            expression.span.end == name.end && matches!(expression.kind, ExpressionKind::Field(..));
        if is_it {
            found = Some(expression.content.to_string());
        }
    };
    let bodies = program.procedures.iter().flat_map(|procedure| &procedure.body);
    Statement::each(bodies, &mut |statement| {
        for expression in expressions(statement) {
            each(expression, &mut look);
        }
    });
    found
}

/// Visits an expression and its operands.
fn each<'a>(expression: &'a Expression, act: &mut dyn FnMut(&'a Expression)) {
    act(expression);
    for operand in expression.operands() {
        each(operand, act);
    }
}

/// Returns the expressions of a statement, its blocks excluded.
fn expressions(statement: &Statement) -> Vec<&Expression> {
    let mut found = Vec::new();
    match &statement.kind {
        StatementKind::Assign { place, value } => {
            found.extend(place.indices());
            found.push(value);
        }
        StatementKind::Choose { into, .. } => found.extend(into.indices()),
        StatementKind::Access { access, .. } => found.extend(access.operands()),
        StatementKind::Call { arguments, .. } => found.extend(arguments),
        StatementKind::If { condition, .. } => found.push(condition),
        StatementKind::For { except, .. } => found.extend(except),
        StatementKind::Return(value) => found.extend(value),
        StatementKind::New { fields, .. } => found.extend(fields),
        StatementKind::Free(value) | StatementKind::Point(value) => found.push(value),
        StatementKind::Loop { .. }
        | StatementKind::Break
        | StatementKind::Atomic(_)
        | StatementKind::Together => {}
    }
    found
}

/// Words of the language with their meanings.
const WORDS: [(&str, &str); 30] = [
    ("value", "opaque data: may be moved, stored, returned, tested against none"),
    ("bool", "`true` or `false`"),
    ("bit", "0 or 1; `not` is the other one"),
    ("process", "one of the n processes"),
    ("segment", "one of the n segments; segment k is owned by process k"),
    ("version", "one of arbitrarily many different things, made by `fresh`; only `=` and `!=`"),
    ("counter", "a natural number without bound"),
    ("view", "a value per segment: what `scan` returns"),
    ("me", "the process that executes the statement"),
    ("n", "the number of processes, and of segments"),
    ("none", "what an optional variable holds that holds nothing else"),
    ("initial", "the value that every segment holds at first"),
    ("fresh", "a version that never was before"),
    ("llsc", "cells with LL, SC and VL"),
    ("cas", "cells with CAS"),
    ("LL", "`LL(c)` reads the cell and links the process to it"),
    (
        "SC",
        "`SC(c, e)` writes, and breaks all links to the cell, iff the link is unbroken; whether it did",
    ),
    ("VL", "`VL(c)`: whether the link to the cell is unbroken"),
    ("CAS", "`CAS(c, old, new)` writes `new` iff the cell holds `old`; whether it did"),
    ("SWAP", "`SWAP(c, e)` writes e; what the cell held before"),
    ("FAA", "`FAA(c, e)` adds e to what the cell holds; what it held before"),
    ("TAS", "`TAS(c)` writes `true`; what the cell held before"),
    ("number", "`number(v)`: the number of a value, 0 of the initial one"),
    ("new", "`new N(a, b)` allocates a node; its fields hold a and b"),
    ("free", "`free p` frees the node: what accesses it after that is a fault"),
    ("size", "the number that the line `size N` says, or the option `--size`"),
    ("choose", "`x := choose 0..2`: any of them, in a step of its own; all are explored"),
    ("atomic", "all accesses of the block are one step"),
    (
        "together",
        "operations take effect together: what stands before it is done of all of them, then what \
         stands behind it",
    ),
    ("linearizes", "the access is a linearization point of the operation that executes it"),
];
