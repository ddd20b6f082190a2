//! Checks the generator: small histories by brute force and by the definitions of the conditions,
//! long ones by their shape.

use std::collections::{BTreeSet, HashMap};

use crate::{oracle, simple_cases};
use corpus::generate::{OwnedAction, OwnedEvent, Recipe, RecipeError, Rule, Style, Violation};
use snapshot_core::history::Outcome;
use snapshot_core::verdict::Reason;
use snapshot_core::{History, OperationId, Segment};

fn styles(segments: usize) -> Vec<Style> {
    let mut styles = vec![Style::Differentiated, Style::SmallDomain(2), Style::SmallDomain(3)];
    if segments >= 2 {
        styles.extend([Style::Simple { i: 0, j: 1 }, Style::Simple { i: segments - 1, j: 0 }]);
    }
    styles
}

fn show(history: &History<i64>) -> String {
    history.events().map(|event| format!("{event:?}\n")).collect()
}

#[test]
fn linearizable_recipes_give_linearizable_histories() {
    for seed in 0..4000 {
        let processes = 1 + seed as usize % 5;
        let segments = 1 + seed as usize / 5 % 4;
        for style in styles(segments) {
            let recipe = Recipe::new(processes, segments, 9, style, seed)
                .with_pending(seed as usize % 4)
                .with_scan_fraction([0.3, 0.5, 0.8][seed as usize % 3]);
            let history = recipe.history().unwrap();
            history.validate();
            assert!(oracle::is_linearizable(&history), "{recipe:?}\n{}", show(&history));
        }
    }
}

#[test]
fn planted_violations_break_exactly_their_rule() {
    let mut checked = 0;
    for seed in 0..600 {
        let processes = 1 + seed as usize % 5;
        let segments = 1 + seed as usize / 5 % 4;
        for rule in Rule::ALL {
            for style in styles(segments) {
                let violation =
                    Violation::new(rule).after([0.0, 0.5, 0.75, 1.0][seed as usize % 4]);
                let recipe = Recipe::new(processes, segments, 10, style, seed)
                    .with_pending(seed as usize % 3)
                    .with_violation(violation);
                let history = match recipe.history() {
                    Ok(history) => history,
                    Err(RecipeError::TooSmall { .. } | RecipeError::BadTarget { .. }) => continue,
                    Err(error) => panic!("{recipe:?}: {error}"),
                };
                assert!(!oracle::is_linearizable(&history), "{recipe:?}\n{}", show(&history));
                if !matches!(style, Style::SmallDomain(_)) {
                    let broken = oracle::broken_rules(&history).unwrap();
                    let expected = BTreeSet::from([rule.name()]);
                    assert_eq!(broken, expected, "{recipe:?}\n{}", show(&history));
                }
                let twin = recipe.twin().history().unwrap();
                assert!(oracle::is_linearizable(&twin), "{recipe:?}\n{}", show(&twin));
                let apart = history.events().zip(twin.events()).filter(|(a, b)| a != b).count();
                assert_eq!((apart, twin.len()), (1, history.len()), "{recipe:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 10_000, "only {checked} recipes could be followed");
}

/// The smallest casts, where every process acts in the script.
#[test]
fn minimal_recipes_succeed_and_smaller_ones_are_refused() {
    for rule in Rule::ALL {
        let (processes, segments) = (rule.processes(), rule.segments());
        for operations in rule.operations()..rule.operations() + 4 {
            for seed in 0..100 {
                let recipe =
                    Recipe::new(processes, segments, operations, Style::Differentiated, seed)
                        .with_violation(Violation::new(rule));
                let history = recipe.history().unwrap();
                assert_eq!(history.operations().len(), operations);
                assert!(!oracle::is_linearizable(&history), "{recipe:?}\n{}", show(&history));
                assert!(oracle::is_linearizable(&recipe.twin().history().unwrap()));
            }
        }
        let follow = |processes, segments, operations| {
            Recipe::new(processes, segments, operations, Style::Differentiated, 0)
                .with_violation(Violation::new(rule))
                .history()
                .map(drop)
        };
        let too_few = rule.operations() - 1;
        assert!(follow(processes, segments, too_few).is_err());
        assert!(follow(processes - 1, segments, 9).is_err());
        assert!(follow(processes, segments - 1, 9).is_err());
    }
}

#[test]
fn simple_cases_are_the_published_cases() {
    for seed in 0..200 {
        for (name, violation) in Violation::simple_cases(1, 2) {
            let recipe = Recipe::new(4, 4, 12, Style::Simple { i: 1, j: 2 }, seed)
                .with_violation(violation.after(0.3));
            let history = recipe.history().unwrap();
            assert!(!oracle::is_linearizable(&history), "{name} {recipe:?}\n{}", show(&history));
            let mut cases = simple_cases::of(&history, 1, 2);
            if name.starts_with("3b-never") {
                // A 1 without a source exceeds the results of all later scans.
                let l = if name.ends_with('i') { "decrease-i" } else { "decrease-j" };
                cases.retain(|case| ![l, "inversion"].contains(case));
            }
            assert_eq!(cases, BTreeSet::from([name]), "{recipe:?}\n{}", show(&history));
        }
    }
}

#[test]
fn styles_restrict_values_as_documented() {
    for seed in 0..50 {
        let simple = Recipe::new(6, 5, 300, Style::Simple { i: 3, j: 1 }, seed).history().unwrap();
        let mut last: HashMap<usize, i64> = HashMap::new();
        for update in simple.operations().iter().filter(|o| !o.is_scan()) {
            let segment = update.segment().unwrap().index();
            let value = *simple.update_value(update);
            assert!(value == 0 || (value == 1 && [1, 3].contains(&segment)));
            assert!(last.insert(segment, value).is_none_or(|previous| previous <= value));
            assert_eq!(update.process().index(), segment, "process k writes segment k");
        }
        let fresh = Recipe::new(4, 6, 300, Style::Differentiated, seed).with_pending(3);
        let fresh = fresh.history().unwrap();
        let mut seen = BTreeSet::from([0]);
        assert!(
            fresh
                .operations()
                .iter()
                .filter(|o| !o.is_scan())
                .all(|o| seen.insert(*fresh.update_value(o)))
        );
        let small = Recipe::new(3, 3, 300, Style::SmallDomain(3), seed).history().unwrap();
        let values: BTreeSet<i64> = small
            .operations()
            .iter()
            .filter(|o| !o.is_scan())
            .map(|o| *small.update_value(o))
            .collect();
        assert_eq!(values, BTreeSet::from([0, 1, 2]));
    }
}

#[test]
fn pending_operations_are_counted_and_varied() {
    let (mut open, mut unknown, mut late) = (0, 0, 0);
    for seed in 0..200 {
        let pending = seed as usize % 9;
        let recipe = Recipe::new(6, 4, 120, Style::Differentiated, seed).with_pending(pending);
        let history = recipe.history().unwrap();
        assert_eq!(history.pending(), pending, "{recipe:?}");
        for update in history.operations() {
            match update.outcome() {
                Outcome::Pending => open += 1,
                Outcome::Unknown { event } => {
                    unknown += 1;
                    let Some(segment) = update.segment() else { continue };
                    let sees = |o: &&snapshot_core::history::Operation| {
                        o.is_scan()
                            && o.is_complete()
                            && history.scan_values(o)[segment.index()]
                                == *history.update_value(update)
                    };
                    let first = history.operations().iter().find(sees);
                    late += usize::from(first.is_some_and(|scan| scan.invocation() > event));
                }
                _ => {}
            }
        }
    }
    assert!(
        open > 100 && unknown > 100 && late > 20,
        "{open} open, {unknown} unknown, {late} late"
    );
}

#[test]
fn operations_overlap() {
    let history = Recipe::new(8, 8, 400, Style::Differentiated, 1).history().unwrap();
    let operations = history.operations();
    let overlapping = operations.windows(2).filter(|pair| !pair[0].precedes(&pair[1])).count();
    assert!(overlapping > 250, "{overlapping} of 399 neighbours overlap");
}

#[test]
fn violations_come_as_late_as_requested() {
    for seed in 0..50 {
        let violation = Violation::new(Rule::Stale).after(0.9);
        let recipe = Recipe::new(5, 4, 1000, Style::Differentiated, seed).with_violation(violation);
        let history = recipe.history().unwrap();
        let twin = recipe.twin().history().unwrap();
        let lie = (0..history.len()).find(|&event| history.event(event) != twin.event(event));
        assert!(lie.unwrap() > 1700, "seed {seed}: the lie is at event {lie:?}");
    }
}

#[test]
fn stream_equals_its_history_and_scans_see_late_updates() {
    let recipe = Recipe::new(8, 6, 500, Style::SmallDomain(3), 3)
        .with_pending(4)
        .with_violation(Violation::new(Rule::Missing));
    let history = recipe.history().unwrap();
    let streamed: Vec<OwnedEvent> = recipe.events().unwrap().collect();
    assert!(history.events().map(OwnedEvent::from).eq(streamed));
    let long = Recipe::new(4, 4, 300_000, Style::Differentiated, 5);
    let mut last = 0;
    let mut count = 0;
    for event in long.events().unwrap() {
        count += 1;
        if let OwnedAction::RespondScan { values } = event.action {
            let sum: i64 = values.iter().sum();
            assert!(sum >= 0);
            last = last.max(sum);
        }
    }
    assert_eq!(count, 600_000);
    assert!(last > 300_000, "late scans see late updates");
}

#[test]
fn events_are_determined_by_recipe_and_seed() {
    let recipe = Recipe::new(5, 4, 80, Style::Differentiated, 11).with_pending(2);
    let events = |recipe: &Recipe| recipe.events().unwrap().collect::<Vec<_>>();
    assert_eq!(events(&recipe), events(&recipe.clone()));
    assert_ne!(events(&recipe), events(&Recipe { seed: 12, ..recipe.clone() }));
}

/// Recorded from version 0.1.0: FNV-1a over the events as numbers.
#[test]
fn digest_of_a_history_is_pinned() {
    let recipe = Recipe::new(5, 4, 200, Style::Differentiated, 42)
        .with_pending(3)
        .with_violation(Violation::new(Rule::Inversion));
    let word = |event: OwnedEvent| -> Vec<i64> {
        let process = event.process.index() as i64;
        match event.action {
            OwnedAction::InvokeUpdate { segment, value } => {
                vec![process, 0, segment.index() as i64, value]
            }
            OwnedAction::InvokeScan => vec![process, 1],
            OwnedAction::RespondUpdate => vec![process, 2],
            OwnedAction::RespondScan { values } => [vec![process, 3], values].concat(),
            OwnedAction::RespondPartialScan { entries } => {
                let entries = entries.iter().flat_map(|(k, value)| [k.index() as i64, *value]);
                [process, 6].into_iter().chain(entries).collect()
            }
            OwnedAction::Fail => vec![process, 4],
            OwnedAction::Unknown => vec![process, 5],
        }
    };
    let bytes = recipe.events().unwrap().flat_map(word).flat_map(i64::to_le_bytes);
    let digest = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(
        digest, 12_029_204_709_769_114_992,
        "a recipe's bytes changed: a breaking change of this crate"
    );
}

#[test]
fn rules_are_named_like_reasons() {
    let (o, s) = (OperationId::from_index(0), Segment::from_index(0));
    let reasons = [
        Reason::NeverWritten { scan: o, segment: s },
        Reason::FailedUpdateSeen { scan: o, update: o },
        Reason::Future { scan: o, update: o },
        Reason::Stale { scan: o, overwriting: o },
        Reason::Decrease { earlier: o, later: o, segment: s },
        Reason::Inversion { first: o, second: o, i: s, j: s },
        Reason::Missing { scan: o, seen: o, missing: o },
    ];
    assert!(Rule::ALL.iter().map(|rule| rule.name()).eq(reasons.iter().map(Reason::name)));
    assert!(Rule::ALL.into_iter().all(|rule| Rule::from_name(rule.name()) == Some(rule)));
}

#[test]
fn impossible_recipes_are_refused() {
    let plain = |processes, segments, style| Recipe::new(processes, segments, 9, style, 0);
    let fresh = Style::Differentiated;
    for (recipe, message) in [
        (plain(0, 1, fresh), "from 1 to 1048576 processes, found 0"),
        (plain(1, 0, fresh), "from 1 to 65536 segments, found 0"),
        (plain(1, 1 << 17, fresh), "segments, found 131072"),
        (plain(2, 2, Style::SmallDomain(0)), "values, found 0"),
        (plain(2, 2, Style::Simple { i: 1, j: 1 }), "expected two different segments"),
        (plain(2, 2, Style::Simple { i: 0, j: 2 }), "the segments are 0 to 1"),
        (plain(2, 2, fresh).with_scan_fraction(f64::NAN), "a share, from 0 to 1, found NaN"),
        (
            plain(2, 2, fresh).with_violation(Violation::new(Rule::Stale).after(1.5)),
            "a share, from 0 to 1, found 1.5",
        ),
        (
            plain(2, 2, fresh).with_violation(Violation::new(Rule::Missing)),
            "at least 3 processes, found 2; ask for more",
        ),
        (
            plain(3, 3, Style::Simple { i: 0, j: 1 })
                .with_violation(Violation::new(Rule::Stale).at(2, 0)),
            "cannot be broken at segments 2 and 0",
        ),
        (
            plain(3, 3, fresh).with_violation(Violation::new(Rule::Missing).at(1, 1)),
            "cannot be broken at segments 1 and 1",
        ),
        (
            plain(3, 4, fresh).with_violation(Violation::new(Rule::Stale).at(3, 0)),
            "cannot be broken at segments 3 and 0: they",
        ),
    ] {
        let error = recipe.history().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
