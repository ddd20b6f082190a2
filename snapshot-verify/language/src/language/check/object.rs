//! The object that a text declares, as a program of its own.
//!
//! Its state consists of private variables; each operation is a procedure, and each `when` and
//! `await` a procedure that returns a truth value. So names, types and statements have the same
//! semantics in an object as in an algorithm, but an object has no shared memory.

use crate::language::diagnostic::syntax::{reserved_name, too_many};
use crate::language::diagnostic::types::not_constant;
use std::collections::{HashMap, HashSet};

use super::globals::{Expected, Globals, Signature};
use super::{flow, procedures, required};
use crate::language::diagnostic::{Message, Reporter, message};
use crate::language::tree::{self, Name, Tree};
use crate::language::{Source, Span};
use crate::program::{
    By, Expression, ExpressionKind, Interface, ListOperation, Object, Operation, Procedure,
    ProcedureId, Program, Root, Statement, StatementKind, Type,
};

/// An object, before the procedures that implement its operations are known.
pub(super) struct Declared<'t> {
    tree: &'t tree::Object,
    specification: Program,
    signatures: Vec<Signature>,
    /// Per operation, the procedures of its `when` and `await`.
    guards: Vec<[Option<ProcedureId>; 2]>,
}

/// Declares the object of a tree; reports errors, and returns `None` then.
pub(super) fn declare<'t>(
    source: &Source,
    tree: &Tree,
    object: &'t tree::Object,
    reporter: &mut Reporter,
) -> Option<Declared<'t>> {
    let place = object.name.span;
    if object.operations.is_empty() {
        let message =
            message!("no-operations", "the object `{}` has no operations", object.name.text)
                .help("declare them below the `state`: `read: 0..3: return x`, say");
        reporter.report(message, place);
    }
    let (limit, parameters) = (Object::MOST_OPERATIONS, Object::MOST_PARAMETERS);
    if object.operations.len() > limit {
        reporter.report(too_many("operations", limit), place);
    }
    let (mut written, mut guards) = (Vec::new(), Vec::new());
    for operation in &object.operations {
        let name = &operation.procedure.name;
        if ListOperation::CALLS.iter().any(|call| call.name() == name.text) {
            reporter.report(reserved_name(&name.text), name.span);
        }
        if operation.procedure.parameters.len() > parameters {
            reporter.report(too_many("parameters", parameters), operation.procedure.name.span);
        }
        written.push(operation.procedure.clone());
    }
    for operation in &object.operations {
        let conditions = [("when", &operation.when), ("await", &operation.awaits)];
        guards.push(conditions.map(|(word, condition)| {
            let id = ProcedureId(written.len() as u32);
            written.extend(condition.as_ref().map(|one| guard(word, &operation.procedure, one)));
            condition.as_ref().map(|_| id)
        }));
    }
    let variables = tree.shared.iter().chain(&tree.private);
    let outside: HashSet<String> = variables.map(|variable| variable.name.text.clone()).collect();
    let specification = Tree {
        name: object.name.clone(),
        citation: None,
        types: tree.types.clone(),
        object: None,
        nodes: tree.nodes.clone(),
        initially: Vec::new(),
        shared: Vec::new(),
        private: object.state.clone(),
        procedures: written,
    };
    let expected = Expected::Specification(outside);
    let globals = Globals::declare(source, &specification, expected, reporter);
    let (procedures, _) = procedures(source, &globals, &specification, false, reporter);
    if !reporter.is_empty() {
        return None;
    }
    flow::check(&procedures, reporter);
    let specification = Program {
        name: object.name.text.clone(),
        bug: None,
        citation: None,
        nodes: Vec::new(),
        initial_nodes: Vec::new(),
        shared: Vec::new(),
        private: globals.private,
        procedures,
        interface: Interface::Specification,
    };
    check(&specification, object.operations.len(), reporter);
    if !reporter.is_empty() {
        return None;
    }
    let mut signatures = globals.signatures;
    signatures.truncate(object.operations.len());
    Some(Declared { tree: object, specification, signatures, guards })
}

/// Returns `when C` or `await C` as a procedure. No text can define a procedure of this name.
fn guard(word: &str, operation: &tree::Procedure, when: &tree::Expression) -> tree::Procedure {
    let (span, kind) = (when.span, tree::TypeKind::Named("bool".to_owned()));
    let name = Name { text: format!("{word} {}", operation.name.text), span };
    let answer =
        tree::Statement { kind: tree::StatementKind::Return(Some(when.clone())), span, mark: None };
    tree::Procedure {
        name,
        parameters: operation.parameters.clone(),
        returns: Some(tree::TypeExpression { kind, span }),
        locals: Vec::new(),
        body: vec![answer],
    }
}

impl Declared<'_> {
    /// Returns the required signatures of the procedures that implement the operations.
    pub fn expected(&self) -> Expected {
        let named = |one: &Signature| (one.name.text.clone(), one.clone());
        Expected::Operations(self.signatures.iter().map(named).collect::<HashMap<_, _>>())
    }

    /// Returns the object, if each operation has its procedure; reports missing ones.
    pub fn implemented(self, globals: &Globals, reporter: &mut Reporter) -> Option<Box<Object>> {
        let named = self.tree.operations.iter().filter_map(|operation| match operation.by {
            tree::By::Process(number) => Some(number),
            tree::By::All | tree::By::Others => None,
        });
        let named: Vec<u32> = named.collect();
        let mut operations = Vec::new();
        for (position, operation) in self.tree.operations.iter().enumerate() {
            let name = &operation.procedure.name;
            let procedure = required(globals, &name.text, (name.span, true), reporter);
            operations.extend(procedure.map(|procedure| Operation {
                procedure,
                effect: ProcedureId(position as u32),
                when: self.guards[position][0],
                awaits: self.guards[position][1],
                by: match operation.by {
                    tree::By::All => By::All,
                    tree::By::Process(number) => By::Process(number),
                    tree::By::Others => By::Except(named.clone()),
                },
                together: is_together(&self.specification.procedures[position]),
            }));
        }
        let is_whole = operations.len() == self.tree.operations.len();
        is_whole.then(|| {
            let (name, span) = (self.tree.name.text.clone(), self.tree.name.span);
            Box::new(Object { name, span, specification: self.specification, operations })
        })
    }
}

/// Reports constructs that an algorithm may use, but an object may not.
fn check(specification: &Program, operations: usize, reporter: &mut Reporter) {
    for variable in &specification.private {
        no_version(&variable.content, variable.span, reporter);
        if mentions_me(&variable.initial) {
            reporter.report(not_constant(), variable.initial.span);
        }
    }
    for (number, procedure) in specification.procedures.iter().enumerate() {
        for local in &procedure.locals {
            no_version(&local.content, local.span, reporter);
        }
        Statement::each(&procedure.body, &mut |statement| {
            if let StatementKind::Atomic(_) = statement.kind {
                let message = message!(
                    "atomic-in-object",
                    "an atomic step within an operation of the object"
                )
                .help("an operation takes effect at one instant: leave out `atomic:`");
                reporter.report(message, statement.span);
            }
        });
        if number >= operations {
            continue;
        }
        together(specification, procedure, reporter);
        for parameter in &procedure.locals[..procedure.parameters] {
            if !is_argument(&parameter.content) {
                let (content, place) = (parameter.content.clone(), "a parameter of an operation");
                reporter.report(operation_type(&content, place), parameter.span);
            }
        }
        if let Some(content) = procedure.returns.clone().filter(|content| !is_result(content)) {
            let place = "the result of an operation";
            reporter.report(operation_type(&content, place), procedure.span);
        }
    }
}

/// Returns true if others may take effect together with an operation.
fn is_together(effect: &Procedure) -> bool {
    effect.body.iter().any(|statement| matches!(statement.kind, StatementKind::Together))
}

/// Checks `together`. It occurs once and in no block, and the statements after it do not change the
/// state: so the order of operations that take effect together can matter only before it. Other
/// operations must not call an operation with `together`.
fn together(specification: &Program, operation: &Procedure, reporter: &mut Reporter) {
    let mut parts = operation.body.splitn(2, |one| matches!(one.kind, StatementKind::Together));
    let (before, after) = (parts.next().unwrap_or_default(), parts.next());
    let mut report = |message, span| _ = reporter.report(message, span);
    for statements in std::iter::once(before).chain(after) {
        Statement::each(statements, &mut |statement| match &statement.kind {
            StatementKind::Together => report(
                message!("together-nested", "`together` within a block, or a second time").help(
                    "write it once, between the statements that change the state and those \
                     that look at what all have done",
                ),
                statement.span,
            ),
            StatementKind::Call { procedure, .. } => {
                let called = specification.procedure(*procedure);
                if is_together(called) {
                    let name = called.name.clone();
                    let message = message!(
                        "together-called",
                        "the operation `{name}`, others of which take effect together with it, \
                         is called"
                    )
                    .help("write what it does in place of the call");
                    report(message, statement.span);
                }
            }
            _ => {}
        });
    }
    Statement::each(after.unwrap_or_default(), &mut |statement| {
        let changes = match &statement.kind {
            StatementKind::Assign { place, .. } => matches!(place.root, Root::Private(_)),
            // Within an object, only operations can be called.
            StatementKind::Call { .. } => true,
            _ => false,
        };
        if changes {
            let message =
                message!("changed-after-together", "the state is changed after `together`").help(
                    "change the state before it: after it, the operations only look at \
                     what all of them have done",
                );
            report(message, statement.span);
        }
    });
}

/// Reports a version or a node: these belong to algorithms.
fn no_version(content: &Type, span: Span, reporter: &mut Reporter) {
    if is_internal(content) {
        let (content, place) = (content.clone(), "in an object");
        reporter.report(operation_type(&content, place), span);
    }
}

fn is_internal(content: &Type) -> bool {
    match content {
        Type::Version | Type::Node { .. } => true,
        Type::Optional(content) | Type::Array { element: content, .. } | Type::List(content) => {
            is_internal(content)
        }
        Type::Record(fields) => fields.iter().any(|field| is_internal(&field.content)),
        _ => false,
    }
}

/// Returns true if a type has finitely many elements, which can be arguments, by number.
fn is_argument(content: &Type) -> bool {
    match content {
        Type::Optional(content) => is_argument(content),
        Type::Value | Type::Bool | Type::Process | Type::Segment | Type::Integer { .. } => true,
        Type::Version
        | Type::Node { .. }
        | Type::Counter
        | Type::Array { .. }
        | Type::Record(_)
        | Type::List(_) => false,
    }
}

fn is_result(content: &Type) -> bool {
    match content {
        Type::Array { element, .. } => is_result(element),
        Type::Record(fields) => fields.iter().all(|field| is_result(&field.content)),
        Type::Counter => true,
        content => is_argument(content),
    }
}

fn mentions_me(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Me)
        || expression.operands().into_iter().any(mentions_me)
}

fn operation_type(content: &Type, place: &str) -> Message {
    message!("operation-type", "`{content}` cannot be {place}").help(
        "values, numbers, processes, segments, truth values, and `... or none` can; \
         and, but for parameters, records and arrays of these",
    )
}
