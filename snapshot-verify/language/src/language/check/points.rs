//! Linearization points: the operations that they belong to.
//!
//! A point is one of the operation that is executing. In a procedure that both
//! `update` and `scan` call it would be a point of both; in one that neither calls,
//! of none. That an operation passes exactly one is not checked here, as it depends on
//! what its conditions and its SC and CAS yield, but where points are used.

use crate::language::diagnostic::{DiagnosticKind, Reporter};
use crate::program::linearization::{marked, reached};
use crate::program::{Interface, Procedure};

/// Checks all procedures together. What is wrong is reported. Calls must not be
/// circular.
pub(super) fn check(procedures: &[Procedure], interface: &Interface, reporter: &mut Reporter) {
    let &Interface::Snapshot { update, scan } = interface else {
        for procedure in procedures {
            if let Some(statement) = marked(&procedure.body) {
                let what = "`linearizes`".to_owned();
                reporter.report(DiagnosticKind::OfSnapshot { what }, statement.span);
            }
        }
        return;
    };
    let (by_update, by_scan) = (reached(procedures, update), reached(procedures, scan));
    for (index, procedure) in procedures.iter().enumerate() {
        let Some(statement) = marked(&procedure.body) else { continue };
        let name = procedure.name.clone();
        match (by_update[index], by_scan[index]) {
            (true, true) => {
                reporter.report(DiagnosticKind::PointOfBoth { name }, statement.span);
            }
            (false, false) => {
                reporter.report(DiagnosticKind::PointOfNeither { name }, statement.span);
            }
            (true, false) | (false, true) => {}
        }
    }
}
