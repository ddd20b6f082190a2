//! Where a text says that its operations take effect: statements that it marks
//! with `linearizes`.

use super::{Interface, Procedure, ProcedureId, Program, Statement, StatementKind};

/// Which operations have marked statements.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Points {
    /// Updates.
    pub updates: bool,
    /// Scans.
    pub scans: bool,
}

impl Points {
    /// Of nothing.
    pub const NONE: Self = Self { updates: false, scans: false };

    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        let marked = |operation| {
            let reached = reached(&program.procedures, operation);
            program
                .procedures
                .iter()
                .zip(reached)
                .any(|(procedure, reached)| reached && marked(&procedure.body).is_some())
        };
        match program.interface {
            Interface::Snapshot { update, scan } => {
                Self { updates: marked(update), scans: marked(scan) }
            }
            Interface::Object(_) | Interface::Specification => Self::NONE,
        }
    }

    /// Whether any operation has some.
    pub const fn any(self) -> bool {
        self.updates || self.scans
    }
}

/// Per procedure, whether it is this one, or called by it, directly or not.
pub fn reached(procedures: &[Procedure], from: ProcedureId) -> Vec<bool> {
    let mut reached = vec![false; procedures.len()];
    let mut waiting = vec![from];
    while let Some(procedure) = waiting.pop() {
        let index = procedure.0 as usize;
        if !std::mem::replace(&mut reached[index], true) {
            Statement::each(&procedures[index].body, &mut |statement| {
                if let StatementKind::Call { procedure, .. } = statement.kind {
                    waiting.push(procedure);
                }
            });
        }
    }
    reached
}

/// The first statement that is marked.
pub fn marked(statements: &[Statement]) -> Option<&Statement> {
    let mut found = None;
    Statement::each(statements, &mut |statement| {
        if statement.linearizes && found.is_none() {
            found = Some(statement);
        }
    });
    found
}
