//! Order that a violation forces on its operations.
//!
//! A violation is a cycle: the results of scans, and the real time of the operations, put some
//! operations before others, until one would have to precede itself. This module lists the arrows
//! of that cycle one by one, each with its reason. Invariant, tested over the rules of the corpus:
//! for every reason except those of a single operation (a value that was never there) and of the
//! search of all orders, the arrows that need no supposition contain a cycle, or (rule `ordering`)
//! the suppositions on both sides do.

use std::fmt::Display;

use snapshot_core::explanation::{Deed, Explanation};
use snapshot_core::verdict::{Reason, Refutation, Rule};
use snapshot_core::{OperationId, Segment};

/// Reason why one operation precedes another.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// The earlier one ended before the later one began.
    Time,
    /// The returned values permit no other order.
    Values,
    /// It follows from a supposition, which is then refuted.
    Supposed,
}

/// An arrow: `before` must take effect before `after`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forced {
    /// The earlier operation.
    pub before: OperationId,
    /// The later operation.
    pub after: OperationId,
    /// Kind of the reason.
    pub cause: Cause,
    /// The reason, a clause without a full stop.
    pub why: String,
    /// Number of the arrow in the argument, from 1: the number of its line, if it has lines.
    pub number: usize,
}

impl Forced {
    fn is_of(&self, before: OperationId, after: OperationId) -> bool {
        (self.before, self.after) == (before, after)
    }
}

/// Returns the order that is forced on the operations of a violation, in the order of the argument.
/// `name` returns the name of an operation. O(length of the explanation).
pub fn forced<V: Clone + Display + Eq>(
    explanation: &Explanation<V>,
    name: impl Fn(OperationId) -> String,
) -> Vec<Forced> {
    if let Some(refutation) = &explanation.refutation {
        return derived(explanation, refutation, &name);
    }
    let mut forced = named(explanation, &name);
    for (forced, number) in forced.iter_mut().zip(1..) {
        forced.number = number;
    }
    forced.sort_by_key(|line| line.number);
    forced
}

/// Returns the order that a reason forces, without numbers.
fn named<V: Clone + Display + Eq>(
    explanation: &Explanation<V>,
    name: &impl Fn(OperationId) -> String,
) -> Vec<Forced> {
    let called = |k: Segment| explanation.names.segment(k).to_string();
    let segment = |id| updated(explanation, id).map_or_else(String::new, called);
    let time = |before, after| Forced {
        before,
        after,
        cause: Cause::Time,
        why: format!("{} had ended before {} began", name(before), name(after)),
        number: 0,
    };
    let values =
        |before, after, why| Forced { before, after, cause: Cause::Values, why, number: 0 };
    let older = |scan, than: OperationId, k: Segment| {
        let (k, scan) = (called(k), name(scan));
        format!("for {k}, {scan} returned what is older than {}", name(than))
    };
    let saw = |scan, update| {
        format!("{} returned for {} what {} wrote", name(scan), segment(update), name(update))
    };
    match explanation.witness.reason {
        Reason::Future { scan, update } => {
            vec![values(update, scan, saw(scan, update)), time(scan, update)]
        }
        Reason::Stale { scan, overwriting } => {
            let why = format!(
                "{} returned for {} what {} replaced",
                name(scan),
                segment(overwriting),
                name(overwriting)
            );
            vec![values(scan, overwriting, why), time(overwriting, scan)]
        }
        Reason::Decrease { earlier, later, segment } => {
            let why = older(later, earlier, segment).replace("than", "than what") + " returned";
            vec![values(later, earlier, why), time(earlier, later)]
        }
        Reason::Inversion { first, second, i, j } => {
            let why =
                |scan, than, k| older(scan, than, k).replace("than", "than what") + " returned";
            vec![
                values(second, first, why(second, first, i)),
                values(first, second, why(first, second, j)),
            ]
        }
        Reason::Missing { scan, seen, missing } => {
            let why = format!(
                "for {}, {} returned what is older than {}",
                segment(missing),
                name(scan),
                name(missing)
            );
            vec![
                values(seen, scan, saw(scan, seen)),
                values(scan, missing, why),
                time(missing, seen),
            ]
        }
        Reason::NeverWritten { .. }
        | Reason::FailedUpdateSeen { .. }
        | Reason::Cycle
        | Reason::Ordering
        | Reason::NoOrder => Vec::new(),
    }
}

fn updated<V: Clone + Eq>(explanation: &Explanation<V>, id: OperationId) -> Option<Segment> {
    match explanation.operation(id)?.deed {
        Deed::Update { segment, .. } => Some(segment),
        Deed::Scan { .. } => None,
    }
}

/// Returns the lines of a derivation, except those that only combine two others; each has the
/// number of its line.
fn derived<V: Clone + Display + Eq>(
    explanation: &Explanation<V>,
    refutation: &Refutation,
    name: &impl Fn(OperationId) -> String,
) -> Vec<Forced> {
    let mut forced = Vec::new();
    let mut suppositions = 0_usize;
    let called = |k: Segment| explanation.names.segment(k);
    for (line, number) in refutation.lines.iter().zip(1..) {
        let (before, after) = (line.before, line.after);
        let (first, second) = (name(before), name(after));
        let (cause, why) = match line.rule {
            Rule::Time => (Cause::Time, format!("{first} had ended before {second} began")),
            Rule::Reads => (Cause::Values, format!("{second} returned what {first} wrote")),
            Rule::First => {
                let segment = updated(explanation, after);
                let segment = segment.map_or_else(String::new, |k| format!(" of {}", called(k)));
                (Cause::Values, format!("{first} returned the initial value{segment}"))
            }
            Rule::Block { segment, .. } => (
                Cause::Values,
                format!("values of {} do not return once they are replaced", called(segment)),
            ),
            Rule::Suppose => {
                suppositions += 1;
                (Cause::Supposed, format!("suppose that {first} comes before {second}"))
            }
            Rule::Otherwise => {
                suppositions = suppositions.saturating_sub(1);
                (Cause::Values, "the converse has been refuted".to_owned())
            }
            Rule::Source { .. } => {
                suppositions += 1;
                (Cause::Supposed, format!("suppose that {second} returned what {first} wrote"))
            }
            Rule::Excluded { .. } => {
                suppositions = suppositions.saturating_sub(1);
                continue;
            }
            Rule::Chain { .. } | Rule::Unreadable { .. } => continue,
        };
        // A line derived below a supposition holds only below it; time holds always.
        let is_supposed =
            suppositions > 0 && matches!(line.rule, Rule::Block { .. } | Rule::Otherwise);
        let cause = if is_supposed { Cause::Supposed } else { cause };
        let line = Forced { before, after, cause, why, number };
        match forced.iter_mut().find(|other: &&mut Forced| other.is_of(before, after)) {
            // An unconditional line is stronger than one below a supposition.
            Some(other) if other.cause == Cause::Supposed && cause != Cause::Supposed => {
                *other = line;
            }
            None if before != after => forced.push(line),
            _ => {}
        }
    }
    forced.sort_by_key(|line| line.number);
    forced
}
