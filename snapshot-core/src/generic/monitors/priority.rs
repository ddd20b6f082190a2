//! Priority queues that return the least value, in O(n log n).
//!
//! Intervals are cut as in [`super::values`].
//!
//! *Claim.* A history is linearizable iff there is, for the removal of each value x, a point from
//! max(ia, ir) + 1 to rr at which no smaller solid value is inside; and for each operation that finds the
//! queue empty a point at which none is.
//!
//! 1. *Necessary*: a solid value is inside at its points in every linearization.
//! 2. *Sufficient*: let t(x) be the first such point, and put the removal of x at t(x) and its
//!    addition as late as can be, at min(ra, t(x)). At one point let the removals come first, the
//!    smallest value first, each after its addition if that is there, too; then what finds the
//!    queue empty; then other additions. Let s be the point of the removal of a greater value y (or
//!    of an operation that finds nothing), and let x be inside between min(ra, t(x)) and t(x), s
//!    among them. If x is solid, s is not one of its points, so s > ir; if x is thin, s > ra > max(ia,
//!    ir). So s is one of the points from max(ia, ir) + 1 on, at which no value smaller than y is
//!    inside, so none smaller than x: t(x) <= s, and where they are equal, the removal of x comes first.
//!
//! Values are taken from the least up; a union-find of points remembers which are free. Equal
//! values do not hinder each other.

use super::Found;
use super::part::NEVER;
use super::values::{Life, Values, fewest_cover};
use crate::generic::proof::Proof;

/// Decides a priority queue with these values, whose ranks are given by number; those without
/// removal are never removed.
pub(super) fn judge<V>(values: &Values<'_, V>, lives: &[Life], ranks: &[u32]) -> Found {
    let part = values.part;
    let rank = |life: &Life| ranks[life.value as usize];
    let mut sorted = lives.to_vec();
    sorted.sort_unstable_by_key(rank);
    let mut free = Free::new(part.events);
    // Per removal the point, the place among what is at the point, and the operation.
    let mut placed: Vec<(u32, u32, u32)> = Vec::with_capacity(part.ids.len());
    let last = u32::MAX - 2;
    for equal in sorted.chunk_by(|one, other| rank(one) == rank(other)) {
        for life in equal {
            if life.removal == NEVER {
                placed.push((life.ra, last + 1, life.addition));
                continue;
            }
            let point = free.first(life.begun() + 1);
            if point > life.rr.min(part.events) {
                let smaller = lives.iter().filter(|other| rank(other) < rank(life));
                let cover = fewest_cover(smaller, life.begun() + 1, life.rr.min(part.events));
                return Found::Violation(Proof::NotLeast {
                    removed: life.stay(part),
                    smaller: cover.unwrap_or_default().iter().map(|one| one.stay(part)).collect(),
                });
            }
            // Ranks are less than half of all numbers: each has two places.
            let place = 2 * rank(life);
            if life.ra < point {
                placed.push((life.ra, last + 1, life.addition));
            } else {
                placed.push((point, place, life.addition));
            }
            placed.push((point, place + 1, life.removal));
        }
        equal.iter().for_each(|life| free.cover(life));
    }
    for &operation in &values.empties {
        let (from, to) = (part.invoked[operation as usize] + 1, part.responded[operation as usize]);
        let point = free.first(from);
        if point > to {
            let cover = fewest_cover(lives.iter(), from, to).unwrap_or_default();
            return Found::Violation(Proof::NotEmpty {
                operation: part.ids[operation as usize],
                inside: cover.iter().map(|life| life.stay(part)).collect(),
            });
        }
        placed.push((point, last, operation));
    }
    placed.sort_unstable();
    Found::Order(placed.into_iter().map(|(.., operation)| operation).collect())
}

/// Points at which no value so far is inside.
struct Free {
    /// Per point itself if it is free, else one behind it.
    next: Vec<u32>,
}

impl Free {
    fn new(events: u32) -> Self {
        Self { next: (0..=events + 1).collect() }
    }

    /// The first free point from this one on; one more than there are points if there is none.
    fn first(&mut self, point: u32) -> u32 {
        let mut root = point.min(self.next.len() as u32 - 1);
        while self.next[root as usize] != root {
            let behind = self.next[root as usize];
            self.next[root as usize] = self.next[behind as usize];
            root = behind;
        }
        root
    }

    fn cover(&mut self, life: &Life) {
        if !life.is_solid() {
            return;
        }
        let end = self.next.len() as u32 - 1;
        let mut point = self.first(life.ra + 1);
        while point <= life.ir && point < end {
            self.next[point as usize] = point + 1;
            point = self.first(point);
        }
    }
}
