//! The minimal states that lead to an error, computed backwards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::Unsuitable;
use super::pairs::{Pairs, Transition};
use super::system::{GlobalId, LocalId, System};
use crate::certificate::Budget;

/// Processes by their local states, ascending; a state occurs once per process.
pub type Crowd = Vec<LocalId>;

/// An upward-closed set of states: for each global state, its minimal crowds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Upward {
    /// In ascending order.
    minimal: FxHashMap<GlobalId, Vec<Crowd>>,
}

/// Whether an initial state is in an upward-closed set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Covered {
    Not,
    /// With this many processes, and not with fewer.
    By(usize),
}

/// Returns true if `small` has at most as many processes in each local state as `large`.
fn is_below(small: &[LocalId], large: &[LocalId]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|one| rest.any(|other| other == one))
}

impl Upward {
    /// Returns true if the set has the state with these processes, in ascending order.
    pub fn contains(&self, global: GlobalId, crowd: &[LocalId]) -> bool {
        let minimal = self.minimal.get(&global).into_iter().flatten();
        minimal.into_iter().any(|small| is_below(small, crowd))
    }

    /// Adds the states above one; false if the set has them.
    pub fn insert(&mut self, global: GlobalId, crowd: Crowd) -> bool {
        if self.contains(global, &crowd) {
            return false;
        }
        let minimal = self.minimal.entry(global).or_default();
        minimal.retain(|large| !is_below(&crowd, large));
        minimal.insert(minimal.partition_point(|one| *one < crowd), crowd);
        true
    }

    /// Returns the minimal states in ascending order.
    pub fn minimal(&self) -> Vec<(GlobalId, &Crowd)> {
        let all = self.minimal.iter();
        let mut all: Vec<_> =
            all.flat_map(|(global, crowds)| crowds.iter().map(|one| (*global, one))).collect();
        all.sort_unstable();
        all
    }

    /// Returns the number of minimal states.
    pub fn len(&self) -> usize {
        self.minimal.values().map(Vec::len).sum()
    }

    /// Returns true if the set has no states.
    pub fn is_empty(&self) -> bool {
        self.minimal.is_empty()
    }

    /// Returns the smallest number of processes whose initial state is in the set.
    pub fn initial(&self, system: &System<'_>) -> Covered {
        let (global, local) = system.initial();
        let minimal = self.minimal.get(&global).into_iter().flatten();
        let idle = minimal.filter(|crowd| crowd.iter().all(|one| *one == local));
        match idle.map(|crowd| crowd.len().max(1)).min() {
            Some(processes) => Covered::By(processes),
            None => Covered::Not,
        }
    }
}

/// Returns the smallest crowd from which a step leads above a crowd.
pub(super) fn before(step: &Transition, after: &[LocalId]) -> Crowd {
    let mut crowd = after.to_vec();
    if let Some(gives) = step.gives
        && let Ok(position) = crowd.binary_search(&gives)
    {
        crowd.remove(position);
    }
    if let Some(uses) = step.uses {
        let position = crowd.partition_point(|one| *one < uses);
        crowd.insert(position, uses);
    }
    crowd
}

/// Bytes per minimal state, roughly, beside its processes.
const BYTES: usize = 100;

/// Returns the states, among those of `pairs`, from which some execution leads to an error.
///
/// # Errors
/// If the budget runs out.
pub fn backward(pairs: &Pairs, budget: &mut Budget<'_>) -> Result<Upward, Unsuitable> {
    let mut into: FxHashMap<GlobalId, Vec<&Transition>> = FxHashMap::default();
    for transition in pairs.transitions() {
        into.entry(transition.to).or_default().push(transition);
    }
    let mut upward = Upward::default();
    // Small crowds first: they replace larger ones.
    let mut work = BinaryHeap::new();
    for (global, uses, _) in pairs.mistakes() {
        let crowd: Crowd = uses.iter().copied().collect();
        if upward.insert(*global, crowd.clone()) {
            work.push(Reverse((crowd.len(), *global, crowd)));
        }
    }
    let mut bytes = 0;
    while let Some(Reverse((_, global, crowd))) = work.pop() {
        budget.spend(bytes)?;
        // A smaller one has come since.
        if upward.minimal[&global].binary_search(&crowd).is_err() {
            continue;
        }
        for step in into.get(&global).into_iter().flatten() {
            let earlier = before(step, &crowd);
            if pairs.may_be(step.from, &earlier) && upward.insert(step.from, earlier.clone()) {
                bytes += BYTES + earlier.len() * size_of::<LocalId>();
                work.push(Reverse((earlier.len(), step.from, earlier)));
            }
        }
    }
    Ok(upward)
}
