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
    let operations = history.operations();
    let mut state = specification.initial();
    let mut occurs = vec![false; operations.len()];
    let mut last_invoked: Option<OperationId> = None;
    for id in linearization.iter() {
        let Some(operation) = operations.get(id.index()) else {
            let operations = operations.len();
            return Err(ReplayError::NoSuchOperation { operation: id, operations });
        };
        if std::mem::replace(&mut occurs[id.index()], true) {
            return Err(ReplayError::Repeated { operation: id });
        }
        if matches!(operation.ending, Ending::Failed) {
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
    let is_missing = |index: &usize| !occurs[*index] && operations[*index].response().is_some();
    match (0..operations.len()).find(is_missing) {
        Some(index) => Err(ReplayError::Missing { operation: OperationId::from_index(index) }),
        None => Ok(()),
    }
}
