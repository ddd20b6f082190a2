//! Monitors against all orders: each verdict, each order and each proof.

mod appends;
mod duality;
mod large;
mod objects;
mod online;
mod planted;
mod prefixes;
mod random;
mod small;
mod streams;

use std::collections::HashSet;
use std::fmt::Debug;

use snapshot_core::generic::{
    History, Operation, Outcome, Proof, Reason, Specification, check, check_proof, replay,
};
use snapshot_core::search::Budget;

/// Whether some order of all complete and some pending operations is what the object does: tries
/// all, but none twice from the same state.
pub fn has_order<S: Specification>(object: &S, history: &History<S::Input, S::Output>) -> bool {
    let operations: Vec<_> = history.operations().iter().filter(|one| !one.is_failed()).collect();
    extends(object, &operations, 0, &object.initial(), &mut HashSet::new())
}

fn extends<S: Specification>(
    object: &S,
    operations: &[&Operation<S::Input, S::Output>],
    taken: u32,
    state: &S::State,
    seen: &mut HashSet<(u32, S::State)>,
) -> bool {
    let left = || operations.iter().enumerate().filter(|(place, _)| taken >> place & 1 == 0);
    if left().all(|(_, one)| one.response().is_none()) {
        return true;
    }
    if !seen.insert((taken, state.clone())) {
        return false;
    }
    left().any(|(place, one)| {
        let mut next = state.clone();
        left().all(|(_, other)| !other.precedes(one))
            && object.apply(&mut next, &one.input, one.output())
            && extends(object, operations, taken | 1 << place, &next, seen)
    })
}

/// Operations with their events in the order of time: the number of an operation for its
/// invocation, and again for its response.
#[derive(Clone, Debug)]
pub struct Script<I, O> {
    pub events: Vec<usize>,
    pub calls: Vec<(I, Option<O>)>,
}

impl<I: Clone, O: Clone> Script<I, O> {
    /// Each operation is of a process of its own.
    pub fn history(&self) -> History<I, O> {
        let mut history = History::builder();
        let mut is_open = vec![false; self.calls.len()];
        for &operation in &self.events {
            let (input, output) = &self.calls[operation];
            if std::mem::replace(&mut is_open[operation], true) {
                let output = output.clone().expect("a response has an output");
                history.respond(operation, output).unwrap();
            } else {
                history.invoke(operation, input.clone()).unwrap();
            }
        }
        history.finish()
    }

    /// Each script with two neighbouring events of different operations exchanged.
    pub fn twins(&self) -> impl Iterator<Item = Self> + use<'_, I, O> {
        (1..self.events.len()).filter(|at| self.events[at - 1] != self.events[*at]).map(|at| {
            let mut twin = self.clone();
            twin.events.swap(at - 1, at);
            twin
        })
    }
}

/// The histories that were judged.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    pub linearizable: usize,
    pub violations: usize,
    /// Of these, left to the search.
    pub beyond: usize,
    /// The rules of the violations.
    pub rules: std::collections::BTreeMap<&'static str, usize>,
    /// The most operations that a proof names.
    pub longest: usize,
}

impl Tally {
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.linearizable, self.violations, self.beyond)
    }
}

/// Judges a history by the monitor and by the whole check, against the answer that is known.
pub fn judged<S>(
    object: &S,
    history: &History<S::Input, S::Output>,
    expected: bool,
    tally: &mut Tally,
) where
    S: Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    *(if expected { &mut tally.linearizable } else { &mut tally.violations }) += 1;
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    match check(object, history, &mut budget) {
        Outcome::Linearizable { linearization, states } => {
            assert!(expected, "not linearizable: {history:#?}");
            replay(object, history, &linearization).unwrap();
            tally.beyond += usize::from(states > 0);
        }
        Outcome::NotLinearizable { reason, .. } => {
            assert!(!expected, "linearizable: {history:#?}");
            match reason {
                Reason::Searched(_) => tally.beyond += 1,
                Reason::Rule(proof) => {
                    proved(object, history, &proof);
                    *tally.rules.entry(proof.rule()).or_default() += 1;
                    tally.longest = tally.longest.max(proof.operations().len());
                }
            }
        }
        Outcome::Exhausted { .. } => panic!("there is no limit"),
    }
}

/// A proof is accepted, and its operations have no order by themselves.
fn proved<S>(object: &S, history: &History<S::Input, S::Output>, proof: &Proof)
where
    S: Specification<Input: Clone + Debug, Output: Clone + Debug>,
{
    check_proof(object, history, proof).unwrap();
    let named = proof.operations();
    let mut alone = History::builder();
    for event in 0..history.len() {
        for id in &named {
            let operation = &history.operations()[id.index()];
            if operation.invocation == event {
                alone.invoke(id.index(), operation.input.clone()).unwrap();
            } else if operation.response() == Some(event) {
                alone.respond(id.index(), operation.output().unwrap().clone()).unwrap();
            }
        }
    }
    let alone = alone.finish();
    assert!(!has_order(object, &alone), "{proof:?} is no violation alone: {alone:#?}");
}
