//! Where results go.
//!
//! The result of an access within an expression goes to a hidden local first. If
//! all that is done with it is to store it, it goes there at once, and the hidden
//! local is taken back.

use super::body::Body;
use crate::program::{Expression, ExpressionKind, LocalId, Place, Root, Statement, StatementKind};

impl Body<'_> {
    /// Whether the last of these statements makes this value, in a hidden local.
    /// If so the local is taken back, if no other was made since, and the value must
    /// be [delivered](deliver) elsewhere.
    pub fn release(&mut self, statements: &[Statement], value: &Expression) -> bool {
        let ExpressionKind::Local(local) = value.kind else { return false };
        let made = self.local(local).hidden && made_by(statements.last()) == Some(local);
        if made {
            self.take_back(local);
        }
        made
    }
}

/// The local, whole, that the statement puts its result into.
fn made_by(statement: Option<&Statement>) -> Option<LocalId> {
    match &statement?.kind {
        StatementKind::Access { into: Some(into), .. }
        | StatementKind::Call { into: Some(into), .. }
            if into.path.is_empty() =>
        {
            match into.root {
                Root::Local(local) => Some(local),
                Root::Private(_) => None,
            }
        }
        _ => None,
    }
}

/// Stores a value after these statements. If the last of them `made` it, it puts it
/// there itself.
pub(super) fn deliver(
    statements: &mut Vec<Statement>,
    made: bool,
    value: Expression,
    place: Place,
) {
    if made
        && let Some(last) = statements.last_mut()
        && let StatementKind::Access { into, .. } | StatementKind::Call { into, .. } =
            &mut last.kind
    {
        *into = Some(place);
        return;
    }
    statements.push(assign(place, value));
}

/// An assignment.
pub(super) fn assign(place: Place, value: Expression) -> Statement {
    let span = value.span;
    Statement { kind: StatementKind::Assign { place, value }, span, mark: None }
}

/// A local, whole, as the target of an assignment.
pub(super) fn whole(id: LocalId) -> Place {
    Place { root: Root::Local(id), path: Vec::new() }
}
