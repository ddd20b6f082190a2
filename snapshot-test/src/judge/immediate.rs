//! Judging recordings of immediate snapshots.
//!
//! As for snapshots, the monitor reads a recording once, in memory bounded by concurrency; a
//! violation is explained by reading it again up to the event that completes it. The whole is held
//! in memory if a proof of linearizability is wanted.

use std::ops::ControlFlow;

use snapshot_core::history::Declaration;
use snapshot_core::immediate::{
    Alarm, Event, ExchangeError, History, Judgement as State, Monitor, Repeated, SetLinearization,
    Verdict, check,
};
use snapshot_core::verdict::Dispute;

use super::objects::survey::{Survey, by_one_thread};
use super::reading::{FirstReading, Standing};
use super::{Counts, Judgement, Options};
use crate::Value;
use crate::error::InputError;
use crate::format::{Format, Location};
use crate::input::{InputReader, OpenError, Replay};
use crate::kind::Immediate;
use crate::read::{Most, read_exchanges, read_recording};

/// The answer for a recording of an immediate snapshot.
#[derive(Debug)]
pub enum Finding {
    /// It is set-linearizable; with the blocks, if wanted.
    SetLinearizable(Option<SetLinearization>),
    /// It is not set-linearizable.
    Violation(Box<Violation>),
    /// A process wrote a value twice, at this position.
    Undecided(Repeated, Location),
    /// Two judges contradict each other: a fault of this program, and no answer.
    Disputed(Dispute),
}

/// A violation, as found in an input.
#[derive(Debug)]
pub struct Violation {
    /// The operations, and the event that completes the violation.
    pub alarm: Alarm,
    /// Position of that event.
    pub decided_at: Location,
    /// The recording up to that event, with the positions of its events; `None` if the input was
    /// not kept.
    pub recording: Option<(History<Value>, Vec<Location>)>,
}

/// The state of one object during the first reading.
pub(super) struct Reading {
    monitor: Monitor<Value>,
    /// Position of the event that decided it, if any.
    decided: Option<Location>,
}

impl FirstReading for Reading {
    type Kind = Immediate;

    const SEARCHES: bool = false;

    fn begin(declaration: &Declaration<Value>) -> Result<Self, ExchangeError> {
        Ok(Self { monitor: Monitor::new(declaration.clone())?, decided: None })
    }

    fn take(
        &mut self,
        location: Location,
        event: &Event<'_, Value>,
        options: &Options,
    ) -> Result<ControlFlow<()>, ExchangeError> {
        if self.monitor.observe(event)? != State::SetLinearizable {
            self.decided.get_or_insert(location);
            if options.live {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn counts(&self) -> Counts {
        let monitor = &self.monitor;
        Counts {
            processes: monitor.segments(),
            segments: monitor.segments(),
            events: monitor.events(),
            operations: monitor.operations(),
            pending: monitor.pending(),
            failed: monitor.failed(),
        }
    }

    fn standing(&self) -> Standing {
        match self.monitor.judgement() {
            State::SetLinearizable => Standing::Right,
            State::Violation(_) => Standing::Violation,
            State::Undecided(_) => Standing::Undecided,
        }
    }

    fn extent(&self, options: &Options) -> usize {
        match self.monitor.judgement() {
            State::Violation(alarm) if !options.linearization => alarm.event + 1,
            _ => usize::MAX,
        }
    }

    fn conclude(self, replay: Option<Replay>, _: &Options) -> super::Finding {
        let at = self.decided.unwrap_or(Location::START);
        match found(self.monitor.judgement(), at, replay) {
            Ok(found) => super::Finding::Immediate(found),
            Err(error) => super::Finding::Malformed(error),
        }
    }

    fn judge(history: History<Value>, locations: Vec<Location>, _: &Options) -> super::Finding {
        super::Finding::Immediate(explained((history, locations)))
    }
}

pub(super) fn judge(reader: InputReader, replay: Option<Replay>, options: &Options) -> Judgement {
    let format = Some(reader.format());
    let judged = if options.linearization { whole(reader) } else { first(reader, replay, options) };
    match judged {
        Ok((counts, finding)) => Judgement::new(format, counts, super::Finding::Immediate(finding)),
        Err(error) => Judgement::new(format, Counts::default(), super::Finding::Malformed(error)),
    }
}

/// Judges the input as it is read, to its end unless it is live.
fn first(
    mut reader: InputReader,
    replay: Option<Replay>,
    options: &Options,
) -> Result<(Counts, Finding), OpenError> {
    let Survey { objects, error, .. } = by_one_thread::<Reading>(&mut reader, options)?;
    if let Some(error) = error {
        return Err(error.into());
    }
    let refused = |error| InputError::of_exchange(Location::START, error, None);
    let reading = match objects.into_iter().next() {
        Some(object) => *object.reading,
        None => Reading::begin(reader.declaration()).map_err(refused)?,
    };
    drop(reader);
    let at = reading.decided.unwrap_or(Location::START);
    Ok((reading.counts(), found(reading.monitor.judgement(), at, replay)?))
}

/// Returns the finding for the monitor's judgement; reads a violation again.
fn found(state: State, at: Location, replay: Option<Replay>) -> Result<Finding, OpenError> {
    let alarm = match state {
        State::SetLinearizable => return Ok(Finding::SetLinearizable(None)),
        State::Undecided(repeated) => return Ok(Finding::Undecided(repeated, at)),
        State::Violation(alarm) => alarm,
    };
    let Some(replay) = replay else {
        let violation = Violation { alarm, decided_at: at, recording: None };
        return Ok(Finding::Violation(Box::new(violation)));
    };
    let most = Most { events: alarm.event + 1, ..Most::ALL };
    let recording = read_recording::<Immediate, _>(replay.open()?, most)?;
    if let Some(defect) = recording.defect {
        return Err(defect.into());
    }
    let recording = (recording.history, recording.locations);
    Ok(match explained(recording) {
        Finding::SetLinearizable(_) => {
            let (accepting, refusing) = (Dispute::PASS, Dispute::MONITOR);
            Finding::Disputed(Dispute { accepting, refusing })
        }
        found => found,
    })
}

fn explained(recording: (History<Value>, Vec<Location>)) -> Finding {
    let (history, locations) = &recording;
    match check(history) {
        Verdict::SetLinearizable(blocks) => Finding::SetLinearizable(Some(blocks)),
        Verdict::Undecided(repeated) => {
            let at = history.operation(repeated.operation).invocation;
            Finding::Undecided(repeated, locations[at])
        }
        Verdict::Violation(alarm) => {
            let decided_at = locations[alarm.event];
            let recording = Some(recording);
            Finding::Violation(Box::new(Violation { alarm, decided_at, recording }))
        }
    }
}

/// Judges a recording in memory, with the positions of its events.
pub(crate) fn judge_recording(
    format: Format,
    history: History<Value>,
    locations: Vec<Location>,
) -> Judgement {
    let counts = counts_of(&history);
    let finding = super::Finding::Immediate(explained((history, locations)));
    Judgement::new(Some(format), counts, finding)
}

/// Reads and judges the whole recording in memory.
fn whole(reader: InputReader) -> Result<(Counts, Finding), OpenError> {
    let recording = read_exchanges(reader)?;
    let counts = counts_of(&recording.0);
    Ok((counts, explained(recording)))
}

fn counts_of(history: &History<Value>) -> Counts {
    let count = |is_counted: &dyn Fn(&snapshot_core::immediate::Operation) -> bool| {
        history.operations().iter().filter(|operation| is_counted(operation)).count() as u64
    };
    Counts {
        processes: history.segments(),
        segments: history.segments(),
        events: history.len(),
        operations: count(&|_| true),
        pending: count(&|operation| !operation.is_complete() && !operation.is_failed()),
        failed: count(&|operation| operation.is_failed()),
    }
}
