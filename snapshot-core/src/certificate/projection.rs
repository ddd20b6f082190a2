//! The restriction of a history to some operations and segments.

use super::brute_force::{Action, BruteForceError, Instance, Operation};
use crate::verdict::Linearization;
use crate::{History, OperationId, Segment};

/// Some operations of a history, seen through some of its segments, ready to
/// be decided by brute force.
///
/// Failed operations and pending scans are left out: no linearization contains them. Times are
/// event numbers; initial values are the history's.
#[derive(Clone, Debug)]
pub struct Projection<'h, V> {
    /// The kept operations as an instance of brute force.
    pub instance: Instance<&'h V>,
    /// The operation of the history behind each operation of the instance.
    pub operations: Vec<OperationId>,
}

impl<'h, V: Eq> Projection<'h, V> {
    /// Keeps `operations` and `segments`. Updates of other segments are left out. Entry `k` of a
    /// kept scan is its value for `segments[k]`, if it returned that segment.
    ///
    /// # Panics
    /// If the history has no such operation or segment.
    pub fn new(
        history: &'h History<V>,
        segments: &[Segment],
        operations: impl IntoIterator<Item = OperationId>,
    ) -> Self {
        let initial = segments.iter().map(|&segment| history.initial_value(segment)).collect();
        let mut projection =
            Self { instance: Instance { initial, operations: Vec::new() }, operations: Vec::new() };
        for id in operations {
            let operation = history.operation(id);
            let action = match operation.segment() {
                _ if operation.is_failed() => continue,
                None if operation.is_pending() => continue,
                None => {
                    let entries = segments.iter().enumerate().filter_map(|(k, segment)| {
                        history.entry(operation, *segment).map(|value| (k, value))
                    });
                    let entries: Vec<(usize, &V)> = entries.collect();
                    if entries.len() == segments.len() {
                        Action::Scan { values: entries.into_iter().map(|entry| entry.1).collect() }
                    } else {
                        Action::PartialScan { entries }
                    }
                }
                Some(segment) => match segments.iter().position(|&kept| kept == segment) {
                    Some(segment) => {
                        Action::Update { segment, value: history.update_value(operation) }
                    }
                    None => continue,
                },
            };
            projection.operations.push(id);
            projection.instance.operations.push(Operation {
                invocation: operation.invocation(),
                response: operation.response(),
                action,
            });
        }
        projection
    }

    /// Keeps the whole history.
    pub fn whole(history: &'h History<V>) -> Self {
        let segments: Vec<Segment> = (0..history.segments()).map(Segment::from_index).collect();
        Self::new(history, &segments, history.operation_ids())
    }

    /// Returns a linearization of the kept operations, or `None` if none exists.
    ///
    /// # Errors
    /// As [`Instance::linearization`].
    pub fn linearization(&self, budget: usize) -> Result<Option<Linearization>, BruteForceError> {
        let order = self.instance.linearization(budget)?;
        Ok(order.map(|order| Linearization {
            order: order.into_iter().map(|index| self.operations[index]).collect(),
        }))
    }
}
