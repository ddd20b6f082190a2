//! Recordings in JSON Lines whose events are to be sorted by their `time`.
//!
//! Such a file has its events out of order: it was merged from several, or written by threads with
//! separate buffers. Operations become intervals, with their semantics ([`timeline`]).

use std::collections::{BTreeMap, HashSet};

use snapshot_core::history::{Action, Declaration, Event};
use snapshot_core::{History, Names, Process};

use super::place::{Spot, Step, locations};
use super::timeline::{self, Arranged, Deed, Fate, Interval};
use super::{ImportErrorKind, Imported, Stamp};
use crate::Value;
use crate::error::InputError;
use crate::format::{Location, Object, Reader};
use crate::kind::{Atomic, Next, SnapshotKind};

#[derive(Debug)]
enum Act {
    Invoke(Deed),
    Ok(Deed),
    /// An update responds.
    Updated,
    End(Fate),
}

#[derive(Debug)]
struct Timed {
    spot: Spot,
    process: usize,
    time: Stamp,
    act: Act,
    /// The number of segments stated by a partial scan.
    width: usize,
}

/// Imports the objects of a recording in JSON Lines, each with its key if it has one, with their
/// events in the order of their times; all objects, or the one with this key. `skew` is the largest
/// error of each clock. O(n log n) for n events, all of which are held in memory.
///
/// # Errors
/// If the recording is malformed, if an event has no time, or if no history has the events in the
/// order of times.
pub fn by_time(
    log: &[u8],
    key: Option<&Value>,
    skew: Stamp,
) -> Result<Vec<(Option<Value>, Imported)>, InputError> {
    let mut reader = Reader::jsonl(log)?;
    if let Some(key) = key {
        reader.select(key)?;
    }
    if reader.object() != Object::Snapshot {
        let operation = "an exchange".to_owned();
        let reason = "is not sorted by time yet";
        let cure = "sort the lines by `time`";
        let kind = ImportErrorKind::Operation { operation, reason, cure };
        return Err(kind.at(Spot::default()).located(log));
    }
    let declaration = reader.declaration().clone();
    let is_of_all = reader.is_keyed() && !reader.is_selecting();
    let mut objects: BTreeMap<usize, Vec<Timed>> = BTreeMap::new();
    reader.take_all();
    while let Some(next) = Atomic::next(&mut reader) {
        let Next { key, location, event } = next.map_err(InputError::from)?;
        let object = key.map_or(0, |(index, _)| index);
        let (process, act, width) = timed(&event);
        let spot = spot(log, location);
        let Some(time) = reader.time() else {
            let cure =
                "without it, as a number on every event, --sort-by-time has nothing to sort by";
            return Err(ImportErrorKind::Missing { field: "time", cure }.at(spot).located(log));
        };
        objects.entry(object).or_default().push(Timed { spot, process, time, act, width });
    }
    let (keys, names) = (reader.keys(), reader.names().get());
    let imported = objects.into_iter().map(|(object, events)| {
        let imported = sorted(log, events, declaration.clone(), &names, skew)?;
        let name = if is_of_all { keys.get(object) } else { key };
        Ok((name.cloned(), imported))
    });
    let imported: Step<Vec<_>> = imported.collect();
    imported.map_err(|fault| fault.located(log))
}

/// Returns the line that begins at a position.
fn spot(log: &[u8], location: Location) -> Spot {
    let at = location.offset as usize;
    let rest = &log[at..];
    let width = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    Spot { at, width: rest[..width].trim_ascii_end().len() }
}

/// Returns the process of an event, its kind, and the number of segments that it states.
fn timed(event: &Event<'_, Value>) -> (usize, Act, usize) {
    let (act, width) = match &event.action {
        Action::InvokeUpdate { segment, value } => {
            let deed = Deed::Update { segment: *segment, value: (*value).clone() };
            (Act::Invoke(deed), segment.index() + 1)
        }
        Action::InvokeScan => (Act::Invoke(Deed::Scan { values: Vec::new() }), 0),
        Action::RespondUpdate => (Act::Updated, 0),
        Action::RespondScan { values } => {
            (Act::Ok(Deed::Scan { values: values.to_vec() }), values.len())
        }
        Action::RespondPartialScan { segments, entries } => {
            let width = segments.map_or(0, |segments| segments.get() as usize);
            let last = entries.last().map_or(0, |(segment, _)| segment.index() + 1);
            (Act::Ok(Deed::Partial { entries: entries.to_vec() }), width.max(last))
        }
        Action::Fail => (Act::End(Fate::Failed), 0),
        Action::Unknown => (Act::End(Fate::Unknown), 0),
    };
    (event.process.index(), act, width)
}

fn sorted(
    log: &[u8],
    mut events: Vec<Timed>,
    mut declaration: Declaration<Value>,
    names: &Names,
    skew: Stamp,
) -> Step<Imported> {
    events.sort_by_key(|event| event.time);
    let widest = events.iter().map(|event| event.width).max().unwrap_or(0);
    let named = Some(names.segments().len()).filter(|named| *named > 0);
    declaration.segments = Some(declaration.segments.or(named).unwrap_or(widest.max(1)));
    // Operations that overlap others of their process need further processes.
    declaration.processes = None;
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut intervals: Vec<Interval> = Vec::new();
    for Timed { spot, process, time, act, .. } in events {
        let unpaired = |deed| ImportErrorKind::Unpaired { process: process as i64, deed }.at(spot);
        let begun = open.remove(&process);
        match (begun, act) {
            (None, Act::Invoke(deed)) => {
                open.insert(process, intervals.len());
                let name = names.processes().get(process).map(ToString::to_string);
                let client = name.unwrap_or_else(|| process.to_string());
                let (call, end, fate) = (time, None, Fate::Unknown);
                intervals.push(Interval { spot, client, deed, call, end, fate });
            }
            (Some(before), Act::Invoke(_)) => {
                let fault = unpaired("begins an operation while another one is open");
                return Err(fault.against(intervals[before].spot));
            }
            (None, _) => return Err(unpaired("ends an operation that has not begun")),
            (Some(begun), act) => {
                let interval = &mut intervals[begun];
                let fate = match (&interval.deed, act) {
                    (Deed::Update { .. }, Act::Updated) => Fate::Ok,
                    (Deed::Scan { .. }, Act::Ok(deed)) => {
                        interval.deed = deed;
                        Fate::Ok
                    }
                    (_, Act::End(fate)) => fate,
                    _ => {
                        let fault = unpaired("ends another operation than it began");
                        return Err(fault.against(interval.spot));
                    }
                };
                interval.end = Some(time);
                interval.fate = fate;
            }
        }
    }
    let Arranged { history, warnings, clients, spots } =
        timeline::history(intervals, declaration, skew.magnitude())?;
    let segments = names.segments().to_vec();
    let (history, processes) = if names.processes().is_empty() {
        (numbered(&history, &clients), Vec::new())
    } else {
        (history, super::process_names(&clients))
    };
    let names = Names::new(processes, segments);
    Ok(Imported { history, places: locations(log, &spots), warnings, names })
}

/// Returns the history with the processes of its recording, by their numbers there. Further
/// processes, for operations that overlap others of their client, have the numbers behind.
fn numbered(history: &History<Value>, clients: &[String]) -> History<Value> {
    let of_clients: Vec<usize> = clients.iter().filter_map(|one| one.parse().ok()).collect();
    let mut behind = of_clients.iter().max().map_or(0, |most| most + 1)..=Process::LIMIT;
    let mut taken = HashSet::new();
    let numbers: Vec<usize> = of_clients
        .iter()
        .filter_map(|client| if taken.insert(*client) { Some(*client) } else { behind.next() })
        .collect();
    let declaration = Declaration { processes: None, ..history.declaration() };
    let renumbered = History::builder(declaration);
    let mut renumbered = renumbered.expect("the declaration is a history's");
    for event in history.events() {
        let number = numbers.get(event.process.index()).copied();
        let process = number.map_or(event.process, Process::from_index);
        let pushed = renumbered.push(&Event { process, ..event });
        pushed.expect("a history stays one if its processes are renumbered");
    }
    renumbered.finish()
}
