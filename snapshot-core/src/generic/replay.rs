//! Replaying a linearization: the check of an answer that shares nothing with
//! the search for it.
//!
//! As [`crate::certificate::linearization`] does it for snapshots: the order
//! has every complete operation once and no failed one, the specification allows
//! it step by step, and nothing stands behind an operation that was invoked only
//! after it had responded.

use thiserror::Error;

use super::history::{Ending, History};
use super::specification::Specification;
use crate::OperationId;
use crate::verdict::Linearization;

/// Why an order does not prove a history linearizable.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ReplayError {
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
    /// A complete operation does not occur.
    #[error("operation {operation} is complete but missing from the order")]
    Missing {
        /// The first such operation.
        operation: OperationId,
    },
    /// The specification does not allow an operation with its output.
    #[error("at its place in the order, operation {operation} does not return what it returned")]
    NotAllowed {
        /// The operation.
        operation: OperationId,
    },
    /// The order contradicts precedence.
    #[error(
        "{before} stands before {after} in the order, \
             but {after} had responded when {before} was invoked"
    )]
    Precedence {
        /// The operation that stands first.
        before: OperationId,
        /// The operation that preceded it.
        after: OperationId,
    },
}

/// Checks that an order is a linearization of a history. O(operations) times
/// what the specification takes.
///
/// # Errors
/// If it is not, saying where.
pub fn replay<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    linearization: &Linearization,
) -> Result<(), ReplayError> {
    let all = history.operations().len();
    let place = |id: OperationId| Some(id.index()).filter(|index| *index < all);
    let occurs = follow(specification, history, linearization.iter(), all, place)?;
    complete(history, (0..all).map(OperationId::from_index), &occurs)
}

/// Checks that an order is a linearization of a part, whose operations ascend. O(operations of the
/// part) times the logarithm of their number, and the cost of the specification.
///
/// # Errors
/// The first difference from a linearization.
pub(super) fn replay_part<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    part: &[OperationId],
    order: &[OperationId],
) -> Result<(), ReplayError> {
    let place = |id: OperationId| part.binary_search(&id).ok();
    let occurs = follow(specification, history, order.iter().copied(), part.len(), place)?;
    complete(history, part.iter().copied(), &occurs)
}

/// Follows an order of `size` operations at most, each of which has its own place. Returns the
/// places that occur.
fn follow<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    order: impl Iterator<Item = OperationId>,
    size: usize,
    place: impl Fn(OperationId) -> Option<usize>,
) -> Result<Vec<bool>, ReplayError> {
    let operations = history.operations();
    let mut state = specification.initial();
    let mut occurs = vec![false; size];
    let mut last_invoked: Option<OperationId> = None;
    for id in order {
        let Some(place) = place(id) else {
            return Err(ReplayError::NoSuchOperation { operation: id, operations: size });
        };
        let operation = &operations[id.index()];
        if std::mem::replace(&mut occurs[place], true) {
            return Err(ReplayError::Repeated { operation: id });
        }
        if matches!(operation.ending, Ending::Failed { .. }) {
            return Err(ReplayError::Failed { operation: id });
        }
        if let Some(before) = last_invoked
            && operation.precedes(&operations[before.index()])
        {
            return Err(ReplayError::Precedence { before, after: id });
        }
        last_invoked = last_invoked.max(Some(id));
        if !specification.apply(&mut state, &operation.input, operation.output()) {
            return Err(ReplayError::NotAllowed { operation: id });
        }
    }
    Ok(occurs)
}

/// Checks that each operation that responded occurs.
fn complete<I, O>(
    history: &History<I, O>,
    mut expected: impl Iterator<Item = OperationId>,
    occurs: &[bool],
) -> Result<(), ReplayError> {
    let mut occurs = occurs.iter();
    let is_missing = |id: &OperationId| {
        let occurs = occurs.next().is_some_and(|occurs| *occurs);
        !occurs && history.operations()[id.index()].response().is_some()
    };
    match expected.find(is_missing) {
        Some(operation) => Err(ReplayError::Missing { operation }),
        None => Ok(()),
    }
}
