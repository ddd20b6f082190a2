//! The second method: refinement agrees with exploration, for simple and for full executions, with
//! and without its partial order reduction. Linearization points either help or are reported as
//! invalid.

use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::program::independence;
use snapshot_verify::program::linearization::Points;
use snapshot_verify::refine::{Misplacement, Techniques};
use snapshot_verify::verify::{
    Method, Operations, Outcome, Reductions, Request, Unwatched, Verdict, verify,
};
use test_support::effort::{Effort, by_effort, is_left_out};

use crate::agreement::{programs, request, sample, words, words_if_any};

/// Sufficient memory for programs that are small enough for a test.
const MEMORY: u64 = 24 << 20;

/// Sufficient memory for most programs with at most one operation of each of two processes.
const LITTLE: u64 = 2 << 20;

const REDUCED: Techniques = Techniques { partial_order: true, ..Techniques::NONE };
const PLAIN: Techniques = Techniques::NONE;
const AT_POINTS: Techniques = Techniques { partial_order: true, points: true, ..Techniques::NONE };

fn outcomes(program: &Program, request: &Request) -> Vec<Outcome> {
    verify(program, true, request, &Unwatched::default()).unwrap()
}

fn refinement(
    means: Techniques,
    processes: usize,
    operations: u32,
    values: Option<u32>,
) -> Request {
    let base = request(processes, operations, Reductions::standard());
    Request { method: Method::Refinement(means), values, memory: MEMORY, ..base }
}

/// Asks in all ways; returns true if there was an answer.
fn agrees(name: &str, program: &Program) -> bool {
    let first = words(program, &request(2, 1, Reductions::standard()));
    let mut answered = true;
    // With one operation each and two values, all executions are simple.
    for (means, values) in [(REDUCED, None), (PLAIN, None), (REDUCED, Some(2)), (PLAIN, Some(2))] {
        let request = Request { memory: LITTLE, ..refinement(means, 2, 1, values) };
        match words_if_any(program, &request) {
            Some(second) => assert_eq!(first, second, "{name}: {means:?}, {values:?}"),
            None => answered = false,
        }
    }
    answered
}

#[test]
fn the_second_method_agrees() {
    let corpus = programs();
    let answered = corpus.iter().filter(|(name, program)| agrees(name, program)).count();
    assert!(answered * 2 > corpus.len(), "{answered} of {} fit", corpus.len());
    let step = by_effort(240, 40, 1);
    let mutants = sample(step);
    let answered = mutants.iter().filter(|mutant| agrees(&mutant.name, &mutant.program)).count();
    assert!(answered * 2 > mutants.len(), "{answered} of {} fit", mutants.len());
}

/// Theorem 5, tested: full executions over two values are right iff the simple ones of all pairs
/// are, for data-independent programs and with the same bound. In the slow suite.
#[test]
fn full_executions_have_the_verdict_of_simple_ones() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut compared = [0; 2];
    for (name, program) in programs() {
        if independence::check(&program).is_err() {
            continue;
        }
        for (processes, operations) in [(2, 2), (3, 1)] {
            let full = words_if_any(&program, &refinement(REDUCED, processes, operations, Some(2)));
            let Some(full) = full else { continue };
            let simple = words(&program, &request(processes, operations, Reductions::standard()));
            let simple = if simple.contains(&"wrong") { "wrong" } else { "right" };
            assert_eq!(full, [simple], "{name}, n = {processes}, {operations} operations");
            compared[usize::from(simple == "wrong")] += 1;
        }
    }
    assert!(compared[0] > 5 && compared[1] > 1, "{compared:?}");
}

/// The executions with one updater are a subset of all. In the slow suite.
#[test]
fn one_updater_has_no_additional_violations() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut compared = [0; 2];
    let mutants =
        sample(by_effort(120, 120, 25)).into_iter().map(|mutant| (mutant.name, mutant.program));
    for (name, program) in programs().into_iter().chain(mutants) {
        let all = words_if_any(&program, &refinement(REDUCED, 2, 2, Some(2)));
        for updater in [0, 1].map(Process::from_index) {
            let of_one = |means| {
                let request = refinement(means, 2, 2, Some(2));
                words_if_any(&program, &Request { updater: Some(updater), ..request })
            };
            let (reduced, plain) = (of_one(REDUCED), of_one(PLAIN));
            if let (Some(reduced), Some(plain)) = (&reduced, &plain) {
                assert_eq!(reduced, plain, "{name}, p{updater}");
                compared[usize::from(plain.contains(&"wrong"))] += 1;
            }
            if let (Some(all), Some(reduced)) = (&all, &reduced) {
                let is_right = all.contains(&"right");
                assert!(!is_right || reduced.contains(&"right"), "{name}, p{updater}");
            }
        }
    }
    assert!(compared[0] > 12 && compared[1] > 3, "{compared:?}");
}

#[test]
fn refinement_supports_growing_efforts() {
    let program = bowman("active != none", "a[me] := v");
    for values in [None, Some(2)] {
        let grow = Operations::Grow;
        let request = Request { operations: grow, ..refinement(REDUCED, 3, 1, values) };
        let found = outcomes(&program, &request);
        assert!(matches!(found[0].verdict, Verdict::Violation(_)), "{:?}", found[0].verdict);
        assert_eq!(
            (found[0].scope[0].operations, found[0].pair.is_none()),
            (Some(2), values.is_some())
        );
    }
}

#[test]
fn points_of_the_corpus_are_linearization_points() {
    let mut tried = 0;
    for file in corpus::algorithms() {
        let program = parse(file.name, file.text).unwrap().program_with_points(None).unwrap();
        if !Points::new(&program).any() {
            continue;
        }
        for values in [None, Some(2)] {
            for operations in [1, 2] {
                let at_points =
                    words_if_any(&program, &refinement(AT_POINTS, 2, operations, values));
                let anywhere = words_if_any(&program, &refinement(REDUCED, 2, operations, values));
                if let (Some(at_points), Some(anywhere)) = (at_points, anywhere) {
                    assert_eq!(at_points, anywhere, "{}", file.name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 12, "{tried}");
}

/// Every operation takes effect at its point: Theorem 2 of the FM 2009 paper.
const LINKED: &str = "algorithm linked
shared all_of_it: llsc view
update(v):
    repeat
        w := LL(all_of_it)
        w[me] := v
        done := SC(all_of_it, w) linearizes
    until done
scan:
    w := all_of_it linearizes
    return w
";

/// A scan takes effect between its collects, at the end of the first one, before it knows that it
/// succeeded, in each round.
const VERSIONED: &str = "algorithm versioned
type cell = record (val: value, seq: version)
shared a[segment]: cell
update(v):
    a[me] := (v, fresh) linearizes
scan:
    local one[segment]: cell
    local two[segment]: cell
    loop:
        for s in segments: one[s] := a[s] linearizes
        for s in segments: two[s] := a[s]
        if all s in segments: one[s].seq = two[s].seq: return [two[s].val for s in segments]
";

/// Parses a program with its linearization points, if any.
fn program(text: &str) -> Program {
    parse("test.snapshot", text).and_then(|text| text.program_with_points(None)).unwrap()
}

/// Returns bowman's algorithm with another condition and another last step of updates.
fn bowman(condition: &str, write: &str) -> Program {
    let text = corpus::algorithm("bowman").unwrap().text;
    let begin = text.find("algorithm").unwrap();
    let end = text.find("# Any scan").unwrap();
    let text = text[begin..end].replace("active = me", condition);
    program(&text.replace("a[me] := v", write))
}

fn misplacement(program: &Program, request: &Request) -> Misplacement {
    let found = outcomes(program, request);
    let [Outcome { verdict: Verdict::Misplaced(misplaced), .. }, ..] = found.as_slice() else {
        panic!("{:?}", found[0].verdict)
    };
    let history = misplaced.execution.history();
    let mut budget = snapshot_core::search::Budget { memory: usize::MAX, proceed: &mut || true };
    let judged = snapshot_core::search::search_plainly(&history, &mut budget);
    assert!(matches!(judged, snapshot_core::search::Outcome::Linearizable(_)));
    misplaced.misplacement.clone()
}

#[test]
fn programs_with_right_points_are_verified() {
    for values in [None, Some(2)] {
        for (text, processes) in [(LINKED, 3), (VERSIONED, 2)] {
            let program = program(text);
            let unbounded = |means| Request {
                operations: Operations::Unbounded,
                ..refinement(means, processes, 1, values)
            };
            let at_points = outcomes(&program, &unbounded(AT_POINTS));
            let anywhere = outcomes(&program, &unbounded(REDUCED));
            for (at_points, anywhere) in at_points.iter().zip(&anywhere) {
                assert!(matches!(at_points.verdict, Verdict::Verified), "{at_points:?}");
                assert!(matches!(anywhere.verdict, Verdict::Verified), "{anywhere:?}");
                assert!(at_points.measures.states < anywhere.measures.states);
            }
        }
    }
}

#[test]
fn wrong_points_are_reported_as_misplaced() {
    let at_points = |processes, operations| refinement(AT_POINTS, processes, operations, Some(2));
    // Two writers that are open when a scan begins may write in one order and be seen in the other:
    // bowman's updates do not take effect as they write.
    let writes = bowman("active = me", "a[me] := v linearizes");
    assert_eq!(words_if_any(&writes, &refinement(REDUCED, 3, 1, Some(2))), Some(vec!["right"]));
    assert!(matches!(misplacement(&writes, &at_points(3, 1)), Misplacement::Unseen { .. }));

    let changed = |from: &str, to: &str| {
        assert!(LINKED.contains(from), "{from}");
        program(&LINKED.replace(from, to))
    };
    let early = changed("w := LL(all_of_it)", "w := LL(all_of_it) linearizes");
    assert!(matches!(misplacement(&early, &at_points(2, 1)), Misplacement::Twice(_)));
    let once = LINKED.replace("    repeat\n", "").replace("    until done\n", "");
    let once = program(&once.replace("        ", "    "));
    assert!(matches!(misplacement(&once, &at_points(2, 1)), Misplacement::Never(_)));
    let before =
        changed("    w := all_of_it linearizes", "    x := all_of_it linearizes; w := all_of_it");
    assert!(matches!(misplacement(&before, &at_points(2, 1)), Misplacement::Differs { .. }));
    // Values read by a scan may be overwritten before its second collect ends.
    let late = VERSIONED.replace("one[s] := a[s] linearizes", "one[s] := a[s]");
    let late = program(&late.replace("two[s] := a[s]", "two[s] := a[s] linearizes"));
    assert!(matches!(misplacement(&late, &at_points(2, 1)), Misplacement::Differs { .. }));
}

/// Violations that do not depend on the points are found, if they are the shortest.
#[test]
fn violations_at_points_are_found() {
    let old = LINKED.replace("    w := all_of_it linearizes\n    return w", OLD);
    let found = outcomes(&program(&old), &refinement(AT_POINTS, 2, 2, Some(2)));
    assert!(matches!(found[0].verdict, Verdict::Violation(_)), "{:?}", found[0].verdict);
}

/// Returns values that were never written.
const OLD: &str = "    w := all_of_it linearizes\n    return [initial for s in segments]";

/// A waiting process makes steps without interference forever. If these came first in each round,
/// they would hide the steps of the others.
#[test]
fn waiting_processes_hide_no_violation() {
    for values in [None, Some(2)] {
        for means in [REDUCED, PLAIN] {
            let found = outcomes(&program(WAITING), &refinement(means, 2, 2, values));
            assert!(matches!(found[0].verdict, Verdict::Violation(_)), "{:?}", found[0].verdict);
        }
    }
}

/// Updates never end; a second scan returns the values from before them.
const WAITING: &str = "algorithm waiting
shared a[segment]: value
shared never: bool
private again: bool
update(v):
    a[me] := v
    repeat
        done := never
    until done
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    if again: return [initial for s in segments]
    again := true
    return copy
";
