//! The numbers of the values of a differentiated history.

use std::collections::HashMap;
use std::hash::Hash;

use thiserror::Error;

use super::Renaming;
use crate::history::{History, OperationKind, Outcome};
use crate::simple::{Letter, SimpleHistory, Switching, Symbol};
use crate::{OperationId, Process, Segment};

/// The reason why a history cannot be renamed.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum NotDifferentiated {
    /// A scan returned only some of the segments.
    #[error("scan {scan} returned some of the segments only; only full scans can be renamed")]
    PartialScan {
        /// The scan.
        scan: OperationId,
    },
    /// A segment received a value again after another one, or its initial value again.
    #[error(
        "update {update} gives segment {segment} a value that it had before: \
             it has no number of its own"
    )]
    Repeated {
        /// The segment.
        segment: Segment,
        /// The later update.
        update: OperationId,
    },
    /// Two updates of one segment have no order: both were open at the same time, or the outcome of
    /// `first` was lost and it may take effect after `second`, which wrote another value.
    #[error("updates {first} and {second} of segment {segment} overlap: they have no order")]
    Overlapping {
        /// The segment.
        segment: Segment,
        /// The update invoked first.
        first: OperationId,
        /// Update that writes the same value later.
        second: OperationId,
    },
}

impl NotDifferentiated {
    /// Returns the operation that shows it: the later one of two.
    pub const fn operation(&self) -> OperationId {
        match *self {
            Self::PartialScan { scan } => scan,
            Self::Repeated { update, .. } => update,
            Self::Overlapping { second, .. } => second,
        }
    }
}

/// The number of a value that was never in its segment: above all others.
const NEVER: u64 = u64::MAX;

/// An event with numbers for values.
#[derive(Clone, Copy, Debug)]
enum Numbered {
    /// The invocation or response of an update, with the segment and the number of its value.
    Update { segment: Segment, number: u64, is_end: bool },
    /// The invocation of a scan.
    InvokeScan,
    /// The response of a scan; its numbers are `entries[first..first + segments]`.
    RespondScan { first: usize },
}

/// A differentiated history with a number for each value, ready to be renamed.
///
/// Invariants: events of failed updates and of incomplete scans are left out, since they constrain
/// nothing; the events of an update have the number of its value.
#[derive(Clone, Debug)]
pub struct Numbering {
    processes: usize,
    /// For each segment, the largest number of an update.
    updates: Vec<u64>,
    /// The events, with their processes and their indices in the history.
    events: Vec<(Process, Numbered, u32)>,
    /// The numbers of the entries of scans, `updates.len()` for each scan.
    entries: Vec<u64>,
}

/// The updates of one segment so far.
struct Track<'h, V> {
    numbers: HashMap<&'h V, u64>,
    current: &'h V,
    last: Option<OperationId>,
    /// An update of the current value whose outcome was lost.
    lost: Option<OperationId>,
}

impl<'h, V: Eq + Hash> Track<'h, V> {
    fn new(initial: &'h V) -> Self {
        Self { numbers: HashMap::from([(initial, 0)]), current: initial, last: None, lost: None }
    }

    /// Numbers the value of an update that has not failed.
    fn take(
        &mut self,
        history: &'h History<V>,
        segment: Segment,
        update: OperationId,
    ) -> Result<(), NotDifferentiated> {
        let operation = history.operation(update);
        let overlap = |first| NotDifferentiated::Overlapping { segment, first, second: update };
        if let Some(last) = self.last.replace(update) {
            let end = match history.operation(last).outcome() {
                Outcome::Complete { response: event }
                | Outcome::Failed { event }
                | Outcome::Unknown { event } => Some(event),
                Outcome::Pending => None,
            };
            if end.is_none_or(|event| event > operation.invocation()) {
                return Err(overlap(last));
            }
        }
        let value = history.update_value(operation);
        if value != self.current {
            if let Some(lost) = self.lost {
                return Err(overlap(lost));
            }
            let number = self.numbers.len() as u64;
            if self.numbers.insert(value, number).is_some() {
                return Err(NotDifferentiated::Repeated { segment, update });
            }
            self.current = value;
        }
        if matches!(operation.outcome(), Outcome::Unknown { .. }) {
            self.lost.get_or_insert(update);
        }
        Ok(())
    }

    fn number(&self, value: &V) -> u64 {
        self.numbers.get(value).copied().unwrap_or(NEVER)
    }
}

impl Numbering {
    /// Numbers the values of a history. O(size of the history).
    ///
    /// # Errors
    /// If the history is not differentiated, with the first operation that shows it.
    pub fn new<V: Eq + Hash>(history: &History<V>) -> Result<Self, NotDifferentiated> {
        let segments = (0..history.segments()).map(Segment::from_index);
        let mut tracks: Vec<Track<'_, V>> =
            segments.map(|segment| Track::new(history.initial_value(segment))).collect();
        for (id, operation) in history.operation_ids().zip(history.operations()) {
            match operation.kind() {
                OperationKind::Update { segment } if !operation.is_failed() => {
                    tracks[segment.index()].take(history, segment, id)?;
                }
                OperationKind::Update { .. } => {}
                _ if operation.is_partial() => {
                    return Err(NotDifferentiated::PartialScan { scan: id });
                }
                _ => {}
            }
        }
        Ok(Self::of_tracks(history, &tracks))
    }

    fn of_tracks<V: Eq + Hash>(history: &History<V>, tracks: &[Track<'_, V>]) -> Self {
        let mut events = Vec::with_capacity(history.len());
        let mut entries = Vec::with_capacity(history.scans() * tracks.len());
        for (event, step) in history.steps().enumerate() {
            let operation = history.operation(step.operation);
            let is_cut = step.is_end && !operation.is_complete();
            let numbered = match operation.segment() {
                _ if operation.is_failed() || is_cut => continue,
                Some(segment) => {
                    let number = tracks[segment.index()].number(history.update_value(operation));
                    Numbered::Update { segment, number, is_end: step.is_end }
                }
                None if !operation.is_complete() => continue,
                None if !step.is_end => Numbered::InvokeScan,
                None => {
                    let first = entries.len();
                    let values = history.scan_values(operation).iter().zip(tracks);
                    entries.extend(values.map(|(value, track)| track.number(value)));
                    Numbered::RespondScan { first }
                }
            };
            events.push((operation.process(), numbered, event as u32));
        }
        let updates = tracks.iter().map(|track| track.numbers.len() as u64 - 1).collect();
        Self { processes: history.processes(), updates, events, entries }
    }

    /// Number of processes.
    pub const fn processes(&self) -> usize {
        self.processes
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.updates.len()
    }

    /// Returns the largest number of an update of a segment; 0 if it never changed. Only values
    /// that were never in the segment reach a higher threshold.
    ///
    /// # Panics
    /// If the history has no such segment.
    pub fn updates(&self, segment: Segment) -> u64 {
        self.updates[segment.index()]
    }

    /// Returns the simple history of a renaming. O(events).
    ///
    /// # Panics
    /// If i and j are one segment, or one of them is not in the history.
    pub fn rename(&self, renaming: Renaming) -> SimpleHistory {
        let Renaming { i, j, from_i, from_j } = renaming;
        let renaming = match j {
            Some(j) if j < i => Renaming { i: j, j: Some(i), from_i: from_j, from_j: from_i },
            _ => renaming,
        };
        let (i, j) = (renaming.i, renaming.j);
        let is_known = |segment: Segment| segment.index() < self.segments();
        assert!(is_known(i) && j.is_none_or(is_known), "i and j are segments of the history");
        assert!(j != Some(i), "i and j are two segments");
        let letters = self.letters(renaming).collect();
        let events = self.events.iter().map(|&(.., event)| event).collect();
        SimpleHistory::from_parts(self.processes, (i, j), letters, events)
    }

    /// The letters after a renaming, in the order of time; i must be below j.
    pub(super) fn letters(&self, renaming: Renaming) -> impl Iterator<Item = Letter> + '_ {
        (0..self.len()).map(move |letter| self.letter(letter, renaming))
    }

    /// The letter with this index after a renaming; i must be below j.
    pub(super) fn letter(&self, letter: usize, renaming: Renaming) -> Letter {
        let Renaming { i, j, from_i, from_j } = renaming;
        let (process, numbered, _) = self.events[letter];
        let symbol = match numbered {
            Numbered::Update { segment, number, is_end } => {
                let (switching, from) = if segment == i {
                    (Some(Switching::I), from_i)
                } else if Some(segment) == j {
                    (Some(Switching::J), from_j)
                } else {
                    (None, NEVER)
                };
                let value = number >= from;
                match (switching, is_end) {
                    (None, false) => Symbol::InvokeOther,
                    (None, true) => Symbol::RespondOther,
                    (Some(segment), false) => Symbol::InvokeUpdate { segment, value },
                    (Some(segment), true) => Symbol::RespondUpdate { segment, value },
                }
            }
            Numbered::InvokeScan => Symbol::InvokeScan,
            Numbered::RespondScan { first } => {
                let at = |segment: Segment| self.entries[first + segment.index()];
                let at_j = j.is_some_and(|j| at(j) >= from_j);
                Symbol::RespondScan { at_i: at(i) >= from_i, at_j }
            }
        };
        Letter::new(process, symbol)
    }

    /// Returns the number that the event of a letter writes to a segment, or reads there.
    pub(super) fn number(&self, letter: usize, at: Segment) -> Option<u64> {
        match self.events[letter].1 {
            Numbered::Update { segment, number, .. } => (segment == at).then_some(number),
            Numbered::InvokeScan => None,
            Numbered::RespondScan { first } => Some(self.entries[first + at.index()]),
        }
    }

    /// Returns the index in the history of the event of a letter.
    pub(super) fn event(&self, letter: usize) -> usize {
        self.events[letter].2 as usize
    }

    /// Number of letters.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
