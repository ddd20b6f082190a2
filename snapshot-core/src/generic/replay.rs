//! Replaying a linearization: the check of an answer that shares nothing with the search for it.
//!
//! It is a sequence of groups of one operation ([`groups`]).

use super::history::History;
use super::specification::Specification;
use crate::OperationId;
use crate::certificate::groups::{self, GroupsError};
use crate::verdict::Linearization;

/// Checks that an order is a linearization of a history. O(operations), times the cost of a step of
/// the specification.
///
/// # Errors
/// The first difference from a linearization; groups are numbered by their places in the order.
pub fn replay<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    linearization: &Linearization,
) -> Result<(), GroupsError> {
    follow(specification, history, None, &linearization.order)
}

/// Checks that an order is a linearization of a part, whose operations ascend. O(operations of the
/// part), times the logarithm of their number, and the cost of the specification.
///
/// # Errors
/// As [`replay`].
pub(super) fn replay_part<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    part: &[OperationId],
    order: &[OperationId],
) -> Result<(), GroupsError> {
    follow(specification, history, Some(part), order)
}

fn follow<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    part: Option<&[OperationId]>,
    order: &[OperationId],
) -> Result<(), GroupsError> {
    let mut state = specification.initial();
    groups::replay(history, order.chunks(1), part, |effects| {
        effects.iter().all(|(input, output)| specification.apply(&mut state, input, *output))
    })
}
