//! Replaying a sequence of blocks of an immediate snapshot.
//!
//! A sequence of blocks proves an execution set-linearizable (Neiger, PODC 1994) if
//!
//! 1. it contains every complete operation once, some of the pending ones at most once, and no
//!    failed one; a block has at most one operation of each process;
//! 2. executed block by block, first all writes and then all reads, every complete operation
//!    returns its recorded values;
//! 3. the blocks have instants in ascending order, each inside the intervals of the block's
//!    operations.
//!
//! For (3) take each instant as early as possible: the latest invocation in the block and in all
//! blocks before it. It must come before every response in the block.

use thiserror::Error;

use crate::OperationId;
use crate::immediate::{History, SetLinearization};

/// The reason why a sequence of blocks proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum BlocksError {
    /// The sequence names an operation that the execution does not have.
    #[error("the blocks name operation {operation}, but the history has only {operations}")]
    NoSuchOperation {
        /// The operation named.
        operation: OperationId,
        /// Number of operations of the execution.
        operations: usize,
    },
    /// An operation occurs twice.
    #[error("operation {operation} occurs more than once; an operation takes effect once")]
    Repeated {
        /// The operation.
        operation: OperationId,
    },
    /// A failed operation occurs.
    #[error("operation {operation} failed, so it took no effect and is in no block")]
    Failed {
        /// The operation.
        operation: OperationId,
    },
    /// A complete operation does not occur.
    #[error("operation {operation} is complete but missing from the blocks")]
    Missing {
        /// The first such operation.
        operation: OperationId,
    },
    /// Two operations of one process in one block.
    #[error("block {block} has two operations of one process, {operation} among them")]
    SameProcess {
        /// Number of the block, from 0.
        block: usize,
        /// The second operation of the process.
        operation: OperationId,
    },
    /// An operation returned other values than the blocks give it.
    #[error(
        "in block {block}, operation {operation} would return another value for segment \
         {segment} than it returned"
    )]
    WrongEntry {
        /// Number of the block, from 0.
        block: usize,
        /// The operation.
        operation: OperationId,
        /// The first entry that differs.
        segment: usize,
    },
    /// A block has no instant.
    #[error(
        "operation {operation} of block {block} had responded when {later}, of that block or \
         an earlier one, was invoked"
    )]
    Precedence {
        /// Number of the block, from 0.
        block: usize,
        /// The operation that responded too early.
        operation: OperationId,
        /// The operation that was invoked too late.
        later: OperationId,
    },
}

/// Checks that a sequence of blocks proves an execution set-linearizable. O(length of the
/// history), O(segments) per complete operation.
///
/// ```
/// use snapshot_core::OperationId;
/// use snapshot_core::certificate::blocks;
/// use snapshot_core::history::Declaration;
/// use snapshot_core::immediate::{History, SetLinearization};
///
/// let mut history = History::builder(Declaration::new(0)).unwrap();
/// let first = history.invoke(0, 5).unwrap();
/// let second = history.invoke(1, 8).unwrap();
/// history.respond(0, &[5, 8]).unwrap();
/// history.respond(1, &[5, 8]).unwrap();
/// let history = history.finish();
/// assert!(blocks::check(&history, &SetLinearization::new([[first, second]])).is_ok());
/// assert!(blocks::check(&history, &SetLinearization::new([[first], [second]])).is_err());
/// ```
///
/// # Errors
/// The first reason why the blocks prove nothing.
pub fn check<V: Eq>(history: &History<V>, blocks: &SetLinearization) -> Result<(), BlocksError> {
    let operations = history.operations().len();
    let mut occurs = vec![false; operations];
    // For each segment, the last block that wrote it, and the value written.
    let mut writer: Vec<Option<usize>> = vec![None; history.segments()];
    let mut state: Vec<&V> = (0..history.segments()).map(|k| history.initial_value(k)).collect();
    let mut latest: Option<OperationId> = None;
    for (block, members) in blocks.blocks().enumerate() {
        for &operation in members {
            if operation.index() >= operations {
                return Err(BlocksError::NoSuchOperation { operation, operations });
            }
            if history.operation(operation).is_failed() {
                return Err(BlocksError::Failed { operation });
            }
            if std::mem::replace(&mut occurs[operation.index()], true) {
                return Err(BlocksError::Repeated { operation });
            }
            let segment = history.operation(operation).process.index();
            if writer[segment].replace(block) == Some(block) {
                return Err(BlocksError::SameProcess { block, operation });
            }
            state[segment] = history.written(operation);
            let invocation = history.operation(operation).invocation;
            if latest.is_none_or(|latest| history.operation(latest).invocation < invocation) {
                latest = Some(operation);
            }
        }
        for &operation in members {
            let Some(returned) = history.returned(operation) else { continue };
            if let Some(segment) = (0..state.len()).find(|&k| returned[k] != *state[k]) {
                return Err(BlocksError::WrongEntry { block, operation, segment });
            }
            if let Some(later) = latest
                && history.operation(operation).precedes(history.operation(later))
            {
                return Err(BlocksError::Precedence { block, operation, later });
            }
        }
    }
    let missing = |id: &OperationId| history.operation(*id).is_complete() && !occurs[id.index()];
    match history.operation_ids().find(missing) {
        Some(operation) => Err(BlocksError::Missing { operation }),
        None => Ok(()),
    }
}
