//! Set linearizability by its definition: all sequences of blocks are tried.

use snapshot_core::OperationId;
use snapshot_core::immediate::History;

/// Returns true if some sequence of blocks explains the execution.
pub fn is_set_linearizable(history: &History<u32>) -> bool {
    let contents = (0..history.segments()).map(|k| *history.initial_value(k)).collect();
    let unplaced = history.operation_ids().filter(|&id| !history.operation(id).is_failed());
    extend(history, &unplaced.collect::<Vec<_>>(), contents)
}

/// Returns true if the unplaced operations can follow, given the contents of the segments.
fn extend(history: &History<u32>, unplaced: &[OperationId], contents: Vec<u32>) -> bool {
    if unplaced.iter().all(|&id| !history.operation(id).is_complete()) {
        return true;
    }
    // Operations that no other unplaced one precedes.
    let is_minimal = |id: &OperationId| {
        unplaced.iter().all(|&other| !history.operation(other).precedes(history.operation(*id)))
    };
    let minimal: Vec<OperationId> = unplaced.iter().copied().filter(is_minimal).collect();
    (1_u32..1 << minimal.len()).any(|chosen| {
        let block: Vec<OperationId> =
            (0..minimal.len()).filter(|k| chosen >> k & 1 == 1).map(|k| minimal[k]).collect();
        let mut after = contents.clone();
        let mut wrote = vec![false; after.len()];
        for &id in &block {
            let segment = history.operation(id).process.index();
            if std::mem::replace(&mut wrote[segment], true) {
                return false;
            }
            after[segment] = *history.written(id);
        }
        if block.iter().any(|&id| history.returned(id).is_some_and(|returned| returned != after)) {
            return false;
        }
        // An instant inside all intervals: no member precedes another (all are minimal),
        // and none precedes a later block's operation the wrong way round (minimality).
        let rest: Vec<OperationId> =
            unplaced.iter().copied().filter(|id| !block.contains(id)).collect();
        extend(history, &rest, after)
    })
}
