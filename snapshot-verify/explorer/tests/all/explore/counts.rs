//! Exact counts on which independent searches agree.

use snapshot_explorer::instance::Instance;
use snapshot_explorer::search::{Exploration, Outcome, SearchVerdict};

use crate::explore::bowman::{Exit, bowman};

fn run(exploration: &Exploration<'_>, instance: &Instance) -> Outcome {
    exploration.run(instance, &mut |_| {}).unwrap()
}

fn counts(outcome: &Outcome) -> (u64, u64) {
    (outcome.states, outcome.transitions)
}

#[test]
fn bowman_has_the_known_numbers_of_states() {
    let exploration = Exploration { threads: 2, ..Exploration::default() };
    let outcome = run(&exploration, &bowman(3, [0, 1], Exit::Correct));
    assert_eq!(outcome.verdict, SearchVerdict::Verified);
    assert_eq!(counts(&outcome), (76_075, 249_645));
    let outcome = run(&exploration, &bowman(4, [0, 1], Exit::Correct));
    assert_eq!(outcome.verdict, SearchVerdict::Verified);
    assert_eq!(counts(&outcome), (2_151_306, 9_276_497));
}

#[test]
fn early_exit_has_a_shortest_counterexample_of_15_events() {
    let instance = bowman(3, [0, 1], Exit::Early);
    let past = Exploration { past_violations: true, ..Exploration::default() };
    let outcome = run(&past, &instance);
    assert_eq!(outcome.states, 81_104);
    let SearchVerdict::Violation { trace, .. } = outcome.verdict else { panic!("{outcome:?}") };
    assert_eq!(trace.steps.len(), 15);
    let antichain = Exploration { antichain: true, ..past };
    assert_eq!(run(&antichain, &instance).states, 81_104, "all states are wanted");
    let outcome = run(&Exploration::default(), &instance);
    let SearchVerdict::Violation { trace: same, .. } = outcome.verdict else {
        panic!("{outcome:?}")
    };
    assert_eq!(trace, same);
    assert!(outcome.states < 81_104);
}
