//! Definition 1 of the paper, taken literally: no pruning, no memory.
//!
//! For every way to complete or leave out the pending operations, and for every order of the
//! complete operations, both conditions of the definition are tested as written. Brute force is
//! tested against this oracle, so that it need not be trusted either.

use snapshot_core::history::{Action, Event};
use snapshot_core::{History, OperationId};

/// The largest number of operations that [`decide`] accepts.
const LIMIT: usize = 4;

struct Operation {
    id: usize,
    invocation: usize,
    response: Option<usize>,
    /// Segment and value of an update.
    written: Option<(usize, i64)>,
    /// The values of a complete scan, by segments.
    returned: Option<Vec<(usize, i64)>>,
}

impl Operation {
    fn precedes(&self, other: &Self) -> bool {
        self.response.is_some_and(|response| response < other.invocation)
    }
}

/// Returns the operations of a history, from its events alone; without the failed ones.
fn operations(history: &History<i64>) -> Vec<Operation> {
    let mut open: Vec<Option<usize>> = vec![None; history.processes()];
    let mut operations: Vec<Option<Operation>> = Vec::new();
    for (time, Event { process, action }) in history.events().enumerate() {
        let open = &mut open[process.index()];
        let mut invoke = |written| {
            *open = Some(operations.len());
            let id = operations.len();
            let invocation = time;
            let operation = Operation { id, invocation, response: None, written, returned: None };
            operations.push(Some(operation));
        };
        match action {
            Action::InvokeUpdate { segment, value } => invoke(Some((segment.index(), *value))),
            Action::InvokeScan => invoke(None),
            Action::Unknown => *open = None,
            Action::Fail => {
                let id = open.take().expect("only an open operation fails");
                operations[id] = None;
            }
            Action::RespondUpdate
            | Action::RespondScan { .. }
            | Action::RespondPartialScan { .. } => {
                let id = open.take().expect("only an open operation responds");
                let operation = operations[id].as_mut().expect("it has not failed");
                operation.response = Some(time);
                if let Action::RespondScan { values } = action {
                    operation.returned = Some(values.iter().copied().enumerate().collect());
                }
                if let Action::RespondPartialScan { entries, .. } = action {
                    let entries = entries.iter().map(|(k, value)| (k.index(), *value));
                    operation.returned = Some(entries.collect());
                }
            }
        }
    }
    operations.into_iter().flatten().collect()
}

/// Returns true if an order satisfies both conditions of the definition. A scan that the extension
/// completes may return the values that its position demands.
fn satisfies_definition(history: &History<i64>, order: &[&Operation]) -> bool {
    let initial = history.declaration();
    let extends_precedence =
        (0..order.len()).all(|late| (0..late).all(|early| !order[late].precedes(order[early])));
    let reads_the_maximal_updates = (order.iter().enumerate()).all(|(place, scan)| {
        let Some(returned) = &scan.returned else { return true };
        returned.iter().all(|(segment, value)| {
            let mut updates = order[..place].iter().filter_map(|operation| operation.written);
            match updates.rfind(|update| update.0 == *segment) {
                Some((_, written)) => written == *value,
                None => initial.initial_value(*segment) == value,
            }
        })
    });
    extends_precedence && reads_the_maximal_updates
}

/// Returns true if some order that begins with `order` and continues with `rest` satisfies the
/// definition.
fn some_order<'a>(
    history: &History<i64>,
    order: &mut Vec<&'a Operation>,
    rest: &mut Vec<&'a Operation>,
) -> bool {
    if rest.is_empty() {
        return satisfies_definition(history, order);
    }
    (0..rest.len()).any(|index| {
        let next = rest.remove(index);
        order.push(next);
        let found = some_order(history, order, rest);
        order.pop();
        rest.insert(index, next);
        found
    })
}

/// Decides whether a history is linearizable; `None` if it has too many operations.
pub fn decide(history: &History<i64>) -> Option<bool> {
    let operations = operations(history);
    if operations.len() > LIMIT {
        return None;
    }
    let (complete, pending): (Vec<&Operation>, Vec<&Operation>) =
        operations.iter().partition(|operation| operation.response.is_some());
    Some((0..1_u32 << pending.len()).any(|completed| {
        let is_completed = |&(index, _): &(usize, &&Operation)| completed >> index & 1 == 1;
        let mut rest = complete.clone();
        rest.extend(
            pending.iter().enumerate().filter(is_completed).map(|(_, operation)| operation),
        );
        some_order(history, &mut Vec::new(), &mut rest)
    }))
}

/// Returns true if a sequence of operations is a linearization of a history, where pending scans
/// are left out.
pub fn is_linearization(history: &History<i64>, order: &[OperationId]) -> bool {
    let operations = operations(history);
    let mut sequence = Vec::new();
    for id in order {
        match operations.iter().find(|operation| operation.id == id.index()) {
            Some(operation) => sequence.push(operation),
            None => return false,
        }
    }
    let times = |id: usize| order.iter().filter(|other| other.index() == id).count();
    let has_the_right_members = operations.iter().all(|operation| match operation.response {
        Some(_) => times(operation.id) == 1,
        None if operation.written.is_some() => times(operation.id) <= 1,
        None => times(operation.id) == 0,
    });
    has_the_right_members && satisfies_definition(history, &sequence)
}
