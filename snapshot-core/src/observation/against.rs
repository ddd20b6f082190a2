//! Judgement by a sequential specification.

use std::hash::Hash;

use super::{ConcurrentHistory, Judgement, Shape};
use crate::generic::Specification;
use crate::seeded::SeededSet;

/// Judges a history of a test by a specification: the paper's Definition 3, with the serial
/// histories of the specification. `inputs[k]` is the input of operation k of the test ([`Shape`]
/// numbers operations thread by thread).
///
/// An operation is stuck in a state if the specification defines no output for it there. A search
/// over sets of operations and states, each visited once: exponential in the number of threads, and
/// meant for tests of a few operations.
///
/// # Panics
/// If `inputs` has fewer elements than the test has operations.
pub fn against<S: Specification>(
    specification: &S,
    shape: &Shape,
    inputs: &[S::Input],
    history: &ConcurrentHistory<S::Output>,
) -> Judgement {
    let operations = history.operations(shape);
    let precedence = history.precedence(shape);
    let steps: Vec<Step<'_, S>> = operations
        .iter()
        .filter_map(|operation| {
            let (_, output) = operation.end?;
            let id = operation.id.index();
            Some(Step { id, before: precedence[id], input: &inputs[id], output })
        })
        .collect();
    if !history.is_stuck() {
        let mut search = Search { specification, steps: &steps, visited: SeededSet::default() };
        return if search.run(0, specification.initial(), &|_| true) {
            Judgement::Linearizable
        } else {
            Judgement::NoWitness
        };
    }
    for pending in operations.iter().filter(|operation| operation.end.is_none()) {
        let input = &inputs[pending.id.index()];
        let stuck = |state: &S::State| !specification.apply(&mut state.clone(), input, None);
        let mut search = Search { specification, steps: &steps, visited: SeededSet::default() };
        if !search.run(0, specification.initial(), &stuck) {
            return Judgement::StuckWithoutWitness(pending.thread);
        }
    }
    Judgement::Linearizable
}

/// A complete operation.
struct Step<'s, S: Specification> {
    id: usize,
    before: u64,
    input: &'s S::Input,
    output: &'s S::Output,
}

struct Search<'s, S: Specification> {
    specification: &'s S,
    steps: &'s [Step<'s, S>],
    visited: SeededSet<(u64, S::State)>,
}

impl<S: Specification> Search<'_, S>
where
    S::State: Clone + Eq + Hash,
{
    /// Returns true if some order of the operations outside `done` leads from `state` to a state
    /// that satisfies `wanted`.
    fn run(&mut self, done: u64, state: S::State, wanted: &dyn Fn(&S::State) -> bool) -> bool {
        if self.steps.iter().all(|step| done >> step.id & 1 == 1) {
            return wanted(&state);
        }
        if !self.visited.insert((done, state.clone())) {
            return false;
        }
        let steps = self.steps;
        steps.iter().filter(|s| done >> s.id & 1 == 0 && s.before & !done == 0).any(|step| {
            let mut after = state.clone();
            self.specification.apply(&mut after, step.input, Some(step.output))
                && self.run(done | 1 << step.id, after, wanted)
        })
    }
}
