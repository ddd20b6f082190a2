//! Destinations of results.
//!
//! The result of an access within an expression goes to a hidden local first. If it is only stored,
//! the access stores it directly, and the hidden local is removed.

use super::body::Body;
use crate::program::{Expression, ExpressionKind, LocalId, Place, Root, Statement, StatementKind};

impl Body<'_> {
    /// Returns true if the last of these statements makes this value, in a hidden local. Then the
    /// value must be [delivered](deliver) elsewhere, and the local is removed if it is the last
    /// one.
    pub fn release(&mut self, statements: &[Statement], value: &Expression) -> bool {
        let ExpressionKind::Local(local) = value.kind else { return false };
        let made = self.local(local).hidden && made_by(statements.last()) == Some(local);
        if made {
            self.take_back(local);
        }
        made
    }
}

/// Returns the local that the statement overwrites with its result.
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

/// Stores a value after these statements. If the last of them `made` it, that statement stores it.
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

pub(super) fn assign(place: Place, value: Expression) -> Statement {
    let span = value.span;
    Statement { kind: StatementKind::Assign { place, value }, span, mark: None }
}

/// Returns a whole local as the target of an assignment.
pub(super) fn whole(id: LocalId) -> Place {
    Place { root: Root::Local(id), path: Vec::new() }
}
