//! Linearization points: the operations that they belong to.
//!
//! A point belongs to the operation that is executing. In a snapshot, a procedure that both
//! `update` and `scan` call cannot have a point, since the two pass points in different ways; nor
//! can a procedure that no operation calls. Whether an operation passes exactly one point depends
//! on the results of its conditions and its SC and CAS, so it is checked where points are used.

use crate::language::Span;
use crate::language::diagnostic::{Reporter, message};
use crate::program::linearization::reached;
use crate::program::{Interface, Object, Operation, Procedure, ProcedureId};

/// Checks all procedures together, given the first marked access of each, and reports errors. Calls
/// must not be circular.
pub(super) fn check(
    procedures: &[Procedure],
    marked: &[Option<Span>],
    interface: &Interface,
    reporter: &mut Reporter,
) {
    match interface {
        Interface::Snapshot { update, scan } => {
            of_snapshot(procedures, marked, [*update, *scan], reporter);
        }
        Interface::Object(object) => of_object(procedures, marked, object, reporter),
        // Operations of a specification make no accesses.
        Interface::Specification => {}
    }
}

fn of_snapshot(
    procedures: &[Procedure],
    marked: &[Option<Span>],
    operations: [ProcedureId; 2],
    reporter: &mut Reporter,
) {
    let [by_update, by_scan] = operations.map(|operation| reached(procedures, operation));
    for (index, procedure) in procedures.iter().enumerate() {
        let Some(place) = marked[index] else { continue };
        let name = procedure.name.clone();
        match (by_update[index], by_scan[index]) {
            (true, true) => {
                let message = message!(
                    "point-of-both",
                    "a linearization point in `{name}`, which both `update` and `scan` call"
                )
                .help(
                    "it would be a point of both: mark the statement in `update` or `scan` \
                     itself, or mark none",
                );
                reporter.report(message, place);
            }
            (false, false) => {
                let message = message!(
                    "point-of-neither",
                    "a linearization point in `{name}`, which neither `update` nor `scan` calls"
                )
                .help("only operations take effect: remove `linearizes`, or call the procedure");
                reporter.report(message, place);
            }
            (true, false) | (false, true) => {}
        }
    }
}

/// Checks the points of an object. Several operations may call a procedure with points: a point
/// belongs to the executing operation, and an operation takes effect at one of the points that it
/// passes.
fn of_object(
    procedures: &[Procedure],
    marked: &[Option<Span>],
    object: &Object,
    reporter: &mut Reporter,
) {
    let by_operation = |operation: &Operation| reached(procedures, operation.procedure);
    let by_operation: Vec<Vec<bool>> = object.operations.iter().map(by_operation).collect();
    for (index, procedure) in procedures.iter().enumerate() {
        let Some(place) = marked[index] else { continue };
        let callers = object.operations.iter().zip(&by_operation).filter(|(_, by)| by[index]);
        let callers: Vec<&Operation> = callers.map(|(operation, _)| operation).collect();
        if let Some(together) = callers.iter().find(|operation| operation.together) {
            let name = procedures[together.procedure.0 as usize].name.clone();
            let message = message!(
                "point-together",
                "a linearization point of `{name}`, which takes effect together with others"
            )
            .help("what takes effect at once has no step of its own for that: remove `linearizes`");
            reporter.report(message, place);
        } else if callers.is_empty() {
            let name = procedure.name.clone();
            let message = message!(
                "point-of-none",
                "a linearization point in `{name}`, which no operation calls"
            )
            .help("only operations take effect: remove `linearizes`, or call the procedure");
            reporter.report(message, place);
        }
    }
}
