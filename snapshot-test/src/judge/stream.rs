//! Judging a recording as it is read.
//!
//! Each event is judged as soon as it was read. Several threads read most of a long file, which
//! never has to be waited for (`division.rs`).

mod division;

use std::ops::ControlFlow;

use snapshot_core::History;
use snapshot_core::certificate::projection::Projection;
use snapshot_core::explanation::{Excerpt, Explanation, ReturnedValues};
use snapshot_core::history::{Declaration, Event, HistoryError, Writers};
use snapshot_core::monitor::{self, Alarm, Monitor};
use snapshot_core::observer::{Observation, OnlineObserver};
use snapshot_core::saturation::Saturation;
use snapshot_core::verdict::{Dispute, Method};

use self::division::Division;
use super::reading::{FirstReading, Standing};
use super::{Counts, Finding, Judgement, Obstacle, Options, Proof, ViolationFinding, proof};
use crate::Value;
use crate::error::InputError;
use crate::format::Location;
use crate::input::{InputReader, OpenError, Replay};
use crate::kind::Atomic;
use crate::origins::Origins;
use crate::read::{Most, Recording, read_recording};

/// States that brute force may visit to confirm an explanation; two scans and a few updates need
/// some dozens.
const CONFIRMATION: usize = 1_000_000;

/// Of one of many objects, a saturated relation forgets as soon as this many operations are held, so that many objects take
/// little memory.
const KEPT: usize = 64;

/// The state of the first reading.
pub(super) struct Reading {
    monitor: Monitor<Value>,
    observer: OnlineObserver<Value>,
    /// Decides where the monitor does not, for a recording with many writers that is live, or
    /// cannot be read again.
    saturation: Option<Box<Saturation<Value>>>,
    /// If the relation is not kept from the first event on: it begins whenever an operation is
    /// invoked while all others have ended, and forgets from this many operations on.
    renewed: Option<usize>,
    /// Position of the event that decided it.
    decided: Option<Location>,
    /// The event at which the relation had no order, its position, and true if every shorter prefix
    /// has one.
    conflict: Option<(usize, Location, bool)>,
    error: Option<InputError>,
}

pub(super) fn judge(reader: InputReader, replay: Option<Replay>, options: &Options) -> Judgement {
    judge_divided(reader, replay, options, Division::usual())
}

fn judge_divided(
    mut reader: InputReader,
    replay: Option<Replay>,
    options: &Options,
    division: Division,
) -> Judgement {
    let format = Some(reader.format());
    let reading = match read(&mut reader, replay.as_ref(), options, division) {
        Ok(reading) => reading,
        Err(error) => {
            let finding = Finding::Malformed(error.into());
            return Judgement::new(format, Counts::default(), finding);
        }
    };
    drop(reader);
    let counts = reading.counts();
    Judgement::new(format, counts, conclude(reading, replay, options))
}

/// Returns the finding of a reading; `replay` reads the input again, for a proof or a search.
pub(super) fn conclude(reading: Reading, replay: Option<Replay>, options: &Options) -> Finding {
    let monitor = &reading.monitor;
    let judgement = monitor.judgement();
    let method = match reading.observer.observation() {
        Observation::NotSimple => Method::Linear,
        Observation::Linearizable | Observation::Violation => Method::Simple,
    };
    let (observer, other) = (Dispute::OBSERVER, Dispute::MONITOR);
    match (reading.observer.observation(), judgement) {
        (Observation::Linearizable, monitor::Judgement::Violation(_)) => {
            let dispute = Dispute { accepting: observer, refusing: other };
            return Finding::Disputed(dispute.into());
        }
        (Observation::Violation, monitor::Judgement::Linearizable) => {
            let dispute = Dispute { accepting: other, refusing: observer };
            return Finding::Disputed(dispute.into());
        }
        _ => {}
    }
    match (judgement, reading.error) {
        (monitor::Judgement::Violation(alarm), malformed) => {
            let decided_at = (alarm.event, reading.decided.unwrap_or(Location::START));
            violation(method, &alarm, decided_at, malformed, replay, options)
        }
        (_, Some(error)) => Finding::Malformed(error.into()),
        (monitor::Judgement::Linearizable, None) => {
            Finding::Linearizable { method, linearization: None }
        }
        (monitor::Judgement::Undecided(undecided), None) => {
            let unsearched = |obstacle| Finding::Unsearched { undecided, obstacle };
            match &replay {
                Some(replay) => {
                    search(replay, options).unwrap_or_else(|| unsearched(Obstacle::TooLarge))
                }
                None => match (reading.conflict, reading.saturation) {
                    (Some((event, location, is_first)), _) => {
                        Finding::Violation(Box::new(ViolationFinding {
                            method: Method::Saturation,
                            decided_at: (event, location),
                            is_first,
                            proof: None,
                            malformed: None,
                        }))
                    }
                    (None, Some(saturation)) if saturation.uncertainty().is_none() => {
                        let method = Method::Saturation;
                        Finding::Linearizable { method, linearization: None }
                    }
                    _ => unsearched(Obstacle::Forgotten),
                },
            }
        }
    }
}

/// Reads the whole input, or up to the first violation if it is live.
fn read(
    reader: &mut InputReader,
    replay: Option<&Replay>,
    options: &Options,
    division: Division,
) -> Result<Reading, InputError> {
    let mut origins = Origins::default();
    let declaration = reader.declaration().clone();
    let is_wanted = (options.live || replay.is_none()) && declaration.writers == Writers::Many;
    let saturation = is_wanted.then(|| Saturation::new(declaration.clone()));
    let mut reading = Reading::new(declaration, saturation)
        .map_err(|error| origins.refused(Location::START, error, None))?;
    let file = replay.filter(|replay| replay.is_of_file());
    loop {
        if let Some(file) = file
            && reading.monitor.events() == division.first
            && reading.read_with_threads(reader, file, options, division)
        {
            break;
        }
        match reader.next_event() {
            None => break,
            Some(Err(error)) => {
                reading.error = Some(error.into());
                break;
            }
            Some(Ok((location, event))) => match reading.take(location, &event, options) {
                Ok(ControlFlow::Continue(())) => origins.note(location, &event),
                Ok(ControlFlow::Break(())) => break,
                Err(error) => {
                    reading.error = Some(origins.refused(location, error, reader.excerpt()));
                    break;
                }
            },
        }
    }
    Ok(reading)
}

impl Reading {
    /// Creates the state before the first event.
    pub(super) fn new(
        declaration: Declaration<Value>,
        saturation: Option<Saturation<Value>>,
    ) -> Result<Self, HistoryError> {
        let observer = OnlineObserver::new(declaration.clone());
        let monitor = Monitor::linear(declaration)?;
        Ok(Self {
            monitor,
            observer,
            saturation: saturation.map(Box::new),
            renewed: None,
            decided: None,
            conflict: None,
            error: None,
        })
    }

    /// Begins a relation if one is wanted, and no earlier event matters.
    fn renew(&mut self) {
        if let (Some(kept), None) = (self.renewed, &self.saturation)
            && let Some(declaration) = self.monitor.continuation()
        {
            self.saturation = Some(Box::new(Saturation::new(declaration).keeping(kept)));
        }
    }
}

impl FirstReading for Reading {
    type Kind = Atomic;

    const SEARCHES: bool = true;

    /// While no operation is open, almost nothing is held. With many writers, a relation of at least
    /// [`KEPT`] operations is kept while an operation is open, and permanently once updates of a
    /// segment have overlapped.
    fn begin(declaration: &Declaration<Value>) -> Result<Self, HistoryError> {
        let renewed = (declaration.writers == Writers::Many).then_some(KEPT);
        Ok(Self { renewed, ..Self::new(declaration.clone(), None)? })
    }

    #[inline]
    fn take(
        &mut self,
        location: Location,
        event: &Event<'_, Value>,
        options: &Options,
    ) -> Result<ControlFlow<()>, HistoryError> {
        self.renew();
        match self.monitor.observe(event)? {
            monitor::Judgement::Linearizable => {
                self.observer.observe(event);
            }
            judgement => {
                if self.decided.is_none() {
                    self.observer.observe(event);
                    self.decided = Some(location);
                }
                if options.live && matches!(judgement, monitor::Judgement::Violation(_)) {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        if let Some(saturation) = &mut self.saturation {
            // Where values repeat, or scans are partial, a violation may be found late.
            let is_certain = saturation.uncertainty().is_none();
            if saturation.observe(event).is_some() {
                if self.conflict.is_none() {
                    self.conflict = Some((self.monitor.events() - 1, location, is_certain));
                }
                if options.live {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if saturation.bytes() > options.memory
                || self.renewed.is_some() && self.monitor.is_quiescent()
            {
                self.saturation = None;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn counts(&self) -> Counts {
        let monitor = &self.monitor;
        Counts {
            processes: monitor.processes(),
            segments: monitor.segments(),
            events: monitor.events(),
            operations: monitor.operations(),
            pending: monitor.pending(),
            failed: monitor.failed(),
        }
    }

    fn standing(&self) -> Standing {
        match (self.monitor.judgement(), &self.saturation) {
            (monitor::Judgement::Violation(_), _) => Standing::Violation,
            _ if self.conflict.is_some() => Standing::Violation,
            (monitor::Judgement::Linearizable, _) => Standing::Right,
            (_, Some(saturation)) if saturation.uncertainty().is_none() => Standing::Right,
            _ => Standing::Undecided,
        }
    }

    fn extent(&self, _: &Options) -> usize {
        usize::MAX
    }

    fn conclude(self, replay: Option<Replay>, options: &Options) -> Finding {
        conclude(self, replay, options)
    }

    fn judge(history: History<Value>, locations: Vec<Location>, options: &Options) -> Finding {
        super::find(&history, &locations, None, options)
    }
}

/// Reports a violation, with more passes over the input: one for the values of the scans, one
/// for the updates that they could read.
fn violation(
    method: Method,
    alarm: &Alarm,
    decided_at: (usize, Location),
    malformed: Option<InputError>,
    replay: Option<Replay>,
    options: &Options,
) -> Finding {
    let proof = match &replay {
        None => None,
        Some(replay) => match explain(replay, alarm, options) {
            Ok(Some(proof)) => Some(proof),
            // The named operations do not suffice: search for others.
            Ok(None) => match search(replay, options) {
                Some(finding) => return finding,
                None => None,
            },
            Err(error) => return Finding::Malformed(error),
        },
    };
    // The monitor has judged every shorter prefix.
    let is_first = true;
    Finding::Violation(Box::new(ViolationFinding {
        method,
        decided_at,
        is_first,
        proof,
        malformed,
    }))
}

/// Returns `None` if the operations that the alarm names do not prove it.
fn explain(replay: &Replay, alarm: &Alarm, options: &Options) -> Result<Option<Proof>, OpenError> {
    let mut values = ReturnedValues::new(alarm);
    let mut reader = replay.open()?;
    for _ in 0..=alarm.event {
        match reader.next_event() {
            Some(next) => values.observe(&next?.1),
            None => break,
        }
    }
    let mut reader = replay.open()?;
    let mut excerpt = Excerpt::new(alarm, values, reader.declaration());
    let mut events = 0;
    // Errors behind the alarm do not matter here.
    while let Some(Ok((_, event))) = reader.next_event() {
        excerpt.observe(&event);
        events += 1;
        if options.live && events > alarm.event {
            break;
        }
    }
    let explanation = excerpt.finish();
    if !is_confirmed(&explanation) {
        return Ok(None);
    }
    let locations = locate(replay, &proof::events(&explanation))?;
    Ok(Some(Proof { explanation, locations, uncertified: None }))
}

/// Returns true if the operations of an explanation have no order, by exhaustive search.
fn is_confirmed(explanation: &Explanation<Value>) -> bool {
    let history = explanation.history();
    matches!(Projection::whole(&history).linearization(CONFIRMATION), Ok(None))
}

/// Returns the positions of events, given in ascending order.
fn locate(replay: &Replay, events: &[usize]) -> Result<Vec<(usize, Location)>, OpenError> {
    let mut reader = replay.open()?;
    let mut locations = Vec::with_capacity(events.len());
    let mut wanted = events.iter().peekable();
    let mut position = 0;
    while let Some(&&event) = wanted.peek()
        && let Some(next) = reader.next_event()
    {
        let (location, _) = next?;
        if position == event {
            locations.push((event, location));
            wanted.next();
        }
        position += 1;
    }
    Ok(locations)
}

/// Reads the whole history into memory and decides it exactly; `None` if it does not fit in the
/// memory allowed.
fn search(replay: &Replay, options: &Options) -> Option<Finding> {
    let recording = replay.open().and_then(|reader| {
        Ok(read_recording::<Atomic, _>(reader, Most { bytes: options.memory, ..Most::ALL })?)
    });
    match recording {
        Ok(recording) if recording.is_cut => None,
        Ok(Recording { history, locations, defect, .. }) => {
            Some(super::find(&history, &locations, defect, options))
        }
        Err(error) => Some(Finding::Malformed(error)),
    }
}

#[cfg(test)]
mod disputes;
#[cfg(test)]
mod tests;
