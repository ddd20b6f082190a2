//! Parsed events, passed from a parser of any format to the reader.

use std::num::NonZeroU32;

use snapshot_core::history::{Action, Event};
use snapshot_core::immediate;
use snapshot_core::{Process, Segment};

use super::{Key, Location};
use crate::Value;

/// The kind of a parsed event; its values are stored separately.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// Has one value, the written one.
    InvokeUpdate(Segment),
    InvokeScan,
    /// Has one value, the written one. Only of immediate snapshots.
    InvokeExchange,
    RespondUpdate,
    /// The values are the returned ones.
    RespondScan,
    /// The entries are the returned ones; with the number of segments, if the event contains it.
    RespondPartialScan(Option<NonZeroU32>),
    Fail,
    Unknown,
}

/// The values of parsed events: of updates and full scans, and the entries of partial scans. A
/// parser that gives up truncates its part.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(super) values: Vec<Value>,
    pub(super) entries: Vec<(Segment, Value)>,
}

impl Payload {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.entries.clear();
    }

    /// Moves the values to `integers`. Returns true if all were integers, and no entries of partial
    /// scans existed. If false, some are not moved.
    pub(super) fn move_integers(&mut self, integers: &mut Vec<i64>) -> bool {
        let (start, count) = (integers.len(), self.values.len());
        integers.extend(self.values.drain(..).filter_map(|value| integer(&value)));
        let are_integers = integers.len() == start + count && self.entries.is_empty();
        self.entries.clear();
        are_integers
    }
}

/// Returns the integer, if the value is one.
pub(crate) const fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        Value::Text(_) => None,
    }
}

/// A parsed event without its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parsed {
    pub(crate) location: Location,
    pub(super) process: Process,
    pub(super) shape: Shape,
    pub(crate) key: Option<Key>,
}

impl Parsed {
    /// Returns the event in a recording of a snapshot.
    #[inline]
    pub(crate) fn event<'a>(&self, payload: &'a Payload) -> Event<'a, Value> {
        self.shape.event(self.process, &payload.values, &payload.entries)
    }

    /// Returns the event in a recording of an immediate snapshot.
    pub(crate) fn exchange<'a>(&self, payload: &'a Payload) -> immediate::Event<'a, Value> {
        self.shape.exchange(self.process, &payload.values)
    }
}

impl Shape {
    /// Returns the event of this shape in a recording of an immediate snapshot.
    pub(super) fn exchange(
        self,
        process: Process,
        values: &[Value],
    ) -> immediate::Event<'_, Value> {
        let action = match self {
            Self::InvokeExchange => immediate::Action::Invoke { value: &values[0] },
            Self::Fail => immediate::Action::Fail,
            Self::Unknown => immediate::Action::Unknown,
            _ => immediate::Action::Respond { values },
        };
        immediate::Event { process: process.index(), action }
    }

    /// Returns the event of this shape in a recording of a snapshot, with its values and entries.
    #[inline]
    pub(super) fn event<'a, V>(
        self,
        process: Process,
        values: &'a [V],
        entries: &'a [(Segment, V)],
    ) -> Event<'a, V> {
        let action = match self {
            Self::InvokeUpdate(segment) => Action::InvokeUpdate { segment, value: &values[0] },
            // Readers refuse exchanges in recordings of a snapshot.
            Self::InvokeScan | Self::InvokeExchange => Action::InvokeScan,
            Self::RespondUpdate => Action::RespondUpdate,
            Self::RespondScan => Action::RespondScan { values },
            Self::RespondPartialScan(segments) => Action::RespondPartialScan { segments, entries },
            Self::Fail => Action::Fail,
            Self::Unknown => Action::Unknown,
        };
        Event { process, action }
    }
}
