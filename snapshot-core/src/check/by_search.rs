//! Answers of the exact searches, and the proofs of violations that they find.

use std::hash::Hash;

use super::{Report, violation};
use crate::generic::{self, objects::Snapshot};
use crate::history::History;
use crate::search::{self, Budget};
use crate::verdict::{Cause, Method, Unknown, Verdict};

pub(super) fn search<V: Clone + Eq + Hash>(
    history: &History<V>,
    cause: Cause,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let found = search::search(history, budget);
    searched(history, found, cause, budget)
}

pub(super) fn searched<V: Clone + Eq + Hash>(
    history: &History<V>,
    found: search::Outcome,
    cause: Cause,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let found = match found {
        search::Outcome::Linearizable(linearization) => Verdict::Linearizable(linearization),
        search::Outcome::NotLinearizable { .. } => {
            return searched_violation(Method::Search, history, budget);
        }
        search::Outcome::Exhausted { exhausted, states, linearizable_events } => {
            Verdict::Unknown(Unknown { cause, exhausted, states, linearizable_events })
        }
    };
    Report::new(Method::Search, found)
}

pub(super) fn search_generically<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let (snapshot, any) = Snapshot::of(history);
    let found = match generic::check(&snapshot, &any, budget) {
        generic::Outcome::Linearizable { linearization, .. } => {
            Verdict::Linearizable(linearization)
        }
        generic::Outcome::NotLinearizable { .. } => {
            return searched_violation(Method::Generic, history, budget);
        }
        generic::Outcome::Exhausted { exhausted, furthest, states, .. } => {
            let (cause, linearizable_events) = (Cause::Requested, furthest.events);
            Verdict::Unknown(Unknown { cause, exhausted, states, linearizable_events })
        }
    };
    Report::new(Method::Generic, found)
}

/// Finds the first violation of a history that is not linearizable, with its proof.
pub(super) fn searched_violation<V: Clone + Eq + Hash>(
    method: Method,
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let first = violation::shortest_prefix(history, history.len(), budget);
    violation::proved(method, history, first, None, budget)
}
