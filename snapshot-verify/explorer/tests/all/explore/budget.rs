//! Budgets, interruption, threads, progress.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use snapshot_explorer::search::{
    Exploration, ExploreError, Outcome, Progress, SearchVerdict, Unfinished,
};
use test_support::effort::either;

use crate::explore::bowman::{Exit, bowman};

fn run(exploration: &Exploration<'_>, exit: Exit) -> Outcome {
    exploration.run(&bowman(4, [0, 1], exit), &mut |_| {}).unwrap()
}

fn unknown(outcome: &Outcome) -> Unfinished {
    match outcome.verdict {
        SearchVerdict::Unknown { cause, found_at: None } => cause,
        _ => panic!("{outcome:?}"),
    }
}

#[test]
fn memory_ends_in_unknown_and_is_never_exceeded() {
    for memory in [4 << 20, 8 << 20, 16 << 20] {
        for threads in [1, 2] {
            let outcome =
                run(&Exploration { memory, threads, ..Exploration::default() }, Exit::Correct);
            assert_eq!(unknown(&outcome), Unfinished::Memory);
            assert!(outcome.peak_bytes <= memory);
            assert!(outcome.peak_bytes > memory / 2, "it was used: {}", outcome.peak_bytes);
            assert!(outcome.states > 10_000 && outcome.states < 2_151_306, "{outcome:?}");
        }
    }
}

#[test]
fn a_budget_too_small_to_begin_with_is_refused() {
    let exploration = Exploration { memory: 1000, ..Exploration::default() };
    let error = exploration.run(&bowman(3, [0, 1], Exit::Correct), &mut |_| {}).unwrap_err();
    let ExploreError::Memory { given: 1000, least } = error else { panic!("{error}") };
    let begins = |memory| {
        let exploration = Exploration { memory, ..Exploration::default() };
        exploration.run(&bowman(3, [0, 1], Exit::Correct), &mut |_| {}).is_ok()
    };
    assert!(begins(least) && !begins(least - 1), "{least} bytes are needed");
}

#[test]
fn time_and_interruption_end_in_unknown() {
    let time = Some(Duration::from_millis(20));
    let outcome = run(&Exploration { time, ..Exploration::default() }, Exit::Correct);
    assert_eq!(unknown(&outcome), Unfinished::Time);
    assert!(outcome.seconds < 10.0);
    let stop = AtomicBool::new(true);
    let exploration = Exploration { stop: Some(&stop), ..Exploration::default() };
    assert_eq!(unknown(&run(&exploration, Exit::Correct)), Unfinished::Interrupted);
}

#[test]
fn outcome_does_not_depend_on_threads_or_kept_levels() {
    for exit in [Exit::Correct, Exit::Early] {
        // An eighth of 64 MiB cannot hold the levels of either search.
        let outcome = |threads, memory| {
            let outcome = run(&Exploration { threads, memory, ..Exploration::default() }, exit);
            (outcome.verdict, outcome.states, outcome.transitions, outcome.depth)
        };
        let alone = outcome(1, 1 << 30);
        let others = [(2, 64 << 20), (3, 1 << 30)];
        for (threads, memory) in others.into_iter().take(either(1, 2)) {
            assert_eq!(outcome(threads, memory), alone, "{threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn violation_without_room_for_its_trace_is_unknown() {
    let memories = [2, 4, 8, 12, 16, 20, 24, 32, 64].into_iter().map(|mebibytes| mebibytes << 20);
    let verdicts = memories
        .map(|memory| run(&Exploration { memory, ..Exploration::default() }, Exit::Early).verdict);
    let mut seen = [0; 3];
    for verdict in verdicts {
        seen[match verdict {
            SearchVerdict::Unknown { cause: Unfinished::Memory, found_at: None } => 0,
            SearchVerdict::Unknown { cause: Unfinished::Memory, found_at: Some(15) } => 1,
            SearchVerdict::Violation { trace, .. } if trace.steps.len() == 15 => 2,
            other => panic!("{other:?}"),
        }] += 1;
    }
    assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
}

#[test]
fn progress_is_reported() {
    let mut reports = Vec::new();
    let instance = bowman(4, [0, 1], Exit::Correct);
    let outcome = Exploration::default().run(&instance, &mut |p| reports.push(*p)).unwrap();
    for report in &reports {
        assert!(report.states <= outcome.states && report.memory <= outcome.peak_bytes);
        assert!(report.depth <= outcome.depth && report.frontier > 0 && !report.tracing);
    }
    let (between, within): (Vec<&Progress>, Vec<&Progress>) =
        reports.iter().partition(|report| report.between);
    let depths = between.iter().map(|report| report.depth);
    assert!(depths.eq(0..outcome.depth), "a report after each level but the last");
    assert!(between.is_sorted_by(|a, b| a.states < b.states));
    assert_eq!(within.is_empty(), outcome.seconds < 0.5, "{} s", outcome.seconds);
    assert!(within.iter().all(|report| report.states_per_second > 0.0));
}
