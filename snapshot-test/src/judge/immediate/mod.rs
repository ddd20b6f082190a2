//! Judging recordings of immediate snapshots.
//!
//! As for snapshots, the monitor reads a recording once, in memory bounded by concurrency; a
//! violation is explained by reading it again up to the event that completes it. The whole is held
//! in memory if a proof of linearizability is wanted.

mod each;

use snapshot_core::immediate::{
    Alarm, ExchangeError, History, Judgement as State, Monitor, Repeated, SetLinearization,
    Verdict, check,
};
use snapshot_core::verdict::Dispute;

use super::{Counts, Judgement, Options};
use crate::Value;
use crate::error::InputError;
use crate::format::{Excerpt, Format, Location};
use crate::input::{InputReader, OpenError, Replay};
use crate::read::read_exchanges;

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

pub(super) use self::each::judge_each;

fn refused(location: Location, error: ExchangeError, excerpt: Option<Excerpt>) -> InputError {
    InputError::of_exchange(location, error, excerpt)
}

pub(super) fn judge(
    mut reader: InputReader,
    replay: Option<Replay>,
    options: &Options,
) -> Judgement {
    let format = Some(reader.format());
    let judged = if options.linearization {
        whole(reader)
    } else {
        read(&mut reader, options).and_then(|(counts, state, at)| {
            drop(reader);
            Ok((counts, found(state, at, replay)?))
        })
    };
    match judged {
        Ok((counts, finding)) => Judgement::new(format, counts, super::Finding::Immediate(finding)),
        Err(error) => {
            let finding = super::Finding::Malformed(error);
            Judgement::new(format, Counts::default(), finding)
        }
    }
}

/// Reads the input, to its end unless it is live. Returns the position of the event that decided
/// it.
fn read(
    reader: &mut InputReader,
    options: &Options,
) -> Result<(Counts, State, Location), OpenError> {
    let mut monitor = Monitor::new(reader.declaration().clone())
        .map_err(|error| refused(Location::START, error, None))?;
    let mut decided = None;
    loop {
        let (location, observed) = match reader.next_exchange() {
            None => break,
            Some(Err(error)) => return Err(error.into()),
            Some(Ok((location, event))) => (location, monitor.observe(&event)),
        };
        match observed {
            Ok(State::SetLinearizable) => {}
            Ok(_) => {
                decided = decided.or(Some(location));
                if options.live {
                    break;
                }
            }
            Err(error) => {
                return Err(refused(location, error, reader.excerpt()).into());
            }
        }
    }
    Ok((counts(&monitor), monitor.judgement(), decided.unwrap_or(Location::START)))
}

fn counts(monitor: &Monitor<Value>) -> Counts {
    Counts {
        processes: monitor.segments(),
        segments: monitor.segments(),
        events: monitor.events(),
        operations: monitor.operations(),
        pending: monitor.pending(),
        failed: monitor.failed(),
    }
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
    let recording = read_exchanges(replay.open()?, alarm.event + 1)?;
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
        Verdict::Disputed(dispute) => Finding::Disputed(dispute),
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
    let recording = read_exchanges(reader, usize::MAX)?;
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
