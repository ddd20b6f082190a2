//! Several immediate snapshots in one recording, distinguished by keys.
//!
//! Set linearizability is local, as linearizability is: the instants of the blocks of all objects
//! are instants of one line of time. So each object has its own monitor, in memory bounded by its
//! overlapping operations. Violations are explained, and blocks are found on demand, by reading the
//! recording a second time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use snapshot_core::immediate::{History, HistoryBuilder, Judgement as State, Monitor};

use super::{Finding, Violation, counts, explained, refused};
use crate::Value;
use crate::format::{KeyedEvent, Location, Object};
use crate::input::{InputReader, OpenError, Replay};
use crate::judge::objects::{MOST_PROOFS, Part, objects};
use crate::judge::{self, Counts, Judgement, Options};

/// The state of one object during reading.
struct Reading {
    monitor: Monitor<Value>,
    /// Position of the event that decided it, if any.
    decided: Option<Location>,
}

/// Judges a recording of several objects.
pub(in crate::judge) fn judge_each(
    reader: InputReader,
    replay: Option<&Replay>,
    options: &Options,
) -> Judgement {
    let format = Some(reader.format());
    match decide(reader, replay, options) {
        Ok((counts, finding)) => Judgement::new(format, counts, finding),
        Err(error) => {
            let finding = judge::Finding::Malformed(error);
            Judgement::new(format, Counts::default(), finding)
        }
    }
}

fn decide(
    mut reader: InputReader,
    replay: Option<&Replay>,
    options: &Options,
) -> Result<(Counts, judge::Finding), OpenError> {
    let (readings, defect) = survey(&mut reader, options)?;
    let names = reader.keys()[..readings.len()].to_vec();
    let format = Some(reader.format());
    drop(reader);
    let is_violated =
        |reading: &Reading| matches!(reading.monitor.judgement(), State::Violation(_));
    if let Some(error) = defect {
        // The rest is unknown, so only a violation is an answer.
        if !readings.iter().any(is_violated) {
            return Err(error);
        }
        return Ok(conclude(&names, &readings, Proofs::default(), format, Some(error)));
    }
    let mut proofs = Proofs::default();
    if let Some(replay) = replay {
        let mut explained = 0;
        let wanted: Vec<bool> = readings
            .iter()
            .map(|reading| {
                explained += usize::from(is_violated(reading));
                options.linearization || (is_violated(reading) && explained <= MOST_PROOFS)
            })
            .collect();
        if wanted.contains(&true) {
            proofs = read_again(replay, &readings, &wanted, options)?;
        }
    }
    Ok(conclude(&names, &readings, proofs, format, None))
}

/// Reads all events; of a live input, up to the first violation. Returns the error that ended the
/// reading early, if any.
fn survey(
    reader: &mut InputReader,
    options: &Options,
) -> Result<(Vec<Reading>, Option<OpenError>), OpenError> {
    let declaration = reader.declaration().clone();
    let mut readings: Vec<Reading> = Vec::new();
    loop {
        let KeyedEvent { key, location, event, .. } = match reader.next_keyed_exchange() {
            None => return Ok((readings, None)),
            Some(Err(error)) => return Ok((readings, Some(error.into()))),
            Some(Ok(next)) => next,
        };
        if key.index() == readings.len() {
            let monitor = Monitor::new(declaration.clone());
            let monitor = monitor.map_err(|error| refused(Location::START, error, None))?;
            readings.push(Reading { monitor, decided: None });
        }
        let reading = &mut readings[key.index()];
        match reading.monitor.observe(&event) {
            Ok(State::SetLinearizable) => {}
            Ok(state) => {
                reading.decided.get_or_insert(location);
                if options.live && matches!(state, State::Violation(_)) {
                    return Ok((readings, None));
                }
            }
            Err(error) => {
                let error = refused(location, error, reader.excerpt());
                return Ok((readings, Some(error.into())));
            }
        }
    }
}

/// The recordings of the wanted objects, by their numbers.
type Proofs = HashMap<usize, (History<Value>, Vec<Location>)>;

/// Reads the events of violated objects again, up to the event that completes the violation, unless
/// a certificate is wanted, which covers the whole.
fn read_again(
    replay: &Replay,
    readings: &[Reading],
    wanted: &[bool],
    options: &Options,
) -> Result<Proofs, OpenError> {
    let mut reader = replay.open()?;
    let declaration = reader.declaration().clone();
    let mut builders: HashMap<usize, (HistoryBuilder<Value>, Vec<Location>)> = HashMap::new();
    // Events after the last one of the first reading were not judged.
    let mut left: usize = readings.iter().map(|reading| reading.monitor.events()).sum();
    while left > 0
        && let Some(next) = reader.next_keyed_exchange()
    {
        left -= 1;
        let KeyedEvent { key, location, event, .. } = next?;
        let index = key.index();
        if !wanted[index] {
            continue;
        }
        let most = match readings[index].monitor.judgement() {
            State::Violation(alarm) if !options.linearization => alarm.event + 1,
            _ => usize::MAX,
        };
        let (builder, locations) = match builders.entry(index) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let builder = History::builder(declaration.clone());
                let builder = builder.map_err(|error| refused(Location::START, error, None))?;
                entry.insert((builder, Vec::new()))
            }
        };
        if locations.len() < most {
            builder.push(&event).map_err(|error| refused(location, error, None))?;
            locations.push(location);
        }
    }
    Ok(builders.into_iter().map(|(k, (builder, at))| (k, (builder.finish(), at))).collect())
}

fn conclude(
    names: &[Value],
    readings: &[Reading],
    mut proofs: Proofs,
    format: Option<crate::format::Format>,
    malformed: Option<OpenError>,
) -> (Counts, judge::Finding) {
    let mut all = Counts::default();
    let (mut parts, mut quiet) = (Vec::new(), 0);
    for (index, (reading, key)) in readings.iter().zip(names).enumerate() {
        let part = counts(&reading.monitor);
        all.add(part);
        let at = reading.decided.unwrap_or(Location::START);
        let finding = match (proofs.remove(&index), reading.monitor.judgement()) {
            (Some(recording), _) => explained(recording),
            (None, State::SetLinearizable) => {
                quiet += 1;
                continue;
            }
            (None, State::Undecided(repeated)) => Finding::Undecided(repeated, at),
            (None, State::Violation(alarm)) => {
                Finding::Violation(Box::new(Violation { alarm, decided_at: at, recording: None }))
            }
        };
        let finding = judge::Finding::Immediate(finding);
        let judgement = Judgement::new(format, part, finding);
        parts.push(Part { key: key.clone(), judgement, certificate: None });
    }
    let found = objects(Object::Immediate.criterion(), parts, quiet, malformed);
    (all, judge::Finding::Objects(Box::new(found)))
}
