//! Editable recordings of histories.

use std::collections::HashMap;

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{History, Process, Segment};

/// A value that no update writes.
const NEVER_WRITTEN: i64 = -7;

/// An [`Action`] that owns its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Letter {
    InvokeUpdate { segment: usize, value: i64 },
    InvokeScan,
    RespondUpdate,
    RespondScan { values: Vec<i64> },
    RespondPartialScan { entries: Vec<(Segment, i64)> },
    Fail,
    Unknown,
}

impl Letter {
    /// Returns the event of this process.
    pub fn event(&self, process: usize) -> Event<'_, i64> {
        let process = Process::from_index(process);
        match self {
            Self::InvokeUpdate { segment, value } => {
                Event::invoke_update(process, Segment::from_index(*segment), value)
            }
            Self::InvokeScan => Event::invoke_scan(process),
            Self::RespondUpdate => Event::respond_update(process),
            Self::RespondScan { values } => Event::respond_scan(process, values),
            Self::RespondPartialScan { entries } => Event::respond_partial_scan(process, entries),
            Self::Fail => Event::fail(process),
            Self::Unknown => Event::unknown(process),
        }
    }
}

/// The events of a history, with their processes; always a valid history.
#[derive(Clone, Debug)]
pub struct Recording {
    declaration: Declaration<i64>,
    events: Vec<(usize, Letter)>,
}

impl Recording {
    /// Creates an empty recording; all segments are initially 0.
    pub fn new(segments: usize, processes: usize, writers: Writers) -> Self {
        let declaration = Declaration::new(0)
            .with_segments(segments)
            .with_processes(processes)
            .with_writers(writers);
        Self { declaration, events: Vec::new() }
    }

    /// The recording of a history.
    pub fn of(history: &History<i64>) -> Self {
        let events = history.events().map(|Event { process, action }| {
            let letter = match action {
                Action::InvokeUpdate { segment, value } => {
                    Letter::InvokeUpdate { segment: segment.index(), value: *value }
                }
                Action::InvokeScan => Letter::InvokeScan,
                Action::RespondUpdate => Letter::RespondUpdate,
                Action::RespondScan { values } => Letter::RespondScan { values: values.to_vec() },
                Action::RespondPartialScan { entries, .. } => {
                    Letter::RespondPartialScan { entries: entries.to_vec() }
                }
                Action::Fail => Letter::Fail,
                Action::Unknown => Letter::Unknown,
            };
            (process.index(), letter)
        });
        Self { declaration: history.declaration(), events: events.collect() }
    }

    /// Leaves out entries of scans, but keeps at least one of each: bit `k` of the tape decides
    /// whether entry number `k`, counted from the first scan on, stays.
    pub fn leave_gaps(&mut self, tape: &[bool]) {
        let mut stays = tape.iter().cycle();
        for (_, letter) in &mut self.events {
            if let Letter::RespondScan { values } = letter {
                let entries: Vec<(Segment, i64)> = values
                    .iter()
                    .enumerate()
                    .filter(|_| *stays.next().expect("the tape is not empty"))
                    .map(|(k, value)| (Segment::from_index(k), *value))
                    .collect();
                *letter = Letter::RespondPartialScan { entries };
            }
        }
    }

    /// Keeps one entry of each scan, another one each time.
    pub fn keep_one_entry(&mut self) {
        let mut kept = 0;
        for (_, letter) in &mut self.events {
            if let Letter::RespondScan { values } = letter {
                kept = (kept + 1) % values.len();
                let entries = vec![(Segment::from_index(kept), values[kept])];
                *letter = Letter::RespondPartialScan { entries };
            }
        }
    }

    /// Appends an event.
    pub fn push(&mut self, process: usize, letter: Letter) {
        self.events.push((process, letter));
    }

    /// Returns the recorded history.
    ///
    /// # Panics
    /// If the events are invalid, for example if an idle process ends an operation.
    pub fn history(&self) -> History<i64> {
        let mut history = History::builder(self.declaration.clone()).expect("a sound declaration");
        for (process, letter) in &self.events {
            history.push(&letter.event(*process)).expect("a falsified recording is a history");
        }
        history.finish()
    }

    /// Changes the recording at about `place` in one of three ways: a scan returns another value,
    /// two scans exchange their values, or an event happens earlier or later. Some choices change
    /// nothing.
    pub fn falsify(&mut self, kind: u8, place: usize, extent: usize) {
        let scans: Vec<usize> = (0..self.events.len())
            .filter(|&event| matches!(self.events[event].1, Letter::RespondScan { .. }))
            .collect();
        match kind % 4 {
            0 | 1 if !scans.is_empty() => self.change_entry(scans[place % scans.len()], extent),
            2 if !scans.is_empty() => {
                let (first, second) = (scans[place % scans.len()], scans[extent % scans.len()]);
                let letter = self.events[first].1.clone();
                self.events[first].1 = std::mem::replace(&mut self.events[second].1, letter);
            }
            3 if !self.events.is_empty() => self.displace(place % self.events.len(), extent),
            _ => {}
        }
    }

    /// Changes the recording as little as possible, at about `place`: an entry of
    /// a long scan becomes one of the values written shortly before or after it,
    /// two long scans that responded shortly after each other exchange an entry,
    /// or an event happens a little earlier or later. Some choices change nothing.
    pub fn nudge(&mut self, kind: u8, place: usize, extent: usize) {
        let scans = self.long_scans();
        let changed = extent % self.declaration.segments.unwrap_or(1);
        let distance = 1 + extent / 8 % 3;
        match kind % 4 {
            0 | 1 if !scans.is_empty() => {
                let scan = scans[place % scans.len()];
                self.shift_entry(scan, changed, distance, kind.is_multiple_of(4));
            }
            2 if scans.len() > distance => {
                let first = place % (scans.len() - distance);
                self.exchange_entry(scans[first], scans[first + distance], changed);
            }
            3 if !self.events.is_empty() => self.displace(place % self.events.len(), extent),
            _ => {}
        }
    }

    /// The responses of the longest quarter of the scans, in their order.
    fn long_scans(&self) -> Vec<usize> {
        let mut invocation: HashMap<usize, usize> = HashMap::new();
        let mut scans: Vec<(usize, usize)> = Vec::new();
        for (event, (process, letter)) in self.events.iter().enumerate() {
            match letter {
                Letter::InvokeScan => {
                    invocation.insert(*process, event);
                }
                Letter::RespondScan { .. } => scans.push((event - invocation[process], event)),
                _ => {}
            }
        }
        scans.sort_unstable();
        scans.drain(..scans.len() * 3 / 4);
        let mut responses: Vec<usize> = scans.into_iter().map(|(_, response)| response).collect();
        responses.sort_unstable();
        responses
    }

    /// Lets a scan return for one segment the value written `distance` updates before or after the
    /// last update of its current value that it can have seen.
    fn shift_entry(&mut self, scan: usize, changed: usize, distance: usize, is_later: bool) {
        let mut written = vec![0];
        let mut seen = None;
        for (event, (_, letter)) in self.events.iter().enumerate() {
            if let Letter::InvokeUpdate { segment, value } = letter
                && *segment == changed
            {
                written.push(*value);
            }
            if event == scan
                && let Letter::RespondScan { values } = letter
            {
                seen = written.iter().rposition(|value| *value == values[changed]);
            }
        }
        let Some(seen) = seen else { return };
        let shifted =
            if is_later { seen.checked_add(distance) } else { seen.checked_sub(distance) };
        if let Some(value) = shifted.and_then(|shifted| written.get(shifted))
            && let Letter::RespondScan { values } = &mut self.events[scan].1
        {
            values[changed] = *value;
        }
    }

    fn exchange_entry(&mut self, first: usize, second: usize, changed: usize) {
        let entry = |event: usize| match &self.events[event].1 {
            Letter::RespondScan { values } => values[changed],
            _ => unreachable!("only responses of scans are exchanged"),
        };
        for (event, value) in [(first, entry(second)), (second, entry(first))] {
            if let Letter::RespondScan { values } = &mut self.events[event].1 {
                values[changed] = value;
            }
        }
    }

    /// Lets a scan return another value for one segment: one that some update writes there at any
    /// time, the initial one, or an unwritten one.
    fn change_entry(&mut self, scan: usize, extent: usize) {
        let segments = self.declaration.segments.unwrap_or(1);
        let changed = extent % segments;
        let written = self.events.iter().filter_map(|(_, letter)| match letter {
            Letter::InvokeUpdate { segment, value } if *segment == changed => Some(*value),
            _ => None,
        });
        let mut candidates: Vec<i64> = written.collect();
        candidates.extend([0, NEVER_WRITTEN]);
        let value = candidates[extent / segments % candidates.len()];
        if let Letter::RespondScan { values } = &mut self.events[scan].1 {
            values[changed] = value;
        }
    }

    /// Moves an event up to eight places, but not past another of its process.
    fn displace(&mut self, event: usize, extent: usize) {
        let mut event = event;
        for _ in 0..1 + extent / 2 % 8 {
            let next =
                if extent.is_multiple_of(2) { event.checked_sub(1) } else { Some(event + 1) };
            let Some(next) = next.filter(|&next| next < self.events.len()) else { return };
            if self.events[event].0 == self.events[next].0 {
                return;
            }
            self.events.swap(event, next);
            event = next;
        }
    }
}
