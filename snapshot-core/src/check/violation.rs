//! Reports of violations: the event that completes the violation, and a proof of the prefix that
//! ends there.
//!
//! A proof of a longer prefix, or of a part of the history, is not yet a proof of this prefix.
//! Every finding of an earlier event, and every lifted proof, ends here: a proof is shown only if
//! the whole history confirms it, and if all its operations occurred by the reported event.

use std::hash::Hash;

use super::{Report, decide, minimize};
use crate::certificate::projection::Projection;
use crate::certificate::{refutation, witness};
use crate::explanation::Explanation;
use crate::history::History;
use crate::saturation;
use crate::search::Budget;
use crate::seeded::SeededSet;
use crate::verdict::{Method, Reason, Verdict};

/// States that brute force may visit to confirm an explanation; two scans and a few updates need
/// some dozens.
const CONFIRMATION: usize = 100_000;

/// The event that completes a violation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Completion {
    pub event: usize,
    /// True if every shorter prefix is known to be linearizable.
    pub is_first: bool,
}

impl<V: Clone + Eq + Hash> Report<V> {
    /// Creates the report of a violation with a confirmed proof. Ends of operations after the event
    /// are forgotten.
    pub(super) fn violation(method: Method, shown: Explanation<V>, at: Completion) -> Self {
        debug_assert!(is_seen_by(at.event, &shown), "{at:?}: {:?}", shown.witness);
        let explanation = shown.up_to(at.event);
        let verdict = Verdict::Violation(explanation.witness.clone());
        let (decided_at, is_first) = (Some(at.event), at.is_first);
        Self { method, verdict, explanation: Some(explanation), decided_at, is_first }
    }
}

/// Returns the report of a violation that is complete at an event: with the explanation at hand if
/// it proves the violation, else with a derivation if one is found, else with a few operations
/// without an order.
pub(super) fn proved<V: Clone + Eq + Hash>(
    method: Method,
    history: &History<V>,
    at: Completion,
    at_hand: Option<Explanation<V>>,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let events = at.event + 1;
    let shown = at_hand.filter(|shown| is_proof(history, at, shown));
    let shown = shown.or_else(|| {
        let (witness, lines) = saturation::refute_repeated(history, events, budget)?;
        let derived = Explanation::new(history, witness).derived_by(Some(lines));
        let is_proof = is_proof(history, at, &derived);
        debug_assert!(is_proof, "what is derived follows: {:?}", derived.refutation);
        is_proof.then_some(derived)
    });
    // An update that fails later may have been seen.
    let shown = shown.unwrap_or_else(|| {
        Explanation::new(history, minimize::minimize(&history.prefix(events), budget))
    });
    Report::violation(method, shown, at)
}

/// Returns true if the whole history confirms a proof whose operations occurred by the event.
fn is_proof<V: Clone + Eq + Hash>(
    history: &History<V>,
    at: Completion,
    shown: &Explanation<V>,
) -> bool {
    is_seen_by(at.event, shown) && is_confirmed(history, shown)
}

/// Returns true if the whole history confirms a proof: its lines or, if it has no lines, that its
/// operations have no order.
pub(super) fn is_confirmed<V: Clone + Eq + Hash>(
    history: &History<V>,
    shown: &Explanation<V>,
) -> bool {
    match &shown.refutation {
        Some(lines) => refutation::check(history, lines).is_ok(),
        None => witness::check(history, &shown.witness).is_ok() && stands_alone(shown),
    }
}

/// As [`proved`], by a proof of a part of the history that was lifted to the whole: it is confirmed
/// before it is shown, as far as a check can judge it.
pub(super) fn lifted<V: Clone + Eq + Hash>(
    method: Method,
    history: &History<V>,
    at: Completion,
    shown: Explanation<V>,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let is_refuted = match &shown.refutation {
        Some(lines) => refutation::check(history, lines).is_err(),
        None => witness::check_within(history, &shown.witness, CONFIRMATION)
            .is_err_and(|error| !error.is_undecided()),
    };
    debug_assert!(!is_refuted, "a proof of a part: {:?} {:?}", shown.witness, shown.refutation);
    if is_refuted || !is_seen_by(at.event, &shown) {
        return proved(method, history, at, None, budget);
    }
    Report::violation(method, shown, at)
}

/// Returns true if the shown operations alone have no order.
fn stands_alone<V: Clone + Eq>(shown: &Explanation<V>) -> bool {
    let alone = shown.history();
    matches!(Projection::whole(&alone).linearization(CONFIRMATION), Ok(None))
}

/// Returns true if all operations of a proof occurred in the prefix that ends with an event: scans
/// have responded, updates have been invoked. An update that came too late for the scan that saw
/// its value is exempt.
fn is_seen_by<V: Clone + Eq>(event: usize, shown: &Explanation<V>) -> bool {
    let is_late =
        |id| matches!(shown.witness.reason, Reason::Future { update, .. } if update == id);
    shown.operations.iter().all(|operation| {
        is_late(operation.id)
            || if operation.is_scan() {
                operation.ending.event().is_some_and(|end| end <= event)
            } else {
                operation.invocation <= event
            }
    })
}

/// Returns the first event from which on a history refuted at a given event is not linearizable.
/// Where values repeat, entries take no part in the relation until they are certain, so the
/// refutation may come late; then O(log n) prefixes are decided. If the budget does not allow that,
/// returns the event of the refutation.
pub(super) fn first_event<V: Clone + Eq + Hash>(
    history: &History<V>,
    refuted: Completion,
    budget: &mut Budget<'_>,
) -> Completion {
    if has_repeated_values(history) {
        shortest_prefix(history, refuted.event + 1, budget)
    } else {
        refuted
    }
}

/// Returns the last event of the shortest non-linearizable prefix of a non-linearizable prefix, as
/// far as the budget allows.
pub(super) fn shortest_prefix<V: Clone + Eq + Hash>(
    history: &History<V>,
    events: usize,
    budget: &mut Budget<'_>,
) -> Completion {
    // Prefixes of linearizable histories are linearizable.
    let (mut linearizable, mut violated) = (0, events);
    while violated - linearizable > 1 {
        let middle = linearizable.midpoint(violated);
        match decide(&history.prefix(middle), budget) {
            Some(true) => linearizable = middle,
            Some(false) => violated = middle,
            None => break,
        }
    }
    Completion { event: violated - 1, is_first: violated - linearizable == 1 }
}

/// Returns true if a segment receives a value twice, or its initial value again. O(operations).
fn has_repeated_values<V: Eq + Hash>(history: &History<V>) -> bool {
    let mut seen: SeededSet<(usize, &V)> = SeededSet::default();
    let mut updates = history.operations().iter().filter(|operation| !operation.is_scan());
    updates.any(|update| {
        let (segment, value) = (update.segment(), history.update_value(update));
        segment.is_some_and(|segment| {
            history.initial_value(segment) == value || !seen.insert((segment.index(), value))
        })
    })
}
