//! Narrowing: which updates a scan can have read when values repeat.
//!
//! A scan reads all segments at one instant t of its interval. The runs that
//! entry k can be are those in effect at t: begun before t, and not
//! overwritten for certain before t. So the candidates of one entry that have
//! no instant in common with those of the others drop out, and so do those
//! smaller than what a scan that precedes this one saw (condition C).

use std::hash::Hash;

use super::window::{Instant, Window};

/// What narrowing leaves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Narrowed {
    /// One candidate per entry.
    Vector(Vec<u64>),
    /// This entry has no candidate at all by A and B.
    Unavailable(usize),
    /// The value may come from an update whose place in the order is open.
    Floating {
        /// That update.
        first: u64,
        /// The next update of its segment.
        second: u64,
    },
    /// This entry has several candidates.
    Ambiguous(usize),
}

/// Narrows the entries of a scan, open from `begun` to `now`, that returned
/// `values`; `above` is the largest vector of the scans that precede it.
/// O(candidates) per round, and at most as many rounds as entries.
#[cold]
pub(super) fn narrow<V: Clone + Eq + Hash>(
    windows: &[Window<V>],
    values: &[V],
    begun: Instant,
    now: Instant,
    above: Option<&[u64]>,
) -> Narrowed {
    let mut candidates: Vec<Vec<u64>> = Vec::with_capacity(values.len());
    for (segment, (window, value)) in windows.iter().zip(values).enumerate() {
        if let Some(floating) = window.floating(value) {
            return Narrowed::Floating { first: floating.update, second: floating.next };
        }
        let entry: Vec<u64> = window.candidates(value, begun).collect();
        if entry.is_empty() {
            return Narrowed::Unavailable(segment);
        }
        candidates.push(entry);
    }
    if let Some(above) = above {
        for (entry, &floor) in candidates.iter_mut().zip(above) {
            if entry.iter().any(|&number| number >= floor) {
                entry.retain(|&number| number >= floor);
            } else {
                // All violate C: let any of them show it.
                entry.truncate(1);
            }
        }
    }
    loop {
        let (mut from, mut until) = ((begun, None), (now, None));
        for (segment, (window, entry)) in windows.iter().zip(&candidates).enumerate() {
            let (latest, earliest) = (entry[0], entry[entry.len() - 1]);
            let (begins, ends) = (window.run(earliest).invocation, window.overwritten(latest));
            if begins > from.0 {
                from = (begins, Some(segment));
            }
            if ends < until.0 {
                until = (ends, Some(segment));
            }
        }
        if let (true, Some(late), Some(early)) = (from.0 > until.0, from.1, until.1) {
            // Entry `late` begins after entry `early` is over, at the best.
            let earliest = candidates[late].len() - 1;
            candidates[late].swap(0, earliest);
            debug_assert_ne!(late, early, "a run begins before it is over");
            return Narrowed::Vector(candidates.into_iter().map(|entry| entry[0]).collect());
        }
        let mut changed = false;
        for segment in 0..candidates.len() {
            let (window, entry) = (&windows[segment], &mut candidates[segment]);
            let before = entry.len();
            if before < 2 {
                continue;
            }
            let fits = |number: u64| {
                window.run(number).invocation <= until.0 && window.overwritten(number) >= from.0
            };
            if entry.iter().any(|&number| fits(number)) {
                entry.retain(|&number| fits(number));
                changed |= entry.len() < before;
            } else {
                return Narrowed::Vector(contradict(windows, candidates, segment, from, until));
            }
        }
        if !changed {
            break;
        }
    }
    match candidates.iter().position(|entry| entry.len() > 1) {
        Some(segment) => Narrowed::Ambiguous(segment),
        None => Narrowed::Vector(candidates.into_iter().map(|entry| entry[0]).collect()),
    }
}

/// A choice of candidates that shows, by condition E, that no choice is
/// possible: no candidate of `segment` is in effect between `from` and `until`.
fn contradict<V: Clone + Eq + Hash>(
    windows: &[Window<V>],
    mut candidates: Vec<Vec<u64>>,
    segment: usize,
    from: (Instant, Option<usize>),
    until: (Instant, Option<usize>),
) -> Vec<u64> {
    let over = |number: &u64| windows[segment].overwritten(*number) < from.0;
    // Candidates are sorted, latest first, and so are their beginnings and ends.
    if let Some(number) = candidates[segment].iter().copied().find(over) {
        candidates[segment] = vec![number];
        if let Some(other) = from.1.filter(|&other| other != segment) {
            let earliest = candidates[other].len() - 1;
            candidates[other].swap(0, earliest);
        }
    } else {
        let earliest = candidates[segment].len() - 1;
        candidates[segment].swap(0, earliest);
        debug_assert!(until.1 != Some(segment), "it ends after it begins");
    }
    candidates.into_iter().map(|entry| entry[0]).collect()
}
