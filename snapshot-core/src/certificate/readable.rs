//! The updates that a scan can have read in a segment, by time.
//!
//! Shares nothing with the checks that search for refutations.

use std::hash::Hash;

use crate::history::{Operation, Outcome};
use crate::seeded::SeededMap;
use crate::{History, OperationId, Segment};

/// The possible origin of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    Update(OperationId),
    Initial,
}

/// An entry of a complete scan.
pub(super) type Entry = (OperationId, Segment);

/// The possible sources of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Readable {
    /// Updates of the value that did not fail, were invoked before the scan responded, and were not
    /// followed by another update of the segment that ended before the scan was invoked. The
    /// initial value, if no update of the segment had ended.
    pub sources: Vec<Source>,
    /// If `sources` is empty: the only replaced source or, if no source was replaced, the only
    /// update that failed later. Such an entry is a violation in itself, so every consequence drawn
    /// from it is true.
    pub gone: Option<Source>,
}

/// The complete updates of a segment by response, with the latest invocation so far.
type Ended = Vec<(usize, usize)>;

/// Returns the possible sources of each entry. O(operations log operations), and for each entry the
/// number of updates of its value.
pub(super) fn readable<V: Eq + Hash>(
    history: &History<V>,
    entries: impl Iterator<Item = Entry>,
) -> SeededMap<Entry, Readable> {
    let value = |(scan, segment): Entry| history.entry(history.operation(scan), segment);
    let mut found: SeededMap<Entry, Readable> = SeededMap::default();
    let mut updates: SeededMap<(Segment, &V), Vec<OperationId>> = SeededMap::default();
    let mut ended: SeededMap<Segment, Ended> = SeededMap::default();
    for entry in entries {
        let Some(value) = value(entry) else { continue };
        updates.entry((entry.1, value)).or_default();
        ended.entry(entry.1).or_default();
        found.entry(entry).or_default();
    }
    for id in history.operation_ids() {
        let operation = history.operation(id);
        let Some(segment) = operation.segment() else { continue };
        if let Some(list) = updates.get_mut(&(segment, history.update_value(operation))) {
            list.push(id);
        }
        if let (Some(list), Some(response)) = (ended.get_mut(&segment), operation.response())
            && !operation.is_failed()
        {
            list.push((response, operation.invocation()));
        }
    }
    for list in ended.values_mut() {
        list.sort_unstable();
        let mut latest = 0;
        for (_, invocation) in list {
            latest = latest.max(*invocation);
            *invocation = latest;
        }
    }
    for (entry, readable) in &mut found {
        let (scan, segment) = (history.operation(entry.0), entry.1);
        let (Some(value), Some(response)) = (value(*entry), scan.response()) else { continue };
        let ended = &ended[&segment];
        let before = ended.partition_point(|(response, _)| *response < scan.invocation());
        let latest = before.checked_sub(1).map(|last| ended[last].1);
        let is_replaced =
            |update: &Operation| latest.zip(update.response()).is_some_and(|(at, end)| end < at);
        let (mut replaced, mut failed) = (Vec::new(), Vec::new());
        for id in &updates[&(segment, value)] {
            let update = history.operation(*id);
            let list = match update.outcome() {
                _ if update.invocation() > response => continue,
                Outcome::Failed { event } if event < response => continue,
                Outcome::Failed { .. } => &mut failed,
                _ if is_replaced(update) => &mut replaced,
                _ => &mut readable.sources,
            };
            list.push(Source::Update(*id));
        }
        if history.initial_value(segment) == value {
            let list = if latest.is_none() { &mut readable.sources } else { &mut replaced };
            list.push(Source::Initial);
        }
        readable.gone = match (&readable.sources[..], &replaced[..], &failed[..]) {
            ([], [source], _) | ([], [], [source]) => Some(*source),
            _ => None,
        };
    }
    found
}
