//! Searches that restart: numbers that do not fit, and variables that are learnt.

#![cfg(test)]

use super::*;
use crate::verify::{Operations, Pairs, Unwatched};

/// Explores riany with two processes, two operations each, and perhaps a bug; at first with
/// these limits of numbers.
fn explored(bug: Option<&str>, few_numbers: &'static [u32]) -> (bool, Measures) {
    let text = corpus::algorithm("riany").unwrap().text;
    let program = crate::language::parse("riany", text).unwrap().program(bug).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let request = Request {
        pairs: Pairs::One(pair[0], pair[1]),
        operations: Operations::Grow,
        self_check: search::SelfCheck::of_build(),
        ..Request::new(2)
    };
    let watch = Unwatched::default();
    let mut simple =
        PairExplorer { few_numbers, ..PairExplorer::new(&program, &request, &watch).unwrap() };
    let effort = Effort { operations: Some(2), barriers: None, active: 2 };
    let (finding, measures) = simple.explore(pair, effort, Share::default()).unwrap();
    (matches!(finding, Finding::Nothing), Measures { elapsed: Duration::ZERO, ..measures })
}

#[test]
fn too_few_numbers_restart_the_search() {
    // The correct program, in the slow suite, has the most states.
    for bug in [Some("early_count"), None].into_iter().take(test_support::effort::either(1, 2)) {
        let all = explored(bug, &[]);
        assert_eq!(all.0, bug.is_none());
        let [few, too_few] = [&[7][..], &[1, 2]].map(|numbers| explored(bug, numbers));
        assert!(few.1.peak_bytes < all.1.peak_bytes, "{few:?} {all:?}");
        assert_eq!(too_few, all);
        assert_eq!((few.0, few.1.states), (all.0, all.1.states));
    }
}

/// Returns whether a search for two processes with any number of operations learnt stale
/// variables, and its number of states.
fn learnt(name: &str) -> (bool, u64) {
    let text = corpus::algorithm(name).unwrap().text;
    let program = crate::language::parse(name, text).unwrap().program(None).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let request = Request { pairs: Pairs::One(pair[0], pair[1]), ..Request::new(2) };
    let watch = Unwatched::default();
    let mut simple = PairExplorer::new(&program, &request, &watch).unwrap();
    let effort = Effort { operations: None, barriers: None, active: 2 };
    let (finding, measures) = simple.explore(pair, effort, Share::default()).unwrap();
    assert!(matches!(finding, Finding::Nothing));
    (simple.has_learnt(effort), measures.states)
}

#[test]
fn only_large_searches_learn_stale_variables() {
    let (has_learnt, states) = learnt("bowman");
    assert!(!has_learnt && states <= FEW_STATES, "{states}");
    // 56,992 states; without learning 262,463.
    let (has_learnt, states) = learnt("jayanti");
    assert!(has_learnt && states < 80_000, "{states}");
}
