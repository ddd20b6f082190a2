//! Linearization points in a text: statements that it marks with `linearizes`.

use super::{Interface, Procedure, ProcedureId, Program, Statement, StatementKind};

/// Operations with marked statements.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Points {
    pub updates: bool,
    pub scans: bool,
}

impl Points {
    /// No points.
    pub const NONE: Self = Self { updates: false, scans: false };

    /// Returns the operations of a snapshot program with marked statements; no points for other
    /// programs.
    pub fn new(program: &Program) -> Self {
        match program.interface {
            Interface::Snapshot { update, scan } => {
                Self { updates: has_marks(program, update), scans: has_marks(program, scan) }
            }
            Interface::Object(_) | Interface::Specification => Self::NONE,
        }
    }

    /// Returns true if an operation has points.
    pub const fn any(self) -> bool {
        self.updates || self.scans
    }
}

/// Returns, per operation of a declared object, true if it has marked statements; empty if the
/// program does not declare an object.
pub fn at_points(program: &Program) -> Box<[bool]> {
    let operations = program.object().map_or(&[][..], |object| &object.operations);
    operations.iter().map(|operation| has_marks(program, operation.procedure)).collect()
}

/// Returns true if a program has marked statements.
pub fn has_points(program: &Program) -> bool {
    Points::new(program).any() || at_points(program).contains(&true)
}

/// Returns true if an operation has marked statements.
fn has_marks(program: &Program, operation: ProcedureId) -> bool {
    let reached = reached(&program.procedures, operation);
    let procedures = program.procedures.iter().zip(reached);
    procedures.into_iter().any(|(of, reached)| reached && marked(&of.body).is_some())
}

/// Returns, per procedure, true if it is `from` or called by it, directly or indirectly.
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

/// Returns the first marked statement.
pub fn marked(statements: &[Statement]) -> Option<&Statement> {
    let mut found = None;
    Statement::each(statements, &mut |statement| {
        if statement.mark.is_some() && found.is_none() {
            found = Some(statement);
        }
    });
    found
}
