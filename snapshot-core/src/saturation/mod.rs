//! Histories in which updates of one segment overlap: many writers.
//!
//! `x < y` reads "x takes effect before y, in every linearization". The *block* of an update
//! consists of it and the scans that saw it; the block of an initial value, of the scans that
//! returned it. The relation is the least one with
//!
//! * **time**: x responded before y was invoked;
//! * **reads**: an update comes before the scans that saw it;
//! * **first**: scans of an initial value come before every update of the segment;
//! * **block**: x in block a, y in another block b of the same segment, and x < y:
//!   then all of a comes before all of b, since a segment's values do not return;
//! * **chain**: it is transitive.
//!
//! A cycle refutes the history. The converse is almost true: where values do not repeat, a history
//! is linearizable iff the relation has no cycle, and an order of all scans exists in which the
//! readers of each value are consecutive. For the latter it suffices to order pairs of scans one
//! after the other, in any way that makes no cycle, without backtracking. The theorem and its proof
//! are in `docs/many-writers.md`.
//!
//! [`Saturation`] keeps the relation of a stream of events. [`check()`] decides a history, in
//! polynomial time where each entry can have been read from only one update. Entries with several
//! possible sources take no part in the relation, so only certain violations are found.

mod chains;
mod excerpt;
mod exclusion;
mod linearize;
mod online;
mod proof;
mod relation;
mod schedule;
mod shrink;
mod sources;
mod trail;

use std::hash::Hash;

pub(crate) use self::exclusion::refute as refute_repeated;
pub use self::online::{Conflict, Forgotten, Saturation};
pub(crate) use self::shrink::reduce;
use crate::history::History;
use crate::search::{Budget, Guide};
use crate::verdict::{Exhausted, Linearization, Reason, Refutation, Witness};
use crate::{OperationId, Segment};

/// The budget is checked every this many events or scans.
const PERIOD: usize = 64;

/// With more overlapping operations, ordering all scans takes less time than trying each pair.
const CROWD: usize = 64;

/// Periods of search, beyond the number that an order takes, after which the search for an order
/// of a prefix with partial scans gives up.
const FEW_STEPS: usize = 64;

/// The identifier of an operation of a relation that forgets nothing, and so numbers operations as
/// the history does.
fn id(operation: u32) -> OperationId {
    OperationId::from_index(operation as usize)
}

/// The answer of [`check()`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The history is linearizable, by this order.
    Linearizable(Linearization),
    /// The history is not linearizable.
    Violation {
        /// The event that completes the violation.
        event: usize,
        /// True if every shorter prefix is known to be linearizable.
        is_first: bool,
        /// The operations that prove it.
        witness: Witness,
        /// The derivation from these operations; absent if a scan returned a value that was never
        /// there.
        refutation: Option<Refutation>,
    },
    /// The history is not linearizable: some entry cannot have been read from any update of its
    /// value (where values repeat). The operations that prove it remain to be found.
    Excluded,
    /// The certain facts make no cycle, but some entry can have been read from several updates:
    /// deciding takes a search, which has to respect this guide.
    Ambiguous(Guide),
    /// A budget ran out; this many first events have no cycle.
    Exhausted {
        /// The budget that ran out.
        exhausted: Exhausted,
        /// Number of events that were found without cycle.
        events: usize,
    },
}

/// Decides a history, with proof. Polynomial: in practice near-linear in the number of operations
/// times the largest number of overlapping ones.
pub fn check<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Outcome {
    let mut saturation = Saturation::of_history(history.declaration());
    for (position, event) in history.events().enumerate() {
        if let Some(conflict) = saturation.observe(&event) {
            return violation(history, saturation, position, conflict, budget);
        }
        if position % PERIOD == 0
            && let Some(exhausted) = saturation.exhausted(budget)
        {
            return Outcome::Exhausted { exhausted, events: position };
        }
    }
    if saturation.is_ambiguous() {
        drop(saturation);
        return sources::check(history, budget);
    }
    if history.has_partial_scans() {
        return partial(history, &mut saturation.relation, budget);
    }
    match linearize::linearize(history, &mut saturation.relation, budget) {
        Ok(order) => Outcome::Linearizable(order),
        Err(linearize::Failure::Exhausted(exhausted)) => {
            Outcome::Exhausted { exhausted, events: history.len() }
        }
        Err(linearize::Failure::NoOrder) => {
            drop(saturation);
            pair_violation(history, budget)
        }
    }
}

/// Returns the answer for a history whose events before `event` make no cycle, in which `conflict`
/// was found at `event`: unless the earlier events have no order, either.
fn violation<V: Clone + Eq + Hash>(
    history: &History<V>,
    found: Saturation<V>,
    event: usize,
    conflict: Conflict,
    budget: &mut Budget<'_>,
) -> Outcome {
    let is_exact = found.uncertainty().is_none();
    let is_crowd = found.relation.chains().len() > CROWD;
    // The proof builds its own relation.
    drop(found);
    if is_exact && !is_crowd {
        let first = first_conflict(history, event, budget);
        return first.unwrap_or_else(|_| {
            let through = Saturation::of_prefix(history, event).through(&history.event(event));
            proof::violation(history, through, (event, false), conflict, budget)
        });
    }
    let mut before = Saturation::of_prefix(history, event);
    let mut is_first = false;
    // Where values repeat, certain facts come late anyway: `crate::check` decides prefixes.
    let is_certain = !before.is_ambiguous();
    if is_certain && before.is_partial() {
        let mut steps = before.retained() / PERIOD + FEW_STEPS;
        let mut proceed = || {
            steps = steps.saturating_sub(1);
            steps > 0 && (budget.proceed)()
        };
        let mut few = Budget { memory: budget.memory, proceed: &mut proceed };
        let mut relation = before.relation.clone();
        match schedule::linearize(&mut relation, &mut few).0 {
            Err(schedule::Failure::Refuted(_)) => {
                return partial(&history.prefix(event), &mut before.relation, budget);
            }
            Err(schedule::Failure::Exhausted(_)) => {}
            Ok(_) => is_first = true,
        }
    } else if is_certain {
        match linearize::has_order(&mut before.relation, budget) {
            Some(false) => return pair_violation(history, budget),
            found => is_first = found.is_some(),
        }
    }
    let through = before.through(&history.event(event));
    proof::violation(history, through, (event, is_first), conflict, budget)
}

/// Decides a history with partial scans whose relation is saturated and acyclic.
fn partial<V: Clone + Eq + Hash>(
    history: &History<V>,
    relation: &mut relation::Relation,
    budget: &mut Budget<'_>,
) -> Outcome {
    match schedule::linearize(relation, budget).0 {
        Ok(order) => Outcome::Linearizable(order),
        Err(schedule::Failure::Exhausted(exhausted)) => {
            // Only the empty prefix is known to be linearizable.
            Outcome::Exhausted { exhausted, events: 0 }
        }
        Err(schedule::Failure::Refuted(refutation)) => {
            let (place, found) = first_refuted(history, budget);
            proof::searched_violation(history, place, &found.unwrap_or(refutation), budget)
        }
    }
}

/// An event at which a violation is complete, and whether every shorter prefix is known to be
/// linearizable.
type Completion = (usize, bool);

/// Finds the first event of a refuted history whose prefix is refuted, with the proof for that
/// prefix; as far as the budget allows. Prefixes of linearizable histories are linearizable.
fn first_refuted<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> (Completion, Option<Refutation>) {
    let (mut linearizable, mut refuted, mut proof) = (0, history.len(), None);
    while refuted - linearizable > 1 {
        let middle = linearizable.midpoint(refuted);
        let mut saturation = Saturation::of_prefix(history, middle);
        debug_assert_eq!(saturation.conflict, None, "the whole relation is acyclic");
        match schedule::linearize(&mut saturation.relation, budget).0 {
            Ok(_) => linearizable = middle,
            Err(schedule::Failure::Refuted(found)) => (refuted, proof) = (middle, Some(found)),
            Err(schedule::Failure::Exhausted(_)) => break,
        }
    }
    ((refuted - 1, refuted - linearizable == 1), proof)
}

/// Finds the event from which on the scans have no order.
fn pair_violation<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Outcome {
    first_conflict(history, history.len(), budget)
        .unwrap_or_else(|(exhausted, events)| Outcome::Exhausted { exhausted, events })
}

/// Returns the answer by the first conflict of a history of full scans and unique values: two scans
/// that have no order, or else the cycle at event `last`.
///
/// # Errors
/// The number of events that were judged, if the budget runs out before.
fn first_conflict<V: Clone + Eq + Hash>(
    history: &History<V>,
    last: usize,
    budget: &mut Budget<'_>,
) -> Result<Outcome, (Exhausted, usize)> {
    let mut saturation = Saturation::trying_pairs(history.declaration());
    for (position, event) in history.events().enumerate() {
        if position == last {
            saturation = saturation.through(&event);
        } else {
            saturation.observe(&event);
        }
        if let Some(conflict) = saturation.conflict {
            return Ok(proof::violation(history, saturation, (position, true), conflict, budget));
        }
        if position % PERIOD == 0
            && let Some(exhausted) = saturation.exhausted(budget)
        {
            return Err((exhausted, position));
        }
    }
    debug_assert!(false, "a pair of scans that cannot be ordered at the end cannot be before");
    Ok(Outcome::Excluded)
}

/// Returns a witness for a scan that returned a value that was not there: all updates of it invoked
/// before the scan responded had failed.
fn never_there<V: Eq>(history: &History<V>, scan: OperationId, segment: Segment) -> Witness {
    let operation = history.operation(scan);
    let value = history.entry(operation, segment);
    let wrote = history.operation_ids().find(|id| {
        let update = history.operation(*id);
        update.segment() == Some(segment) && Some(history.update_value(update)) == value
    });
    let reason = match wrote {
        None => Reason::NeverWritten { scan, segment },
        Some(update) if operation.precedes(history.operation(update)) => {
            Reason::Future { scan, update }
        }
        Some(update) => Reason::FailedUpdateSeen { scan, update },
    };
    let mut operations: Vec<OperationId> = wrote.into_iter().chain([scan]).collect();
    operations.sort_unstable();
    Witness { reason, segments: vec![segment], operations, renaming: None }
}
