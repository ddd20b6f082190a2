//! Replaying a linearization.
//!
//! An order proves a history linearizable if (Definition 1 of Amram, Hayoun,
//! Mizrahi and Weiss, DISC 2022)
//!
//! 1. it consists of all complete operations and of some pending updates, each once: a pending
//!    update in the order has taken effect, a pending scan may always be dropped, a failed
//!    operation never happened;
//! 2. executed one after the other, every scan returns its recorded values;
//! 3. it extends precedence: no operation stands behind one that was invoked only after it had
//!    responded.
//!
//! For (3) no pairs need be compared. The check walks the order and keeps the operation invoked
//! last so far; the next operation is misplaced relative to some earlier operation iff it is
//! misplaced relative to that one.

use thiserror::Error;

use crate::verdict::Linearization;
use crate::{History, Names, OperationId, Segment};

/// The reason why an order does not prove a history linearizable.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum LinearizationError {
    /// The order names an operation that the history does not have.
    #[error("the order names operation {operation}, but the history has only {operations}")]
    NoSuchOperation {
        /// The operation named.
        operation: OperationId,
        /// Number of operations of the history.
        operations: usize,
    },
    /// An operation occurs twice.
    #[error("operation {operation} occurs more than once; an operation takes effect once")]
    Repeated {
        /// The operation.
        operation: OperationId,
    },
    /// A failed operation occurs.
    #[error("operation {operation} failed, so it took no effect and has no place in the order")]
    Failed {
        /// The operation.
        operation: OperationId,
    },
    /// A scan that never responded occurs.
    #[error("scan {scan} never responded: there is nothing that the order could explain")]
    PendingScan {
        /// The scan.
        scan: OperationId,
    },
    /// A complete operation does not occur.
    #[error("operation {operation} is complete but missing from the order")]
    Missing {
        /// The first such operation.
        operation: OperationId,
    },
    /// A scan returned other values than the order gives it.
    #[error("{}", wrong_entry(&Names::default(), *scan, *segment, *update))]
    WrongEntry {
        /// The scan.
        scan: OperationId,
        /// The first entry that differs.
        segment: Segment,
        /// The last update of the segment before the scan, if any.
        update: Option<OperationId>,
    },
    /// The order contradicts precedence.
    #[error(
        "{before} stands before {after} in the order, \
             but {after} had responded when {before} was invoked"
    )]
    Precedence {
        /// The operation that stands first.
        before: OperationId,
        /// The operation that responded before `before` was invoked.
        after: OperationId,
    },
}

impl LinearizationError {
    /// Returns the sentence for this error; segments have these names.
    pub fn told(&self, names: &Names) -> String {
        match *self {
            Self::WrongEntry { scan, segment, update } => wrong_entry(names, scan, segment, update),
            _ => self.to_string(),
        }
    }
}

fn wrong_entry(
    names: &Names,
    scan: OperationId,
    segment: Segment,
    update: Option<OperationId>,
) -> String {
    let value = match update {
        Some(update) => format!("the value of update {update}"),
        None => "the initial value".to_owned(),
    };
    format!(
        "at its place in the order, scan {scan} would return for {} {value}, but it returned \
         another value",
        names.segment(segment)
    )
}

/// Checks that an order proves a history linearizable. O(length of the history).
///
/// ```
/// use snapshot_core::certificate::linearization;
/// use snapshot_core::verdict::Linearization;
/// use snapshot_core::{History, OperationId, history::Declaration};
///
/// let mut history = History::builder(Declaration::new(0)).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.invoke_update(0, 0, 7).unwrap();
/// history.respond_update(0).unwrap();
/// history.respond_scan(1, &[7]).unwrap();
/// let history = history.finish();
///
/// let order = |ids: &[usize]| Linearization {
///     order: ids.iter().map(|&id| OperationId::from_index(id)).collect(),
/// };
/// assert!(linearization::check(&history, &order(&[1, 0])).is_ok());
/// assert!(linearization::check(&history, &order(&[0, 1])).is_err());
/// ```
///
/// # Errors
/// The first reason why the order proves nothing, in the order of the list.
pub fn check<V: Eq>(
    history: &History<V>,
    linearization: &Linearization,
) -> Result<(), LinearizationError> {
    check_members(history, linearization)?;
    check_precedence(history, linearization)?;
    check_values(history, linearization)
}

fn check_members<V>(
    history: &History<V>,
    linearization: &Linearization,
) -> Result<(), LinearizationError> {
    let operations = history.operations().len();
    let mut occurs = vec![false; operations];
    for &id in &linearization.order {
        let Some(operation) = history.operations().get(id.index()) else {
            return Err(LinearizationError::NoSuchOperation { operation: id, operations });
        };
        if operation.is_failed() {
            return Err(LinearizationError::Failed { operation: id });
        }
        if operation.is_scan() && operation.is_pending() {
            return Err(LinearizationError::PendingScan { scan: id });
        }
        if std::mem::replace(&mut occurs[id.index()], true) {
            return Err(LinearizationError::Repeated { operation: id });
        }
    }
    for id in history.operation_ids() {
        if history.operation(id).is_complete() && !occurs[id.index()] {
            return Err(LinearizationError::Missing { operation: id });
        }
    }
    Ok(())
}

fn check_precedence<V>(
    history: &History<V>,
    linearization: &Linearization,
) -> Result<(), LinearizationError> {
    let mut latest: Option<OperationId> = None;
    for &id in &linearization.order {
        let operation = history.operation(id);
        match latest {
            Some(before) if operation.precedes(history.operation(before)) => {
                return Err(LinearizationError::Precedence { before, after: id });
            }
            Some(before) if operation.invocation() < history.operation(before).invocation() => {}
            _ => latest = Some(id),
        }
    }
    Ok(())
}

fn check_values<V: Eq>(
    history: &History<V>,
    linearization: &Linearization,
) -> Result<(), LinearizationError> {
    let segments: Vec<Segment> = (0..history.segments()).map(Segment::from_index).collect();
    let mut last_update: Vec<Option<OperationId>> = vec![None; segments.len()];
    let mut state: Vec<&V> = segments.iter().map(|&k| history.initial_value(k)).collect();
    for &id in &linearization.order {
        let operation = history.operation(id);
        if let Some(segment) = operation.segment() {
            state[segment.index()] = history.update_value(operation);
            last_update[segment.index()] = Some(id);
            continue;
        }
        let differs = |(segment, value): &(Segment, &V)| *value != state[segment.index()];
        if let Some((segment, _)) = history.entries(operation).find(differs) {
            let update = last_update[segment.index()];
            return Err(LinearizationError::WrongEntry { scan: id, segment, update });
        }
    }
    Ok(())
}
