//! Linearizations and witnesses by brute force.

use snapshot_core::certificate::projection::Projection;
use snapshot_core::certificate::witness;
use snapshot_core::verdict::{Linearization, Reason, Witness};
use snapshot_core::{History, Segment};

/// Enough states for the histories of these tests.
const BUDGET: usize = 1_000_000;

/// Returns a linearization found by brute force; `None` if none exists.
pub fn brute_force(history: &History<i64>) -> Option<Linearization> {
    Projection::whole(history).linearization(BUDGET).expect("the history is small")
}

/// Returns the witness that lists all operations and segments.
pub fn whole_witness(history: &History<i64>) -> Witness {
    let takes_part = |id: &_| {
        let operation = history.operation(*id);
        operation.is_complete() || !operation.is_scan()
    };
    Witness {
        reason: Reason::NoOrder,
        segments: (0..history.segments()).map(Segment::from_index).collect(),
        operations: history.operation_ids().filter(takes_part).collect(),
        renaming: None,
    }
}

/// Returns a witness from which no operation and no segment (with its updates) can be left out: the
/// whole one, reduced as far as possible. `None` if the history is linearizable.
pub fn minimal_witness(history: &History<i64>) -> Option<Witness> {
    let mut witness = whole_witness(history);
    witness::check(history, &witness).ok()?;
    while let Some(smaller) = smaller_witness(history, &witness) {
        witness = smaller;
    }
    Some(witness)
}

fn smaller_witness(history: &History<i64>, witness: &Witness) -> Option<Witness> {
    let fewer_operations = witness.operations.iter().map(|dropped| {
        let mut smaller = witness.clone();
        smaller.operations.retain(|id| id != dropped);
        smaller
    });
    let fewer_segments = witness.segments.iter().map(|dropped| {
        let mut smaller = witness.clone();
        smaller.segments.retain(|segment| segment != dropped);
        smaller.operations.retain(|&id| history.operation(id).segment() != Some(*dropped));
        smaller
    });
    fewer_operations.chain(fewer_segments).find(|smaller| witness::check(history, smaller).is_ok())
}
