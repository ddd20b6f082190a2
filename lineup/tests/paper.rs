//! The examples of the paper: Counter1, Counter2, Figures 1, 7 and 9.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use lineup::subjects::{
    Counter, Counter1, Counter2, ManualResetEvent, ManualResetEventPre, Queue, QueuePre,
};
use lineup::{Check, Report, Subject, Test, Verdict, report};
use snapshot_core::observation::Judgement;

fn run<S: Subject>(test: &str) -> Report<S> {
    Check::new().run(&Test::parse(test).unwrap())
}

fn letters<S: Subject>(report: &Report<S>) -> Vec<Vec<String>> {
    let groups = report.serial.observations.groups();
    groups.map(|group| group.histories().map(|history| history.letters()).collect()).collect()
}

#[test]
fn counter_1_loses_an_increment() {
    let report = run::<Counter1>("inc get | inc");
    assert_eq!(report.serial.observations.len(), 3);
    let Verdict::Violation(violation) = &report.verdict else { panic!("{report:?}") };
    assert_eq!(violation.judgement, Judgement::NoWitness);
    assert_eq!(violation.preemptions, 1);
    let text = report::report(&Check::new(), &report);
    assert!(text.contains("get() of A returned 1."), "{text}");
    let flat = text.replace('\n', " ");
    assert!(flat.contains("does it return that: there it returns 2."), "{text}");
    let right = Check::<Counter>::new().preemptions(None);
    let report = right.run(&Test::parse("inc get | inc").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
}

#[test]
fn counter_2_passes_since_serial_executions_get_stuck_too() {
    let report = run::<Counter2>("inc get | inc");
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
    assert_eq!((report.serial.observations.len(), report.serial.observations.stuck()), (3, 1));
    assert!(report.concurrent.stuck > 0);
    let total = Check::<Counter2>::new().total(true).run(&report.test);
    assert!(matches!(total.verdict, Verdict::NotTotal(_)));
    // One thread alone waits for itself.
    let report = run::<Counter2>("get inc");
    assert_eq!(letters(&report), [["AA#"]]);
}

#[test]
fn figure_1_is_found_with_few_preemptions() {
    let report = run::<QueuePre>("add(200) try_take | add(400) try_take");
    let Verdict::Violation(violation) = &report.verdict else { panic!("{report:?}") };
    assert_eq!(violation.judgement, Judgement::NoWitness);
    let report = run::<Queue>("add(200) try_take | add(400) try_take");
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
}

#[test]
fn figure_7_has_its_three_groups() {
    let report = run::<Queue>("add(200) add(400) | take try_take");
    let mut groups = letters(&report);
    groups.sort();
    assert_eq!(groups, [vec!["AABB", "ABAB"], vec!["ABBA"], vec!["B#"]]);
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
}

#[test]
fn figure_9_gets_stuck_where_no_serial_execution_does() {
    // Between the two reads and the compare-and-swap of `wait`, `set` and `reset` take place:
    // two switches inside `wait`, and two between the operations of the other thread.
    let four = Check::<ManualResetEventPre>::new().preemptions(Some(4));
    let report = four.run(&Test::parse("wait | set reset set").unwrap());
    let Verdict::Violation(violation) = &report.verdict else { panic!("{report:?}") };
    assert!(matches!(violation.judgement, Judgement::StuckWithoutWitness(_)));
    assert_eq!(violation.preemptions, 4);
    let free = Check::<ManualResetEventPre>::new().free_boundaries(true);
    assert!(free.run(&report.test).verdict.fails(), "with two, if those between are free");
    let four = Check::<ManualResetEvent>::new().preemptions(Some(4));
    let report = four.run(&Test::parse("wait | set reset set").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
}
