//! Data independence: whether a proof for simple executions is one for all.
//!
//! Theorem 5 of Amram et al., DISC 2022, holds of programs that do not look at
//! values. The conditions are Wolper's, POPL 1986: values are moved, stored and
//! returned, but nothing is computed of them, and control does not depend on them.
//! The extension to `none` is the paper's: whether there is a value may be tested,
//! since renaming values keeps it.
//!
//! The types see to most of it: a value is no index, no number, no condition. What
//! is left are comparisons: of two values, also as parts of records and arrays, and
//! those that compare-and-swap makes of the content of a cell; and the conversions
//! of values to and from numbers.

use super::{
    Access, Binary, Expression, ExpressionKind, Program, Projection, Statement, StatementKind, Type,
};
use crate::language::{Diagnostic, DiagnosticKind, Span};

/// A place where a program looks at values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dependence {
    /// Where.
    pub span: Span,
    /// How.
    pub reason: Reason,
}

/// How a program looks at values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reason {
    /// Two of this type are compared, which contains values.
    Compared(Type),
    /// A compare-and-swap compares the content of a cell of this type, which
    /// contains values.
    Swapped(Type),
    /// A value is turned into its number, or a number into a value.
    Numbered,
}

/// Checks that the program does not look at values.
///
/// # Errors
///
/// Every place where it does.
pub fn check(program: &Program) -> Result<(), Vec<Dependence>> {
    let mut found = Vec::new();
    for procedure in &program.procedures {
        block(program, &procedure.body, &mut found);
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

impl Dependence {
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let kind = match self.reason.clone() {
            Reason::Compared(content) => DiagnosticKind::ValuesCompared { content },
            Reason::Swapped(content) => DiagnosticKind::ValuesSwapped { content },
            Reason::Numbered => DiagnosticKind::ValuesNumbered,
        };
        Diagnostic { kind, span: self.span }
    }
}

fn contains_values(content: &Type) -> bool {
    match content {
        Type::Value => true,
        Type::Optional(content) => contains_values(content),
        Type::Array { element, .. } => contains_values(element),
        Type::Record(fields) => fields.iter().any(|field| contains_values(&field.content)),
        _ => false,
    }
}

fn block(program: &Program, statements: &[Statement], found: &mut Vec<Dependence>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                path(&place.path, found);
                expression(value, found);
            }
            StatementKind::Access { access, into } => {
                if let Some(place) = into {
                    path(&place.path, found);
                }
                accesses(program, access, found);
            }
            StatementKind::Call { arguments, into, .. } => {
                if let Some(place) = into {
                    path(&place.path, found);
                }
                arguments.iter().for_each(|argument| expression(argument, found));
            }
            StatementKind::If { condition, then, otherwise } => {
                expression(condition, found);
                block(program, then, found);
                block(program, otherwise, found);
            }
            StatementKind::For { except, body, .. } => {
                except.iter().for_each(|except| expression(except, found));
                block(program, body, found);
            }
            StatementKind::Loop { body } | StatementKind::Atomic(body) => {
                block(program, body, found);
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| expression(value, found));
            }
            StatementKind::New { fields, into, .. } => {
                path(&into.path, found);
                fields.iter().for_each(|field| expression(field, found));
            }
            StatementKind::Free(pointer) => expression(pointer, found),
            StatementKind::Choose { into, .. } => path(&into.path, found),
            StatementKind::Break | StatementKind::Together => {}
        }
    }
}

fn path(path: &[Projection], found: &mut Vec<Dependence>) {
    for projection in path {
        if let Projection::Index(index) = projection {
            expression(index, found);
        }
    }
}

fn accesses(program: &Program, access: &Access, found: &mut Vec<Dependence>) {
    if let Access::CompareAndSwap(place, old, _) = access {
        let content = &program.shared(place.variable).content;
        let with_none = matches!(old.kind, ExpressionKind::None);
        if contains_values(content) && !with_none {
            found.push(Dependence { span: place.span, reason: Reason::Swapped(content.clone()) });
        }
    }
    access.operands().into_iter().for_each(|operand| expression(operand, found));
}

fn expression(of: &Expression, found: &mut Vec<Dependence>) {
    if matches!(of.kind, ExpressionKind::NumberOf(_) | ExpressionKind::ValueOf(_)) {
        found.push(Dependence { span: of.span, reason: Reason::Numbered });
    }
    if let ExpressionKind::Binary(Binary::Equal | Binary::NotEqual, left, right) = &of.kind {
        let with_none =
            [left, right].iter().any(|operand| matches!(operand.kind, ExpressionKind::None));
        if !with_none && contains_values(&left.content) {
            let reason = Reason::Compared(left.content.clone());
            found.push(Dependence { span: of.span, reason });
        }
    }
    of.operands().into_iter().for_each(|operand| expression(operand, found));
}
