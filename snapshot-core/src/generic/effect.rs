//! The effect of an operation on an object whose operations concern values.
//!
//! One vocabulary for all monitors ([`super::monitors`]) and for the check of their proofs
//! ([`super::certificate`]): a collection has values added and removed, a cell has values that
//! replace each other. An object says which effect an operation had; neither a monitor nor a rule
//! knows the object.

use super::history::History;
use crate::OperationId;

/// The effect of an operation with what it returned.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Effect<V> {
    /// Adds a value to a collection.
    Add(V),
    /// Removes a value from a collection; `None` if it is not known which, or whether there was
    /// one, since the operation did not respond.
    Remove(Option<V>),
    /// Finds the collection empty.
    Empty,
    /// Writes a value to a cell.
    Write(V),
    /// Writes a value to a cell that no other value replaces.
    Keep(V),
    /// Finds a value in a cell.
    Read(V),
    /// Finds the first value in a cell and replaces it by the second.
    Swap(V, V),
    /// Finds another value than this in a cell.
    Miss(V),
    /// Adds one to a number.
    Increment,
    /// Changes nothing, and is possible in every state.
    Nothing,
    /// Is possible in no state: the output belongs to another operation.
    Impossible,
    /// None of the above: the history is left to the search.
    Other,
}

/// The effects of a part's operations.
pub(crate) fn effects<I, O, V>(
    history: &History<I, O>,
    part: &[OperationId],
    effect: impl Fn(&I, Option<&O>) -> Effect<V>,
) -> Vec<Effect<V>> {
    let operation = |id: &OperationId| &history.operations()[id.index()];
    part.iter().map(operation).map(|one| effect(&one.input, one.output())).collect()
}

/// The effect of a compare-and-swap that said whether it replaced the value, if it responded.
pub(crate) fn compare_and_swap<V: Eq>(expected: V, new: V, is_swapped: Option<bool>) -> Effect<V> {
    match is_swapped {
        Some(false) => Effect::Miss(expected),
        None if expected == new => Effect::Nothing,
        Some(true) if expected == new => Effect::Read(expected),
        None | Some(true) => Effect::Swap(expected, new),
    }
}
