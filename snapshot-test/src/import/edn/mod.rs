//! Histories of Jepsen and Maelstrom, in EDN.
//!
//! Such a history is a sequence of events: maps with `:type` (`:invoke`, `:ok`, `:fail`, `:info`),
//! `:process`, `:f`, `:value`, and, from the clock, `:time`. Their order in the file is the order
//! in which the events happened; Jepsen takes them under one lock. So a history is imported event
//! by event, and `:time` is read only to notice that it contradicts the order - or, on demand, to
//! sort by it ([`Options::sort_by_time`]), with the semantics of intervals.
//!
//! `scan` separates the forms of a log, `event` and `call` read them, `sort` and `workload` define
//! the snapshot in it: registers, each a segment, where an operation writes one of them or reads
//! one or more; and sets to which elements are added one by one, where each element is a segment. A
//! read of some registers is a partial scan. All other workloads are refused by name.

mod alike;
mod call;
mod event;
mod line;
mod scan;
mod sort;
mod stream;
mod value;
mod workload;

use std::collections::{BTreeMap, HashMap};

use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::{History, Names, Segment};

use self::call::{Call, Calls, calls};
pub(crate) use self::event::{Event as LogEvent, Events, Kind, Placed};
use self::sort::Sort;
pub(crate) use self::value::{NIL_TEXT, scalar, short, written};
use self::workload::{Meanings, Unused};
pub(crate) use self::workload::{is_tuple, items, pair};
use super::meaning::Segments;
use super::place::{Spot, Step, locations};
use super::timeline::{self, Arranged, Deed, Fate, Interval, process};
use super::{ImportErrorKind, Imported, Stamp, Warning};
use crate::Value;
use crate::error::{InputError, InputErrorKind};
use crate::format::Clock;

/// Options for the interpretation of a history in EDN.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// Values are tuples `[key value]` of `jepsen.independent`.
    pub independent: bool,
    /// The initial value of registers, in EDN (default: `nil`).
    pub initial: Option<String>,
    /// Events are sorted by `:time`; events at one instant overlap.
    pub sort_by_time: bool,
    /// With `sort_by_time`: the largest error of each clock.
    pub skew: Stamp,
}

/// Imports a history in EDN. O(n log n) for n events and entries of reads, all held in memory.
///
/// ```
/// use snapshot_test::import::{EdnOptions, edn};
///
/// let log = "{:process 0, :type :invoke, :f :write, :value {:x 1}}
///            {:process 1, :type :invoke, :f :read, :value nil}
///            {:process 0, :type :ok, :f :write, :value {:x 1}}
///            {:process 1, :type :ok, :f :read, :value {:x 1, :y nil}}";
/// let imported = edn(log.as_bytes(), &EdnOptions::default())?;
/// assert_eq!(imported.names.segments().to_vec(), [":x".into(), ":y".into()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If it is not EDN, not a history, or has operations that snapshots do not have.
pub fn edn(log: &[u8], options: &Options) -> Result<Imported, InputError> {
    let text = super::text(log);
    text.and_then(|text| imported(text, options)).map_err(|fault| fault.located(log))
}

fn imported(log: &str, options: &Options) -> Step<Imported> {
    let initial = options.initial.as_deref().map(value::initial).transpose()?;
    let mut reader = Events::new(log.as_bytes());
    let mut events = Vec::new();
    while let Some(event) = reader.next()? {
        events.push(event);
    }
    let mut warnings = Vec::new();
    if options.sort_by_time {
        sort_by_time(&mut events)?;
    } else {
        let mut clock = Clock::default();
        for event in &events {
            if let Some(time) = event.time {
                clock.observe(None, time, || event.spot.location(log.as_bytes()));
            }
        }
        warnings.extend(clock.noticed().backwards().map(Warning::Backwards));
    }
    let Calls { calls, events, processes } = calls(events)?;
    if calls.is_empty() {
        return Err(ImportErrorKind::Empty.at(Spot::default()));
    }
    let sort = Sort::new(&calls, options.independent)?;
    let initial = match (sort, initial) {
        (Sort::Registers, initial) => initial.unwrap_or_else(|| Value::from(NIL_TEXT)),
        (Sort::Sets, None) => Value::ZERO,
        (Sort::Sets, Some(_)) => {
            return Err(ImportErrorKind::Field {
                field: "--initial",
                expected: "nothing, since a set is empty at first,",
                found: format!("`{}`", options.initial.as_deref().unwrap_or_default()),
                cure: "leave out --initial",
            }
            .at(Spot::default()));
        }
    };
    let mut unused: BTreeMap<Unused, (Spot, usize)> = BTreeMap::new();
    let mut note = |reason, spot| unused.entry(reason).or_insert((spot, 0)).1 += 1;
    let mut meanings = Meanings { is_independent: options.independent, sort, unused: &mut note };
    let found = calls.iter().map(|call| meanings.of(call));
    let mut found = found.collect::<Step<Vec<_>>>()?;
    alike::require_uniform(&calls, &mut found, &mut note)?;
    let (mut numbers, mut known) = (Vec::with_capacity(calls.len()), Vec::new());
    for (call, meaning) in calls.iter().zip(found) {
        numbers.push(meaning.as_ref().map(|_| known.len()));
        known.extend(meaning.map(|meaning| (call.spot, meaning)));
    }
    let mut segments = Segments::default();
    let deeds = segments.deeds(known)?;
    let deed = |call: usize| numbers[call].map(|number| &deeds[number]);
    let declaration = super::declaration(segments.len(), initial);
    let (history, clients, spots) = if options.sort_by_time {
        let intervals = calls.iter().enumerate();
        let intervals = intervals.filter_map(|(number, call)| {
            let client = processes[call.process].to_string();
            Some(interval(call, client, deed(number)?))
        });
        let Arranged { history, warnings: lost, clients, spots } = timeline::history(
            intervals.collect::<Step<_>>()?,
            declaration,
            options.skew.magnitude(),
        )?;
        warnings.extend(lost);
        (history, clients, spots)
    } else {
        let declaration = declaration.with_writers(writers(&calls, deed));
        let (history, spots) = in_order(&calls, &events, deed, declaration)?;
        (history, processes.iter().map(i64::to_string).collect(), spots)
    };
    warnings.extend(unused.into_iter().map(|(reason, (first, operations))| Warning::Unused {
        first: first.location(log.as_bytes()),
        operations,
        reason: reason.reason(),
    }));
    let names = Names::new(super::process_names(&clients), segments.names());
    let places = locations(log.as_bytes(), &spots);
    Ok(Imported { history, places, warnings, names })
}

/// Sorts events by their times; events at one instant keep their order.
fn sort_by_time(events: &mut [event::Event]) -> Step<()> {
    if let Some(event) = events.iter().find(|event| event.time.is_none()) {
        let cure = "without it on every event, --sort-by-time has nothing to sort by";
        return Err(ImportErrorKind::Missing { field: ":time", cure }.at(event.spot));
    }
    events.sort_by_key(|event| event.time);
    Ok(())
}

/// Returns many writers if some segment is updated by more than one process.
fn writers<'a>(calls: &[Call], deed: impl Fn(usize) -> Option<&'a Deed>) -> Writers {
    let mut writer: HashMap<Segment, usize> = HashMap::new();
    for (number, call) in calls.iter().enumerate() {
        if let Some(Deed::Update { segment, .. }) = deed(number)
            && *writer.entry(*segment).or_insert(call.process) != call.process
        {
            return Writers::Many;
        }
    }
    Writers::Single
}

/// Imports the events in the order of the log.
fn in_order<'a>(
    calls: &[Call],
    events: &[(usize, Kind)],
    deed: impl Fn(usize) -> Option<&'a Deed>,
    declaration: Declaration<Value>,
) -> Step<(History<Value>, Vec<Spot>)> {
    let refused = |spot| {
        move |error: snapshot_core::history::HistoryError| {
            InputErrorKind::Admission(error.kind).at(spot)
        }
    };
    let mut history = History::builder(declaration).map_err(refused(Spot::default()))?;
    let mut spots = Vec::with_capacity(events.len());
    for &(number, kind) in events {
        let (call, Some(deed)) = (&calls[number], deed(number)) else { continue };
        let action = match kind {
            Kind::Invoke => deed.invocation(),
            Kind::Ok => deed.response(),
            Kind::Fail => Action::Fail,
            Kind::Info => Action::Unknown,
        };
        let process = process(call.process, call.spot)?;
        history.push(&Event { process, action }).map_err(refused(call.spot))?;
        let end = call.end.as_ref().filter(|_| kind != Kind::Invoke);
        spots.push(end.map_or(call.spot, |end| end.spot));
    }
    Ok((history.finish(), spots))
}

/// Returns the operation as an interval of `:time`, which each event must have.
fn interval(call: &Call, client: String, deed: &Deed) -> Step<Interval> {
    let time = |time: Option<Stamp>, spot| {
        let cure = "each event has it";
        time.ok_or_else(|| ImportErrorKind::Missing { field: ":time", cure }.at(spot))
    };
    let end = call.end.as_ref().map(|end| time(end.time, end.spot)).transpose()?;
    let fate = match call.kind() {
        Some(Kind::Ok) => Fate::Ok,
        Some(Kind::Fail) => Fate::Failed,
        _ => Fate::Unknown,
    };
    let begin = time(call.time, call.spot)?;
    Ok(Interval { spot: call.spot, client, deed: deed.clone(), call: begin, end, fate })
}
