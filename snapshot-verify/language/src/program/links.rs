//! Suspicious uses of LL, SC and VL: valid, but hardly intended.

use std::collections::HashSet;

use super::{Access, Program, SharedId, Statement, StatementKind};
use crate::language::diagnostic::{Diagnostic, message};

/// Finds an SC or VL on a variable without an LL, and a VL whose result is not used.
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
            let name = &program.shared(cell.variable).name;
            let message = message!(
                "never-linked",
                "`{operation}` on `{name}`, to which no `LL` links: it always fails"
            )
            .warning()
            .help(format!("read it by `x := LL({name}...)` first: that links the process"));
            found.push(Diagnostic::new(message, cell.span));
        } else if operation == "VL" && into.is_none() {
            let message = message!("unused-result", "the result of `{operation}` is not used")
                .warning()
                .help(format!("assign it, or test it: `if {operation}(...): ...`"));
            found.push(Diagnostic::new(message, statement.span));
        }
    });
    found
}
