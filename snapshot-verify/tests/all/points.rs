//! Static linearization points: those that the texts mark are found, and what is found holds
//! by itself.

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::points::{PointsAnswer, Trial, Trials, candidates, find_points};
use snapshot_verify::verify::{Operations, Unwatched};

fn found(text: &str, bug: Option<&str>, sizes: &[usize]) -> (String, Vec<Trial>) {
    let algorithm = parse("test", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let program = algorithm.program(bug).unwrap();
    let trials = Trials {
        sizes: sizes.to_vec(),
        operations: Operations::AtMost(2),
        memory: 1 << 28,
        time: None,
    };
    let found = find_points(&program, &trials, &Unwatched::default()).unwrap();
    let texts = found.iter().filter(|trial| trial.holds()).map(|trial| {
        let statements = trial.statements.iter().map(|span| algorithm.source().slice(*span));
        statements.collect::<Vec<_>>().join(" | ")
    });
    (texts.collect::<Vec<_>>().join("; "), found)
}

fn corpus(name: &str) -> &'static str {
    corpus::algorithm(name).unwrap().text
}

#[test]
fn the_write_of_the_segment_is_found() {
    let (points, tried) = found(corpus("bowman"), None, &[2]);
    assert_eq!(points, "a[me] := v");
    // `active := none` is a candidate, too, and after it nothing is to be seen yet.
    assert_eq!(tried.len(), 2);
    let others = tried.iter().filter(|trial| !trial.holds());
    for other in others {
        let [(2, PointsAnswer::Misplaced(why))] = &other.answers[..] else { panic!("{other:?}") };
        assert!(why.contains("never held while it was open"), "{why}");
    }
    // A collect is a snapshot of two segments, and of no more.
    assert_eq!(found(corpus("naive_collect"), None, &[2]).0, "r[me] := v");
    assert_eq!(found(corpus("naive_collect"), None, &[2, 3]).0, "");
}

/// One of two statements, whichever is passed: neither is passed by all updates.
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
fn of_two_ways_each_has_its_own() {
    let (points, tried) = found(EITHER, None, &[2]);
    // In the second block the step has two writes, and each of them is it.
    assert_eq!(points, "whole := w | turn := true; whole := w | whole := w");
    let singles = tried.iter().filter(|trial| trial.statements.len() == 1);
    for single in singles {
        let [(2, PointsAnswer::Misplaced(why))] = &single.answers[..] else { panic!("{single:?}") };
        assert!(why.contains("without having passed a linearization point"), "{why}");
    }
}

#[test]
fn a_wrong_algorithm_has_none() {
    let (points, tried) = found(corpus("bowman"), Some("early_exit"), &[2, 3]);
    let held = tried.iter().filter(|trial| trial.holds()).count();
    assert!(held == 0 && points.is_empty(), "{points}");
}

#[test]
fn candidates_are_writes_of_updates_alone() {
    let program = |text: &str| -> Program { parse("t", text).unwrap().program(None).unwrap() };
    // In afek's update a scan is embedded, in which both would have points.
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
