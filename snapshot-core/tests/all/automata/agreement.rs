//! All deciders agree: on all small histories, on all configurations, on long
//! random histories.

use std::collections::{HashMap, HashSet, VecDeque};

use bitvec::vec::BitVec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use snapshot_core::automata::{
    Alphabet, Dfa, Nfa, Simulation, accepting_run, first_accepting_prefix, violation,
};
use snapshot_core::observer::Observer;
use snapshot_core::simple::{Letter, SimpleHistory, WellFormed};
use test_support::effort::either;

use crate::automata::definition::is_linearizable;
use crate::automata::properties::{has_overlapping_updates, violated};
use crate::automata::words::{Scope, enumerate, histories, word};

fn union(processes: usize) -> Nfa {
    violation(Alphabet::new(processes).unwrap())
}

/// Compares all deciders on all words of a scope. Returns the numbers of words, and of shortest
/// violations among them.
fn agree_on_all(scope: Scope) -> (usize, usize) {
    let nfa = union(scope.processes);
    let mut simulation = Simulation::new(&nfa);
    let (mut words, mut violations) = (0, 0);
    enumerate(scope, &mut |word| {
        words += 1;
        let expected = !is_linearizable(word);
        violations += usize::from(expected);
        simulation.reset();
        let accepted = word.iter().fold(false, |_, &letter| simulation.step(letter));
        assert_eq!(accepted, expected, "union: {word:?}");
        let mut observer = Observer::new(scope.processes);
        let alarm = word.iter().fold(false, |_, &letter| observer.step(letter));
        assert_eq!(alarm, expected, "observer: {word:?}");
        if !has_overlapping_updates(word) {
            assert_eq!(violated(word).any(), expected, "properties: {word:?}");
        }
        !expected
    });
    (words, violations)
}

#[test]
fn all_histories_of_two_processes() {
    let scope = Scope { processes: 2, length: 7, any_writer: false };
    assert_eq!(agree_on_all(scope), (155_653, 33_244));
}

#[test]
fn all_histories_of_two_processes_that_both_write() {
    let scope = Scope { processes: 2, length: 6, any_writer: true };
    assert_eq!(agree_on_all(scope), (299_601, 35_270));
}

#[test]
fn all_histories_of_three_processes() {
    let scope = Scope { processes: 3, length: 6, any_writer: false };
    assert_eq!(agree_on_all(scope), (114_116, 28_623));
}

/// Explores the product of a deterministic form of the union, the observer and all well-formed
/// words, with every letter of the alphabet: a violation found by only one of them would show in
/// some reachable configuration. Returns the number of configurations.
fn explore<S: Clone + Eq + std::hash::Hash>(
    processes: usize,
    start: S,
    mut step: impl FnMut(&S, Letter) -> (S, bool),
) -> usize {
    let alphabet = Alphabet::new(processes).unwrap();
    let first = (WellFormed::new(processes), start, Observer::new(processes));
    let mut seen = HashSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    while let Some((word, state, observer)) = queue.pop_front() {
        observer.state().validate();
        for letter in alphabet.letters() {
            let mut word = word.clone();
            if word.admit(letter).is_err() {
                continue;
            }
            let (state, accepts) = step(&state, letter);
            let mut next = observer.clone();
            assert_eq!(next.step(letter), accepts, "{letter} in {word:?} and {observer:?}");
            let configuration = (word, state, next);
            if !accepts && seen.insert(configuration.clone()) {
                queue.push_back(configuration);
            }
        }
    }
    seen.len()
}

#[test]
fn the_observer_is_the_determinised_union_of_two_processes() {
    let subsets = Dfa::determinise(&union(2), 100_000).unwrap();
    let minimal = subsets.minimise();
    assert_eq!((subsets.states(), minimal.states()), (881, 113));
    for (dfa, configurations) in [(&subsets, 3_190), (&minimal, 810)] {
        let step = |state: &usize, letter| {
            let next = dfa.successor(*state, letter);
            (next, dfa.is_accepting(next))
        };
        assert_eq!(explore(2, 0, step), configurations);
    }
}

/// Three processes; in the slow suite four.
#[test]
fn the_observer_is_the_determinised_union_of_more_processes() {
    for (processes, configurations) in [(3, 29_430), (4, 261_610)].into_iter().take(either(1, 2)) {
        let mut simulation = Simulation::new(&union(processes));
        let start = simulation.current().to_bitvec();
        let step = |subset: &BitVec<u64>, letter| {
            simulation.set_current(subset);
            let accepts = simulation.step(letter);
            (simulation.current().to_bitvec(), accepts)
        };
        assert_eq!(explore(processes, start, step), configurations);
    }
}

#[test]
fn determinisation_keeps_to_its_limit() {
    assert_eq!(Dfa::determinise(&union(2), 100).unwrap_err().limit, 100);
}

/// Asserts that the states are a run of the automaton that accepts `prefix`.
fn assert_accepting_run(nfa: &Nfa, prefix: &[Letter]) {
    let transitions: HashSet<_> =
        nfa.transitions().iter().map(|t| (t.from, t.letter, t.to)).collect();
    let run = accepting_run(nfa, prefix).expect("the prefix is accepted");
    assert_eq!(run.len(), prefix.len() + 1);
    assert!(nfa.state(run[0]).initial);
    assert!(nfa.state(run[prefix.len()]).accepting);
    for (states, &letter) in run.windows(2).zip(prefix) {
        assert!(transitions.contains(&(states[0], letter, states[1])), "{states:?} by {letter}");
    }
}

proptest! {
    #[test]
    fn long_histories((processes, letters) in histories()) {
        let history = SimpleHistory::from_letters(processes, letters.clone()).unwrap();
        let nfa = union(processes);
        let position = first_accepting_prefix(&nfa, &letters);
        prop_assert_eq!(Observer::first_violation(&history).map(|(at, _)| at), position);
        match position {
            Some(at) => assert_accepting_run(&nfa, &letters[..=at]),
            None => prop_assert_eq!(accepting_run(&nfa, &letters), None),
        }
        if !has_overlapping_updates(&letters) {
            let harmless = position.unwrap_or(letters.len());
            prop_assert!(!violated(&letters[..harmless]).any());
            prop_assert_eq!(violated(&letters).any(), position.is_some());
        }
    }
}

#[test]
fn violation_is_found_at_any_position() {
    let scan = word("p0: inv scan; p0: res scan(0, 0)");
    let violation = word("p1: inv scan; p1: res scan(1, 0)");
    for scans in [0, 1, 2047, 2048, 2049, 10_000] {
        let mut letters = scan.repeat(scans);
        letters.extend(&violation);
        letters.extend(scan.repeat(3000));
        let history = SimpleHistory::from_letters(2, letters).unwrap();
        let position = 2 * scans + 1;
        assert_eq!(Observer::first_violation(&history).map(|(at, _)| at), Some(position));
    }
}

/// Random histories prove something only if they vary.
#[test]
fn random_histories_cover_all_alarms() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut alarms: HashMap<_, usize> = HashMap::new();
    let mut overlapping = 0;
    for _ in 0..1000 {
        let tree = histories().new_tree(&mut runner).unwrap();
        let (processes, letters) = tree.current();
        overlapping += usize::from(has_overlapping_updates(&letters));
        let history = SimpleHistory::from_letters(processes, letters).unwrap();
        *alarms.entry(Observer::first_violation(&history).map(|(_, alarm)| alarm)).or_default() +=
            1;
    }
    assert_eq!(alarms.len(), 8, "no alarm, and all seven alarms: {alarms:?}");
    assert!((100..900).contains(&overlapping), "{overlapping} of 1000 have overlapping updates");
}
