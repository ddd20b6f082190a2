//! Programs that a reduction once answered wrongly, or not at all.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::{
    Method, Operations, Outcome, Pairs, Reduction, Reductions, Request, Unwatched, Verdict, verify,
};

fn request(processes: usize, operations: Operations) -> Request {
    Request {
        processes,
        pairs: Pairs::All,
        method: Method::Exploration,
        values: None,
        updater: None,
        operations,
        reductions: Reductions::standard(),
        threads: NonZeroUsize::MIN,
        memory: 1 << 30,
        time: None,
        keep_going: true,
        self_check: Some(SelfCheck::DEFAULT),
    }
}

/// Per pair, `v` for verified, `x` for a violation, and `?`.
fn answers(program: &Program, request: &Request) -> String {
    let outcomes = verify(program, true, request, &Unwatched::default()).unwrap();
    let letter = |outcome: &Outcome| match outcome.verdict {
        Verdict::Verified => 'v',
        Verdict::Violation(_) => 'x',
        _ => '?',
    };
    outcomes.iter().map(letter).collect()
}

fn program(name: &str, text: &str) -> Program {
    parse(name, text).unwrap().program(None).unwrap()
}

/// The reductions together answer `expected`, for any number of operations, and so do
/// they without the one that was wrong; refinement, which uses none, agrees for few
/// operations, where it is affordable.
fn check(
    name: &str,
    text: &str,
    processes: usize,
    expected: &str,
    suspect: Reduction,
    refined: Option<u32>,
) {
    let program = program(name, text);
    assert_eq!(answers(&program, &request(processes, Operations::Unbounded)), expected, "{name}");
    if suspect != Reduction::Counters {
        let reductions = Reductions::standard().without(suspect);
        let request = Request { reductions, ..request(processes, Operations::Unbounded) };
        assert_eq!(answers(&program, &request), expected, "{name} without {suspect:?}");
    }
    if let Some(operations) = refined {
        let method = Method::Refinement(snapshot_verify::refine::Means::default());
        let request = Request { method, ..request(processes, Operations::AtMost(operations)) };
        assert_eq!(answers(&program, &request), expected, "{name} by refinement");
    }
}

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("regressions/", $name, ".snapshot"))
    };
}

/// A name of a process compared with a number, for equality or order: exchanging
/// processes does not rename the number.
#[test]
fn names_and_numbers() {
    let symmetry = Reduction::Symmetry;
    check("syma3", text!("name_equal_number"), 4, "xxxxxx", symmetry, Some(1));
    check("symlt", text!("name_above_number"), 3, "vxx", symmetry, Some(1));
}

/// Several successors in one move, of one counter or two, in one access or fused with
/// it.
#[test]
fn several_successors() {
    let counters = Reduction::Counters;
    check("cnt", text!("three_increments"), 2, "x", counters, Some(4));
    check("s3", text!("catch_up"), 2, "x", counters, Some(3));
    check("s2b", text!("two_counters"), 2, "x", counters, None);
    check("two", text!("two_increments"), 2, "x", counters, Some(4));
    check("s1d", text!("two_increments_private"), 2, "x", counters, None);
}

/// Versions are numbered again after processes were exchanged.
#[test]
fn versions_of_exchanged_processes() {
    let symmetry = Reduction::Symmetry;
    check("bowman_version", text!("versions_and_symmetry"), 4, "vvvvvv", symmetry, None);
    check("gen", text!("versions_of_processes"), 4, "xxxxxx", symmetry, None);
}

/// A reaction leads, by steps that touch only own cells, back to where the process reacts:
/// it is left at a pause. (Such a scan spins as soon as another process has written.)
#[test]
fn circles_of_reactions() {
    for (name, text) in [
        ("reaction_circle", text!("reaction_circle")),
        ("reaction_circle_own", text!("reaction_circle_own")),
        ("reaction_circle_test", text!("reaction_circle_test")),
    ] {
        for suspect in [Reduction::Shrink, Reduction::Decided] {
            check(name, text, 2, "v", suspect, Some(2));
            check(name, text, 3, "vvv", suspect, None);
        }
    }
}

/// Versions that are not related have numbers of their own from the start, more than the
/// first layout of a bounded search has room for.
#[test]
fn narrow_layouts_too_narrow_for_the_initial_state() {
    let program = program("versions_apart", text!("versions_apart"));
    for reductions in [Reductions::NONE.with(Reduction::Counters), Reductions::standard()] {
        let request = Request { reductions, ..request(4, Operations::AtMost(1)) };
        let request = Request { keep_going: false, memory: 64 << 20, ..request };
        assert!(answers(&program, &request).starts_with('x'), "{reductions}");
    }
}

/// A process that spins, to no effect on others, is not made to go round and round: with
/// `ample` a counterexample is hardly longer than without (it had 2,343 steps once).
#[test]
fn spinning_makes_no_counterexample_long() {
    let program = program("gen", text!("versions_of_processes"));
    let [with, without] = [true, false].map(|ample| {
        let standard = Reductions::standard();
        let reductions = if ample { standard } else { standard.without(Reduction::Ample) };
        let pairs = Pairs::One(Process::from_index(1), Process::from_index(2));
        let request = Request { reductions, pairs, ..request(4, Operations::Unbounded) };
        let outcomes = verify(&program, true, &request, &Unwatched::default()).unwrap();
        match &outcomes[0].verdict {
            Verdict::Violation(counterexample) => counterexample.moves().len(),
            verdict => panic!("{verdict:?}"),
        }
    });
    assert!(with < 3 * without, "{with} moves, {without} without `ample`");
}
