//! Operations that a witness may omit.
//!
//! Suppose that the history has a linearization. Scans that are not listed, and updates of segments
//! that are not listed, are simply deleted from it: a scan changes no value, and the listed scans
//! lose the entries of these segments. Failed updates, listed or not, were never in it. Let L be
//! the remainder: the listed scans and, for each listed segment k, all complete and some pending
//! updates of k. Updates that are not listed leave L in two steps.
//!
//! **Step 1, unread updates.** An update u of k that is not listed is *unread*
//! if for every listed scan S
//!
//! * S returned another value for k than u wrote; or
//! * S precedes u; or
//! * u precedes some listed update w of k that precedes S.
//!
//! Then u is not the last update of k before S in L: in the first case S would have returned its
//! value, in the second u stands behind S, in the third w stands between them (being complete, it
//! is in L). So for each listed scan and each k the last update before the scan, if any, is not
//! unread, and remains the last one when *all* unread updates are deleted together: every scan
//! still reads the same update. This holds for pending updates and for updates that overlap. It
//! would hold even if w were not listed; w must be listed so that a reader can find the update that
//! overwrote u.
//!
//! **Step 2, redundant updates.** Let R be the updates of k that remain possible after step 1: the
//! listed ones and the others that are not unread. An unlisted update u in R is *redundant* if
//!
//! * every other update in R precedes u or is preceded by it; and
//! * either no update in R precedes u, and u wrote the initial value; or one of the updates in R
//!   that precede u, p, wrote the value of u, and all the others precede p.
//!
//! Then in L the last update of k before u is p, or no update stands before u: so u changes no
//! value. Delete *all* redundant updates together. A scan that read one of them now reads the
//! nearest update before it that is not redundant; every update on the way there is redundant and
//! has the value of the one before it, so the scan reads the same value. (p is in L although it may
//! be redundant itself: it precedes u, so it is complete.)
//!
//! The steps do not commute. Redundancy is judged among the updates left by step 1, so that no
//! redundant update depends on a deleted unread one; and an update that only redundant ones
//! overwrite is not unread. Say update(5) and again update(5) precede a scan that returned 5:
//! either of the two may be left out, the first because the second overwrites it, the second
//! because it repeats the first, but not both.
//!
//! Where the updates of a segment do not overlap, redundant means just: same
//! value as the update before.

use crate::history::Operation;
use crate::verdict::Witness;
use crate::{History, OperationId, Segment};

/// An update that is not omissible.
pub(super) struct NotOmissible {
    pub(super) update: OperationId,
    /// The first listed scan that may have read it.
    pub(super) scan: OperationId,
}

/// A listed scan, with the bound that excludes updates it cannot have read.
struct ListedScan {
    id: OperationId,
    /// Entry `k` is the latest invocation among the listed updates of the `k`-th listed segment
    /// that precede the scan. Every update that responded before that invocation had been
    /// overwritten when the scan began.
    overwritten_before: Vec<Option<usize>>,
}

/// Decides which updates that are not listed may be left out.
pub(super) struct Omission<'a, V> {
    history: &'a History<V>,
    witness: &'a Witness,
    scans: Vec<ListedScan>,
}

impl<'a, V: Eq> Omission<'a, V> {
    /// # Panics
    /// If the history lacks a listed operation or segment.
    pub(super) fn new(history: &'a History<V>, witness: &'a Witness) -> Self {
        let mut overwritten_before: Vec<Option<usize>> = vec![None; witness.segments.len()];
        let mut scans = Vec::new();
        for step in history.steps() {
            let operation = history.operation(step.operation);
            match operation.segment() {
                None if !step.is_end && is_listed(witness, step.operation) => {
                    let overwritten_before = overwritten_before.clone();
                    scans.push(ListedScan { id: step.operation, overwritten_before });
                }
                Some(segment)
                    if step.is_end
                        && operation.is_complete()
                        && is_listed(witness, step.operation) =>
                {
                    if let Ok(k) = witness.segments.binary_search(&segment) {
                        let latest = &mut overwritten_before[k];
                        *latest = (*latest).max(Some(operation.invocation()));
                    }
                }
                _ => {}
            }
        }
        Self { history, witness, scans }
    }

    /// Checks that every operation that is not listed is omissible.
    ///
    /// # Errors
    /// The first update that is not omissible.
    pub(super) fn check_unlisted(&self) -> Result<(), NotOmissible> {
        let mut remaining: Vec<Vec<Remaining>> = Vec::new();
        remaining.resize_with(self.witness.segments.len(), Vec::new);
        for id in self.history.operation_ids() {
            let operation = self.history.operation(id);
            let Some(segment) = operation.segment() else { continue };
            let Ok(k) = self.witness.segments.binary_search(&segment) else { continue };
            if operation.is_failed() {
                continue;
            }
            let read_by = if is_listed(self.witness, id) {
                None
            } else {
                match self.first_reader(operation, segment, k) {
                    None => continue,
                    reader => reader,
                }
            };
            remaining[k].push(Remaining { id, read_by });
        }
        for (segment, updates) in self.witness.segments.iter().zip(&remaining) {
            self.check_redundant(*segment, updates)?;
        }
        Ok(())
    }

    /// Step 1: returns the first listed scan that may have read an update of the `k`-th listed
    /// segment; `None` if the update is unread.
    fn first_reader(&self, update: &Operation, segment: Segment, k: usize) -> Option<OperationId> {
        let value = self.history.update_value(update);
        let may_have_read = |scan: &&ListedScan| {
            let reader = self.history.operation(scan.id);
            let is_overwritten = match (update.response(), scan.overwritten_before[k]) {
                (Some(response), Some(overwriting)) => response < overwriting,
                _ => false,
            };
            self.history.entry(reader, segment) == Some(value)
                && !reader.precedes(update)
                && !is_overwritten
        };
        self.scans.iter().find(may_have_read).map(|scan| scan.id)
    }

    /// Step 2: checks that all updates of a segment that are neither listed nor unread are
    /// redundant. The updates are given in the order of invocations.
    fn check_redundant(&self, segment: Segment, updates: &[Remaining]) -> Result<(), NotOmissible> {
        // Entry i is true if all updates before number i precede it, and so all updates behind it.
        // At the end of the order it holds vacuously.
        let mut is_separated = vec![true; updates.len() + 1];
        let mut last_response = Some(0);
        for (i, update) in updates.iter().enumerate() {
            let operation = self.history.operation(update.id);
            let invocation = operation.invocation();
            is_separated[i] = i == 0 || last_response.is_some_and(|last| last < invocation);
            last_response = match (last_response, operation.response()) {
                (Some(last), Some(response)) => Some(last.max(response)),
                _ => None,
            };
        }
        for (i, update) in updates.iter().enumerate() {
            let Some(scan) = update.read_by else { continue };
            let value = |id: OperationId| self.history.update_value(self.history.operation(id));
            let (is_first_placed, before) = match i.checked_sub(1) {
                None => (true, self.history.initial_value(segment)),
                Some(before) => (is_separated[before], value(updates[before].id)),
            };
            let is_placed = is_first_placed && is_separated[i] && is_separated[i + 1];
            if !is_placed || value(update.id) != before {
                return Err(NotOmissible { update: update.id, scan });
            }
        }
        Ok(())
    }
}

/// An update of a listed segment that step 1 does not remove.
struct Remaining {
    id: OperationId,
    /// A listed scan that may have read it; `None` if the update is listed.
    read_by: Option<OperationId>,
}

fn is_listed(witness: &Witness, id: OperationId) -> bool {
    witness.operations.binary_search(&id).is_ok()
}
