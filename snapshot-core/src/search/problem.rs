//! A history reduced to the needs of a search.
//!
//! Failed operations and pending scans are removed, and so are pending updates whose value no scan
//! returned: they need not take effect. Values are numbers.

use std::hash::Hash;

use crate::history::History;
use crate::seeded::{SeededMap, SeededSet};

/// The response of an operation that never ends.
pub(super) const NEVER: u32 = u32::MAX;

/// A gap of a partial scan, which agrees with every value.
pub(super) const MISSING: u32 = u32::MAX;

/// An operation to be ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// Number of the operation in the history.
    pub id: u32,
    /// Number of the invocation event.
    pub invocation: u32,
    /// Number of the response event; [`NEVER`] if the operation need not take effect.
    pub response: u32,
    /// The segment written; `None` for a scan.
    pub segment: Option<u16>,
    /// The value written; for a scan, the index of its returned values.
    pub value: u32,
}

/// Operations in the order of their invocations.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub segments: usize,
    pub initial: Vec<u32>,
    pub operations: Vec<Operation>,
    /// `segments` values per scan; [`MISSING`] for each gap.
    returned: Vec<u32>,
    /// Number of events of the history.
    pub events: usize,
}

impl Problem {
    pub fn new<V: Clone + Eq + Hash>(history: &History<V>) -> Self {
        let segments = history.segments();
        let mut numbers: SeededMap<&V, u32> = SeededMap::default();
        let mut number = |value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        };
        let initial: Vec<u32> = (0..segments)
            .map(|k| number(history.initial_value(crate::Segment::from_index(k))))
            .collect();
        let mut returned: Vec<u32> = Vec::new();
        let mut operations = Vec::new();
        for (id, operation) in history.operations().iter().enumerate() {
            let response = match operation.response() {
                Some(response) => response as u32,
                None if operation.is_scan() || operation.is_failed() => continue,
                None => NEVER,
            };
            let value = if operation.is_scan() {
                let index = returned.len() / segments;
                let row = returned.len();
                returned.resize(row + segments, MISSING);
                for (segment, value) in history.entries(operation) {
                    returned[row + segment.index()] = number(value);
                }
                index as u32
            } else {
                number(history.update_value(operation))
            };
            operations.push(Operation {
                id: id as u32,
                invocation: operation.invocation() as u32,
                response,
                segment: operation.segment().map(|segment| segment.index() as u16),
                value,
            });
        }
        let mut problem = Self { segments, initial, operations, returned, events: history.len() };
        problem.drop_unseen();
        problem
    }

    fn drop_unseen(&mut self) {
        if self.operations.iter().all(|operation| operation.response != NEVER) {
            return;
        }
        let rows = self.returned.chunks_exact(self.segments);
        let seen: SeededSet<(usize, u32)> =
            rows.flat_map(|row| row.iter().copied().enumerate()).collect();
        self.operations.retain(|operation| match operation.segment {
            Some(segment) if operation.response == NEVER => {
                seen.contains(&(usize::from(segment), operation.value))
            }
            _ => true,
        });
    }

    /// The returned values of a scan.
    pub fn returned(&self, scan: &Operation) -> &[u32] {
        let start = scan.value as usize * self.segments;
        &self.returned[start..start + self.segments]
    }

    /// The updates of each segment, in the order of their invocations.
    pub fn updates(&self) -> Vec<Vec<u32>> {
        let mut updates = vec![Vec::new(); self.segments];
        for (index, operation) in self.operations.iter().enumerate() {
            if let Some(segment) = operation.segment {
                updates[usize::from(segment)].push(index as u32);
            }
        }
        updates
    }
}
