//! What small histories cannot reach: windows of hundreds of updates, in which
//! values are found by hashing, and hundreds of scans that are open at once.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::History;
use snapshot_core::certificate::linearization;
use snapshot_core::monitor::Monitor;

use crate::checkers::{agreed_verdict_at_length, drawing};
use crate::random::{Values, crowded_runs, nudged};

fn unambiguous() -> impl Strategy<Value = Values> {
    Just(Values::Differentiated)
}

fn recurring() -> impl Strategy<Value = Values> {
    prop_oneof![Just(Values::Recurring), Just(Values::Few)]
}

/// The largest number of updates and scans that the monitor had to keep.
fn largest_window(history: &History<i64>) -> usize {
    let mut monitor = Monitor::new(history.declaration()).expect("the declaration is valid");
    let retained = history.events().map(|event| {
        monitor.observe(&event).expect("the event is admissible");
        monitor.retained()
    });
    retained.max().unwrap_or(0)
}

#[test]
fn crowds_are_large_and_of_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let strategy = nudged(crowded_runs(unambiguous(), 1500));
    let (mut linearizable, mut large) = (0, 0);
    for _ in 0..200 {
        let history = strategy.new_tree(&mut runner).expect("no rejection").current();
        linearizable += usize::from(agreed_verdict_at_length(&history) == Some(true));
        large += usize::from(largest_window(&history) > 150);
    }
    assert!((50..150).contains(&linearizable), "{linearizable}");
    assert!(large > 100, "{large}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn crowded_runs_are_linearizable(run in crowded_runs(unambiguous(), 1500)) {
        linearization::check(&run.history, &run.effects).unwrap();
        prop_assert_eq!(agreed_verdict_at_length(&run.history), Some(true));
    }

    #[test]
    fn crowded_runs_with_repetitions_are_no_violations(run in crowded_runs(recurring(), 1000)) {
        linearization::check(&run.history, &run.effects).unwrap();
        prop_assert_ne!(agreed_verdict_at_length(&run.history), Some(false));
    }

    #[test]
    fn checkers_agree_on_crowds(history in nudged(crowded_runs(unambiguous(), 1500))) {
        prop_assert!(agreed_verdict_at_length(&history).is_some(), "{}", drawing(&history));
    }

    #[test]
    fn checkers_agree_on_crowds_with_repetitions(
        history in nudged(crowded_runs(recurring(), 1000)),
    ) {
        agreed_verdict_at_length(&history);
    }
}
