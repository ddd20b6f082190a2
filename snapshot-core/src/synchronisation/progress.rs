//! Progress: did an object let every operation proceed that could?
//!
//! At the end of an execution in which nothing can run any more, an object may leave operations
//! waiting only if they have no partners. Lawrence and Lowe ("Synchronisation: Specification and
//! Testing", section 3) call that synchronisation progressibility: progress fails iff after every
//! *maximal* set linearization (no further group can be added to its end), some operation has taken
//! effect and not returned.
//!
//! An operation that has taken effect and not returned is pending. So progress holds iff the
//! complete operations have a set linearization by themselves, after which no group of pending
//! operations is possible. (Groups of pending operations can be added at the end, and no others,
//! since all complete ones have taken effect.) For a stateless object the choice of the
//! linearization does not matter: the complete operations must match among themselves, and no
//! pending ones may be able to meet.
//!
//! The judgement of a history is exact. Whether nothing can run any more is for the caller to know:
//! from a controlled scheduler, or with some likelihood from a time limit.

use super::combination::{Candidates, Combination};
use super::general::{self, Matched, linearization};
use super::keyed::{self, Keyed, Matching};
use super::search::{self, Ending};
use super::specification::Synchronisation;
use crate::OperationId;
use crate::generic::problem::{NEVER, plain};
use crate::generic::{History, Operation};
use crate::immediate::SetLinearization;
use crate::search::Budget;
use crate::verdict::Exhausted;

/// The judgement of the end of a set-linearizable history in which nothing can run any more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Progress {
    /// Progress holds: after these groups, of all complete operations, the others cannot take
    /// effect.
    Holds(SetLinearization),
    /// After every choice of groups of the complete operations, some pending ones could take
    /// effect; these are an example.
    Missed(Vec<OperationId>),
    /// The complete operations have no set linearization by themselves: a pending one has taken
    /// effect, and did not return. (Or the history has no set linearization.)
    Unreturned,
    /// A budget ran out.
    Unknown(Exhausted),
}

/// Judges progress by search. Cost: as [`super::by_search`].
pub fn by_search<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Progress {
    let mut missed = None;
    let mut accepts = |state: &S::State, budget: &mut Budget<'_>| {
        let possible = possible(specification, state, history, budget)?;
        let is_over = possible.is_none();
        missed = missed.take().or(possible);
        Ok(is_over)
    };
    match search::find(specification, history, false, budget, &mut 0, &mut accepts) {
        Ending::Found(groups) => Progress::Holds(linearization(groups)),
        Ending::None(_) => missed.map_or(Progress::Unreturned, Progress::Missed),
        Ending::Exhausted(exhausted, _) => Progress::Unknown(exhausted),
    }
}

/// Judges progress of a stateless object by matching. Cost: as [`super::by_matching`].
///
/// # Panics
/// If groups may have more than two operations.
pub fn by_matching<S: Synchronisation<State = ()>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Progress {
    assert!(*specification.arities().end() <= 2, "matching is for groups of at most two");
    let operations = history.operations();
    let is_complete = |id: usize| operations[id].response().is_some();
    match general::matching(specification, history, &is_complete, budget) {
        Ok(Matched::Perfect(groups)) => {
            stateless(specification, history, linearization(groups), budget)
        }
        Ok(Matched::Not(_)) => Progress::Unreturned,
        Err(exhausted) => Progress::Unknown(exhausted),
    }
}

/// Judges progress by keys. Cost: as [`super::by_keys`], plus a trial per pair of pending
/// operations, at most two of each input.
pub fn by_keys<S: Keyed>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Progress {
    match keyed::matching(specification, history, false) {
        Matching::Perfect(groups) => stateless(specification, history, groups, budget),
        Matching::None(_) | Matching::Undecided(_) => Progress::Unreturned,
    }
}

fn stateless<S: Synchronisation<State = ()>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    groups: SetLinearization,
    budget: &mut Budget<'_>,
) -> Progress {
    match possible(specification, &(), history, budget) {
        Ok(None) => Progress::Holds(groups),
        Ok(Some(missed)) => Progress::Missed(missed),
        Err(exhausted) => Progress::Unknown(exhausted),
    }
}

/// Returns a group of pending operations that is possible in a state, if any.
fn possible<S: Synchronisation>(
    specification: &S,
    state: &S::State,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<OperationId>>, Exhausted> {
    let is_pending =
        |operation: &Operation<_, _>| operation.response().is_none() && !operation.is_failed();
    if !history.operations().iter().any(is_pending) {
        return Ok(None);
    }
    let mut problem = plain(history);
    problem.items.retain(|item| item.response == NEVER);
    problem.classify();
    let open: Vec<u32> = (0..problem.items.len() as u32).collect();
    let candidates = Candidates { items: &problem.items, open: &open, with_first: false };
    let mut combination = Combination::new(specification);
    let found = combination.find(specification, state, &candidates, false, budget)?;
    let id = |&index: &usize| OperationId::from_index(problem.items[index].id as usize);
    Ok(found.then(|| combination.indices.iter().map(id).collect()))
}
