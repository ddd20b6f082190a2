//! From a violated condition of a scan to the operations that show it.

use std::hash::Hash;

use super::window::{NEVER, NONE};
use super::{Monitor, Violation};
use crate::chain::{Conflict, Slot};
use crate::verdict::Cause;
use crate::{OperationId, Segment};

impl<V: Clone + Eq + Hash> Monitor<V> {
    /// Returns the violation of a scan that saw the run `seen`, but not the one after the run
    /// `passed`.
    #[cold]
    pub(super) fn missing(&self, scan: u64, seen: (usize, u64), passed: (usize, u64)) -> Violation {
        let missing = self.windows[passed.0].next(passed.1).map_or(NONE, |run| run.update);
        Violation::Missing {
            scan: id(scan),
            seen: self.update(seen.0, seen.1),
            seen_segment: Segment::from_index(seen.0),
            missing: id(missing),
            missing_segment: Segment::from_index(passed.0),
        }
    }

    /// Returns the violation by the scan `earlier`, whose vector is at `slot`, and which saw more
    /// of the segment.
    #[cold]
    pub(super) fn decrease(
        &self,
        earlier: u64,
        slot: Slot,
        scan: u64,
        segment: usize,
    ) -> Violation {
        Violation::Decrease {
            earlier: id(earlier),
            later: id(scan),
            segment: Segment::from_index(segment),
            seen: self.update(segment, self.chain.vector(slot)[segment]),
        }
    }

    /// Returns the update that begins a run.
    fn update(&self, segment: usize, number: u64) -> OperationId {
        id(self.windows[segment].run(number).update)
    }

    #[cold]
    pub(super) fn conflict(&self, scan: u64, conflict: Conflict) -> Violation {
        let ahead = |larger: &[u64], smaller: &[u64]| {
            larger.iter().zip(smaller).position(|(a, b)| a > b).unwrap_or(0)
        };
        match conflict {
            Conflict::Above(earlier, slot) => {
                let segment = ahead(self.chain.vector(slot), &self.vector);
                self.decrease(earlier, slot, scan, segment)
            }
            Conflict::Incomparable(other, slot) => {
                let kept = self.chain.vector(slot);
                let (i, j) = (ahead(kept, &self.vector), ahead(&self.vector, kept));
                Violation::Inversion {
                    first: id(other),
                    second: id(scan),
                    i: Segment::from_index(i),
                    j: Segment::from_index(j),
                    first_saw: self.update(i, kept[i]),
                    second_saw: self.update(j, self.vector[j]),
                }
            }
        }
    }
}

#[inline]
pub(super) fn id(operation: u64) -> OperationId {
    debug_assert!(operation != NONE && operation != NEVER, "initial values are no updates");
    OperationId::from_index(operation as usize)
}

pub(super) fn overlap(first: u64, second: u64) -> Cause {
    Cause::OverlappingUpdates { first: id(first), second: id(second) }
}
