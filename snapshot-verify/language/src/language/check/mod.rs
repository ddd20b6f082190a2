//! Names and types: from the syntax tree to a [`Program`].
//!
//! Declarations come first (`types`, `globals`), then each procedure by itself (`body`, with the
//! modules for statements and expressions), then paths: loops and returns (`flow`), and
//! linearization points (`points`). An access within an expression becomes a statement before it,
//! and its result a hidden local. It still happens exactly when the text says, since `and`, `or`,
//! `if` become statements as soon as an operand accesses (`access`).

mod access;
mod assignment;
mod body;
mod bounds;
mod call;
mod choose;
mod convert;
mod exchange;
mod expression;
mod flow;
mod globals;
mod list;
mod mark;
mod node;
mod object;
mod operator;
mod points;
mod range;
mod record;
mod result;
mod statement;
mod target;
mod types;

use super::diagnostic::{Reporter, message};
use super::tree::Tree;
use super::{Source, Span};
use crate::program::{Interface, Procedure, ProcedureId, Program};
use body::Body;
use globals::{Expected, Globals};

/// Checks a tree and returns its program, with or without its linearization points. Errors are
/// reported, including errors of points that are not kept.
pub(super) fn program(
    source: &Source,
    tree: &Tree,
    bug: Option<&str>,
    with_points: bool,
    reporter: &mut Reporter,
) -> Option<Program> {
    let declared = match &tree.object {
        None => None,
        Some(object) => Some(object::declare(source, tree, object, reporter)?),
    };
    let expected = declared.as_ref().map_or(Expected::Snapshot, object::Declared::expected);
    let mut globals = Globals::declare(source, tree, expected, reporter);
    if let (None, Some(node)) = (&declared, tree.nodes.first()) {
        let message = message!("nodes-without-object", "nodes, and no object that they implement")
            .help(
                "declare what the algorithm implements, with `object NAME:`: a \
                 snapshot, too, can be declared as one",
            );
        reporter.report(message, node.name.span);
    }
    let place = tree.name.span;
    let interface = match declared {
        None => {
            let operation = |name: &str, reporter: &mut Reporter| {
                required(&globals, name, (place, false), reporter)
            };
            let (update, scan) = (operation("update", reporter), operation("scan", reporter));
            update.zip(scan).map(|(update, scan)| Interface::Snapshot { update, scan })
        }
        Some(declared) => declared.implemented(&globals, reporter).map(Interface::Object),
    };
    let initial_nodes = globals.initial_nodes(source, tree, reporter);
    let (procedures, marked) = procedures(source, &globals, tree, with_points, reporter);
    if !reporter.is_empty() {
        return None;
    }
    flow::check(&procedures, reporter);
    let (Some(interface), true) = (interface, reporter.is_empty()) else { return None };
    points::check(&procedures, &marked, &interface, reporter);
    if !reporter.is_empty() {
        return None;
    }
    Some(Program {
        name: tree.name.text.clone(),
        bug: bug.map(str::to_owned),
        citation: tree.citation.clone(),
        nodes: std::mem::take(&mut globals.nodes.types),
        initial_nodes,
        shared: std::mem::take(&mut globals.shared),
        private: std::mem::take(&mut globals.private),
        procedures,
        interface,
    })
}

/// Returns the procedure with this name; if missing, reports it at the declaration at `place`.
fn required(
    globals: &Globals,
    name: &str,
    (place, of_object): (Span, bool),
    reporter: &mut Reporter,
) -> Option<ProcedureId> {
    let found = globals.operation(name);
    if found.is_none() {
        let message = message!("missing-procedure", "the algorithm has no `{name}`");
        let message = message.help(match name {
            _ if of_object => format!(
                "declare `procedure {name}`, with the parameters of the operation, and below it \
                 how a process carries it out"
            ),
            "update" => "declare `update(v):` and below it how a process updates its segment; or \
                         declare the `object` that it implements"
                .to_owned(),
            _ => "declare `scan:` and below it how a process takes a snapshot".to_owned(),
        });
        reporter.report(message, place);
    }
    found
}

/// Checks all procedures, except for paths through them. Also returns, per procedure, the first
/// access that the text marks as a linearization point.
fn procedures(
    source: &Source,
    globals: &Globals,
    tree: &Tree,
    with_points: bool,
    reporter: &mut Reporter,
) -> (Vec<Procedure>, Vec<Option<Span>>) {
    let procedures = tree.procedures.iter().zip(0..);
    let checked = procedures.map(|(procedure, id)| {
        procedure_body(source, globals, (procedure, ProcedureId(id)), with_points, reporter)
    });
    checked.unzip()
}

fn procedure_body(
    source: &Source,
    globals: &Globals,
    (procedure, id): (&super::tree::Procedure, ProcedureId),
    with_points: bool,
    reporter: &mut Reporter,
) -> (Procedure, Option<Span>) {
    let signature = &globals.signatures[id.0 as usize];
    let mut body = Body::new(source, globals, signature, reporter);
    body.with_points = with_points;
    body.declare_parameters(procedure);
    for local in &procedure.locals {
        body.declare_local(local);
    }
    let statements = body.statements(&procedure.body);
    let marked = body.marked;
    let checked = Procedure {
        name: procedure.name.text.clone(),
        span: procedure.name.span,
        parameters: procedure.parameters.len(),
        returns: signature.returns.clone(),
        locals: body.into_locals(),
        body: statements,
    };
    (checked, marked)
}
