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
        match program.interface {
            Interface::Snapshot { update, scan } => {
                Self { updates: has_marks(program, update), scans: has_marks(program, scan) }
            }
            Interface::Object(_) | Interface::Specification => Self::NONE,
        }
    }

    /// Whether any operation has some.
    pub const fn any(self) -> bool {
        self.updates || self.scans
    }
}

/// Per operation of an object that a text declares, whether it has marked statements; none for
/// what declares none.
pub fn at_points(program: &Program) -> Box<[bool]> {
    let operations = program.object().map_or(&[][..], |object| &object.operations);
    operations.iter().map(|operation| has_marks(program, operation.procedure)).collect()
}

/// Whether a program has marked statements.
pub fn has_points(program: &Program) -> bool {
    Points::new(program).any() || at_points(program).contains(&true)
}

/// Whether an operation has marked statements.
fn has_marks(program: &Program, operation: ProcedureId) -> bool {
    let reached = reached(&program.procedures, operation);
    let procedures = program.procedures.iter().zip(reached);
    procedures.into_iter().any(|(of, reached)| reached && marked(&of.body).is_some())
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
        if statement.mark.is_some() && found.is_none() {
            found = Some(statement);
        }
    });
    found
}
