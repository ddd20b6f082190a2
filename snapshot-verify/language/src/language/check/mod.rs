//! Names and types: from the syntax tree to a [`Program`].
//!
//! Declarations first (`types`, `globals`), then each procedure by itself
//! (`body`, and what statements and expressions mean), then what concerns paths:
//! loops and returns (`flow`), and linearization points (`points`). An access within an expression becomes a statement
//! before it, its result a hidden local; whether it happens stays as the text has
//! it, since `and`, `or`, `if` become statements as soon as an operand accesses
//! (`access`).

mod access;
mod assignment;
mod body;
mod call;
mod convert;
mod expression;
mod flow;
mod globals;
mod operator;
mod points;
mod range;
mod record;
mod result;
mod statement;
mod target;
mod types;

use super::Source;
use super::diagnostic::{DiagnosticKind, Reporter};
use super::tree::Tree;
use crate::program::{Procedure, ProcedureId, Program};
use body::Body;
use globals::Globals;

/// The program of a tree, unless something is wrong with it; then that is reported.
pub(super) fn program(
    source: &Source,
    tree: &Tree,
    bug: Option<&str>,
    reporter: &mut Reporter,
) -> Option<Program> {
    let mut globals = Globals::declare(source, tree, reporter);
    let operations = [globals.operation("update"), globals.operation("scan")];
    for (operation, name) in operations.iter().zip(["update", "scan"]) {
        if operation.is_none() {
            reporter.report(DiagnosticKind::MissingProcedure { name }, tree.name.span);
        }
    }
    let mut procedures = Vec::new();
    for (procedure, id) in tree.procedures.iter().zip(0..) {
        procedures.push(procedure_body(source, &globals, procedure, ProcedureId(id), reporter));
    }
    if !reporter.is_empty() {
        return None;
    }
    flow::check(&procedures, reporter);
    let ([Some(update), Some(scan)], true) = (operations, reporter.is_empty()) else {
        return None;
    };
    points::check(&procedures, update, scan, reporter);
    if !reporter.is_empty() {
        return None;
    }
    Some(Program {
        name: tree.name.text.clone(),
        bug: bug.map(str::to_owned),
        citation: tree.citation.clone(),
        shared: std::mem::take(&mut globals.shared),
        private: std::mem::take(&mut globals.private),
        procedures,
        update,
        scan,
    })
}

fn procedure_body(
    source: &Source,
    globals: &Globals,
    procedure: &super::tree::Procedure,
    id: ProcedureId,
    reporter: &mut Reporter,
) -> Procedure {
    let signature = &globals.signatures[id.0 as usize];
    let mut body = Body::new(source, globals, signature, reporter);
    body.declare_parameters(procedure);
    for local in &procedure.locals {
        body.declare_local(local);
    }
    let statements = body.statements(&procedure.body);
    Procedure {
        name: procedure.name.text.clone(),
        span: procedure.name.span,
        parameters: procedure.parameters.len(),
        returns: signature.returns.clone(),
        locals: body.into_locals(),
        body: statements,
    }
}
