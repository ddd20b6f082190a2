//! Guards of operations (`when`) that depend only on the operations of the process itself.
//!
//! Then the moments at which the operations of other processes begin and end do not decide which
//! operations a process may begin.

use std::collections::BTreeSet;

use super::{
    Expression, ExpressionKind, LocalId, Object, Place, PrivateId, Procedure, ProcedureId,
    Projection, Root, Statement, StatementKind,
};

/// Returns true if, for an idle process, every guard has the same value in all orders of the
/// operations of the others: it reads only elements `x[me]` that belong to the process. Only
/// operations of the process assign them, without a condition, from other such elements and from
/// parameters.
pub fn are_own(object: &Object) -> bool {
    let procedures = &object.specification.procedures;
    let of = |id: ProcedureId| &procedures[id.0 as usize];
    let guards = object.operations.iter().filter_map(|operation| operation.when);
    let guards: Vec<&Procedure> = guards.map(of).collect();
    let variables = (0..object.specification.private.len() as u32).map(PrivateId);
    let mut own: BTreeSet<PrivateId> = variables.collect();
    loop {
        let before = own.len();
        for operation in &object.operations {
            keep_own(of(operation.effect), &mut own);
        }
        if own.len() == before {
            break;
        }
    }
    guards.iter().all(|guard| match &*guard.body {
        [Statement { kind: StatementKind::Return(Some(condition)), .. }] => {
            reads_only(condition, &own)
        }
        _ => false,
    })
}

/// Removes variables that an effect may assign differently in different orders, or of which it
/// assigns elements of other processes.
fn keep_own(effect: &Procedure, own: &mut BTreeSet<PrivateId>) {
    let mut assigned = BTreeSet::new();
    Statement::each(&effect.body, &mut |statement| {
        if let Some(Place { root: Root::Local(local), .. }) = statement.result() {
            assigned.insert(local.0);
        }
    });
    let is_parameter =
        |local: LocalId| (local.0 as usize) < effect.parameters && !assigned.contains(&local.0);
    let mut may_have_ended = false;
    for statement in &effect.body {
        let is_certain = match &statement.kind {
            StatementKind::Assign { value, .. } if !may_have_ended => {
                let mut is_certain = reads_only(value, own);
                value.each(&mut |part| match part.kind {
                    ExpressionKind::Local(local) => is_certain &= is_parameter(local),
                    ExpressionKind::Fresh => is_certain = false,
                    _ => {}
                });
                is_certain
            }
            _ => false,
        };
        Statement::each(std::slice::from_ref(statement), &mut |part| {
            may_have_ended |= matches!(part.kind, StatementKind::Return(_));
            if let Some(Place { root: Root::Private(variable), path }) = part.result() {
                let is_element = matches!(&**path, [Projection::Index(index), ..] if is_me(index));
                if !is_certain || !is_element {
                    own.remove(variable);
                }
            }
        });
    }
}

/// Returns true if, of all variables, the value depends on the elements `x[me]` of these only.
fn reads_only(value: &Expression, own: &BTreeSet<PrivateId>) -> bool {
    match &value.kind {
        ExpressionKind::Private(_) => false,
        ExpressionKind::Index(of, index) => match of.kind {
            ExpressionKind::Private(variable) => own.contains(&variable) && is_me(index),
            _ => reads_only(of, own) && reads_only(index, own),
        },
        _ => value.operands().into_iter().all(|part| reads_only(part, own)),
    }
}

fn is_me(index: &Expression) -> bool {
    match &index.kind {
        ExpressionKind::Me => true,
        ExpressionKind::Convert(inner) | ExpressionKind::Checked(inner) => is_me(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::parse;

    /// Guards, with the effects of the operation, and the answer.
    const CASES: [(&str, &str, bool); 10] = [
        ("true", "x := 0", true),
        ("begun[me] < 2", "begun[me] := begun[me] + 1", true),
        ("begun[me] < size", "x := 1; begun[me] := k", true),
        ("x = 0", "x := 0", false),
        ("begun[process(0)] < 2", "begun[me] := begun[me] + 1", false),
        // Assigned by others, under a condition, after a possible end, from common variables.
        ("begun[me] < 2", "begun[process(0)] := 0", false),
        ("begun[me] < 2", "if x = 0: begun[me] := 1", false),
        ("begun[me] < 2", "if x = 0: return; begun[me] := 1", false),
        ("begun[me] < 2", "begun[me] := x", false),
        ("begun[me] < 2", "local y: 0..2; y := x; begun[me] := y", false),
    ];

    #[test]
    fn guards_are_own_if_they_read_only_what_their_process_alone_determines() {
        for (guard, effect, expected) in CASES {
            let effect = effect.split("; ").map(|statement| format!("        {statement}\n"));
            let text = format!(
                "algorithm test
size 2
object counted:
    state x: 0..2
    state begun[process]: 0..2
    act(k: 0..2) when {guard}:
{}    look: 0..2:
        return begun[process(0)]
shared cell: 0..2
act(k): cell := k
look:
    local seen: 0..2
    seen := cell
    return seen
",
                effect.collect::<String>()
            );
            let program = parse("test", &text).and_then(|text| text.program(None));
            let program = program.unwrap_or_else(|error| panic!("{text}{error}"));
            assert_eq!(are_own(program.object().unwrap()), expected, "{guard}: {text}");
        }
    }
}
