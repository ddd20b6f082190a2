//! No refutation of another history, and no mutant with a changed line, is accepted for a
//! linearizable history.

use std::collections::{HashMap, HashSet};

use snapshot_core::certificate::refutation::{self, RefutationError as E};
use snapshot_core::check::{Checker, check_by};
use snapshot_core::saturation::{self, Outcome};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Line, Refutation, Rule};
use snapshot_core::{OperationId, Segment};
use test_support::effort::either;

use crate::judge::enumeration::Space;
use crate::judge::sketch::history;

type History = snapshot_core::History<i64>;

fn outcome(history: &History) -> Outcome {
    saturation::check(history, &mut Budget { memory: usize::MAX, proceed: &mut || true })
}

/// Returns the refutations of the non-linearizable histories of a space, each text once, with the
/// number of these histories without one; all confirmed.
fn refutations(
    space: &Space,
    refute: impl Fn(&History) -> Option<Option<Refutation>>,
) -> (Vec<Refutation>, usize) {
    let (mut texts, mut found, mut without) = (HashSet::new(), Vec::new(), 0);
    space.explore(&mut |history| match refute(history) {
        Some(Some(lines)) => {
            assert_eq!(refutation::check(history, &lines), Ok(()));
            if texts.insert(format!("{lines:?}")) {
                found.push(lines);
            }
        }
        Some(None) => without += 1,
        None => {}
    });
    (found, without)
}

/// Asserts that none of the refutations, and no mutant of a sample for each history, is accepted
/// for a linearizable one. Returns the number of refused ones.
fn refused(
    space: &Space,
    is_linearizable: impl Fn(&History) -> bool,
    refutations: &[Refutation],
    mutants: &[Refutation],
) -> u64 {
    let (mut refused, mut turn) = (0, 0);
    space.explore(&mut |history| {
        if is_linearizable(history) {
            turn += 1;
            let some = mutants.iter().skip(turn % 97).step_by(97);
            for lines in refutations.iter().chain(some) {
                assert!(refutation::check(history, lines).is_err(), "{lines:?} of {history:?}");
                refused += 1;
            }
        }
    });
    refused
}

#[test]
fn false_refutations_are_refused() {
    let space = Space::many_writers(2, 2, 2, 4);
    let (found, _) = refutations(&space, |history| match outcome(history) {
        Outcome::Violation { refutation, .. } => Some(refutation),
        _ => None,
    });
    let rules: HashSet<&str> =
        found.iter().flat_map(|one| &one.lines).map(|line| line.rule.name()).collect();
    for rule in ["time", "reads", "first", "chain", "block"] {
        assert!(rules.contains(rule), "{rule}");
    }
    let mutants: Vec<Refutation> = found.iter().step_by(7).flat_map(mutants).collect();
    assert!(found.len() >= 40 && mutants.len() > 500, "{} {}", found.len(), mutants.len());
    let is_linearizable = |history: &History| matches!(outcome(history), Outcome::Linearizable(_));
    let refused = refused(&space, is_linearizable, &found, &mutants);
    assert!(refused > 500_000, "{refused}");
}

/// The same with repeated values, where lines state the sources of entries: lines refute all
/// histories that are not linearizable.
#[test]
fn false_refutations_with_repeated_values_are_refused() {
    let spaces = [
        Space::many_writers(1, 3, 2, 4).with_repetitions(),
        Space::many_writers(1, 2, 3, either(4, 5)).with_repetitions(),
        Space::many_writers(2, 2, 2, 4).with_repetitions(),
    ];
    let mut rules: HashMap<&str, usize> = HashMap::new();
    for space in spaces {
        let verdict = |history: &History| {
            let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
            check_by(Checker::Search, history, &mut budget).expect("a search decides")
        };
        let (found, without) = refutations(&space, |history| {
            let report = verdict(history);
            let lines = report.explanation.map(|shown| shown.refutation);
            (report.verdict.name() == "violation").then_some(lines.flatten())
        });
        assert_eq!(without, 0, "each has a derivation");
        for line in found.iter().flat_map(|one| &one.lines) {
            *rules.entry(line.rule.name()).or_default() += 1;
        }
        let step = found.len().div_ceil(2);
        let mutants: Vec<Refutation> = found.iter().step_by(step).flat_map(mutants).collect();
        let sample: Vec<Refutation> = found.iter().step_by(step).cloned().collect();
        let is_linearizable = |history: &History| verdict(history).verdict.name() == "linearizable";
        let refused = refused(&space, is_linearizable, &sample, &mutants);
        assert!(refused > 30_000, "{refused}");
    }
    for rule in ["source", "excluded", "unreadable", "time", "reads", "first", "chain", "block"] {
        assert!(rules[rule] >= either(5, 10), "{rule}: {rules:?}");
    }
}

/// Returns the error of lines, given as the operations that they order and their rule.
fn refusal(history: &History, lines: &[(usize, usize, Rule)]) -> E {
    let id = OperationId::from_index;
    let line = |&(before, after, rule)| Line { before: id(before), after: id(after), rule };
    let lines = lines.iter().map(line).collect();
    refutation::check(history, &Refutation { lines }).unwrap_err()
}

/// Suppositions are used where they hold only, and end in their contrary.
#[test]
fn lines_beyond_their_suppositions_are_refused() {
    use Rule::{Otherwise, Suppose, Time};
    let chain = |first, second| Rule::Chain { first, second };
    // Two updates that overlap, and one without response.
    let history = history(2, "0:u0=1 1:u1=1 2:u0=2 0:ok 1:ok");
    let (a, b, pending) = (0, 1, 2);
    let both = [(a, b, Suppose), (b, a, Suppose), (a, a, chain(0, 1))];
    let beyond = [(a, b, Otherwise), (a, a, chain(0, 1)), (b, a, Otherwise), (a, a, chain(0, 5))];
    let lines = [&both[..], &beyond].concat();
    assert_eq!(refusal(&history, &lines), E::NoSuchLine { line: 4, to: 1 });
    let lines = [&both[..], &[(a, b, Time)]].concat();
    assert_eq!(refusal(&history, &lines), E::AfterContradiction { line: 3 });
    let lines = [&both[..], &[(b, a, Otherwise)]].concat();
    let wrong = |line, rule| E::DoesNotFollow { line, rule };
    assert_eq!(refusal(&history, &lines), wrong(3, "otherwise"));
    for (before, after) in [(a, a), (pending, a), (a, pending)] {
        let lines = [(before, after, Suppose), (after, before, Otherwise)];
        assert_eq!(refusal(&history, &lines), wrong(0, "suppose"));
    }
}

/// A source is excluded as it was supposed, and its exclusion orders nothing.
#[test]
fn excluded_sources_are_no_orders() {
    use Rule::{First, Reads, Time};
    let chain = |first, second| Rule::Chain { first, second };
    let source = |segment| Rule::Source { segment: Segment::from_index(segment) };
    let excluded = |segment| Rule::Excluded { segment: Segment::from_index(segment) };
    // The scan saw the first update, which writes the initial value again.
    let history = history(2, "2:s 0:u0=0 0:ok 1:u1=7 1:ok 2:0,7");
    let (scan, first, second) = (0, 1, 2);
    let contradiction = [
        (scan, scan, source(0)),
        (scan, first, First),
        (first, second, Time),
        (second, scan, Reads),
        (first, scan, chain(2, 3)),
        (scan, scan, chain(1, 4)),
    ];
    let after = |lines: &[_]| refusal(&history, &[&contradiction[..], lines].concat());
    let all = [(scan, scan, excluded(0)), (scan, scan, chain(6, 6))];
    assert_eq!(after(&all[..1]), E::NoContradiction);
    assert_eq!(after(&all), E::NoSuchLine { line: 7, to: 6 });
    for wrong in [(second, scan, excluded(0)), (scan, scan, excluded(1))] {
        assert_eq!(after(&[wrong]), E::DoesNotFollow { line: 6, rule: "excluded" });
    }
    let segment = Segment::from_index(2);
    let beyond = [(scan, scan, Rule::Source { segment })];
    assert_eq!(refusal(&history, &beyond), E::NoSuchSegment { line: 0, segment });
}

/// Returns the refutation with one line left out, or changed.
fn mutants(refutation: &Refutation) -> Vec<Refutation> {
    let mut mutants = Vec::new();
    for at in 0..refutation.lines.len() {
        let mut shorter = refutation.clone();
        shorter.lines.remove(at);
        mutants.push(shorter);
        let line = refutation.lines[at];
        for id in (0..4).map(OperationId::from_index) {
            for other in [
                Line { before: id, ..line },
                Line { after: id, ..line },
                Line { rule: Rule::Time, ..line },
                Line { before: line.after, after: line.before, ..line },
                Line { rule: Rule::Suppose, ..line },
                Line { rule: Rule::Source { segment: Segment::from_index(0) }, before: id, ..line },
                Line {
                    rule: Rule::Excluded { segment: Segment::from_index(0) },
                    before: id,
                    ..line
                },
                Line {
                    rule: Rule::Unreadable { segment: Segment::from_index(0) },
                    before: id,
                    after: id,
                },
            ] {
                let mut mutant = refutation.clone();
                mutant.lines[at] = other;
                mutants.push(mutant);
            }
        }
    }
    mutants
}
