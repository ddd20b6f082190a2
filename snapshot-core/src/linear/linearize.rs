//! A linearization, in linear time.
//!
//! Let S_1, S_2, ... be the complete scans in the order of their vectors, equal ones in the order
//! of their responses. Give S_k the instant t(S_k) = max(t(S_{k-1}), t*(S_k)), where t* is the
//! latest among the scan's invocation and the invocations of the updates that it saw. No scan ends
//! before its instant, and no update after the seen ones ended before it: t(S_k) is the invocation
//! of a scan not above S_k in the order, or of an update that such a scan saw, and so S_k as well;
//! either conflicts with A to E if it came too late.
//!
//! A first update of a run takes effect as soon as it is invoked and the last scan that did not see
//! it has taken effect; it ends after that, by B to E. Redundant updates take effect at their
//! invocation. A pending update that no scan saw is left out. All instants are instants of
//! invocations within the operation's own interval, so real-time precedence is kept; at one
//! instant, the updates that S_k is the first to see come after S_{k-1}, before S_k.

use std::hash::Hash;

use super::Reading;
use super::runs::NEVER;
use crate::OperationId;
use crate::verdict::Linearization;

impl<V: Clone + Eq + Hash> Reading<'_, V> {
    /// Returns an order that explains the history. O(events + entries of all scans).
    pub fn linearization(&self) -> Linearization {
        // Operations with instants, in the order of scans and their entries.
        let mut placed: Vec<(u32, u32)> = Vec::with_capacity(self.history.operations().len());
        let mut seen: Vec<usize> = vec![0; self.runs.len()];
        let mut instant = 0;
        for &scan in &self.chain {
            let scan = scan as usize;
            for ((runs, seen), &number) in
                self.runs.iter().zip(&mut seen).zip(self.scans.vector(scan))
            {
                for run in &runs.runs()[(*seen + 1).min(number as usize + 1)..=number as usize] {
                    placed.extend(
                        run.update().map(|id| (run.invocation.max(instant), id.index() as u32)),
                    );
                }
                *seen = (*seen).max(number as usize);
            }
            instant = instant.max(self.scans.since[scan]);
            placed.push((instant, self.scans.operations[scan]));
        }
        for (runs, seen) in self.runs.iter().zip(seen) {
            for run in &runs.runs()[seen + 1..] {
                if run.response != NEVER {
                    placed.extend(
                        run.update().map(|id| (run.invocation.max(instant), id.index() as u32)),
                    );
                }
            }
        }
        self.place_redundant(&mut placed);
        Linearization { order: sort_by_instant(&placed, self.history.len()) }
    }

    /// Places complete updates that begin no run at their invocations.
    fn place_redundant(&self, placed: &mut Vec<(u32, u32)>) {
        let mut is_placed = vec![false; self.history.operations().len()];
        for &(_, operation) in placed.iter() {
            is_placed[operation as usize] = true;
        }
        for (id, operation) in self.history.operations().iter().enumerate() {
            if operation.is_complete() && !operation.is_scan() && !is_placed[id] {
                placed.push((operation.invocation() as u32 + 1, id as u32));
            }
        }
    }
}

/// Sorts by instant with a stable counting sort.
fn sort_by_instant(placed: &[(u32, u32)], events: usize) -> Vec<OperationId> {
    let mut ends = vec![0u32; events + 2];
    for &(instant, _) in placed {
        ends[instant as usize + 1] += 1;
    }
    for instant in 0..=events {
        ends[instant + 1] += ends[instant];
    }
    let mut order = vec![OperationId::from_index(0); placed.len()];
    for &(instant, operation) in placed {
        let place = &mut ends[instant as usize];
        order[*place as usize] = OperationId::from_index(operation as usize);
        *place += 1;
    }
    order
}
