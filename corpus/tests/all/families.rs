//! The families have the announced sizes, shapes and verdicts.

use std::collections::{BTreeMap, BTreeSet};

use corpus::Expected;
use corpus::family::{cases_in_turn, hard, published, published_non_linearizable};

use crate::{oracle, simple_cases};

#[test]
fn published_members_have_their_shape_and_verdict() {
    let judge = |history: &_| simple_cases::of(history, 0, 1).is_empty();
    let mut names = BTreeSet::new();
    let mut good = 0;
    for member in published(judge) {
        let numbers: Vec<usize> =
            member.name.split('-').filter_map(|part| part.parse().ok()).collect();
        let history = &member.history;
        assert_eq!(history.processes(), numbers[0], "{}", member.name);
        assert_eq!(history.segments(), numbers[0]);
        assert_eq!(history.operations().len(), numbers[1]);
        assert_eq!(history.len(), 2 * numbers[1], "everything responds");
        let cases = simple_cases::of(history, 0, 1);
        assert_eq!(cases.is_empty(), member.expected.is_linearizable(), "{}", member.name);
        assert_eq!(member.name.starts_with("linearizable"), member.expected.is_linearizable());
        good += usize::from(member.expected.is_linearizable());
        names.insert(member.name);
    }
    assert_eq!((names.len(), good), (900, 450));
}

#[test]
fn published_recipe_tampers_only_near_the_end() {
    let judge = |history: &_| simple_cases::of(history, 0, 1).is_empty();
    let history = published_non_linearizable(5, 100, 3, judge);
    assert!(simple_cases::of(&history.prefix(180), 0, 1).is_empty());
}

#[test]
#[should_panic(expected = "the judge must call some history non-linearizable")]
fn judge_that_accepts_everything_panics() {
    published_non_linearizable(3, 5, 0, |_| true);
}

#[test]
fn cases_in_turn_show_each_simple_case() {
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for member in cases_in_turn() {
        let size = member.recipe();
        let case = member.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let cases = simple_cases::of(&member.history(), 0, 1);
        assert!(cases.contains(case), "{} shows {cases:?}", member.name);
        let only = cases.len() == 1 || case.starts_with("3b-never");
        assert!(only, "{} shows {cases:?}", member.name);
        assert_eq!(member.history().len(), 2 * size.operations);
        *turns.entry(case.to_owned()).or_default() += 1;
        names.insert(member.name);
    }
    assert_eq!((names.len(), turns.len()), (450, 11));
    assert!(turns.values().all(|&count| count >= 40), "{turns:?}");
}

#[test]
fn hard_members_come_with_twins_one_event_away() {
    let members: Vec<_> = hard().collect();
    let names: BTreeSet<_> = members.iter().map(|member| &member.name).collect();
    assert_eq!((members.len(), names.len()), (212, 212));
    for pair in members.chunks(2) {
        let [bad, good] = pair else { panic!("members come in pairs") };
        assert_eq!(format!("{}-twin", bad.name), good.name);
        assert!(!bad.expected().is_linearizable() && good.expected().is_linearizable());
        let (bad_history, good_history) = (bad.history(), good.history());
        let apart: Vec<usize> = (0..bad_history.len())
            .filter(|&event| bad_history.event(event) != good_history.event(event))
            .collect();
        assert_eq!((apart.len(), good_history.len()), (1, bad_history.len()), "{}", bad.name);
        let share = apart[0] as f64 / bad_history.len() as f64;
        assert!(share > 0.9, "{}: the lie comes after {share} of the events", bad.name);
        if bad.recipe().pending > 0 {
            assert!(bad_history.pending() > 0, "{}", bad.name);
        }
    }
}

#[test]
fn hard_verdicts_of_small_members_agree_with_the_definition() {
    let mut checked = 0;
    for member in hard().filter(|member| member.recipe().operations <= 500) {
        let broken = oracle::broken_rules(&member.history()).unwrap();
        let expected = match member.expected() {
            Expected::Violation { reason } => reason.into_iter().collect(),
            Expected::Linearizable => BTreeSet::new(),
        };
        assert_eq!(broken, expected, "{}", member.name);
        checked += 1;
    }
    assert_eq!(checked, 56);
}
