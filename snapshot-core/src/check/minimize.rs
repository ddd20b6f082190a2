//! From a non-linearizable history to a few of its operations that are non-linearizable.
//!
//! For violations found by exact search, where no condition names the culprits. Steps that turn
//! linearizable histories into linearizable ones are tried as long as the rest stays
//! non-linearizable: drop scans, drop segments, drop updates that no remaining
//! scan can have read. Each trial is decided exactly; when the budget runs out, the smallest
//! history so far is taken.

use std::hash::Hash;

use super::decide;
use crate::history::{Action, Declaration, Event, History};
use crate::saturation::reduce;
use crate::search::Budget;
use crate::verdict::{Reason, Witness};
use crate::{OperationId, Segment};

/// The remaining part of a history.
#[derive(Clone, Debug)]
struct Selection {
    scans: Vec<OperationId>,
    segments: Vec<Segment>,
    /// The remaining updates; `None` for all updates of the segments.
    updates: Option<Vec<OperationId>>,
}

/// Finds a small witness of a non-linearizable history.
pub(super) fn minimize<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Witness {
    let is_complete_scan = |id: &OperationId| {
        let operation = history.operation(*id);
        operation.is_scan() && operation.is_complete()
    };
    let mut selection = Selection {
        scans: history.operation_ids().filter(is_complete_scan).collect(),
        segments: (0..history.segments()).map(Segment::from_index).collect(),
        updates: None,
    };
    let scans = selection.scans.clone();
    selection.scans = reduce(scans, |scans| {
        let trial = Selection { scans: scans.to_vec(), ..selection.clone() };
        trial.is_bad(history, budget)
    });
    let segments = selection.segments.clone();
    selection.segments = reduce(segments, |segments| {
        let trial = Selection { segments: segments.to_vec(), ..selection.clone() };
        !segments.is_empty() && trial.is_bad(history, budget)
    });
    let needed = selection.updates_needed(history);
    let trial = Selection { updates: Some(needed), ..selection.clone() };
    if trial.is_bad(history, budget) {
        selection = trial;
    }
    let mut operations = selection.scans.clone();
    operations.extend(selection.updates(history));
    operations.sort_unstable();
    let segments = selection.segments;
    Witness { reason: Reason::NoOrder, segments, operations, renaming: None }
}

impl Selection {
    fn is_bad<V: Clone + Eq + Hash>(&self, history: &History<V>, budget: &mut Budget<'_>) -> bool {
        (budget.proceed)() && decide(&self.history(history), budget) == Some(false)
    }

    fn has_update(&self, id: OperationId, segment: Segment) -> bool {
        match &self.updates {
            Some(updates) => updates.binary_search(&id).is_ok(),
            None => self.segments.contains(&segment),
        }
    }

    /// Returns the remaining updates, ascending.
    fn updates<V>(&self, history: &History<V>) -> Vec<OperationId> {
        let left = |id: &OperationId| {
            let segment = history.operation(*id).segment();
            segment.is_some_and(|segment| self.has_update(*id, segment))
        };
        history.operation_ids().filter(left).collect()
    }

    /// Returns the remaining part as a separate history.
    fn history<V: Clone>(&self, history: &History<V>) -> History<V> {
        let initial: Vec<V> =
            self.segments.iter().map(|k| history.initial_value(*k).clone()).collect();
        let declaration = Declaration::new(initial[0].clone())
            .with_segments(initial.len())
            .with_initial(initial)
            .with_writers(history.writers());
        let mut builder = History::builder(declaration).expect("at least one segment is left");
        for (position, step) in history.steps().enumerate() {
            let operation = history.operation(step.operation);
            let left = match operation.segment() {
                Some(segment) => self.has_update(step.operation, segment),
                None => self.scans.binary_search(&step.operation).is_ok(),
            };
            if !left {
                continue;
            }
            let event = history.event(position);
            let place = |segment: Segment| {
                self.segments.binary_search(&segment).map_or(segment, Segment::from_index)
            };
            let pushed = match event.action {
                Action::InvokeUpdate { segment, value } => {
                    builder.push(&Event::invoke_update(event.process, place(segment), value))
                }
                Action::RespondScan { values } => {
                    let values: Vec<V> =
                        self.segments.iter().map(|k| values[k.index()].clone()).collect();
                    builder.push(&Event::respond_scan(event.process, &values))
                }
                Action::RespondPartialScan { entries, .. } => {
                    let kept = entries.iter().filter_map(|(segment, value)| {
                        let place = self.segments.binary_search(segment).ok()?;
                        Some((Segment::from_index(place), value.clone()))
                    });
                    let kept: Vec<(Segment, V)> = kept.collect();
                    builder.push(&Event::respond_partial_scan(event.process, &kept))
                }
                _ => builder.push(&event),
            };
            pushed.expect("a part of a history is a history");
        }
        builder.finish()
    }

    /// Returns the updates that a remaining scan can have read, or that overwrite others of the
    /// same value before a scan begins.
    fn updates_needed<V: Clone + Eq>(&self, history: &History<V>) -> Vec<OperationId> {
        let mut needed = Vec::new();
        for &segment in &self.segments {
            let of_segment = |id: &OperationId| {
                let operation = history.operation(*id);
                operation.segment() == Some(segment) && !operation.is_failed()
            };
            let updates: Vec<OperationId> = history.operation_ids().filter(of_segment).collect();
            for scan in &self.scans {
                let scan = history.operation(*scan);
                let Some(value) = history.entry(scan, segment) else { continue };
                let due = updates.iter().rev().find(|id| history.operation(**id).precedes(scan));
                needed.extend(due);
                let can_read = |id: &&OperationId| {
                    let update = history.operation(**id);
                    let overwritten =
                        due.is_some_and(|due| update.precedes(history.operation(*due)));
                    history.update_value(update) == value && !overwritten && !scan.precedes(update)
                };
                needed.extend(updates.iter().filter(can_read));
            }
        }
        needed.sort_unstable();
        needed.dedup();
        needed
    }
}
