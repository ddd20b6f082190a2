//! Histories of partial scans, component by component.

use std::hash::Hash;

use super::components::{self, Part};
use super::violation::{self, Completion};
use super::{Report, whole};
use crate::Segment;
use crate::certificate;
use crate::history::History;
use crate::monitor::Undecided;
use crate::search::Budget;
use crate::verdict::{Method, Unknown, Verdict};

/// A component that may have a violation before the one found: its segments, and its events.
type Open = (Vec<Segment>, Vec<u32>);

/// Decides each component of a history separately. Of several violations, the first one to be
/// completed is reported.
///
/// # Errors
/// The first undecided event of a component, if no component has a violation.
pub(super) fn by_components<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
    mut decide: impl FnMut(&History<V>, &mut Budget<'_>) -> Result<Report<V>, Undecided>,
) -> Result<Report<V>, Undecided> {
    let components = components::components(history);
    let events = components::events(history, &components);
    let (mut method, mut orders) = (Method::Linear, Vec::new());
    let mut violation: Option<Report<V>> = None;
    let mut unknown: Option<(Method, Unknown)> = None;
    let mut undecided: Option<Undecided> = None;
    let mut open: Vec<Open> = Vec::new();
    for (segments, events) in components.into_iter().zip(events) {
        let part = Part::new(history, segments, events);
        let report = match decide(&part.history, budget) {
            Ok(report) => report,
            Err(found) => {
                let event = part.lift_event(found.event, history);
                // Up to this event every component is linearizable.
                if undecided.is_none_or(|other| event < other.event) {
                    let cause = part.lift_cause(found.cause);
                    undecided = Some(Undecided { event, cause });
                }
                open.push(part.into_component());
                continue;
            }
        };
        method = strongest(method, report.method);
        match report.verdict {
            Verdict::Linearizable(order) => orders.push(part.instants(&order, history)),
            Verdict::Violation(_) => {
                let is_first = report.is_first;
                let report = part.lift(report);
                if violation.as_ref().is_none_or(|first| report.decided_at < first.decided_at) {
                    violation = Some(report);
                }
                if !is_first {
                    open.push(part.into_component());
                }
            }
            Verdict::Disputed(_) => return Ok(report),
            Verdict::Unknown(found) => {
                let events = part.lift_event(found.linearizable_events, history);
                let is_less = |other: &(_, Unknown)| events < other.1.linearizable_events;
                if unknown.as_ref().is_none_or(is_less) {
                    let cause = part.lift_cause(found.cause);
                    let found = Unknown { cause, linearizable_events: events, ..found };
                    unknown = Some((report.method, found));
                }
                open.push(part.into_component());
            }
        }
    }
    match (violation, undecided, unknown) {
        (Some(report), ..) => Ok(first_of(history, report, open, budget)),
        (None, Some(undecided), _) => Err(undecided),
        (None, None, Some((method, unknown))) => Ok(Report::new(method, Verdict::Unknown(unknown))),
        (None, None, None) => {
            let order = components::merge(history, orders);
            let is_confirmed = certificate::linearization::check(history, &order);
            debug_assert_eq!(is_confirmed, Ok(()), "linearizability is local");
            Ok(Report::new(method, Verdict::Linearizable(order)))
        }
    }
}

/// Returns the first violation of a history that has one: open components are judged up to it, as
/// far as the budget allows.
fn first_of<V: Clone + Eq + Hash>(
    history: &History<V>,
    mut first: Report<V>,
    mut open: Vec<Open>,
    budget: &mut Budget<'_>,
) -> Report<V> {
    loop {
        let found_at = first.decided_at;
        let mut undecided = Vec::new();
        for (segments, events) in open {
            let before = first
                .decided_at
                .map_or(0, |event| events.partition_point(|other| (*other as usize) < event));
            let part = Part::new(history, segments, events);
            let report = whole(&part.history.prefix(before), budget);
            let is_settled = match (&report.verdict, report.decided_at) {
                (Verdict::Linearizable(_), _) => true,
                (Verdict::Disputed(_), _) => return report,
                (Verdict::Violation(_), Some(event)) => {
                    let at = Completion { event, is_first: report.is_first };
                    // About updates that fail later, the part knows more than its prefix.
                    let shown = report.explanation;
                    let report = violation::proved(report.method, &part.history, at, shown, budget);
                    first = part.lift(report);
                    at.is_first
                }
                _ => false,
            };
            if !is_settled {
                undecided.push(part.into_component());
            }
        }
        if undecided.is_empty() || first.decided_at == found_at {
            let is_first = undecided.is_empty();
            let (Some(event), Some(shown)) = (first.decided_at, first.explanation) else {
                unreachable!("a violation is complete at an event, and shown")
            };
            let at = Completion { event, is_first };
            // A component may be simple although the whole is not.
            let method = strongest(Method::Linear, first.method);
            return violation::lifted(method, history, at, shown, budget);
        }
        open = undecided;
    }
}

/// Returns the method that decides more histories.
fn strongest(first: Method, second: Method) -> Method {
    let rank = |method| match method {
        Method::Simple => 0,
        Method::Linear => 1,
        Method::Saturation => 2,
        Method::Search | Method::Generic | Method::Automata => 3,
    };
    if rank(first) < rank(second) { second } else { first }
}
