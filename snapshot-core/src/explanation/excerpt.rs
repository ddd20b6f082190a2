//! From an alarm to the operations that prove it, by reading the recording again.
//!
//! The monitor keeps only the state it needs to judge, so its alarm names operations but cannot
//! distinguish, say, an old value from one that was never written. An [`Excerpt`] replays the
//! recording and keeps, for the segments that matter, the updates that the scans in question can
//! have read, and an overwriting one where older updates of the same value are left out. Its
//! memory, too, is bounded by concurrency.

use super::proof_operation::{Deed, Ending, Explanation, ProofOperation};
use super::returned::{ReturnedValues, slot};
use super::track::{Candidate, Track};
use crate::history::{Action, Declaration, Event};
use crate::monitor::{Alarm, Violation};
use crate::renaming::Renaming;
use crate::verdict::{Reason, Witness};
use crate::{Names, OperationId, Process, Segment};

/// A scan of the alarm.
#[derive(Clone, Debug)]
struct Scan<V> {
    operation: ProofOperation<V>,
    /// For each segment of the excerpt, the last update that ended before the scan began.
    due: Vec<Option<Candidate<V>>>,
}

/// The open operation of a process, if it matters.
#[derive(Clone, Debug, Default)]
enum Open<V> {
    #[default]
    Nothing,
    Update(usize, Box<Candidate<V>>),
    Scan(usize),
}

/// Collects the operations that prove an alarm.
#[derive(Clone, Debug)]
pub struct Excerpt<V> {
    alarm: Alarm,
    forced: Vec<OperationId>,
    returned: Vec<(OperationId, Vec<V>)>,
    tracks: Vec<Track<V>>,
    scans: Vec<Scan<V>>,
    open_scans: usize,
    open: Vec<Open<V>>,
    events: usize,
    operations: usize,
    segments: usize,
}

impl<V: Clone + Eq> Excerpt<V> {
    /// Creates an excerpt for an alarm, the values that its scans returned, and the declaration of
    /// the recording.
    pub fn new(alarm: &Alarm, values: ReturnedValues<V>, declaration: &Declaration<V>) -> Self {
        let track = |(at, &segment): (usize, &Segment)| {
            let initial = declaration.initial_value(segment.index()).clone();
            Track {
                segment,
                value: initial.clone(),
                initial,
                returned: values.returned.iter().map(|(_, entries)| entries[at].clone()).collect(),
                number: 0,
                last_done: None,
                kept: Vec::new(),
                stale: Vec::new(),
                failed: Vec::new(),
                future: None,
            }
        };
        Self {
            alarm: *alarm,
            forced: alarm.violation.updates(),
            tracks: values.segments.iter().enumerate().map(track).collect(),
            returned: values.returned,
            scans: Vec::new(),
            open_scans: 0,
            open: Vec::new(),
            events: 0,
            operations: 0,
            segments: declaration.segments.unwrap_or(1),
        }
    }

    /// Takes the next event of the recording, from its first one on. Events after the alarm are
    /// searched only for the origin of a value.
    pub fn observe(&mut self, event: &Event<'_, V>) {
        let position = self.events;
        self.events += 1;
        let process = event.process;
        if position > self.alarm.event {
            self.observe_later(event, position);
            return;
        }
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                let id = OperationId::from_index(self.operations);
                self.operations += 1;
                self.segments = self.segments.max(segment.index() + 1);
                self.begin_update(id, process, segment, value, position);
            }
            Action::InvokeScan => {
                let id = OperationId::from_index(self.operations);
                self.operations += 1;
                if let Some((_, entries)) = self.returned.iter().find(|(scan, _)| *scan == id) {
                    let segments = self.tracks.iter().map(|track| track.segment);
                    let entries = segments.zip(entries.iter().cloned()).collect();
                    let due = self.tracks.iter().map(|track| track.last_done.clone()).collect();
                    let deed = Deed::Scan { entries };
                    let operation = ProofOperation {
                        id,
                        process,
                        invocation: position,
                        ending: Ending::None,
                        deed,
                    };
                    *slot(&mut self.open, process.index()) = Open::Scan(self.scans.len());
                    self.scans.push(Scan { operation, due });
                    self.open_scans += 1;
                }
            }
            Action::RespondScan { values } => {
                self.segments = self.segments.max(values.len());
                if let Open::Scan(scan) = std::mem::take(slot(&mut self.open, process.index())) {
                    self.end_scan(scan, position);
                }
            }
            Action::RespondPartialScan { entries, .. } => {
                let last = entries.last().map_or(0, |(segment, _)| segment.index() + 1);
                self.segments = self.segments.max(last);
                if let Open::Scan(scan) = std::mem::take(slot(&mut self.open, process.index())) {
                    self.end_scan(scan, position);
                }
            }
            Action::RespondUpdate => self.end_update(process, Ending::Response(position)),
            Action::Fail => self.end_update(process, Ending::Failure(position)),
            Action::Unknown => self.end_update(process, Ending::Unknown(position)),
        }
        if position == self.alarm.event {
            self.keep_open();
        }
    }

    /// Keeps the updates open at the alarm, which do not end within the proof.
    fn keep_open(&mut self) {
        for open in &self.open {
            if let Open::Update(at, candidate) = open
                && candidate.listed
            {
                self.tracks[*at].kept.push((**candidate).clone());
            }
        }
    }

    /// After the alarm, searches for the later update that wrote a value returned too early.
    fn observe_later(&mut self, event: &Event<'_, V>, position: usize) {
        let process = event.process;
        match event.action {
            Action::InvokeScan => self.operations += 1,
            Action::InvokeUpdate { segment, value } => {
                let id = OperationId::from_index(self.operations);
                self.operations += 1;
                self.begin_update(id, process, segment, value, position);
                if let Open::Update(at, candidate) = slot(&mut self.open, process.index()) {
                    let track = &mut self.tracks[*at];
                    if track.future.is_none() && track.returned.contains(value) {
                        track.future = Some((**candidate).clone());
                    }
                }
            }
            Action::Fail => {
                let open = std::mem::take(slot(&mut self.open, process.index()));
                if let Open::Update(at, candidate) = open {
                    self.tracks[at].take_back(&candidate);
                }
            }
            Action::RespondUpdate
            | Action::RespondScan { .. }
            | Action::RespondPartialScan { .. }
            | Action::Unknown => {
                *slot(&mut self.open, process.index()) = Open::Nothing;
            }
        }
    }

    fn begin_update(
        &mut self,
        id: OperationId,
        process: Process,
        segment: Segment,
        value: &V,
        position: usize,
    ) {
        let Some(at) = self.tracks.iter().position(|track| track.segment == segment) else {
            return;
        };
        let track = &mut self.tracks[at];
        let redundant = track.value == *value;
        track.number += u64::from(!redundant);
        let deed = Deed::Update { segment, value: value.clone() };
        let operation =
            ProofOperation { id, process, invocation: position, ending: Ending::None, deed };
        let candidate = Candidate {
            operation,
            value: value.clone(),
            number: track.number,
            listed: self.forced.contains(&id),
            before: std::mem::replace(&mut track.value, value.clone()),
            redundant,
        };
        *slot(&mut self.open, process.index()) = Open::Update(at, Box::new(candidate));
    }

    fn end_update(&mut self, process: Process, ending: Ending) {
        let Open::Update(at, mut candidate) = std::mem::take(slot(&mut self.open, process.index()))
        else {
            return;
        };
        let track = &mut self.tracks[at];
        candidate.operation.ending = ending;
        if let Ending::Failure(_) = ending {
            track.take_back(&candidate);
            if track.returned.contains(&candidate.value) || candidate.listed {
                track.failed.push(*candidate);
            }
            return;
        }
        if let Ending::Response(_) = ending {
            track.last_done = Some((*candidate).clone());
        }
        if candidate.listed || (track.returned.contains(&candidate.value) && !candidate.redundant) {
            track.kept.push(*candidate);
        }
        if self.open_scans == 0 {
            track.leave_out_stale();
        }
    }

    fn end_scan(&mut self, at: usize, position: usize) {
        self.open_scans -= 1;
        self.scans[at].operation.ending = Ending::Response(position);
        let scan = &self.scans[at];
        let begun = scan.operation.invocation;
        let Deed::Scan { entries } = &scan.operation.deed else { return };
        let entries: Vec<V> = entries.iter().map(|(_, value)| value.clone()).collect();
        for (at_track, (track, value)) in self.tracks.iter_mut().zip(&entries).enumerate() {
            let due = scan.due[at_track].as_ref();
            let due_begun = due.map_or(0, |due| due.operation.invocation);
            let mut older = track.initial == *value;
            older |= track.stale.iter().any(|stale| stale.value == *value);
            for candidate in track.kept.iter_mut().filter(|kept| kept.value == *value) {
                candidate.listed = true;
                older |= candidate.precedes(due_begun);
            }
            if let Some(due) = due.filter(|_| older) {
                debug_assert!(due.precedes(begun));
                track.kept.push(Candidate { listed: true, ..due.clone() });
            }
            for open in &mut self.open {
                if let Open::Update(of, candidate) = open
                    && *of == at_track
                    && candidate.value == *value
                    && !candidate.redundant
                {
                    candidate.listed = true;
                }
            }
        }
        if self.open_scans == 0 {
            self.tracks.iter_mut().for_each(Track::leave_out_stale);
        }
    }

    /// Returns the proof.
    pub fn finish(self) -> Explanation<V> {
        let mut operations: Vec<ProofOperation<V>> =
            self.scans.iter().map(|scan| scan.operation.clone()).collect();
        let (reason, extra) = self.reason();
        operations.extend(extra);
        for track in &self.tracks {
            let listed = track.kept.iter().filter(|candidate| candidate.listed);
            operations.extend(listed.map(|candidate| candidate.operation.clone()));
        }
        operations.sort_by_key(|operation| operation.id);
        operations.dedup_by_key(|operation| operation.id);
        // Where updates of one segment overlap, no numbering exists to rename by.
        let has_numbers = !self.tracks.is_empty() && !some_updates_overlap(&operations);
        let renaming = has_numbers.then(|| self.renaming(&reason));
        let witness = Witness {
            reason,
            segments: self.tracks.iter().map(|track| track.segment).collect(),
            operations: operations.iter().map(|operation| operation.id).collect(),
            renaming,
        };
        let initial =
            self.tracks.iter().map(|track| (track.segment, track.initial.clone())).collect();
        let numbers = self.numbers(&operations);
        Explanation {
            witness,
            initial,
            operations,
            numbers,
            refutation: None,
            names: Names::default(),
        }
    }

    /// Returns the run numbers of the updates in the proof.
    fn numbers(&self, operations: &[ProofOperation<V>]) -> Vec<(OperationId, u64)> {
        let known = |track: &Track<V>| {
            let all =
                track.kept.iter().chain(&track.stale).chain(&track.failed).chain(&track.future);
            all.map(|candidate| (candidate.operation.id, candidate.number)).collect::<Vec<_>>()
        };
        let mut numbers: Vec<(OperationId, u64)> = self.tracks.iter().flat_map(known).collect();
        let due = self.scans.iter().flat_map(|scan| scan.due.iter().flatten());
        numbers.extend(due.map(|candidate| (candidate.operation.id, candidate.number)));
        numbers.retain(|(id, _)| operations.iter().any(|operation| operation.id == *id));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the complete reason, and operations that only it needs.
    fn reason(&self) -> (Reason, Vec<ProofOperation<V>>) {
        match self.alarm.violation {
            Violation::FailedUpdateSeen { scan, update, segment } => {
                let track = self.tracks.iter().find(|track| track.segment == segment);
                let failed = track.into_iter().flat_map(|track| &track.failed);
                let failed = failed.filter(|candidate| candidate.operation.id == update);
                let operations = failed.map(|candidate| candidate.operation.clone()).collect();
                (Reason::FailedUpdateSeen { scan, update }, operations)
            }
            Violation::Decrease { earlier, later, segment, .. } => {
                (Reason::Decrease { earlier, later, segment }, Vec::new())
            }
            Violation::Inversion { first, second, i, j, .. } => {
                (Reason::Inversion { first, second, i, j }, Vec::new())
            }
            Violation::Missing { scan, seen, missing, .. } => {
                (Reason::Missing { scan, seen, missing }, Vec::new())
            }
            Violation::Unavailable { scan, segment } => self.unavailable(scan, segment),
            Violation::Cycle { .. } | Violation::Unordered { .. } => (Reason::NoOrder, Vec::new()),
        }
    }

    fn unavailable(&self, scan: OperationId, segment: Segment) -> (Reason, Vec<ProofOperation<V>>) {
        let found = self.tracks.iter().position(|track| track.segment == segment);
        let sighting = self.scans.iter().find(|other| other.operation.id == scan);
        let (Some(at), Some(sighting)) = (found, sighting) else {
            return (Reason::NeverWritten { scan, segment }, Vec::new());
        };
        let track = &self.tracks[at];
        let value = match &sighting.operation.deed {
            Deed::Scan { entries } => &entries[at].1,
            Deed::Update { value, .. } => value,
        };
        let matching = |candidates: &[Candidate<V>]| {
            candidates.iter().rev().find(|candidate| candidate.value == *value).cloned()
        };
        let old = matching(&track.stale).or_else(|| matching(&track.kept));
        if let Some(due) = &sighting.due[at]
            && (old.is_some() || track.initial == *value)
        {
            let mut operations = vec![due.operation.clone()];
            operations.extend(old.map(|candidate| candidate.operation));
            return (Reason::Stale { scan, overwriting: due.operation.id }, operations);
        }
        if let Some(failed) = matching(&track.failed) {
            let reason = Reason::FailedUpdateSeen { scan, update: failed.operation.id };
            return (reason, vec![failed.operation]);
        }
        match &track.future {
            Some(future) => {
                let reason = Reason::Future { scan, update: future.operation.id };
                (reason, vec![future.operation.clone()])
            }
            None => (Reason::NeverWritten { scan, segment }, Vec::new()),
        }
    }

    fn number_of(&self, update: OperationId) -> (Segment, u64) {
        for track in &self.tracks {
            let due = self.scans.iter().flat_map(|scan| scan.due.iter().flatten());
            let all = track.kept.iter().chain(&track.future).chain(due);
            for candidate in all {
                if candidate.operation.id == update
                    && matches!(&candidate.operation.deed, Deed::Update { segment, .. } if *segment == track.segment)
                {
                    return (track.segment, candidate.number);
                }
            }
        }
        (self.tracks[0].segment, u64::MAX)
    }

    /// Returns the renaming under which the history becomes a simple one that an automaton accepts.
    fn renaming(&self, reason: &Reason) -> Renaming {
        let (one, other) = match (*reason, self.alarm.violation) {
            (Reason::Stale { overwriting, .. }, _) => (self.number_of(overwriting), None),
            (Reason::Future { update, .. }, _) => (self.number_of(update), None),
            (_, Violation::Decrease { seen, .. }) => (self.number_of(seen), None),
            (_, Violation::Inversion { first_saw, second_saw, .. }) => {
                (self.number_of(first_saw), Some(self.number_of(second_saw)))
            }
            (_, Violation::Missing { seen, missing, .. }) => {
                (self.number_of(seen), Some(self.number_of(missing)))
            }
            _ => ((self.tracks[0].segment, u64::MAX), None),
        };
        let other = other.or_else(|| {
            // Any other segment works; nothing in it is renamed to 1.
            let other = usize::from(one.0.index() == 0);
            (other < self.segments).then(|| (Segment::from_index(other), u64::MAX))
        });
        match other {
            None => Renaming { i: one.0, j: None, from_i: one.1, from_j: u64::MAX },
            Some(other) => {
                let (i, j) = if one.0 < other.0 { (one, other) } else { (other, one) };
                Renaming { i: i.0, j: Some(j.0), from_i: i.1, from_j: j.1 }
            }
        }
    }
}

/// Returns true if two updates of one segment overlap, among operations in the order of their
/// invocations.
fn some_updates_overlap<V>(operations: &[ProofOperation<V>]) -> bool {
    let segment = |operation: &ProofOperation<V>| match operation.deed {
        Deed::Update { segment, .. } => Some(segment),
        Deed::Scan { .. } => None,
    };
    operations.iter().enumerate().any(|(at, operation)| {
        let Some(of) = segment(operation) else { return false };
        let is_over = |event| match operation.ending {
            Ending::Response(end) | Ending::Failure(end) => end < event,
            Ending::Unknown(_) | Ending::None => false,
        };
        operations[at + 1..]
            .iter()
            .any(|next| segment(next) == Some(of) && !is_over(next.invocation))
    })
}
