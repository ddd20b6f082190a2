//! Static linearization points: the marked points of texts are found, and found points hold by
//! themselves.

use snapshot_verify::language::{Algorithm, parse};
use snapshot_verify::program::Program;
use snapshot_verify::verify::points::{
    ObjectPoints, OperationPoints, PointsAnswer, Trial, Trials, candidates, find_object_points,
    find_points,
};
use snapshot_verify::verify::{Operations, Unwatched};

fn trials(sizes: &[usize]) -> Trials {
    Trials {
        sizes: sizes.to_vec(),
        operations: Operations::AtMost(2),
        values: None,
        memory: 1 << 28,
        time: None,
    }
}

/// Returns the text of the statements of a set.
fn slices(algorithm: &Algorithm, trial: &Trial) -> String {
    let statements = trial.statements.iter().map(|span| algorithm.source().slice(*span));
    statements.collect::<Vec<_>>().join(" | ")
}

fn found(text: &str, bug: Option<&str>, sizes: &[usize]) -> (String, Vec<Trial>) {
    let algorithm = parse("test", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let program = algorithm.program(bug).unwrap();
    let found = find_points(&program, &trials(sizes), &Unwatched::default()).unwrap();
    let holding = found.iter().filter(|trial| trial.holds());
    let texts: Vec<String> = holding.map(|trial| slices(&algorithm, trial)).collect();
    (texts.join("; "), found)
}

fn corpus(name: &str) -> &'static str {
    corpus::algorithm(name).unwrap().text
}

#[test]
fn write_of_the_segment_is_found_as_the_point() {
    let (points, tried) = found(corpus("bowman"), None, &[2]);
    assert_eq!(points, "a[me] := v");
    // `active := none` is a candidate, too, but has no visible effect yet.
    assert_eq!(tried.len(), 2);
    let others = tried.iter().filter(|trial| !trial.holds());
    for other in others {
        let [(2, PointsAnswer::Misplaced(why))] = &other.answers[..] else { panic!("{other:?}") };
        assert!(why.contains("never held while it was open"), "{why}");
    }
    // A collect is a snapshot of at most two segments.
    assert_eq!(found(corpus("naive_collect"), None, &[2]).0, "r[me] := v");
    assert_eq!(found(corpus("naive_collect"), None, &[2, 3]).0, "");
}

/// Each update passes one of two statements: neither is passed by all updates.
const EITHER: &str = "algorithm either
shared whole: view
shared turn: bool
update(v):
    local w: view
    local t: bool
    t := turn
    if t:
        atomic: w := whole; w[me] := v; whole := w
    else:
        atomic: w := whole; w[me] := v; turn := true; whole := w
scan:
    return whole
";

#[test]
fn each_branch_has_its_own_point() {
    let (points, tried) = found(EITHER, None, &[2]);
    // In the second block the step has two writes, and each of them is a point.
    assert_eq!(points, "whole := w | turn := true; whole := w | whole := w");
    let singles = tried.iter().filter(|trial| trial.statements.len() == 1);
    for single in singles {
        let [(2, PointsAnswer::Misplaced(why))] = &single.answers[..] else { panic!("{single:?}") };
        assert!(why.contains("without having passed a linearization point"), "{why}");
    }
}

#[test]
fn wrong_algorithm_has_no_points() {
    let (points, tried) = found(corpus("bowman"), Some("early_exit"), &[2, 3]);
    let held = tried.iter().filter(|trial| trial.holds()).count();
    assert!(held == 0 && points.is_empty(), "{points}");
}

#[test]
fn candidates_are_only_writes_of_updates() {
    let program = |text: &str| -> Program { parse("t", text).unwrap().program(None).unwrap() };
    // afek's update embeds a scan, whose statements would be points of both.
    for name in ["bowman", "afek_unbounded", "attiya_welch", "jayanti"] {
        let text = corpus(name);
        let algorithm = parse("t", text).unwrap();
        for span in candidates(&program(text)) {
            let written = algorithm.source().slice(span);
            let words = [":=", "SC(", "CAS("];
            assert!(words.iter().any(|word| written.contains(word)), "{name}: {written}");
        }
    }
}

/// Returns the smallest sets of each operation, and whether some hold together.
fn found_in_object(text: &str, bug: Option<&str>, sizes: &[usize]) -> (Vec<String>, ObjectPoints) {
    let algorithm = parse("test", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let program = algorithm.program(bug).unwrap();
    let trials = Trials { values: Some(2), ..trials(sizes) };
    let found = find_object_points(&program, &trials, &Unwatched::default()).unwrap();
    let shown = |operation: &OperationPoints| {
        let texts = operation.smallest().into_iter().map(|trial| slices(&algorithm, trial));
        format!("{}: {}", operation.operation, texts.collect::<Vec<_>>().join("; "))
    };
    (found.operations.iter().map(shown).collect(), found)
}

/// The marked points in the corpus are found, or, for a queue, the found points are as good.
#[test]
fn operations_of_objects_have_points_of_their_own() {
    let (points, found) = found_in_object(corpus("linked_stack"), None, &[2]);
    assert_eq!(points, ["push: done := CAS(top, t, pushed)", "pop: t := top"]);
    assert!(found.is_complete());
    // All four accesses of `pop`, then one by one. The read of the top alone is as good as with the
    // CAS, because that succeeds only if the stack is unchanged.
    assert_eq!(found.operations[1].trials.len(), 1 + 4);
    let (points, found) = found_in_object(corpus("cas_counter"), None, &[2, 3]);
    assert!(found.is_complete(), "{points:?}");
    let (points, found) = found_in_object(corpus("ms_queue"), None, &[2]);
    assert!(found.is_complete(), "{points:?}");
}

/// A register `x`, with this `put`.
fn cell(put: &str) -> String {
    format!(
        "algorithm of_cell
object cell:
    state held: value
    put(v: value):
        held := v
    get: value:
        return held
shared x: value
{put}get:
    a := x
    return a
"
    )
}

/// A `put` with an access behind its point.
const LATE: &str = "shared done: bool
put(v):
    x := v
    done := true
";

#[test]
fn access_after_the_point_is_not_a_point() {
    let (points, found) = found_in_object(&cell(LATE), None, &[2]);
    assert_eq!(points, ["put: x := v", "get: a := x"]);
    let put = &found.operations[0].trials;
    let texts: Vec<bool> = put.iter().map(Trial::holds).collect();
    // Both, the write of x, the other one.
    assert_eq!(texts, [true, true, false]);
}

#[test]
fn wrong_object_has_no_points() {
    let (_, found) = found_in_object(corpus("linked_stack"), Some("lost_push"), &[2]);
    assert!(found.trials().any(Trial::is_wrong) && found.found().is_none());
}

/// A `put` that another process may write on its behalf: its first access is too early, its second
/// too late.
const HELPED: &str = "shared wanted: cas value or none
procedure help():
    atomic:
        u := wanted
        if u != none:
            x := u
            wanted := none
put(v):
    loop:
        if CAS(wanted, none, v):
            help()
            return
        help()
";

#[test]
fn operations_finished_by_others_have_no_points() {
    let (points, found) = found_in_object(&cell(HELPED), None, &[2]);
    assert_eq!(points, ["put: ", "get: a := x"]);
    assert!(!found.is_complete() && found.found().is_some());
    assert_eq!(found.operations[0].trials.len(), 1);
}
