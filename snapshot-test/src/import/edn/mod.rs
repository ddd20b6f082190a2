//! Histories of Jepsen and Maelstrom, in EDN.
//!
//! Such a history is a sequence of events: maps with `:type` (`:invoke`, `:ok`, `:fail`,
//! `:info`), `:process`, `:f`, `:value`, and, for their clock, `:time`. Their order in the
//! file is the order in which the events happened; Jepsen takes them under one lock. So a
//! history is imported event by event, and `:time` is read only to notice that it
//! contradicts the order - or, on demand, to sort by it ([`Options::sort_by_time`]), with
//! the semantics of intervals.
//!
//! What is a snapshot in it (`workload`): registers, each a segment, where an operation
//! writes one of them or reads one or more; and sets to which elements are added one by
//! one, where each element is a segment. A read of some registers is a partial scan. All
//! else is refused by name.

mod event;
mod value;
mod workload;

use std::collections::HashMap;

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{History, Process, Segment};

use self::event::{Call, Kind, calls};
use self::workload::{Deeds, deeds};
use super::timeline::{self, Deed, Fate, Interval};
use super::{ImportError, ImportErrorKind, Imported, Stamp};
use crate::Value;

/// The most entries of all reads together that are held in memory.
const MOST_ENTRIES: usize = 100_000_000;

/// How a history in EDN is to be understood.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// Values are tuples `[key value]` of `jepsen.independent`.
    pub independent: bool,
    /// What registers hold at first, in EDN (default: `nil`).
    pub initial: Option<String>,
    /// Events are sorted by `:time`; those at one instant overlap.
    pub sort_by_time: bool,
    /// With `sort_by_time`: by how much each clock may be off.
    pub skew: Stamp,
}

/// A history in EDN. O(n log n) for n events and entries of reads, all held in memory.
///
/// ```
/// use snapshot_test::import::{EdnOptions, edn};
///
/// let log = "{:process 0, :type :invoke, :f :write, :value {:x 1}}
///            {:process 1, :type :invoke, :f :read, :value nil}
///            {:process 0, :type :ok, :f :write, :value {:x 1}}
///            {:process 1, :type :ok, :f :read, :value {:x 1, :y nil}}";
/// let imported = edn(log, &EdnOptions::default())?;
/// assert_eq!(imported.comments, ["segment 0 is :x", "segment 1 is :y"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If it is no EDN, no history, or has operations that snapshots do not have.
pub fn edn(log: &str, options: &Options) -> Result<Imported, ImportError> {
    let initial = match &options.initial {
        None => None,
        Some(text) => Some(value::read(text).map_err(|kind| kind.at(1))?),
    };
    let (calls, events, mut warnings) = calls(log)?;
    if calls.is_empty() {
        return Err(ImportErrorKind::Empty.at(1));
    }
    let deeds = deeds(&calls, options.independent, initial)?;
    let mut declaration = Declaration::new(Value::ZERO)
        .with_segments(deeds.names.len().max(1))
        .with_initial(vec![deeds.initial.clone(); deeds.names.len()]);
    let named = deeds.names.iter().enumerate();
    let comments = named.map(|(segment, name)| format!("segment {segment} is {name}")).collect();
    let (history, lost) = if options.sort_by_time {
        let intervals = intervals(&calls, &deeds)?;
        let imported = timeline::history(intervals, declaration, options.skew.magnitude())?;
        (imported.history, imported.warnings)
    } else {
        declaration = declaration.with_writers(writers(&calls, &deeds));
        (in_order(&calls, &events, &deeds, declaration)?, Vec::new())
    };
    if options.sort_by_time {
        warnings.clear();
    }
    warnings.extend(lost);
    Ok(Imported { history, warnings, comments })
}

/// Many, if some segment is updated by more than one process.
fn writers(calls: &[Call], deeds: &Deeds) -> Writers {
    let mut writer: HashMap<Segment, usize> = HashMap::new();
    for (call, deed) in calls.iter().zip(&deeds.of_calls) {
        if let Deed::Update { segment, .. } = deed
            && *writer.entry(*segment).or_insert(call.process) != call.process
        {
            return Writers::Many;
        }
    }
    Writers::Single
}

/// The events as they stand in the log.
fn in_order(
    calls: &[Call],
    events: &[(usize, Kind)],
    deeds: &Deeds,
    declaration: Declaration<Value>,
) -> Result<History<Value>, ImportError> {
    let refused = |line| move |error| ImportErrorKind::History(error).at(line);
    let mut history = History::builder(declaration).map_err(refused(1))?;
    for &(call, kind) in events {
        let deed = &deeds.of_calls[call];
        let action = match kind {
            Kind::Invoke => deed.invocation(),
            Kind::Ok => deed.response(),
            Kind::Fail => Action::Fail,
            Kind::Info => Action::Unknown,
        };
        let process = Process::from_index(calls[call].process);
        history.push(&Event { process, action }).map_err(refused(calls[call].line))?;
    }
    Ok(history.finish())
}

/// The operations as intervals of `:time`.
fn intervals(calls: &[Call], deeds: &Deeds) -> Result<Vec<Interval>, ImportError> {
    let time = |time: Option<Stamp>, line| {
        let cure = "; without it on every event, --sort-by-time has nothing to sort by";
        time.ok_or_else(|| ImportErrorKind::Missing { field: ":time", cure }.at(line))
    };
    let interval = |(call, deed): (&Call, &Deed)| {
        let end = call.end.map(|(_, end)| time(end, call.line)).transpose()?;
        let fate = match call.end {
            Some((Kind::Ok, _)) => Fate::Ok,
            Some((Kind::Fail, _)) => Fate::Failed,
            _ => Fate::Unknown,
        };
        Ok(Interval {
            line: call.line,
            client: call.process.to_string(),
            deed: deed.clone(),
            call: time(call.time, call.line)?,
            end,
            fate,
        })
    };
    calls.iter().zip(&deeds.of_calls).map(interval).collect()
}
