//! Linearizability and barriers by definition.

use std::fmt::Debug;
use std::hash::Hash;

use super::orders::Order;

/// An operation with the answer that it gave.
pub trait Answered: Clone + Debug + Eq + Hash {
    /// The object, as it is at first.
    type State: Clone + Debug + Default + Eq + Hash;

    /// Executes the operation; whether that is what it answered.
    fn execute(&self, state: &mut Self::State) -> bool;
}

/// Whether some order of the operations that extends the one given explains their answers.
/// All are tried.
pub fn is_linearizable<A: Answered>(operations: &[A], before: &[u32]) -> bool {
    complete(operations, before, 0, &A::State::default())
}

fn complete<A: Answered>(operations: &[A], before: &[u32], taken: u32, state: &A::State) -> bool {
    if taken.count_ones() as usize == operations.len() {
        return true;
    }
    operations.iter().enumerate().any(|(next, operation)| {
        let mut state = state.clone();
        taken >> next & 1 == 0
            && before[next] & !taken == 0
            && operation.execute(&mut state)
            && complete(operations, before, taken | 1 << next, &state)
    })
}

/// The orders that are left of an order with each choice of its barriers, those with few cuts
/// first, and how many cuts these are.
pub fn weakenings(order: &Order) -> Vec<(usize, Vec<u32>)> {
    let mut choices: Vec<u32> = (0..=order.barriers()).collect();
    choices.sort_by_key(|cuts| cuts.count_ones());
    choices.into_iter().map(|cuts| (cuts.count_ones() as usize, order.before(cuts))).collect()
}

/// The least number of cuts that leave a history that is not linearizable; none if the
/// history is.
pub fn cuts_needed<A: Answered>(
    operations: &[A],
    weakenings: &[(usize, Vec<u32>)],
) -> Option<usize> {
    let (_, whole) = weakenings.last()?;
    if is_linearizable(operations, whole) {
        return None;
    }
    let first = weakenings.iter().find(|(_, before)| !is_linearizable(operations, before));
    first.map(|(cuts, _)| *cuts)
}
