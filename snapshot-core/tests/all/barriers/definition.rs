//! Linearizability and barriers by definition.

use std::fmt::Debug;
use std::hash::Hash;

use super::orders::Order;

/// An operation with its answer.
pub trait Answered: Clone + Debug + Eq + Hash {
    /// The state of the object; initially the default.
    type State: Clone + Debug + Default + Eq + Hash;

    /// Executes the operation. Returns true if its answer is correct.
    fn execute(&self, state: &mut Self::State) -> bool;
}

/// Returns true if some order of the operations that extends the given one explains their answers.
/// Tries all orders.
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

/// Returns the remainder of an order for each choice of its barriers, few cuts first, with the
/// number of cuts.
pub fn weakenings(order: &Order) -> Vec<(usize, Vec<u32>)> {
    let mut choices: Vec<u32> = (0..=order.barriers()).collect();
    choices.sort_by_key(|cuts| cuts.count_ones());
    choices.into_iter().map(|cuts| (cuts.count_ones() as usize, order.before(cuts))).collect()
}

/// Returns the least number of cuts that leave a history that is not linearizable; `None` if the
/// history is linearizable.
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
