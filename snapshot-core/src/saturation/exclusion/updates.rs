//! The sources of entries by time, and those within a window.

use std::hash::Hash;

use super::super::excerpt::{Entry, Item, Source};
use crate::history::History;
use crate::seeded::SeededMap;
use crate::verdict::{Reason, Refutation, Rule, Witness};
use crate::{OperationId, Segment};

/// The updates of a value, by invocation, each with the latest response up to it.
type List = Vec<(OperationId, usize)>;

/// The updates of a history, prepared for finding the sources of entries.
pub(super) struct Updates<'h, V> {
    whole: &'h History<V>,
    history: &'h History<V>,
    by_value: SeededMap<(Segment, &'h V), List>,
    /// For each segment, the complete updates by response, with the latest invocation so far.
    ended: Vec<Vec<(usize, usize)>>,
}

impl<'h, V: Eq + Hash> Updates<'h, V> {
    /// Takes the updates of a prefix of a history; an update that fails after the prefix has no
    /// effect in it either.
    pub fn new(whole: &'h History<V>, history: &'h History<V>) -> Self {
        let mut by_value: SeededMap<_, List> = SeededMap::default();
        let mut ended = vec![Vec::new(); history.segments()];
        for id in history.operation_ids() {
            let operation = history.operation(id);
            let Some(segment) = operation.segment().filter(|_| !whole.operation(id).is_failed())
            else {
                continue;
            };
            let list = by_value.entry((segment, history.update_value(operation))).or_default();
            let response = operation.response().unwrap_or(usize::MAX);
            let latest = list.last().map_or(response, |(_, latest)| response.max(*latest));
            list.push((id, latest));
            if operation.is_complete() {
                ended[segment.index()].push((response, operation.invocation()));
            }
        }
        for list in &mut ended {
            list.sort_unstable();
            let mut latest = 0;
            for (_, invocation) in list {
                latest = latest.max(*invocation);
                *invocation = latest;
            }
        }
        Self { whole, history, by_value, ended }
    }

    /// Returns the operations that had not ended before an event, and the entries of the scans
    /// among them whose sources are all among these operations.
    pub fn window(&self, start: usize) -> Vec<Item> {
        let history = self.history;
        let is_in = |id: OperationId| {
            let operation = history.operation(id);
            !self.whole.operation(id).is_failed()
                && operation.response().is_none_or(|end| end >= start)
        };
        let ids: Vec<OperationId> = history.operation_ids().filter(|id| is_in(*id)).collect();
        let mut items = Vec::new();
        for &scan in &ids {
            for (segment, value) in history.entries(history.operation(scan)) {
                let sources = self.sources(scan, segment, value);
                if sources.iter().flatten().all(|id| is_in(*id)) {
                    items.push(Item::Entry(Entry { scan, segment, sources }));
                }
            }
        }
        items.extend(ids.into_iter().map(Item::Operation));
        items
    }

    /// Returns the operations of a refutation, with all sources of their entries in its segments,
    /// and the updates by which time rules out others.
    pub fn witness(&self, items: &[Item], refutation: &Refutation) -> Witness {
        let history = self.history;
        let has = |is_it: fn(&Rule) -> bool| refutation.lines.iter().any(|line| is_it(&line.rule));
        let reason = if has(|rule| matches!(rule, Rule::Source { .. } | Rule::Unreadable { .. })) {
            Reason::NoOrder
        } else if has(|rule| *rule == Rule::Suppose) {
            Reason::Ordering
        } else {
            Reason::Cycle
        };
        let mut operations: Vec<OperationId> =
            refutation.lines.iter().flat_map(|line| [line.before, line.after]).collect();
        let mut segments: Vec<Segment> =
            operations.iter().filter_map(|id| history.operation(*id).segment()).collect();
        for item in items {
            if let Item::Entry(entry) = item {
                operations.push(entry.scan);
                segments.push(entry.segment);
            }
        }
        segments.sort_unstable();
        segments.dedup();
        let is_scan = |id: &OperationId| history.operation(*id).is_scan();
        let scans: Vec<OperationId> = operations.iter().copied().filter(is_scan).collect();
        for scan in scans {
            for (segment, value) in history.entries(history.operation(scan)) {
                if segments.binary_search(&segment).is_ok() {
                    let sources = self.sources(scan, segment, value);
                    operations.extend(sources.iter().flatten());
                    operations.extend(self.overwriting(scan, segment, &sources));
                }
            }
        }
        operations.sort_unstable();
        operations.dedup();
        Witness { reason, segments, operations, renaming: None }
    }

    /// Returns the update that by time comes after all other sources of an entry, if any.
    fn overwriting(
        &self,
        scan: OperationId,
        segment: Segment,
        sources: &[Source],
    ) -> Option<OperationId> {
        let history = self.history;
        let operation = history.operation(scan);
        let value = history.entry(operation, segment)?;
        let list = self.by_value.get(&(segment, value)).map_or(&[][..], Vec::as_slice);
        let is_other = |id: &OperationId| {
            history.operation(*id).precedes(operation) && !sources.contains(&Some(*id))
        };
        let is_initial = history.initial_value(segment) == value && !sources.contains(&None);
        if !is_initial && !list.iter().any(|(id, _)| is_other(id)) {
            return None;
        }
        let ended = &self.ended[segment.index()];
        let before = ended.partition_point(|(response, _)| *response < operation.invocation());
        Some(history.step(ended[before.checked_sub(1)?].1).operation)
    }

    /// Returns the sources of an entry by time.
    fn sources(&self, scan: OperationId, segment: Segment, value: &'h V) -> Vec<Source> {
        let scan = self.history.operation(scan);
        let ended = &self.ended[segment.index()];
        let before = ended.partition_point(|(response, _)| *response < scan.invocation());
        let overwritten = before.checked_sub(1).map(|last| ended[last].1);
        let list = self.by_value.get(&(segment, value)).map_or(&[][..], Vec::as_slice);
        let begun = list.partition_point(|(id, _)| {
            scan.response().is_some_and(|end| self.history.operation(*id).invocation() < end)
        });
        let is_there = |end: usize| overwritten.is_none_or(|at| end > at);
        let mut sources: Vec<Source> = list[..begun]
            .iter()
            .rev()
            .take_while(|(_, latest)| is_there(*latest))
            .filter(|(id, _)| self.history.operation(*id).response().is_none_or(is_there))
            .map(|(id, _)| Some(*id))
            .collect();
        if overwritten.is_none() && self.history.initial_value(segment) == value {
            sources.push(None);
        }
        sources
    }
}
