//! Events as calls: each operation from its invocation to its end.

use std::collections::HashMap;
use std::sync::Arc;

use clojure_reader::edn::Edn;

use super::super::place::{Spot, Step};
use super::super::{ImportErrorKind, Stamp};
use super::event::{Event, Kind, Placed};

/// An operation, from its invocation to its end.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The position of its invocation.
    pub(super) spot: Spot,
    /// The number of its process, by first appearance.
    pub(super) process: usize,
    /// `:f`.
    pub(super) function: Arc<str>,
    pub(super) function_at: Spot,
    /// The `:value` of the invocation.
    pub(super) given: Placed,
    pub(super) time: Option<Stamp>,
    /// The end of the operation, if any.
    pub(super) end: Option<End>,
}

#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) kind: Kind,
    pub(super) spot: Spot,
    pub(super) returned: Placed,
    pub(super) time: Option<Stamp>,
}

impl Call {
    /// Returns the returned value, if the call succeeded with one, else the given one.
    pub(super) fn value(&self) -> &Placed {
        match &self.end {
            Some(End { kind: Kind::Ok, returned, .. }) if returned.edn != Edn::Nil => returned,
            _ => &self.given,
        }
    }

    /// Returns the kind of the end, if any.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.end.as_ref().map(|end| end.kind)
    }
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) calls: Vec<Call>,
    /// The events in order: each the number of its call, and its kind.
    pub(super) events: Vec<(usize, Kind)>,
    /// The processes, named as in the log.
    pub(super) processes: Vec<i64>,
}

/// Pairs the events of all clients into calls.
pub(super) fn calls(events: Vec<Event>) -> Step<Calls> {
    let mut found = Calls::default();
    let mut numbers: HashMap<i64, usize> = HashMap::new();
    let mut open: HashMap<usize, usize> = HashMap::new();
    for event in events {
        let Event { spot, process: name, kind, function, function_at, value, time, .. } = event;
        let Calls { calls, events, processes } = &mut found;
        let process = *numbers.entry(name).or_insert_with(|| {
            processes.push(name);
            processes.len() - 1
        });
        let unpaired = |deed| ImportErrorKind::Unpaired { process: name, deed }.at(spot);
        match (kind, open.remove(&process)) {
            (Kind::Invoke, None) => {
                open.insert(process, calls.len());
                events.push((calls.len(), Kind::Invoke));
                let (given, end) = (value, None);
                calls.push(Call { spot, process, function, function_at, given, time, end });
            }
            (Kind::Invoke, Some(earlier)) => {
                let fault = unpaired("begins an operation while another one is open");
                return Err(fault.against(calls[earlier].spot));
            }
            (_, None) => return Err(unpaired("ends an operation that has not begun")),
            (kind, Some(call)) => {
                if calls[call].function != function {
                    let fault = unpaired("ends another operation than it began");
                    return Err(fault.against(calls[call].spot));
                }
                events.push((call, kind));
                calls[call].end = Some(End { kind, spot, returned: value, time });
            }
        }
    }
    Ok(found)
}
