//! Narrowing: the updates that a scan can have read when values repeat.
//!
//! A scan reads all segments at one instant t of its interval. The candidates of entry k are the
//! runs in effect at t: begun before t, and not certainly overwritten before t. So candidates of
//! one entry that have no instant in common with the candidates of the others drop out, and so do
//! candidates smaller than the vector of a scan that precedes this one (condition C).

use std::hash::Hash;

use super::window::{Instant, Window};

/// The result of narrowing. Entries are given by the number of their segment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Narrowed {
    /// One candidate per entry.
    Vector(Vec<u64>),
    /// This entry has no candidate by A and B.
    Unavailable(usize),
    /// This entry has no candidate by C.
    Decrease(usize),
    /// The entry `seen.0`, which is run `seen.1` or later, began after the entry `passed.0`, which
    /// is run `passed.1` or earlier, had ended.
    Missing {
        /// An entry and its first candidate.
        seen: (usize, u64),
        /// An entry and its last candidate.
        passed: (usize, u64),
    },
    /// The value may come from an update whose position in the order is undetermined.
    Floating {
        /// The floating update.
        first: u64,
        /// The next update of its segment.
        second: u64,
    },
    /// This entry has several candidates.
    Ambiguous(usize),
}

/// Narrows the entries of a scan, open from `begun` to `now`, that returned `values`; `above` is
/// the largest vector of the scans that precede it. O(candidates) per round, and at most as many
/// rounds as candidates.
#[cold]
pub(super) fn narrow<V: Clone + Eq + Hash>(
    windows: &[Window<V>],
    values: &[V],
    begun: Instant,
    now: Instant,
    above: Option<&[u64]>,
) -> Narrowed {
    let mut floating = None;
    // Latest first. An entry that may come from a floating update has no candidates.
    let mut candidates: Vec<Vec<u64>> = Vec::with_capacity(values.len());
    for (segment, (window, value)) in windows.iter().zip(values).enumerate() {
        if let Some(found) = window.floating(value) {
            floating = floating.or(Some((found.update, found.next)));
            candidates.push(Vec::new());
            continue;
        }
        let mut entry: Vec<u64> = window.candidates(value, begun).collect();
        if entry.is_empty() {
            return Narrowed::Unavailable(segment);
        }
        if let Some(above) = above {
            entry.retain(|&number| number >= above[segment]);
            if entry.is_empty() {
                return Narrowed::Decrease(segment);
            }
        }
        candidates.push(entry);
    }
    if let Some(contradiction) = narrow_by_time(windows, &mut candidates, begun, now) {
        return contradiction;
    }
    if let Some((first, second)) = floating {
        return Narrowed::Floating { first, second };
    }
    match candidates.iter().position(|entry| entry.len() > 1) {
        Some(segment) => Narrowed::Ambiguous(segment),
        None => Narrowed::Vector(candidates.into_iter().map(|entry| entry[0]).collect()),
    }
}

/// Removes candidates that have no instant in common with the others.
fn narrow_by_time<V: Clone + Eq + Hash>(
    windows: &[Window<V>],
    candidates: &mut [Vec<u64>],
    begun: Instant,
    now: Instant,
) -> Option<Narrowed> {
    loop {
        // The common instants lie between these bounds, set by these runs.
        let (mut from, mut until) = ((begun, None), (now, None));
        for (segment, (window, entry)) in windows.iter().zip(&*candidates).enumerate() {
            let (Some(&latest), Some(&earliest)) = (entry.first(), entry.last()) else { continue };
            let (begins, ends) = (window.run(earliest).invocation, window.overwritten(latest));
            if begins > from.0 {
                from = (begins, Some((segment, earliest)));
            }
            if ends < until.0 {
                until = (ends, Some((segment, latest)));
            }
        }
        if let (true, Some(seen), Some(passed)) = (from.0 > until.0, from.1, until.1) {
            return Some(Narrowed::Missing { seen, passed });
        }
        let mut changed = false;
        for (segment, (window, entry)) in windows.iter().zip(&mut *candidates).enumerate() {
            let before = entry.len();
            let begins = |number: u64| window.run(number).invocation;
            // Of several that ended too early, the last; of several too late, the first.
            let early = entry.iter().copied().find(|&n| window.overwritten(n) < from.0);
            let late = entry.iter().copied().rfind(|&n| begins(n) > until.0);
            entry.retain(|&n| begins(n) <= until.0 && window.overwritten(n) >= from.0);
            changed |= entry.len() < before;
            if entry.is_empty() && before > 0 {
                // If some are too early and others too late, either one shows the contradiction, as
                // far as one reason can.
                return match (early.zip(from.1), late.zip(until.1)) {
                    (Some((number, seen)), _) => {
                        Some(Narrowed::Missing { seen, passed: (segment, number) })
                    }
                    (None, Some((number, passed))) => {
                        Some(Narrowed::Missing { seen: (segment, number), passed })
                    }
                    (None, None) => unreachable!("a candidate by A and B fits the scan's interval"),
                };
            }
        }
        if !changed {
            return None;
        }
    }
}
