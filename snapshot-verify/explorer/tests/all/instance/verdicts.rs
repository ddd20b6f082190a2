//! Results do not depend on the reductions.

use snapshot_explorer::instance::Instance;
use test_support::effort::either;

use crate::instance::programs::{Answer, BOWMAN, cases, program};
use crate::instance::reference::{Found, explore, hunt};
use crate::passes::{constant, dead, shrink};

fn answer(found: &Found) -> Answer {
    match (found.violation, found.fault) {
        (Some(_), _) => Answer::Violation,
        (None, Some(what)) => Answer::Fault(what),
        (None, None) => Answer::Linearizable,
    }
}

fn pairs(n: usize) -> Vec<(usize, usize)> {
    let mut pairs = vec![(0, 1), (n - 2, n - 1), (0, n - 1)];
    pairs.truncate(either(2, 3));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[test]
fn every_case_is_right_with_and_without_reductions() {
    for case in cases() {
        let program = case.program();
        for (i, j) in pairs(case.processes) {
            let fresh = Instance::new(&program, case.processes, (i, j)).unwrap();
            let fewer = dead(&constant(&fresh));
            let shrunk = dead(&shrink(&constant(&fresh)));
            let only_shrunk = dead(&shrink(&fresh));
            let found = [&dead(&fresh), &fewer, &shrunk, &only_shrunk]
                .map(|instance| hunt(instance, Some(case.operations)));
            let answers = found.each_ref().map(answer);
            if (i, j) == (0, 1) {
                assert_eq!(answers[0], case.answer, "{}", case.name());
            }
            assert_eq!(answers, [answers[0]; 4], "{}, ({i}, {j})", case.name());
            if answers[0] == Answer::Linearizable {
                let [fresh, fewer, shrunk, only_shrunk] = found.map(|found| found.states);
                assert!(fewer <= fresh && shrunk <= fewer, "{}", case.name());
                assert!(shrunk <= only_shrunk && only_shrunk <= fresh, "{}", case.name());
            }
        }
    }
}

#[test]
fn bowman_has_the_known_numbers_of_states() {
    let program = program(BOWMAN, None);
    let fresh = Instance::new(&program, 3, (0, 1)).unwrap();
    let instance = dead(&constant(&fresh));
    let found = explore(&instance, None);
    assert_eq!((found.states, found.transitions), (76_075, 249_645));
    assert_eq!(answer(&found), Answer::Linearizable);
    let found = explore(&dead(&shrink(&instance)), None);
    assert_eq!(answer(&found), Answer::Linearizable);
    assert_eq!((found.states, found.transitions), (11_818, 42_146));
}

#[test]
fn early_exit_takes_15_events() {
    let program = program(BOWMAN, Some("early_exit"));
    let fresh = Instance::new(&program, 3, (0, 1)).unwrap();
    let found = explore(&dead(&constant(&fresh)), None);
    assert_eq!(found.violation, Some(15));
    assert_eq!(found.trace.len(), 15);
    let found = explore(&dead(&shrink(&constant(&fresh))), None);
    assert!(found.violation.unwrap() < 15);
}
