//! Sizes beyond small histories: windows of hundreds of updates, in which values are found by
//! hashing, and hundreds of simultaneously open scans.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::History;
use snapshot_core::certificate::linearization;
use snapshot_core::monitor::Monitor;
use test_support::effort::either;

use crate::judge::cases;
use crate::judge::checkers::{agreed_verdict_at_length, drawing};
use crate::judge::random::{Values, crowded_runs, nudged};
use crate::judge::sketch::single_writers;

fn unambiguous() -> impl Strategy<Value = Values> {
    Just(Values::Differentiated)
}

fn recurring() -> impl Strategy<Value = Values> {
    prop_oneof![Just(Values::Recurring), Just(Values::Few)]
}

/// The largest number of updates and scans that the monitor had to keep.
fn largest_window(history: &History<i64>) -> usize {
    let mut monitor = Monitor::linear(history.declaration()).expect("the declaration is valid");
    let retained = history.events().map(|event| {
        monitor.observe(&event).expect("the event is admissible");
        monitor.retained()
    });
    retained.max().unwrap_or(0)
}

#[test]
fn crowded_runs_are_large_with_both_verdicts() {
    let mut runner = TestRunner::deterministic();
    let strategy = nudged(crowded_runs(unambiguous(), 1500));
    let (mut linearizable, mut large) = (0, 0);
    let cases = either(40, 200);
    for _ in 0..cases {
        let history = strategy.new_tree(&mut runner).expect("no rejection").current();
        linearizable += usize::from(agreed_verdict_at_length(&history) == Some(true));
        large += usize::from(largest_window(&history) > 150);
    }
    assert!((cases / 4..3 * cases / 4).contains(&linearizable), "{linearizable}");
    assert!(large > cases / 2, "{large}");
}

/// Updates with these values, one after the other.
fn updates(values: RangeInclusive<i64>) -> String {
    values.map(|value| format!("0:u0={value} 0:ok ")).collect()
}

fn verdict_on(events: &str) -> Option<bool> {
    agreed_verdict_at_length(&single_writers(1, events))
}

/// A scan that reads an old value has values indexed; then updates fail.
#[test]
fn index_of_values_follows_failed_updates() {
    let indexed = format!("2:s 3:s {} 2:5 {}", updates(1..=60), updates(61..=70));
    for (events, may_be, may_not_be) in [
        ("0:u0=100 0:fail", [70, 5, 60], [100, 101]),
        ("0:u0=100 0:fail 0:u0=101 0:ok", [70, 101, 5], [100, 102]),
        // An overwritten value that recurs.
        ("0:u0=5 0:fail 0:u0=101 0:ok", [101, 5, 6], [100, 102]),
        // A lost update is the last again when its successor fails.
        ("0:u0=100 0:unknown 0:u0=101 0:fail", [100, 70, 5], [101, 102]),
        ("0:u0=100 0:unknown 0:u0=101 0:fail 0:u0=102 0:ok", [102, 70, 5], [101, 103]),
    ] {
        for value in may_be {
            let events = format!("{indexed} {events} 3:{value}");
            assert_eq!(verdict_on(&events), Some(true), "{events}");
        }
        for value in may_not_be {
            let events = format!("{indexed} {events} 3:{value}");
            assert_eq!(verdict_on(&events), Some(false), "{events}");
        }
    }
}

/// No value is forgotten that the oldest open scan may return.
#[test]
fn oldest_open_scan_may_return_values_from_its_start() {
    let others = "2:s 2:14 ".repeat(200);
    let [before, after] = [updates(1..=9), updates(11..=14)];
    // It begins after update(10), or during it.
    for (begin, may_not_be) in [("0:u0=10 0:ok 3:s", 9), ("0:u0=10 3:s 0:ok", 8)] {
        let events = format!("{before} {begin} {after} {others} 3:");
        for value in may_not_be + 1..=14 {
            assert_eq!(verdict_on(&format!("{events}{value}")), Some(true), "{begin} {value}");
        }
        for value in 1..=may_not_be {
            assert_eq!(verdict_on(&format!("{events}{value}")), Some(false), "{begin} {value}");
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

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
