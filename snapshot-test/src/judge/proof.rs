//! The events that a proof shows.

use snapshot_core::explanation::{Exhibit, Explanation};

use crate::Value;

/// Returns the numbers of the events of a proof's operations, ascending.
pub(super) fn events(explanation: &Explanation<Value>) -> Vec<usize> {
    let ends = |exhibit: &Exhibit<Value>| [Some(exhibit.invocation), exhibit.ending.event()];
    let mut events: Vec<usize> = explanation.exhibits.iter().flat_map(ends).flatten().collect();
    events.sort_unstable();
    events
}
