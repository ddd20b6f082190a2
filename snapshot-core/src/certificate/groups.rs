//! Replaying a sequence of groups of an object whose operations take effect together.
//!
//! A sequence of groups proves a history set-linearizable (Neiger, PODC 1994) if
//!
//! 1. it contains every complete operation once, some of the pending ones at most once, and no
//!    failed one;
//! 2. executed group by group, the specification allows each group with the recorded responses of
//!    its operations;
//! 3. the groups have instants in ascending order, each inside the intervals of the group's
//!    operations.
//!
//! For (3) take each instant as early as possible: the latest invocation in the group and in all
//! groups before it. It must come before every response in the group.

use thiserror::Error;

use crate::OperationId;
use crate::generic::History;
use crate::immediate::SetLinearization;
use crate::synchronisation::{Bond, Synchronisation};

/// The reason why a sequence of groups proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum GroupsError {
    /// The sequence names an operation that the history does not have.
    #[error("the groups name operation {operation}, but the history has only {operations}")]
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
    #[error("operation {operation} failed, so it took no effect and is in no group")]
    Failed {
        /// The operation.
        operation: OperationId,
    },
    /// A complete operation does not occur.
    #[error("operation {operation} is complete but missing from the groups")]
    Missing {
        /// The first such operation.
        operation: OperationId,
    },
    /// A group without operations.
    #[error("group {group} is empty")]
    Empty {
        /// Number of the group, from 0.
        group: usize,
    },
    /// The specification does not allow a group with the responses of its operations.
    #[error(
        "the operations of group {group} cannot take effect together, or do not return what \
         they returned"
    )]
    NotAllowed {
        /// Number of the group, from 0.
        group: usize,
    },
    /// A group has no instant.
    #[error(
        "operation {operation} of group {group} had responded when {later}, of that group or \
         an earlier one, was invoked"
    )]
    Precedence {
        /// Number of the group, from 0.
        group: usize,
        /// The operation that responded too early.
        operation: OperationId,
        /// The operation that was invoked too late.
        later: OperationId,
    },
}

/// Checks that a sequence of groups proves a history set-linearizable. O(operations), times the
/// cost of a step of the specification.
///
/// # Errors
/// The first reason why the groups prove nothing.
pub fn check<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    groups: &SetLinearization,
) -> Result<(), GroupsError> {
    let mut state = specification.initial();
    let is_allowed = |effects: &[_]| specification.together(&mut state, effects) == Bond::Yes;
    replay(history, groups.blocks(), None, is_allowed)
}

/// Replays a sequence of groups of the operations of a part, which ascend; without a part, of all
/// operations. O(operations), times the logarithm of the size of the part, and the cost of a group.
///
/// # Errors
/// As [`check`].
pub(crate) fn replay<'g, 'h, I, O>(
    history: &'h History<I, O>,
    groups: impl Iterator<Item = &'g [OperationId]>,
    part: Option<&[OperationId]>,
    mut is_allowed: impl FnMut(&[(&'h I, Option<&'h O>)]) -> bool,
) -> Result<(), GroupsError> {
    let operations = history.operations();
    let size = part.map_or(operations.len(), <[_]>::len);
    let place = |id: OperationId| match part {
        Some(part) => part.binary_search(&id).ok(),
        None => Some(id.index()).filter(|index| *index < size),
    };
    let mut occurs = vec![false; size];
    let mut latest: Option<OperationId> = None;
    let mut effects = Vec::new();
    for (group, members) in groups.enumerate() {
        effects.clear();
        for &id in members {
            let Some(place) = place(id) else {
                return Err(GroupsError::NoSuchOperation { operation: id, operations: size });
            };
            let operation = &operations[id.index()];
            if operation.is_failed() {
                return Err(GroupsError::Failed { operation: id });
            }
            if std::mem::replace(&mut occurs[place], true) {
                return Err(GroupsError::Repeated { operation: id });
            }
            effects.push((&operation.input, operation.output()));
            // Operations are numbered in the order of their invocations.
            latest = latest.max(Some(id));
        }
        let Some(later) = latest.filter(|_| !members.is_empty()) else {
            return Err(GroupsError::Empty { group });
        };
        let is_early =
            |id: &&OperationId| operations[id.index()].precedes(&operations[later.index()]);
        if let Some(&operation) = members.iter().find(is_early) {
            return Err(GroupsError::Precedence { group, operation, later });
        }
        if !is_allowed(&effects) {
            return Err(GroupsError::NotAllowed { group });
        }
    }
    let id = |place: usize| part.map_or(OperationId::from_index(place), |part| part[place]);
    let is_missing = |id: OperationId| operations[id.index()].response().is_some();
    let missing = (0..size).find(|&place| !occurs[place] && is_missing(id(place)));
    missing.map_or(Ok(()), |place| Err(GroupsError::Missing { operation: id(place) }))
}
