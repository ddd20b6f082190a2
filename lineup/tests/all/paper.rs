//! The examples of the paper: Counter1, Counter2, Figures 1, 7 and 9.

use lineup::subjects::{
    Bag, BagE, BagJ, BlockingCollection, BlockingCollectionD, BlockingCollectionHI,
    BlockingCollectionK, Counter, Counter1, Counter2, LinkedList, LinkedListPre, ManualResetEvent,
    ManualResetEventPre, PhaseBarrier, Queue, QueuePre, TaskSource, TaskSourceF, TaskSourceG,
};
use lineup::{Check, Report, Subject, Test, Verdict, report};
use snapshot_core::observation::Judgement;

fn run<S: Subject>(test: &str) -> Report {
    Check::new().run(&Test::parse::<S>(test).unwrap())
}

fn letters(report: &Report) -> Vec<Vec<String>> {
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
    let right = Check::new().preemptions(None);
    let report = right.run(&Test::parse::<Counter>("inc get | inc").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
}

#[test]
fn counter_2_passes_since_serial_executions_get_stuck_too() {
    let report = run::<Counter2>("inc get | inc");
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
    assert_eq!((report.serial.observations.len(), report.serial.observations.stuck()), (3, 1));
    assert!(report.concurrent.stuck > 0);
    let total = Check::new().total(true).run(&report.test);
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
    // Between the two reads and the compare-and-swap of `wait`, `set` and `reset` take place: two
    // preemptions of `wait`; the other thread is only switched away from between operations.
    let report = run::<ManualResetEventPre>("wait | set reset set");
    let Verdict::Violation(violation) = &report.verdict else { panic!("{report:?}") };
    assert!(matches!(violation.judgement, Judgement::StuckWithoutWitness(_)));
    assert_eq!(violation.preemptions, 2);
    let one = Check::new().preemptions(Some(1));
    assert!(!one.run(&report.test).verdict.fails());
    let four = Check::new().preemptions(Some(4));
    let report = four.run(&Test::parse::<ManualResetEvent>("wait | set reset set").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
}

/// The bug is found by this minimal test, and the object without it passes.
fn seeded<Wrong: Subject, Right: Subject>(test: &str, stuck: bool) {
    let report = run::<Wrong>(test);
    let Verdict::Violation(violation) = &report.verdict else { panic!("{test}: {report:?}") };
    let without = matches!(violation.judgement, Judgement::StuckWithoutWitness(_));
    assert_eq!(without, stuck, "{test}: {violation:?}");
    let smallest = Check::new().minimise(report.clone());
    assert_eq!(smallest.test, report.test, "a smaller test fails, too");
    let report = run::<Right>(test);
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{test}: {report:?}");
}

/// The paper's dimensions are 2 x 2 for B to H and J to L, and 3 x 2 for I. It describes only A, H,
/// I, J, K and L: the others are our own bugs in objects of these classes.
#[test]
fn seeded_bugs_are_found_at_the_dimensions_of_the_paper() {
    seeded::<QueuePre, Queue>("add(200) try_take | add(400)", false);
    seeded::<LinkedListPre, LinkedList>("add_first(10) count | add_last(20)", false);
    seeded::<BlockingCollectionD, BlockingCollection>("take | complete_adding", true);
    seeded::<BagE, Bag>("add(10) try_take(0) | add(10)", false);
    seeded::<TaskSourceF, TaskSource>("try_set(1) | try_set(2)", false);
    seeded::<TaskSourceG, TaskSource>("try_set(1) | try_set(2) result", false);
    seeded::<BlockingCollectionHI, BlockingCollection>("add(10) count | try_take", false);
    seeded::<BlockingCollectionHI, BlockingCollection>("add(10) try_take | try_take", false);
    seeded::<BagJ, Bag>("init: add(21) | add(10) try_take(1) | try_take(0)", false);
    seeded::<BlockingCollectionK, BlockingCollection>("complete_adding count | add(10)", false);
}

/// L: two threads that wait for each other both return; in no serial execution does one.
#[test]
fn a_barrier_is_not_linearizable() {
    let report = run::<PhaseBarrier>("signal_and_wait | signal_and_wait");
    let Verdict::Violation(violation) = &report.verdict else { panic!("{report:?}") };
    assert_eq!(violation.judgement, Judgement::NoWitness);
    assert_eq!((report.serial.observations.len(), report.serial.observations.stuck()), (2, 2));
}
