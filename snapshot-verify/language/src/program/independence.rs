//! Data independence: a proof for simple executions holds for all.
//!
//! Theorem 5 of Amram et al., DISC 2022, holds for programs that do not look at values. The
//! conditions are Wolper's, POPL 1986: values are moved, stored and returned, but computation and
//! control do not depend on them. The extension to `none` is the paper's: a program may test
//! whether there is a value, since a renaming of values preserves the answer.
//!
//! The types enforce most of this: a value is not an index, number or condition. The check covers
//! comparisons of two values, also as parts of records and arrays; compare-and-swaps, which compare
//! the content of a cell; and the conversions of values to and from numbers.

use super::{Access, Binary, Expression, ExpressionKind, Program, Statement, StatementKind, Type};
use crate::language::Span;
use crate::language::diagnostic::{Diagnostic, message};

/// A place where a program looks at values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dependence {
    pub span: Span,
    pub reason: Reason,
}

/// Way in which a program looks at values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reason {
    /// Two operands of this type, which contains values, are compared.
    Compared(Type),
    /// A compare-and-swap compares the content of a cell of this type, which contains values.
    Swapped(Type),
    /// A value is converted to its number, or a number to a value.
    Numbered,
}

/// Checks that the program does not look at values.
///
/// # Errors
///
/// All places where it does.
pub fn check(program: &Program) -> Result<(), Vec<Dependence>> {
    let mut found = Vec::new();
    let bodies = program.procedures.iter().flat_map(|procedure| &procedure.body);
    Statement::each(bodies, &mut |statement| {
        if let StatementKind::Access { access, .. } = &statement.kind {
            found.extend(swapped(program, access));
        }
        for operand in statement.operands() {
            operand.each(&mut |part| found.extend(looked_at(part)));
        }
    });
    if found.is_empty() { Ok(()) } else { Err(found) }
}

impl Dependence {
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let message = match &self.reason {
            Reason::Compared(content) => {
                message!("values-compared", "values are compared with each other")
                    .label(of_type(content))
                    .help(
                        "simple executions tell about all others only if values are never \
                         looked at; compare versions or toggles instead",
                    )
            }
            Reason::Swapped(content) => {
                message!("values-swapped", "a compare-and-swap looks at values")
                    .label(of_type(content))
                    .help(
                        "simple executions tell about all others only if values are never \
                         looked at; use an llsc cell, or a version in the cell instead of the \
                         value",
                    )
            }
            Reason::Numbered => message!("values-numbered", "values are used as numbers")
                .label("a conversion between the two")
                .help("simple executions tell about all others only if values are never looked at"),
        };
        Diagnostic::new(message, self.span)
    }
}

fn of_type(content: &Type) -> String {
    match content {
        Type::Value => "of type `value`".to_owned(),
        content => format!("of type `{content}`, which contains values"),
    }
}

fn contains_values(content: &Type) -> bool {
    content.any(&|part| *part == Type::Value)
}

/// Returns the dependence of a compare-and-swap that looks at values.
fn swapped(program: &Program, access: &Access) -> Option<Dependence> {
    let Access::CompareAndSwap(place, old, _) = access else { return None };
    let content = &program.shared(place.variable).content;
    let looks = contains_values(content) && !matches!(old.kind, ExpressionKind::None);
    looks.then(|| Dependence { span: place.span, reason: Reason::Swapped(content.clone()) })
}

/// Returns the dependence of an expression itself, without its operands.
fn looked_at(of: &Expression) -> Option<Dependence> {
    let reason = match &of.kind {
        ExpressionKind::NumberOf(_) | ExpressionKind::ValueOf(_) => Reason::Numbered,
        ExpressionKind::Binary(Binary::Equal | Binary::NotEqual, left, right) => {
            let is_none = |operand: &Expression| matches!(operand.kind, ExpressionKind::None);
            if is_none(left) || is_none(right) || !contains_values(&left.content) {
                return None;
            }
            Reason::Compared(left.content.clone())
        }
        _ => return None,
    };
    Some(Dependence { span: of.span, reason })
}
