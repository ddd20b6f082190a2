//! Programs in place of others with the same control and the same results, of which more can be
//! said.
//!
//! A rewriting replaces what cells hold. It is a simulation between two programs: a map of states, such
//! that each step of the one has a step of the other, with the same branches taken, the same results
//! returned, and the same faults. Whether one applies is a condition on the text alone, which knows
//! nothing of any engine. Each module has one form, with the argument.
//!
//! | form | before | after |
//! | --- | --- | --- |
//! | [`Form::Owner`] | a Boolean cell that processes take and give back | `process or none`: who took it |
//! | [`Form::Stamp`] | counters that are copied, increased in place, and compared by `=` | versions |

mod owner;
mod stamp;

use super::{Program, Statement, StatementKind};
use crate::language::Span;
use crate::program::{Access, Expression, ExpressionKind, Place, Projection};

/// A form of rewriting.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// A Boolean cell names the process that took it.
    Owner,
    /// Counters of which only equality matters become versions.
    Stamp,
}

impl Form {
    /// Its name in certificates.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Stamp => "stamp",
        }
    }
}

/// A variable that was rewritten.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    pub form: Form,
    /// The name of the variable, behind it the fields down to the scalar.
    pub variable: String,
    /// Where the variable is declared.
    pub span: Span,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.form.name(), self.variable)
    }
}

/// A rewritten program.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The program.
    pub program: Program,
    /// What was rewritten, in the order of the declarations, form by form. Never empty.
    pub changes: Vec<Change>,
}

/// Rewrites a program by all forms that apply. `None`: none does.
pub fn rewrite(program: &Program) -> Option<Rewritten> {
    let mut rewritten = Rewritten { program: program.clone(), changes: Vec::new() };
    for form in [owner::rewrite, stamp::rewrite] {
        if let Some((program, changes)) = form(&rewritten.program) {
            rewritten.program = program;
            rewritten.changes.extend(changes);
        }
    }
    (!rewritten.changes.is_empty()).then_some(rewritten)
}

/// Changes an expression from its innermost parts outwards.
fn each_part(of: &mut Expression, act: &mut dyn FnMut(&mut Expression)) {
    match &mut of.kind {
        ExpressionKind::Bool(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::Process(_)
        | ExpressionKind::Segment(_)
        | ExpressionKind::None
        | ExpressionKind::InitialValue
        | ExpressionKind::InitialNode(_)
        | ExpressionKind::FirstVersion
        | ExpressionKind::Counter(_)
        | ExpressionKind::Me
        | ExpressionKind::Local(_)
        | ExpressionKind::Private(_)
        | ExpressionKind::Fresh => {}
        ExpressionKind::Convert(operand)
        | ExpressionKind::Checked(operand)
        | ExpressionKind::NumberOf(operand)
        | ExpressionKind::ValueOf(operand)
        | ExpressionKind::Field(operand, _)
        | ExpressionKind::Some(operand)
        | ExpressionKind::Unwrap(operand)
        | ExpressionKind::Filled(operand)
        | ExpressionKind::Not(operand)
        | ExpressionKind::Successor(operand)
        | ExpressionKind::Remainder(operand, _)
        | ExpressionKind::Quotient(operand, _)
        | ExpressionKind::Each { body: operand, .. } => each_part(operand, act),
        ExpressionKind::Index(a, b) | ExpressionKind::Binary(_, a, b) => {
            each_part(a, act);
            each_part(b, act);
        }
        ExpressionKind::If(a, b, c) => [a, b, c].into_iter().for_each(|one| each_part(one, act)),
        ExpressionKind::Record(parts) | ExpressionKind::List(_, parts) => {
            parts.iter_mut().for_each(|one| each_part(one, act));
        }
        ExpressionKind::With(record, fields) => {
            each_part(record, act);
            fields.iter_mut().for_each(|(_, one)| each_part(one, act));
        }
        ExpressionKind::Quantified { except, body, .. } => {
            except.iter_mut().for_each(|one| each_part(one, act));
            each_part(body, act);
        }
    }
    act(of);
}

/// Changes the expressions that a statement evaluates itself, not those within its blocks.
fn each_operand(statement: &mut Statement, act: &mut dyn FnMut(&mut Expression)) {
    let mut operand = |one: &mut Expression| each_part(one, act);
    let place = match &mut statement.kind {
        StatementKind::Assign { place, value } => {
            operand(value);
            Some(place)
        }
        StatementKind::Access { access, into } => {
            let (Access::Read(cell)
            | Access::Write(cell, _)
            | Access::LoadLinked(cell)
            | Access::StoreConditional(cell, _)
            | Access::Validate(cell)
            | Access::CompareAndSwap(cell, ..)) = access;
            cell.indices.iter_mut().for_each(&mut operand);
            match access {
                Access::Read(_) | Access::LoadLinked(_) | Access::Validate(_) => {}
                Access::Write(_, value) | Access::StoreConditional(_, value) => operand(value),
                Access::CompareAndSwap(_, old, new) => {
                    operand(old);
                    operand(new);
                }
            }
            into.as_mut()
        }
        StatementKind::Call { arguments: values, into, .. } => {
            values.iter_mut().for_each(&mut operand);
            into.as_mut()
        }
        StatementKind::New { fields: values, into, .. } => {
            values.iter_mut().for_each(&mut operand);
            Some(into)
        }
        StatementKind::Choose { into, .. } => Some(into),
        StatementKind::If { condition: value, .. }
        | StatementKind::Point(value)
        | StatementKind::Free(value) => {
            operand(value);
            None
        }
        StatementKind::For { except: value, .. } | StatementKind::Return(value) => {
            value.iter_mut().for_each(&mut operand);
            None
        }
        StatementKind::Loop { .. }
        | StatementKind::Break
        | StatementKind::Atomic(_)
        | StatementKind::Together => None,
    };
    if let Some(Place { path, .. }) = place {
        for projection in path {
            if let Projection::Index(index) = projection {
                each_part(index, act);
            }
        }
    }
}
