//! From intervals to a sequence of events.
//!
//! The sequence must have no precedence that the intervals lack: A before B only if A's interval
//! ends *strictly* before B's begins, or if one client did first A and then B. So at each instant
//! invocations come before responses. Operations of one client are an exception: if its A ends at
//! the instant at which its B begins, A's response must precede B's invocation, and the two are
//! placed between the other invocations of that instant and the other responses. That can be done
//! for *one* client at an instant: were A, B of client p and C, D of client q to touch at one
//! instant, then in a sequence with A before B and C before D, also A before D or C before B, which
//! the log does not vouch for. The order of the other clients is given up: the later operation is
//! moved to a separate process, and overlaps the earlier one. The same happens where a skew makes a
//! client's intervals overlap.
//!
//! Intervals may have any order in the log; their positions do not order them. A client's
//! operations are in the order of (call, return). Operations of a client with equal call and
//! return, and so no length, have no order: they overlap.
//!
//! Giving up order only allows more linearizations: no alarm is false. Updates of one segment may
//! then overlap; [`snapshot_core::saturation`] decides such histories, too.

use std::collections::BTreeMap;
use std::collections::HashMap;

use snapshot_core::history::{Action, Declaration, Event, HistoryError, Writers};
use snapshot_core::{History, Process, Segment};

use super::place::{Spot, Step};
use super::{ImportErrorKind, Stamp, Warning};
use crate::Value;
use crate::error::InputErrorKind;

/// The effect and the result of an operation of a log.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Deed {
    Update {
        segment: Segment,
        value: Value,
    },
    /// Empty unless it responded.
    Scan {
        values: Vec<Value>,
    },
    /// A scan of some segments; empty unless it responded.
    Partial {
        entries: Vec<(Segment, Value)>,
    },
}

impl Deed {
    pub(super) const fn invocation(&self) -> Action<'_, Value> {
        match self {
            Self::Update { segment, value } => Action::InvokeUpdate { segment: *segment, value },
            Self::Scan { .. } | Self::Partial { .. } => Action::InvokeScan,
        }
    }

    pub(super) fn response(&self) -> Action<'_, Value> {
        match self {
            Self::Update { .. } => Action::RespondUpdate,
            Self::Scan { values } => Action::RespondScan { values },
            Self::Partial { entries } => Action::RespondPartialScan { segments: None, entries },
        }
    }
}

/// The outcome of an operation; in the order in which a client's operations of one instant are
/// taken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Fate {
    Failed,
    /// The effect may come at any later time.
    Unknown,
    Ok,
}

/// One operation of a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Interval {
    /// Its position in the log.
    pub(super) spot: Spot,
    pub(super) client: String,
    pub(super) deed: Deed,
    pub(super) call: Stamp,
    /// `None` if it never returned.
    pub(super) end: Option<Stamp>,
    pub(super) fate: Fate,
}

/// A process of the history: a client, or one for operations that had to be moved.
#[derive(Debug)]
struct Lane {
    process: usize,
    /// The time from which it is free; `None`: at any time.
    end: Option<Stamp>,
    /// Last operation of the process.
    last: Option<usize>,
    /// Its last operation, if it has no effect, or may have it at any time. The end of such an
    /// operation orders nothing, so it ends right before the next one begins.
    loose: Option<usize>,
}

/// The phase of an event among those of its instant.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Invocation,
    /// An event of the one client whose operations touch here, in its order.
    Chain(usize),
    Response,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place {
    at: Stamp,
    phase: Phase,
    /// The operation that it accompanies: its own, or the one that it makes room for.
    with: usize,
    rank: Rank,
    operation: usize,
}

/// The order of events that accompany one operation.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Rank {
    /// The end of the loose operation before.
    Room,
    Invocation,
    End,
}

/// The history of intervals.
#[derive(Debug)]
pub(super) struct Arranged {
    pub(super) history: History<Value>,
    pub(super) warnings: Vec<Warning>,
    /// The client of each process.
    pub(super) clients: Vec<String>,
    /// The operation of each event, by its position in the log.
    pub(super) spots: Vec<Spot>,
}

/// Arranges these intervals as a history; `declaration` has everything except the writers.
pub(super) fn history(
    mut intervals: Vec<Interval>,
    declaration: Declaration<Value>,
    skew: Stamp,
) -> Step<Arranged> {
    for Interval { spot, call, end, .. } in &intervals {
        if let Some(end) = end.filter(|end| end < call) {
            return Err(ImportErrorKind::Backwards { call: *call, end }.at(*spot));
        }
    }
    intervals.sort_by(|one, other| order(one).cmp(&order(other)));
    close_before_the_next(&mut intervals)?;
    let (places, processes, warnings) = arrange(&intervals, skew);
    let mut clients = Vec::new();
    for (interval, process) in intervals.iter().zip(&processes) {
        if *process >= clients.len() {
            clients.resize(process + 1, String::new());
        }
        clients[*process].clone_from(&interval.client);
    }
    let writers = writers(&intervals, &processes);
    let declaration = declaration.with_writers(writers);
    let at = |spot| move |error: HistoryError| InputErrorKind::Admission(error.kind).at(spot);
    let mut history = History::builder(declaration).map_err(at(Spot::default()))?;
    let mut spots = Vec::with_capacity(places.len());
    for Place { operation, rank, .. } in places {
        let interval = &intervals[operation];
        let action = match (rank != Rank::Invocation, interval.fate) {
            (false, _) => interval.deed.invocation(),
            (true, Fate::Failed) => Action::Fail,
            (true, Fate::Unknown) => Action::Unknown,
            (true, Fate::Ok) => interval.deed.response(),
        };
        let process = process(processes[operation], interval.spot)?;
        history.push(&Event { process, action }).map_err(at(interval.spot))?;
        spots.push(interval.spot);
    }
    Ok(Arranged { history: history.finish(), warnings, clients, spots })
}

pub(super) fn process(number: usize, spot: Spot) -> Step<Process> {
    let most = Process::LIMIT + 1;
    let what = "clients and operations that overlap others of their client";
    Process::new(number).map_err(|_| ImportErrorKind::TooMany { what, most }.at(spot))
}

/// Returns the key that sorts a client's operations; for different clients, and operations without
/// order, the key does not depend on their positions in the log. An operation with unknown outcome
/// may have been given up immediately: it comes before all operations called then.
fn order(one: &Interval) -> impl Ord + '_ {
    let Interval { client, deed, call, end, fate, .. } = one;
    (*call, *end, *fate, client, deed)
}

/// Ends an operation that never returned, with an unknown outcome, when its client is called again.
/// Two operations of a client that overlap are an error.
fn close_before_the_next(intervals: &mut [Interval]) -> Step<()> {
    let mut last: HashMap<String, usize> = HashMap::new();
    for at in 0..intervals.len() {
        let Interval { spot, client, call, .. } = &intervals[at];
        let (spot, client, call) = (*spot, client.clone(), *call);
        if let Some(before) = last.insert(client.clone(), at) {
            let earlier = &mut intervals[before];
            let end = *earlier.end.get_or_insert_with(|| {
                earlier.fate = Fate::Unknown;
                call
            });
            if end > call {
                let earlier = earlier.spot;
                let kind = ImportErrorKind::Concurrent { client, call, end };
                return Err(kind.at(spot).against(earlier));
            }
        }
    }
    Ok(())
}

/// Returns true if two operations of a client share a single instant, and so have no order.
fn are_tied(one: &Interval, other: &Interval) -> bool {
    one.call == other.call && one.end == other.end && one.end == Some(one.call)
}

/// Returns the positions of all events, in order, and the process of each operation.
fn arrange(intervals: &[Interval], skew: Stamp) -> (Vec<Place>, Vec<usize>, Vec<Warning>) {
    let lane = |process| Lane { process, end: None, last: None, loose: None };
    let mut clients: BTreeMap<&str, Vec<Lane>> = BTreeMap::new();
    let mut count = 0;
    for interval in intervals {
        clients.entry(&interval.client).or_insert_with(|| {
            count += 1;
            vec![lane(count - 1)]
        });
    }
    // For each instant, the one process whose operations touch there.
    let mut touching: HashMap<Stamp, usize> = HashMap::new();
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    let mut processes = Vec::with_capacity(intervals.len());
    // Loose operations, with the operations that they make room for.
    let mut rooms: Vec<(usize, usize)> = Vec::new();
    for (at, interval) in intervals.iter().enumerate() {
        let (call, end) = widened(interval, skew);
        let lanes = clients.entry(&interval.client).or_default();
        let is_tied =
            |lane: &Lane| lane.last.is_some_and(|last| are_tied(&intervals[last], interval));
        let free = lanes.iter().position(|lane| match lane.end {
            None => true,
            Some(end) if end == call => {
                !is_tied(lane) && *touching.entry(call).or_insert(lane.process) == lane.process
            }
            Some(end) => end < call,
        });
        let chosen = free.unwrap_or_else(|| {
            count += 1;
            lanes.push(lane(count - 1));
            lanes.len() - 1
        });
        if chosen > 0 {
            *lost.entry(&interval.client).or_default() += 1;
        }
        let lane = &mut lanes[chosen];
        rooms.extend(lane.loose.take().map(|loose| (loose, at)));
        lane.last = Some(at);
        if interval.fate == Fate::Ok {
            lane.end = end.or(Some(Stamp::NEVER));
        } else {
            (lane.end, lane.loose) = (None, Some(at));
        }
        processes.push(lane.process);
    }
    let phase = |at, with: usize, otherwise| {
        let is_chained = touching.get(&at) == Some(&processes[with]);
        if is_chained { Phase::Chain(with) } else { otherwise }
    };
    let mut places: Vec<Place> = Vec::with_capacity(2 * intervals.len());
    for (operation, interval) in intervals.iter().enumerate() {
        let (at, end) = widened(interval, skew);
        let (with, rank) = (operation, Rank::Invocation);
        let first = Place { at, phase: phase(at, with, Phase::Invocation), with, rank, operation };
        places.push(first);
        if let Some(at) = end.filter(|_| interval.fate == Fate::Ok) {
            let (phase, rank) = (phase(at, with, Phase::Response), Rank::End);
            places.push(Place { at, phase, with, rank, operation });
        }
    }
    for (operation, with) in rooms {
        let at = widened(&intervals[with], skew).0;
        let (phase, rank) = (phase(at, with, Phase::Invocation), Rank::Room);
        places.push(Place { at, phase, with, rank, operation });
    }
    // Failed operations that are the last of their process.
    for operation in clients.values().flatten().filter_map(|lane| lane.loose) {
        if intervals[operation].fate == Fate::Failed {
            let (phase, rank) = (Phase::Response, Rank::End);
            places.push(Place { at: Stamp::NEVER, phase, with: operation, rank, operation });
        }
    }
    places.sort_unstable();
    let warning = |(client, operations): (&str, usize)| Warning::OrderLost {
        client: client.to_owned(),
        operations,
    };
    (places, processes, lost.into_iter().map(warning).collect())
}

fn widened(interval: &Interval, skew: Stamp) -> (Stamp, Option<Stamp>) {
    (interval.call.before(skew), interval.end.map(|end| end.after(skew)))
}

/// Returns many writers if some segment is updated by more than one process.
fn writers(intervals: &[Interval], processes: &[usize]) -> Writers {
    let mut writer: HashMap<Segment, usize> = HashMap::new();
    for (interval, process) in intervals.iter().zip(processes) {
        if let Deed::Update { segment, .. } = interval.deed
            && *writer.entry(segment).or_insert(*process) != *process
        {
            return Writers::Many;
        }
    }
    Writers::Single
}

#[cfg(test)]
mod tests;
