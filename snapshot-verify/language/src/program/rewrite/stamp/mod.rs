//! A counter of which only equality matters is a version.
//!
//! A sequence number that its owner increases with each write, or an SC with each success, is compared
//! with earlier copies of itself only, to see whether the cell was written meanwhile. In the rewritten
//! program each increase makes a version that never was before.
//!
//! **Form.** Counters between which values flow are a class. The program is rewritten if for each class:
//! 1. its counters are 0 at first, copied, increased by one, and compared by `=`, `!=` or by the
//!    comparison that a CAS makes, and nothing else;
//! 2. one variable, the *root*, is all that is ever increased ([`root`]). It is an array by process in
//!    whose cells only their owners store, a single cell, or a private variable;
//! 3. each increase stores the successor of the content that the cell has at that very
//!    moment ([`current`]);
//! 4. two counters are compared only if both are copies of one cell of the root ([`domain`]).
//!
//! **Simulation.** A counter c that is a copy of a cell of the root is related to the version that the increase to
//! c in that cell made, and 0 to the first version. By 3 the contents of a cell never decrease, and an
//! increase stores a number that the cell never held. So each number but 0 that a cell ever
//! holds was made by one increase: among copies of one cell, numbers are equal if and only if the versions are. By 4
//! each comparison has the same result in both programs, and by 1 nothing else depends on
//! counters.
//!
//! An increase by two, a remainder, an order, a counter that a process without a current copy stores, and copies
//! of two cells that meet in a comparison are each outside of the form. All counters of a program are rewritten, or
//! none is.

mod current;
mod domain;
mod root;

use super::{Change, Form, each_operand, each_part};
use crate::language::Span;
use crate::program::{Expression, ExpressionKind, Program, Statement, Type};

use crate::program::counters::flows::Flows;
use crate::program::counters::origin::{Base, Location, Step};

/// Rewrites all counters, if each class is of the form.
pub(super) fn rewrite(program: &Program) -> Option<(Program, Vec<Change>)> {
    if !program.has_counters() || program.object().is_some() {
        return None;
    }
    let flows = Flows::new(program)?;
    let mut changes = Vec::new();
    for class in flows.classes() {
        let Some(root) = root::of(program, &flows, &class)? else { continue };
        if !current::holds(program, &root) || !domain::holds(program, &flows, &class, &root) {
            return None;
        }
        changes.push(change(program, &root.location)?);
    }
    if changes.is_empty() {
        return None;
    }
    let mut rewritten = program.clone();
    replace(&mut rewritten);
    Some((rewritten, changes))
}

/// The variable, and the fields down to the counter.
fn change(program: &Program, root: &Location) -> Option<Change> {
    let (name, mut content, span): (&str, &Type, Span) = match root.base {
        Base::Shared(id) => {
            let variable = program.shared(id);
            (&variable.name, &variable.content, variable.span)
        }
        Base::Private(id) => {
            let variable = program.private(id);
            (&variable.name, &variable.content, variable.span)
        }
        Base::Local(..) | Base::Result(_) => return None,
    };
    let mut variable = name.to_owned();
    for step in &root.path {
        match (step, content) {
            (Step::Field(at), Type::Record(fields)) => {
                variable.push_str(&format!(".{}", fields[*at].name));
                content = &fields[*at].content;
            }
            (Step::Index, Type::Array { element, .. }) if root.base.is_of_process() => {
                content = element;
            }
            _ => {}
        }
    }
    Some(Change { form: Form::Stamp, variable, span })
}

/// Makes all counters versions.
fn replace(program: &mut Program) {
    for variable in &mut program.shared {
        version(&mut variable.content);
        each_part(&mut variable.initial, &mut of_expression);
    }
    for variable in &mut program.private {
        version(&mut variable.content);
        each_part(&mut variable.initial, &mut of_expression);
    }
    for procedure in &mut program.procedures {
        for local in &mut procedure.locals {
            version(&mut local.content);
            each_part(&mut local.initial, &mut of_expression);
        }
        procedure.returns.iter_mut().for_each(version);
        Statement::each_mut(&mut procedure.body, &mut |statement| {
            each_operand(statement, &mut of_expression);
        });
    }
}

fn version(content: &mut Type) {
    match content {
        Type::Counter => *content = Type::Version,
        Type::Optional(inner) | Type::Array { element: inner, .. } | Type::List(inner) => {
            version(inner);
        }
        Type::Record(fields) => fields.iter_mut().for_each(|field| version(&mut field.content)),
        Type::Value
        | Type::Bool
        | Type::Process
        | Type::Segment
        | Type::Integer { .. }
        | Type::Version
        | Type::Node { .. } => {}
    }
}

fn of_expression(part: &mut Expression) {
    version(&mut part.content);
    match part.kind {
        ExpressionKind::Successor(_) => part.kind = ExpressionKind::Fresh,
        ExpressionKind::Counter(0) => part.kind = ExpressionKind::FirstVersion,
        _ => {}
    }
}
