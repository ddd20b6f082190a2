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
use crate::sights::Sights;
use crate::verdict::Linearization;
use crate::{OperationId, Segment};

/// The instant of an event: its number plus 1.
type Instant = u32;

impl<V: Clone + Eq + Hash> Reading<'_, V> {
    /// Returns an order that explains the history. O(events + entries of all scans), plus sorting
    /// the scans.
    pub fn linearization(&self) -> Linearization {
        let (runs, redundant) = self.updates();
        // Operations with instants, in the order of scans and their entries.
        let mut placed: Vec<(Instant, u32)> = Vec::with_capacity(self.history.operations().len());
        let mut rest: Vec<&[u32]> = runs.iter().map(Vec::as_slice).collect();
        let mut instant = 0;
        for (scan, updates) in self.sights.chain() {
            let mut since = self.invocation(scan.index() as u32);
            for (rest, &update) in rest.iter_mut().zip(updates) {
                if update == Sights::INITIAL {
                    continue;
                }
                since = since.max(self.invocation(update));
                while let Some((&first, others)) = rest.split_first()
                    && first <= update
                {
                    placed.push((self.invocation(first).max(instant), first));
                    *rest = others;
                }
            }
            instant = instant.max(since);
            placed.push((instant, scan.index() as u32));
        }
        for &update in rest.into_iter().flatten() {
            placed.push((self.invocation(update).max(instant), update));
        }
        placed.extend(redundant.into_iter().map(|update| (self.invocation(update), update)));
        Linearization { order: sort_by_instant(&placed, self.history.len()) }
    }

    fn invocation(&self, operation: u32) -> Instant {
        self.history.operations()[operation as usize].invocation() as Instant + 1
    }

    /// Returns the first updates of the runs of each segment that take effect, and redundant ones.
    fn updates(&self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let history = self.history;
        let mut is_seen = vec![false; history.operations().len()];
        for &update in self.sights.updates().iter().filter(|&&update| update != Sights::INITIAL) {
            is_seen[update as usize] = true;
        }
        let initial = |segment| history.initial_value(Segment::from_index(segment));
        let mut last: Vec<&V> = (0..history.segments()).map(initial).collect();
        let mut runs = vec![Vec::new(); history.segments()];
        let mut redundant = Vec::new();
        for (number, operation) in history.operations().iter().enumerate() {
            let Some(segment) = operation.segment().map(Segment::index) else { continue };
            if !operation.is_complete() && !is_seen[number] {
                continue;
            }
            let value = history.update_value(operation);
            if value == last[segment] {
                redundant.push(number as u32);
            } else {
                runs[segment].push(number as u32);
                last[segment] = value;
            }
        }
        (runs, redundant)
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
