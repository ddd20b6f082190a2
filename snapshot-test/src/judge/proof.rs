//! The events that a proof shows.

use snapshot_core::explanation::{Explanation, ProofOperation};

use crate::Value;

/// Returns the numbers of the events of a proof's operations, ascending.
pub(super) fn events(explanation: &Explanation<Value>) -> Vec<usize> {
    let ends =
        |operation: &ProofOperation<Value>| [Some(operation.invocation), operation.ending.event()];
    let mut events: Vec<usize> = explanation.operations.iter().flat_map(ends).flatten().collect();
    events.sort_unstable();
    events
}
