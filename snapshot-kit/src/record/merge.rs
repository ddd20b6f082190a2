//! Merge of many logs, each in the order of time.
//!
//! Threads run for a while before others do, so their stamps form long runs: the merge leaves a log
//! only when another one's next event is earlier.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use snapshot_core::history::Event;

use super::log::Cursor;

/// Passes all events to `take`, first to last. O(events + changes of the log * log(logs)).
///
/// # Errors
/// The first error of `take`.
pub(super) fn merge<V, E>(
    mut logs: Vec<Cursor<'_, V>>,
    mut take: impl FnMut(&Event<'_, V>) -> Result<(), E>,
) -> Result<(), E> {
    let mut heads: BinaryHeap<Reverse<((u64, bool), usize)>> = logs
        .iter()
        .enumerate()
        .filter_map(|(at, log)| log.key().map(|key| Reverse((key, at))))
        .collect();
    while let Some(Reverse((_, at))) = heads.pop() {
        let log = &mut logs[at];
        let process = log.process;
        loop {
            if let Some(action) = log.next() {
                take(&Event { process, action })?;
            }
            let Some(key) = log.key() else { break };
            if heads.peek().is_some_and(|Reverse(other)| *other < (key, at)) {
                heads.push(Reverse((key, at)));
                break;
            }
        }
    }
    Ok(())
}
