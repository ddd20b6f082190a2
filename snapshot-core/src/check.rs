//! The checker that chooses by itself.
//!
//! A simple history goes to the observer; any other whose reads are
//! unambiguous to the linear-time conditions; one whose updates overlap to
//! [`crate::saturation`]; what that leaves open, since values repeat, to exact
//! search. Where scans are partial, each component of segments is decided by itself.
//! The answer says which it was, and carries its certificate.

mod by_search;
mod components;
mod display;
mod minimize;

use std::hash::Hash;

use self::by_search::{search, search_generically, searched, searched_violation};
use crate::certificate::projection::Projection;
use crate::explanation::{Explanation, explain};
use crate::history::History;
use crate::linear;
use crate::monitor::{Alarm, Judgement, Monitor, Undecided};
use crate::observer::TableObserver;
use crate::saturation;
use crate::search::{self, Budget};
use crate::seeded::SeededSet;
use crate::simple::SimpleHistory;
use crate::verdict::{
    Cause, Dispute, Linearization, Method, Refutation, Unknown, Verdict, Witness,
};
use crate::{OperationId, certificate};

/// States that brute force may visit to confirm an explanation: with two scans
/// and a few updates it needs some dozens.
const CONFIRMATION: usize = 100_000;

/// A verdict, how it was reached, and, for a violation, what tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Report<V> {
    /// How the verdict was reached.
    pub method: Method,
    /// The verdict with its certificate.
    pub verdict: Verdict,
    /// The witness's operations, if the verdict is a violation.
    pub explanation: Option<Explanation<V>>,
    /// Number of the event that completes the violation, if the verdict is one.
    pub decided_at: Option<usize>,
}

impl<V: Clone + Eq + Hash> Report<V> {
    /// A violation that is complete with this event, as its witness and, if there is one, a
    /// derivation show.
    fn violation(
        method: Method,
        history: &History<V>,
        (witness, refutation): (Witness, Option<Refutation>),
        event: usize,
    ) -> Self {
        let mut explanation = Explanation::of(history, witness.clone());
        explanation.refutation = refutation;
        let verdict = Verdict::Violation(witness);
        Self { method, verdict, explanation: Some(explanation), decided_at: Some(event) }
    }
}

/// Checks a history, and proves the answer.
///
/// Linear time where updates of one segment do not overlap, else polynomial,
/// except for histories with ambiguous values; for these it is exponential in the
/// worst case. `budget` may end it with [`Verdict::Unknown`].
///
/// ```
/// use snapshot_core::check::check;
/// use snapshot_core::history::{Declaration, History};
/// use snapshot_core::search::Budget;
/// use snapshot_core::verdict::{Reason, Verdict};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke_update(0, 0, 5).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.respond_scan(1, &[5, 0]).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.respond_scan(1, &[0, 0]).unwrap();
/// let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
/// let report = check(&history.finish(), &mut budget);
/// let Verdict::Violation(witness) = report.verdict else { panic!() };
/// assert!(matches!(witness.reason, Reason::Decrease { .. }));
/// ```
pub fn check<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Report<V> {
    if history.has_partial_scans() {
        let report = by_components(history, |part| Ok(whole(part, budget)));
        return report.unwrap_or_else(|undecided| search(history, undecided.cause, budget));
    }
    whole(history, budget)
}

fn whole<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Report<V> {
    match without_search(history, budget) {
        Ok(report) => report,
        Err(undecided) => saturate(history, undecided, budget),
    }
}

/// Decides each component of a history by itself. Of several violations, the first one to be
/// completed is reported.
///
/// # Errors
/// What `decide` says of a component, if it does not decide, and no component has a violation.
fn by_components<V: Clone + Eq + Hash>(
    history: &History<V>,
    mut decide: impl FnMut(&History<V>) -> Result<Report<V>, Undecided>,
) -> Result<Report<V>, Undecided> {
    let components = components::components(history);
    let events = components::events(history, &components);
    let (mut method, mut orders) = (Method::Linear, Vec::new());
    let mut violation: Option<Report<V>> = None;
    let mut unknown: Option<Report<V>> = None;
    let mut undecided: Option<Undecided> = None;
    for (segments, events) in components.into_iter().zip(events) {
        let part = components::Part::new(history, segments, events);
        let report = match decide(&part.history) {
            Ok(report) => report,
            Err(Undecided { event, cause }) => {
                let event = part.lift_event(event, history);
                undecided.get_or_insert(Undecided { event, cause: part.lift_cause(cause) });
                continue;
            }
        };
        method = strongest(method, report.method);
        match report.verdict {
            Verdict::Linearizable(order) => orders.push(part.instants(&order, history)),
            Verdict::Violation(_) => {
                let report = Report { method, ..part.lift(report) };
                if violation.as_ref().is_none_or(|first| report.decided_at < first.decided_at) {
                    violation = Some(report);
                }
            }
            Verdict::Disputed(_) => return Ok(report),
            Verdict::Unknown(found) => {
                let events = part.lift_event(found.linearizable_events, history);
                let verdict = Verdict::Unknown(Unknown {
                    cause: part.lift_cause(found.cause),
                    linearizable_events: events,
                    ..found
                });
                unknown.get_or_insert(Report { verdict, ..report });
            }
        }
    }
    match (violation, undecided, unknown) {
        (Some(report), ..) => Ok(report),
        (None, Some(undecided), _) => Err(undecided),
        (None, None, Some(report)) => Ok(report),
        (None, None, None) => {
            let order = components::merge(history, orders);
            let is_confirmed = certificate::linearization::check(history, &order);
            debug_assert_eq!(is_confirmed, Ok(()), "linearizability is local");
            let verdict = Verdict::Linearizable(order);
            Ok(Report { method, verdict, explanation: None, decided_at: None })
        }
    }
}

/// The method that decides more histories.
fn strongest(first: Method, second: Method) -> Method {
    let rank = |method| match method {
        Method::Simple => 0,
        Method::Linear => 1,
        Method::Saturation => 2,
        Method::Search | Method::Generic => 3,
    };
    if rank(first) < rank(second) { second } else { first }
}

/// By the saturated relation, and by search where that leaves something open. What it finds
/// is confirmed before it is believed.
fn saturate<V: Clone + Eq + Hash>(
    history: &History<V>,
    undecided: Undecided,
    budget: &mut Budget<'_>,
) -> Report<V> {
    let cause = undecided.cause;
    let report = match saturation::check(history, budget) {
        saturation::Outcome::Ambiguous(guide) => {
            let found = search::search_guided(history, &guide, budget);
            return searched(history, found, cause, budget);
        }
        // What is left of the budget may do for a search.
        saturation::Outcome::Exhausted { .. } if matches!(cause, Cause::AmbiguousValue { .. }) => {
            None
        }
        outcome => saturated(history, outcome, undecided, budget),
    };
    report.unwrap_or_else(|| search(history, cause, budget))
}

/// An answer of the saturated relation, if it is confirmed.
fn saturated<V: Clone + Eq + Hash>(
    history: &History<V>,
    outcome: saturation::Outcome,
    undecided: Undecided,
    budget: &mut Budget<'_>,
) -> Option<Report<V>> {
    let (method, cause) = (Method::Saturation, undecided.cause);
    let report = |verdict| Report { method, verdict, explanation: None, decided_at: None };
    match outcome {
        saturation::Outcome::Linearizable(order) => {
            let is_confirmed = certificate::linearization::check(history, &order).is_ok();
            debug_assert!(is_confirmed, "the lemma gives a linearization");
            is_confirmed.then(|| report(Verdict::Linearizable(order)))
        }
        saturation::Outcome::Violation { event, witness, refutation } => {
            let is_confirmed = match &refutation {
                Some(lines) => certificate::refutation::check(history, lines).is_ok(),
                None => certificate::witness::check(history, &witness).is_ok(),
            };
            debug_assert!(is_confirmed, "what is derived follows: {witness:?} {refutation:?}");
            is_confirmed.then(|| {
                let event = first_event(history, event, budget);
                Report::violation(method, history, (witness, refutation), event)
            })
        }
        saturation::Outcome::Excluded => {
            let report = searched_violation(method, history, budget);
            let Verdict::Violation(witness) = &report.verdict else { return None };
            if report.explanation.as_ref().is_some_and(|shown| shown.refutation.is_some()) {
                return Some(report);
            }
            let confirmed = certificate::witness::check(history, witness);
            let is_wrong = confirmed.as_ref().is_err_and(|error| !error.is_undecided());
            debug_assert!(!is_wrong, "{witness:?}: {confirmed:?}");
            (!is_wrong).then_some(report)
        }
        saturation::Outcome::Ambiguous(_) => None,
        saturation::Outcome::Exhausted { exhausted, .. } => {
            let linearizable_events = undecided.event;
            let unknown = Unknown { cause, exhausted, states: 0, linearizable_events };
            Some(report(Verdict::Unknown(unknown)))
        }
    }
}

/// A way to check that applies to every history, or says that it does not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Checker {
    /// The linear-time conditions (and the observer, where they agree).
    Linear,
    /// The saturated relation, for updates that overlap.
    Saturation,
    /// Exact search, with what is known of snapshots.
    Search,
    /// Exact search with nothing but the specification ([`crate::generic`]).
    Generic,
}

/// Checks a history in a way of the caller's choice, as a second opinion on
/// [`check`], or for comparison. Operations that prove a violation are found as
/// [`check`] finds them.
///
/// # Errors
/// If the linear-time conditions were chosen and do not decide the history.
pub fn check_by<V: Clone + Eq + Hash>(
    checker: Checker,
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Undecided> {
    match checker {
        Checker::Linear if history.has_partial_scans() => {
            by_components(history, |part| without_search(part, budget))
        }
        Checker::Linear => without_search(history, budget),
        Checker::Saturation => {
            let undecided = Undecided { event: 0, cause: Cause::Requested };
            Ok(saturate(history, undecided, budget))
        }
        Checker::Search => Ok(search(history, Cause::Requested, budget)),
        Checker::Generic => Ok(search_generically(history, budget)),
    }
}

/// The first event from which on a history is not linearizable that is refuted at this
/// one. Where values repeat, entries take no part in the relation until they are certain,
/// and so the refutation may come late; prefixes are decided then, O(log n) of them. If
/// the budget does not allow that, the event of the refutation.
fn first_event<V: Clone + Eq + Hash>(
    history: &History<V>,
    refuted_at: usize,
    budget: &mut Budget<'_>,
) -> usize {
    if !has_repeated_values(history) {
        return refuted_at;
    }
    // Prefixes of linearizable histories are linearizable.
    let (mut linearizable, mut violated) = (0, refuted_at + 1);
    while violated - linearizable > 1 {
        let middle = linearizable.midpoint(violated);
        match decide(&history.prefix(middle), budget) {
            Some(true) => linearizable = middle,
            Some(false) => violated = middle,
            None => return refuted_at,
        }
    }
    violated - 1
}

/// Whether a segment receives a value twice, or its initial value again. O(operations).
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

fn without_search<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Undecided> {
    let report = match linear::check(history) {
        linear::Outcome::Linearizable(reading) => method(history, true).map(|method| Report {
            method,
            verdict: Verdict::Linearizable(reading.linearization()),
            explanation: None,
            decided_at: None,
        }),
        linear::Outcome::Violation => {
            first_alarm(history).and_then(|alarm| violation(history, &alarm, budget))
        }
        linear::Outcome::Undecided(undecided) => return Err(undecided),
    };
    Ok(report.unwrap_or_else(|dispute| {
        let (method, verdict) = (Method::Linear, Verdict::Disputed(dispute));
        Report { method, verdict, explanation: None, decided_at: None }
    }))
}

/// How a history that needs no search is decided: if it is simple, by the
/// observer, whose answer must be the linear-time check's.
fn method<V: Eq>(history: &History<V>, is_linearizable: bool) -> Result<Method, Dispute> {
    let Ok(simple) = SimpleHistory::recognise(history) else { return Ok(Method::Linear) };
    let (observer, pass) = (Dispute::OBSERVER, Dispute::PASS);
    match (TableObserver::first_violation(&simple).is_none(), is_linearizable) {
        (true, false) => Err(Dispute { accepting: observer, refusing: pass }),
        (false, true) => Err(Dispute { accepting: pass, refusing: observer }),
        _ => Ok(Method::Simple),
    }
}

/// The first event at which a history with a violation is non-linearizable.
fn first_alarm<V: Clone + Eq + Hash>(history: &History<V>) -> Result<Alarm, Dispute> {
    let mut monitor =
        Monitor::linear(history.declaration()).expect("a history's declaration is valid");
    for event in history.events() {
        let judgement = monitor.observe(&event).expect("a history's events are admissible");
        if let Judgement::Violation(alarm) = judgement {
            return Ok(alarm);
        }
    }
    Err(Dispute { accepting: Dispute::MONITOR, refusing: Dispute::PASS })
}

/// Explains an alarm. Where its operations alone do not prove it - the order of
/// two overlapping updates of one segment may be known only from other scans -
/// a proof is searched for.
fn violation<V: Clone + Eq + Hash>(
    history: &History<V>,
    alarm: &Alarm,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Dispute> {
    let method = method(history, false)?;
    let mut explanation = explain(history, alarm);
    let stands_alone = |explanation: &Explanation<V>| {
        let alone = explanation.history();
        matches!(Projection::whole(&alone).linearization(CONFIRMATION), Ok(None))
    };
    if certificate::witness::check(history, &explanation.witness).is_err()
        || !stands_alone(&explanation)
    {
        let events = minimize::shortest_prefix(history, budget);
        let witness = minimize::minimize(history, events, budget);
        explanation = Explanation::of(history, witness);
    }
    Ok(Report {
        method,
        verdict: Verdict::Violation(explanation.witness.clone()),
        explanation: Some(explanation),
        decided_at: Some(alarm.event),
    })
}

/// Whether a history is linearizable, without certificates; `None` if the
/// budget ran out. About twice as fast as [`check`] where that is linear.
pub fn decide<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Option<bool> {
    if !history.has_partial_scans() {
        return decide_whole(history, budget);
    }
    let components = components::components(history);
    let events = components::events(history, &components);
    let mut answer = Some(true);
    for (segments, events) in components.into_iter().zip(events) {
        let part = components::Part::new(history, segments, events);
        match decide_whole(&part.history, budget) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => answer = None,
        }
    }
    answer
}

fn decide_whole<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Option<bool> {
    match linear::decide(history) {
        linear::Decision::Linearizable => Some(true),
        linear::Decision::Violation => Some(false),
        linear::Decision::Undecided(_) => match saturation::check(history, budget) {
            saturation::Outcome::Linearizable(_) => Some(true),
            saturation::Outcome::Violation { .. } | saturation::Outcome::Excluded => Some(false),
            saturation::Outcome::Exhausted { .. } => None,
            saturation::Outcome::Ambiguous(guide) => {
                match search::search_guided(history, &guide, budget) {
                    search::Outcome::Linearizable(_) => Some(true),
                    search::Outcome::NotLinearizable { .. } => Some(false),
                    search::Outcome::Exhausted { .. } => None,
                }
            }
        },
    }
}

/// The operations of a linearization, by number.
impl Linearization {
    /// Number of operations.
    pub const fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no operation took effect.
    pub const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The operations, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = OperationId> + '_ {
        self.order.iter().copied()
    }
}

#[cfg(test)]
mod tests;
