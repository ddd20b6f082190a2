//! The hand-written cases are complete, well-formed, paired and right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use corpus::generate::Rule;
use corpus::{Case, Expected, twins};
use snapshot_core::History;

use crate::oracle;
use crate::text::{self, Value};

fn history(case: &Case) -> History<Value> {
    text::parse(case.source).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

#[test]
fn list_matches_the_directory() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("histories/twins");
    let mut files: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut listed: Vec<String> = twins().iter().map(|case| format!("{}.txt", case.name)).collect();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn brute_force_agrees_with_every_expectation() {
    for case in twins() {
        let history = history(&case);
        history.validate();
        let answer = oracle::is_linearizable(&history);
        assert_eq!(answer, case.expected.is_linearizable(), "{}: {}", case.name, case.about);
    }
}

#[test]
fn bad_cases_break_their_rule_alone() {
    // Repeated or overlapping updates, with one candidate each by real time. These tests have no
    // numbering for them, so only brute force judges them.
    let beyond_numbering = BTreeSet::from(["ambiguous-narrowed-bad"]);
    for case in twins() {
        let expected = match case.expected {
            Expected::Linearizable => BTreeSet::new(),
            Expected::Violation { reason } => reason.into_iter().collect(),
        };
        match oracle::broken_rules(&history(&case)) {
            Some(broken) => assert_eq!(broken, expected, "{}", case.name),
            None => assert!(
                case.expected.is_linearizable()
                    || expected == BTreeSet::from(["cycle"])
                    || expected == BTreeSet::from(["no-order"])
                    || beyond_numbering.contains(case.name),
                "{} cannot be numbered",
                case.name
            ),
        }
    }
}

#[test]
fn bad_cases_name_their_rule() {
    for case in twins() {
        assert_ne!(case.expected, Expected::Violation { reason: None }, "{}", case.name);
    }
}

#[test]
fn every_rule_has_a_case() {
    let reasons: BTreeSet<_> = twins()
        .iter()
        .filter_map(|case| match case.expected {
            Expected::Violation { reason } => reason,
            Expected::Linearizable => None,
        })
        .collect();
    let rules: BTreeSet<_> =
        Rule::ALL.iter().map(|rule| rule.name()).chain(["cycle", "no-order"]).collect();
    assert_eq!(reasons, rules);
}

#[test]
fn twins_are_one_event_apart_and_disagree() {
    let all = twins();
    let by_name: BTreeMap<_, _> = all.iter().map(|case| (case.name, case)).collect();
    let mut alone = Vec::new();
    for case in &all {
        let Some(twin) = case.twin else {
            alone.push(case.name);
            continue;
        };
        let twin = by_name.get(twin).unwrap_or_else(|| panic!("{}: no case {twin}", case.name));
        assert_eq!(twin.twin, Some(case.name), "twins name each other");
        let answers = (case.expected.is_linearizable(), twin.expected.is_linearizable());
        assert_ne!(answers.0, answers.1, "{}", case.name);
        assert_eq!(case.name.ends_with("-good"), answers.0, "{}", case.name);
        let (here, there) = (text::events(case.source), text::events(twin.source));
        assert!(one_apart(&here, &there), "{}: {here:?} {there:?}", case.name);
    }
    assert_eq!(alone, ["empty", "empty-declared", "no-scan"]);
}

/// Returns true if one event was replaced, moved, added or removed.
fn one_apart(a: &[String], b: &[String]) -> bool {
    let without = |events: &[String], skipped: usize| -> Vec<String> {
        let kept = events.iter().enumerate().filter(|(index, _)| *index != skipped);
        kept.map(|(_, event)| event.clone()).collect()
    };
    a != b
        && (0..=a.len()).any(|i| {
            let rest = without(a, i);
            (0..=b.len()).any(|j| rest == without(b, j))
        })
}

#[test]
fn one_apart_is_strict() {
    let events = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let base = events("a b c d");
    for near in ["a x c d", "b c a d", "a b d", "a b c d e"] {
        assert!(one_apart(&base, &events(near)), "{near}");
    }
    for far in ["a b c d", "a x y d", "d c b a", "a"] {
        assert!(!one_apart(&base, &events(far)), "{far}");
    }
}
