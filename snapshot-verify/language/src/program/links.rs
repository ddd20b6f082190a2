//! Uses of LL, SC and VL that have a meaning, but hardly the one that was meant.

use std::collections::HashSet;

use super::{Access, Program, SharedId, Statement, StatementKind};
use crate::language::{Diagnostic, DiagnosticKind};

/// An SC or VL on a variable to which no LL links, and a VL whose result is not used.
pub(crate) fn suspicions(program: &Program) -> Vec<Diagnostic> {
    let statements = || program.procedures.iter().flat_map(|procedure| &procedure.body);
    let mut linked: HashSet<SharedId> = HashSet::new();
    Statement::each(statements(), &mut |statement| {
        if let StatementKind::Access { access: Access::LoadLinked(cell), .. } = &statement.kind {
            linked.insert(cell.variable);
        }
    });
    let mut found = Vec::new();
    Statement::each(statements(), &mut |statement| {
        let StatementKind::Access { access, into } = &statement.kind else { return };
        let operation = match access {
            Access::StoreConditional(..) => "SC",
            Access::Validate(_) => "VL",
            _ => return,
        };
        let cell = access.place();
        if !linked.contains(&cell.variable) {
            let name = program.shared(cell.variable).name.clone();
            let kind = DiagnosticKind::NeverLinked { operation, name };
            found.push(Diagnostic { kind, span: cell.span });
        } else if operation == "VL" && into.is_none() {
            let kind = DiagnosticKind::UnusedResult { operation };
            found.push(Diagnostic { kind, span: statement.span });
        }
    });
    found
}
