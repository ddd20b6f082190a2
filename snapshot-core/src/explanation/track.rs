//! One segment of an excerpt: the updates that its scans may have read.

use super::proof_operation::{Ending, ProofOperation};
use crate::Segment;

/// An update that may belong to the proof.
#[derive(Clone, Debug)]
pub(super) struct Candidate<V> {
    pub operation: ProofOperation<V>,
    pub value: V,
    /// Number of the run of the update.
    pub number: u64,
    /// True if the update certainly belongs to the proof.
    pub listed: bool,
    /// Value of the segment before the update, restored if the update fails.
    pub before: V,
    pub redundant: bool,
}

impl<V> Candidate<V> {
    /// Returns true if the update had ended before an event.
    pub fn precedes(&self, event: usize) -> bool {
        matches!(self.operation.ending, Ending::Response(end) if end < event)
    }
}

/// One segment of the excerpt.
#[derive(Clone, Debug)]
pub(super) struct Track<V> {
    pub segment: Segment,
    pub initial: V,
    /// Values that the scans returned for the segment.
    pub returned: Vec<V>,
    /// Value of the last update that did not fail.
    pub value: V,
    /// Number of the last run.
    pub number: u64,
    /// The last update to respond.
    pub last_done: Option<Candidate<V>>,
    /// Updates that ended or were given up, with a value that some scan returned, or named by the
    /// alarm.
    pub kept: Vec<Candidate<V>>,
    /// The last left-out update of each returned value.
    pub stale: Vec<Candidate<V>>,
    pub failed: Vec<Candidate<V>>,
    /// The first update to write a returned value after the alarm.
    pub future: Option<Candidate<V>>,
}

impl<V: Clone + Eq> Track<V> {
    /// Takes back a failed update: it has no number.
    pub fn take_back(&mut self, failed: &Candidate<V>) {
        if self.value == failed.value {
            self.value = failed.before.clone();
            self.number -= u64::from(!failed.redundant);
        }
    }

    /// Leaves out updates that no later scan can return.
    pub fn leave_out_stale(&mut self) {
        let Some(last) = &self.last_done else { return };
        let begun = last.operation.invocation;
        let mut at = 0;
        while at < self.kept.len() {
            let candidate = &self.kept[at];
            if candidate.listed || !candidate.precedes(begun) {
                at += 1;
                continue;
            }
            let candidate = self.kept.remove(at);
            self.stale.retain(|other| other.value != candidate.value);
            self.stale.push(candidate);
        }
    }
}
