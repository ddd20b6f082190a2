//! The paper's cases of a violation in a simple history (Theorem 10), by definition, in quadratic
//! time; 3(b) is split by whether F_l is ever invoked.

use std::collections::BTreeSet;

use snapshot_core::{History, Segment};

/// Returns the names of the cases that an (i, j)-simple history shows.
pub fn of(history: &History<i64>, i: usize, j: usize) -> BTreeSet<&'static str> {
    let first = |segment: usize| {
        history.operations().iter().find(|o| {
            o.segment() == Some(Segment::from_index(segment)) && *history.update_value(o) == 1
        })
    };
    let (fi, fj) = (first(i), first(j));
    let scans: Vec<_> =
        history.operations().iter().filter(|o| o.is_scan() && o.is_complete()).collect();
    let view = |scan| {
        let values: &[i64] = history.scan_values(scan);
        (values[i], values[j])
    };
    let mut cases = BTreeSet::new();
    for s in &scans {
        let (x, y) = view(s);
        for (value, f, stale, never, future) in [
            (x, fi, "3a-i", "3b-never-i", "3b-future-i"),
            (y, fj, "3a-j", "3b-never-j", "3b-future-j"),
        ] {
            match (value, f) {
                (0, Some(f)) if f.precedes(s) => cases.insert(stale),
                (1, None) => cases.insert(never),
                (1, Some(f)) if s.precedes(f) => cases.insert(future),
                _ => false,
            };
        }
        if let (Some(fi), Some(fj)) = (fi, fj) {
            match (x, y) {
                (0, 1) if fi.precedes(fj) => cases.insert("3c"),
                (1, 0) if fj.precedes(fi) => cases.insert("3d"),
                _ => false,
            };
        }
        for t in &scans {
            let (u, v) = view(t);
            if s.precedes(t) && u < x {
                cases.insert("decrease-i");
            }
            if s.precedes(t) && v < y {
                cases.insert("decrease-j");
            }
            if (x, y) == (0, 1) && (u, v) == (1, 0) {
                cases.insert("inversion");
            }
        }
    }
    cases
}
