//! The checker that chooses a method for each history.
//!
//! A simple history goes to the observer; any other history with unambiguous reads to the
//! linear-time conditions; a history with overlapping updates to [`crate::saturation`]; a history
//! that remains undecided, since values repeat, to exact search. Where scans are partial, each
//! component of segments is decided separately. The answer names the method, and carries its
//! certificate.

mod by_automata;
mod by_search;
mod components;
mod display;
mod minimize;
mod parts;
mod violation;

use std::hash::Hash;

pub use self::display::{counted, told_completion, told_linearizable};

use self::by_search::{search, search_generically, searched, searched_violation};
use self::parts::by_components;
use self::violation::Completion;
use crate::explanation::{Explanation, explain};
use crate::history::History;
use crate::linear;
use crate::monitor::{Alarm, Judgement, Undecided};
use crate::observer::Observer;
use crate::saturation;
use crate::search::{self, Budget};
use crate::simple::SimpleHistory;
use crate::verdict::{Cause, Dispute, Linearization, Method, Unknown, Verdict};
use crate::{OperationId, certificate};

/// A verdict, the method, and, for a violation, an explanation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Report<V> {
    /// The method that reached the verdict.
    pub method: Method,
    /// The verdict with its certificate.
    pub verdict: Verdict,
    /// The witness's operations, if the verdict is a violation.
    pub explanation: Option<Explanation<V>>,
    /// Number of the event that completes the violation, if the verdict is one.
    pub decided_at: Option<usize>,
    /// True if every prefix that ends before that event is known to be linearizable; else the
    /// violation is complete at that event, or before.
    pub is_first: bool,
}

impl<V> Report<V> {
    /// Creates a report without a violation.
    const fn new(method: Method, verdict: Verdict) -> Self {
        Self { method, verdict, explanation: None, decided_at: None, is_first: false }
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
        let report = by_components(history, budget, |part, budget| Ok(whole(part, budget)));
        return report.unwrap_or_else(|undecided| search(history, undecided.cause, budget));
    }
    whole(history, budget)
}

fn whole<V: Clone + Eq + Hash>(history: &History<V>, budget: &mut Budget<'_>) -> Report<V> {
    match without_search(history, false, budget) {
        Ok(report) => report,
        Err(undecided) => saturate(history, undecided, budget),
    }
}

/// Decides by the saturated relation, and by search where that is undecided. Every finding is
/// confirmed before it is reported.
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
        // The rest of the budget may suffice for a search.
        saturation::Outcome::Exhausted { .. } if matches!(cause, Cause::AmbiguousValue { .. }) => {
            None
        }
        outcome => saturated(history, outcome, undecided, budget),
    };
    report.unwrap_or_else(|| search(history, cause, budget))
}

/// Returns the answer of the saturated relation, if it is confirmed.
fn saturated<V: Clone + Eq + Hash>(
    history: &History<V>,
    outcome: saturation::Outcome,
    undecided: Undecided,
    budget: &mut Budget<'_>,
) -> Option<Report<V>> {
    let (method, cause) = (Method::Saturation, undecided.cause);
    match outcome {
        saturation::Outcome::Linearizable(order) => {
            let is_confirmed = certificate::linearization::check(history, &order).is_ok();
            debug_assert!(is_confirmed, "the lemma gives a linearization");
            is_confirmed.then(|| Report::new(method, Verdict::Linearizable(order)))
        }
        saturation::Outcome::Violation { event, is_first, witness, refutation } => {
            let shown = Explanation::new(history, witness).derived_by(refutation);
            let is_confirmed = violation::is_confirmed(history, &shown);
            debug_assert!(
                is_confirmed,
                "what is derived follows: {:?} {:?}",
                shown.witness, shown.refutation
            );
            is_confirmed.then(|| {
                let refuted = Completion { event, is_first };
                let first = violation::first_event(history, refuted, budget);
                // A proof for a longer prefix does not prove this one.
                let at_hand = (first.event == event).then_some(shown);
                violation::proved(method, history, first, at_hand, budget)
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
            Some(Report::new(method, Verdict::Unknown(unknown)))
        }
    }
}

/// A method that applies to every history, or reports that it does not. It finds the verdict; the
/// first event of a violation, and a proof that ends there, are found by all means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Checker {
    /// The linear-time conditions. Where scans are partial, each component of segments is decided
    /// separately; a component that stays undecided is judged by all means before the violation of
    /// another one is reported.
    Linear,
    /// The saturated relation, for updates that overlap.
    Saturation,
    /// Exact search, with the knowledge of snapshots.
    Search,
    /// Exact search with only the specification ([`crate::generic`]).
    Generic,
    /// The three automata on all renamings ([`crate::renaming`]): the theorem, taken literally.
    Automata,
}

/// Checks a history by a method of the caller's choice, as a second opinion on [`check`], or for
/// comparison. Operations that prove a violation are found as [`check`] finds them.
///
/// # Errors
/// If the linear-time conditions were chosen and do not decide the history, or the automata,
/// and it cannot be renamed.
pub fn check_by<V: Clone + Eq + Hash>(
    checker: Checker,
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Undecided> {
    match checker {
        Checker::Linear if history.has_partial_scans() => {
            by_components(history, budget, |part, budget| without_search(part, true, budget))
        }
        Checker::Linear => without_search(history, true, budget),
        Checker::Saturation => {
            let undecided = Undecided { event: 0, cause: Cause::Requested };
            Ok(saturate(history, undecided, budget))
        }
        Checker::Search => Ok(search(history, Cause::Requested, budget)),
        Checker::Generic => Ok(search_generically(history, budget)),
        Checker::Automata => by_automata::by_automata(history, budget),
    }
}

/// Decides by the linear-time conditions; if the history is simple, also by the observer, unless
/// the caller insists on the conditions.
fn without_search<V: Clone + Eq + Hash>(
    history: &History<V>,
    insists: bool,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Undecided> {
    let method = |is_linearizable| {
        if insists { Ok(Method::Linear) } else { method(history, is_linearizable) }
    };
    let report = match linear::check(history) {
        linear::Outcome::Linearizable(reading) => method(true)
            .map(|method| Report::new(method, Verdict::Linearizable(reading.linearization()))),
        linear::Outcome::Violation(alarm) => {
            method(false).map(|method| violation(history, method, &alarm, budget))
        }
        linear::Outcome::Undecided(undecided) => return Err(undecided),
    };
    Ok(report.unwrap_or_else(|dispute| Report::new(Method::Linear, Verdict::Disputed(dispute))))
}

/// Returns the method for a history that needs no search: if it is simple, the observer, whose
/// answer must agree with the linear-time check's.
fn method<V: Eq>(history: &History<V>, is_linearizable: bool) -> Result<Method, Dispute> {
    let Ok(simple) = SimpleHistory::recognise(history) else { return Ok(Method::Linear) };
    let (observer, pass) = (Dispute::OBSERVER, Dispute::PASS);
    match (Observer::first_violation(&simple).is_none(), is_linearizable) {
        (true, false) => Err(Dispute { accepting: observer, refusing: pass }),
        (false, true) => Err(Dispute { accepting: pass, refusing: observer }),
        _ => Ok(Method::Simple),
    }
}

/// Explains an alarm. Its operations alone may not prove it: the order of two overlapping updates
/// of one segment may follow only from other scans. Then searches for a proof.
fn violation<V: Clone + Eq + Hash>(
    history: &History<V>,
    method: Method,
    alarm: &Alarm,
    budget: &mut Budget<'_>,
) -> Report<V> {
    // The monitor has judged every shorter prefix.
    let at = Completion { event: alarm.event, is_first: true };
    violation::proved(method, history, at, Some(explain(history, alarm)), budget)
}

/// Decides whether a history is linearizable, without certificates; `None` if the budget ran out.
/// About twice as fast as [`check`] where that is linear.
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
        Judgement::Linearizable => Some(true),
        Judgement::Violation(_) => Some(false),
        Judgement::Undecided(_) => match saturation::check(history, budget) {
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

    /// Returns true if no operation took effect.
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
