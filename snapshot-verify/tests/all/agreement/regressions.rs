//! Programs of `corpus/small` for which a reduction once gave a wrong answer, or none.

use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{
    Method, Operations, Outcome, Pairs, Reduction, Reductions, Request, Unwatched, Verdict, verify,
};

use crate::agreement::standard;

/// Returns, per pair, `v` for verified, `x` for a violation, and `?`.
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

/// Returns the request for any number of operations.
fn unbounded(processes: usize) -> Request {
    standard(processes, Operations::Unbounded)
}

/// Checks that all reductions together answer `expected`, for any number of operations, and so do
/// they without the suspect one; refinement, which uses none, agrees for few operations, where it
/// is affordable.
fn check(name: &str, processes: usize, expected: &str, suspect: Reduction, refined: Option<u32>) {
    let program = program(name, corpus::small(name));
    assert_eq!(answers(&program, &unbounded(processes)), expected, "{name}");
    if suspect != Reduction::Counters {
        let reductions = Reductions::standard().without(suspect);
        let request = Request { reductions, ..unbounded(processes) };
        assert_eq!(answers(&program, &request), expected, "{name} without {suspect:?}");
    }
    if let Some(operations) = refined {
        let method = Method::Refinement(snapshot_verify::refine::Techniques::default());
        let request = Request { method, ..standard(processes, Operations::AtMost(operations)) };
        assert_eq!(answers(&program, &request), expected, "{name} by refinement");
    }
}

/// A process name compared with a number, for equality or order: exchanging processes does not
/// rename the number.
#[test]
fn names_and_numbers() {
    let symmetry = Reduction::Symmetry;
    check("name_equal_number", 4, "xxxxxx", symmetry, Some(1));
    check("name_above_number", 3, "vxx", symmetry, Some(1));
}

/// Several successors in one move, of one counter or two, in one access or fused with it; and a
/// twin that only compares.
#[test]
fn several_successors() {
    for (name, refined) in [
        ("three_increments", Some(4)),
        ("catch_up", Some(3)),
        ("two_counters", None),
        ("two_increments", Some(4)),
        ("two_increments_private", None),
    ] {
        check(name, 2, "x", Reduction::Counters, refined);
        let is_kept = |line: &&str| !line.contains(":= initial") && !line.contains("return zero");
        let twin: Vec<&str> = corpus::small(name).lines().filter(is_kept).collect();
        let twin = program(name, &(twin.join("\n") + "\n"));
        assert_eq!(answers(&twin, &unbounded(2)), "v", "{name}");
    }
}

/// Versions have canonical numbers by the order of slots. Exchanged processes change that order, so
/// versions are renumbered.
#[test]
fn versions_of_exchanged_processes() {
    let symmetry = Reduction::Symmetry;
    check("versions_and_symmetry", 4, "vvvvvv", symmetry, None);
    check("versions_of_processes", 4, "xxxxxx", symmetry, None);
    let text = corpus::small("versions_and_symmetry");
    let silent = text.replacen("    active := fresh\n    a[me] := v\n", "    a[me] := v\n", 1);
    assert_ne!(text, silent);
    let pairs = Pairs::One(Process::from_index(1), Process::from_index(2));
    for (text, operations, expected) in
        [(text, 1, "v"), (&silent, 1, "x"), (corpus::small("versions_of_processes"), 2, "x")]
    {
        let request = Request { pairs, ..standard(4, Operations::AtMost(operations)) };
        assert_eq!(answers(&program("versions", text), &request), expected, "{text}");
    }
}

/// A program that the proof for every n once accepted is found wrong by the search.
#[test]
fn wrong_for_three_processes() {
    for name in ["cached", "masked", "noted", "counted"] {
        let request = Request { keep_going: false, ..standard(3, Operations::AtMost(3)) };
        assert!(answers(&program(name, corpus::small(name)), &request).starts_with('x'), "{name}");
    }
}

/// A reaction leads, by steps that touch only own cells, back to its start: it is left at a pause.
/// (Such a scan spins as soon as another process has written.)
#[test]
fn cycles_of_reactions() {
    for name in ["reaction_circle", "reaction_circle_own", "reaction_circle_test"] {
        for suspect in [Reduction::Shrink, Reduction::Decided] {
            check(name, 2, "v", suspect, Some(2));
            check(name, 3, "vvv", suspect, None);
        }
    }
}

/// A reaction leads to an SC that can only break links of others, which nothing reads: the process
/// pauses there, because a reaction assigns own slots only.
#[test]
fn reactions_break_no_links_of_others() {
    let text = corpus::algorithm("jayanti").unwrap().text;
    let cleared = "        for s in segments: B[me][s] := none\n";
    let announced = "        SC(X, x with (phase: 2, proc_b: me))\n";
    let late = text.replacen(&format!("{cleared}{announced}"), &format!("{announced}{cleared}"), 1);
    assert_ne!(text, late);
    let pairs = Pairs::One(Process::from_index(1), Process::from_index(2));
    let request = Request { pairs, ..standard(3, Operations::AtMost(1)) };
    assert_eq!(answers(&program("late", &late), &request), "v");
}

/// Unrelated versions have distinct numbers from the start, more than the first layout of a bounded
/// search has room for.
#[test]
fn narrow_layouts_too_narrow_for_the_initial_state() {
    let program = program("versions_apart", corpus::small("versions_apart"));
    for reductions in [Reductions::NONE.with(Reduction::Counters), Reductions::standard()] {
        let request = Request { reductions, ..standard(4, Operations::AtMost(1)) };
        let request = Request { keep_going: false, memory: 64 << 20, ..request };
        assert!(answers(&program, &request).starts_with('x'), "{reductions}");
    }
}

/// A process that spins without effect on others is not made to loop: with `ample` a counterexample
/// is hardly longer than without (it once had 2,343 steps).
#[test]
fn spinning_does_not_lengthen_counterexamples() {
    let program = program("spinning", corpus::small("versions_of_processes"));
    let [with, without] = [true, false].map(|ample| {
        let standard = Reductions::standard();
        let reductions = if ample { standard } else { standard.without(Reduction::Ample) };
        let pairs = Pairs::One(Process::from_index(1), Process::from_index(2));
        let request = Request { reductions, pairs, ..unbounded(4) };
        let outcomes = verify(&program, true, &request, &Unwatched::default()).unwrap();
        match &outcomes[0].verdict {
            Verdict::Violation(counterexample) => counterexample.moves().len(),
            verdict => panic!("{verdict:?}"),
        }
    });
    assert!(with < 3 * without, "{with} moves, {without} without `ample`");
}
