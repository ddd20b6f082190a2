//! Logs for the tests of imports: random executions, and the expected imports.

use std::collections::BTreeMap;

use proptest::prelude::*;
use snapshot_core::history::Action;
use snapshot_core::{History, Names};
use snapshot_test::Value;

/// A segment, by the key of its object and its name there.
pub type Name = (&'static str, &'static str);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum How {
    Ok,
    Fail,
    Unknown,
}

#[derive(Clone, Debug)]
pub enum Act {
    Update(Name, Value),
    /// By key; with the returned values, if it responded.
    Scan(&'static str, Vec<(Name, Value)>),
}

/// An operation; times are numbers of events.
#[derive(Clone, Debug)]
pub struct Operation {
    pub client: usize,
    pub act: Act,
    pub invoked: usize,
    pub ended: Option<(usize, How)>,
}

#[derive(Clone, Debug)]
pub struct Log {
    pub operations: Vec<Operation>,
    /// All segments of the naming.
    pub segments: &'static [Name],
    /// True if it is linearizable by construction.
    pub is_right: bool,
}

/// Names that are numbers: the segments of one object.
pub const NUMBERS: &[Name] = &[("", "0"), ("", "1"), ("", "2")];
/// Names that are not numbers.
pub const NAMES: &[Name] = &[("", "x"), ("", "yy"), ("", "7-z")];
/// A register per key; 7 and "7" are different keys.
pub const REGISTERS: &[Name] = &[("k", ""), ("7", ""), ("\"7\"", "")];
/// Objects of several segments, by keys.
pub const OBJECTS: &[Name] = &[("k", "0"), ("k", "1"), ("7", "0"), ("7", "1")];
/// The same with names.
pub const NAMED: &[Name] = &[("k", "x"), ("k", "0"), ("7", "x"), ("7", "yy")];

/// Executions of clients that take turns; half of them are correct: updates take effect and scans
/// read at their responses. `values` are written and, if wrong, read.
pub fn logs(segments: &'static [Name], values: Vec<Value>) -> impl Strategy<Value = Log> {
    let step = (0..3_usize, 0..12_u8, any::<u16>(), any::<u16>());
    let steps = prop::collection::vec(step, 1..28);
    (steps, any::<bool>()).prop_map(move |(steps, is_right)| {
        let mut operations: Vec<Operation> = Vec::new();
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        let mut held: BTreeMap<Name, Value> = BTreeMap::new();
        for (at, (client, kind, pick, more)) in steps.into_iter().enumerate() {
            let value = |pick: u16| values[usize::from(pick) % values.len()].clone();
            let name = segments[usize::from(pick) % segments.len()];
            let Some(begun) = open.remove(&client) else {
                open.insert(client, operations.len());
                let act = match kind {
                    0..6 => Act::Update(name, value(more)),
                    _ => Act::Scan(name.0, Vec::new()),
                };
                operations.push(Operation { client, act, invoked: at, ended: None });
                continue;
            };
            let how = match kind {
                0 => How::Fail,
                1 => How::Unknown,
                _ => How::Ok,
            };
            let operation = &mut operations[begun];
            operation.ended = Some((at, how));
            match &mut operation.act {
                Act::Update(name, value) if how == How::Ok => {
                    held.insert(*name, value.clone());
                }
                Act::Scan(key, entries) if how == How::Ok => {
                    let own = segments.iter().filter(|(of, _)| of == key);
                    for (bit, name) in own.enumerate() {
                        // Sometimes all, sometimes some, sometimes none.
                        if kind < 8 && more >> bit & 1 == 0 {
                            continue;
                        }
                        let current = held.get(name).cloned().unwrap_or(Value::ZERO);
                        let read =
                            if is_right { current } else { value(pick.rotate_left(bit as u32)) };
                        entries.push((*name, read));
                    }
                }
                _ => {}
            }
        }
        Log { operations, segments, is_right }
    })
}

/// The name of a segment.
fn shown((key, name): Name) -> String {
    match (key, name) {
        ("", one) | (one, "") => one.to_owned(),
        (key, name) => format!("{key}/{name}"),
    }
}

/// Invocations and responses in order, with names of clients and segments, and the outcome of each
/// operation. The end of an operation that failed, or whose outcome is unknown, has no position.
pub type Rendering = (Vec<String>, Vec<String>);

fn sorted(mut entries: Vec<(String, String)>) -> String {
    entries.sort();
    let shown: Vec<_> =
        entries.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    shown.join(" ")
}

impl Log {
    /// Returns the expected import.
    pub fn expected_import(&self, client: impl Fn(usize) -> String) -> Rendering {
        let mut events: BTreeMap<usize, String> = BTreeMap::new();
        let mut fates = Vec::new();
        for operation in &self.operations {
            let client = client(operation.client);
            let begun = match &operation.act {
                Act::Update(name, value) => format!("{client} update {} {value}", shown(*name)),
                Act::Scan(..) => format!("{client} scan"),
            };
            let fate = match operation.ended {
                Some((at, How::Ok)) => {
                    let entries = match &operation.act {
                        Act::Update(..) => Vec::new(),
                        Act::Scan(_, entries) => entries
                            .iter()
                            .map(|(name, value)| (shown(*name), value.to_string()))
                            .collect(),
                    };
                    events.insert(at, format!("{client} ok {}", sorted(entries)));
                    "ok"
                }
                Some((_, How::Fail)) => "failed",
                Some((_, How::Unknown)) | None => "open",
            };
            fates.push(format!("{begun}: {fate}"));
            events.insert(operation.invoked, begun);
        }
        (events.into_values().collect(), fates)
    }

    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

/// Returns the events of an import, with its names. A process for the operations that overlap
/// others of their client is that client.
pub fn rendered(history: &History<Value>, names: &Names) -> Rendering {
    let named = |kind: &str, number: usize| {
        let names = if kind == "process" { names.processes() } else { names.segments() };
        let name = names.get(number).map_or_else(|| number.to_string(), ToString::to_string);
        match name.rsplit_once('#') {
            Some((client, number))
                if number.parse::<u8>().is_ok() && names.iter().any(|one| **one == *client) =>
            {
                client.to_owned()
            }
            _ => name,
        }
    };
    let mut events = Vec::new();
    let mut fates: Vec<String> = Vec::new();
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    for event in history.events() {
        let process = event.process.index();
        let client = named("process", process);
        let entry = |segment: usize, value: &Value| (named("segment", segment), value.to_string());
        let begun = match &event.action {
            Action::InvokeUpdate { segment, value } => {
                Some(format!("{client} update {} {value}", named("segment", segment.index())))
            }
            Action::InvokeScan => Some(format!("{client} scan")),
            _ => None,
        };
        if let Some(begun) = begun {
            open.insert(process, fates.len());
            fates.push(format!("{begun}: "));
            events.push(begun);
            continue;
        }
        let operation = open.remove(&process).expect("an ended operation has begun");
        let (fate, entries) = match &event.action {
            Action::RespondUpdate => ("ok", Some(Vec::new())),
            Action::RespondScan { values } => {
                let all = values.iter().enumerate();
                ("ok", Some(all.map(|(segment, value)| entry(segment, value)).collect()))
            }
            Action::RespondPartialScan { entries, .. } => {
                let some = entries.iter().map(|(segment, value)| entry(segment.index(), value));
                ("ok", Some(some.collect()))
            }
            Action::Fail => ("failed", None),
            _ => ("open", None),
        };
        fates[operation] += fate;
        events.extend(entries.map(|entries| format!("{client} ok {}", sorted(entries))));
    }
    open.into_values().for_each(|operation| fates[operation] += "open");
    (events, fates)
}
