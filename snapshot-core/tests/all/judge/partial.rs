//! Partial scans: all small histories, larger ones at random, hard ones by construction.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::certificate::{linearization, refutation};
use snapshot_core::check::{Checker, check, check_by};
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::saturation::{self, Outcome};
use snapshot_core::search::{self, Budget};
use snapshot_core::verdict::{Method, Rule, Verdict};
use snapshot_core::{History, OperationId};
use test_support::effort::{either, is_night, is_slow};

use crate::judge::cases;
use crate::judge::checkers::{agreed_verdict, drawing};
use crate::judge::enumeration::Space;
use crate::judge::exhaustive::exhaust_by;
use crate::judge::random::{Shape, Values, perturbed, runs};
use crate::judge::recording::Recording;

/// All operations concurrent: updates 1..=values of each segment, and these scans.
pub fn concurrent(segments: usize, values: i64, scans: &[Vec<(usize, i64)>]) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(segments).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("a valid declaration");
    let updates = segments * values as usize;
    for (process, segment) in (0..updates).map(|process| (process, process % segments)) {
        let value = (process / segments) as i64 + 1;
        history.invoke_update(process, segment, value).expect("the events are a history");
    }
    for scan in 0..scans.len() {
        history.invoke_scan(updates + scan).expect("the events are a history");
    }
    for (scan, entries) in scans.iter().enumerate() {
        history.respond_partial_scan(updates + scan, entries).expect("the events are a history");
    }
    for update in 0..updates {
        history.respond_update(update).expect("the events are a history");
    }
    history.finish()
}

fn is_linearizable(history: &History<i64>) -> bool {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    matches!(search::search(history, &mut budget), search::Outcome::Linearizable(_))
}

/// Returns the answer by the relation; its proof must pass.
fn by_saturation(history: &History<i64>) -> (bool, Vec<Rule>) {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    match saturation::check(history, &mut budget) {
        Outcome::Linearizable(order) => {
            linearization::check(history, &order).expect("it is an order");
            (true, Vec::new())
        }
        Outcome::Violation { refutation: lines, .. } => {
            let lines = lines.expect("all values were written");
            refutation::check(history, &lines)
                .unwrap_or_else(|e| panic!("{e}: {lines:?} of {}", drawing(history)));
            (false, lines.lines.iter().map(|line| line.rule).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_small_histories() {
    let mut cases = vec![
        (Space::many_writers(3, 2, 2, 3).with_gaps(), (42_617, 28_253)),
        (Space::binary(2, 2, 3).with_gaps(), (5_105, 3_913)),
    ];
    if is_slow() {
        let faults = Space::many_writers(2, 3, 1, 3).with_gaps().with_faults();
        cases.push((faults, (89_277, 74_883)));
    }
    if is_night() {
        cases.extend([
            (Space::many_writers(2, 2, 2, 4).with_gaps(), (178_811, 69_389)),
            (Space::differentiated(2, 2, 4).with_gaps(), (67_045, 27_399)),
            (Space::many_writers(3, 3, 1, 3).with_gaps().with_faults(), (379_117, 309_097)),
        ]);
    }
    cases.iter().for_each(|case| exhaust_by(case, 1));
}

fn shapes() -> impl Strategy<Value = Shape> {
    (2..5_usize, 0..4_usize, any::<bool>(), any::<(bool, bool)>()).prop_map(
        |(segments, scanners, is_many, (failures, losses))| Shape {
            segments,
            scanners,
            writers: if is_many { Writers::Many } else { Writers::Single },
            values: Values::Differentiated,
            failures,
            losses,
        },
    )
}

fn with_gaps(history: &History<i64>, tape: &[bool]) -> History<i64> {
    let mut recording = Recording::of(history);
    recording.leave_gaps(tape);
    recording.history()
}

fn gaps() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.6), 1..50)
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn runs_with_gaps_are_linearizable(run in runs(shapes(), 70), tape in gaps()) {
        let history = with_gaps(&run.history, &tape);
        linearization::check(&history, &run.effects).unwrap();
        prop_assert!(agreed_verdict(&history));
    }

    #[test]
    fn checkers_agree_on_falsified_runs_with_gaps(
        history in perturbed(shapes(), 60),
        tape in gaps(),
    ) {
        agreed_verdict(&with_gaps(&history, &tape));
    }
}

/// The smallest case known in which a choice has to be taken back (`saturation::schedule` counts
/// it), and a larger one without a wrong choice.
#[test]
fn five_partial_scans_of_overlapping_updates_are_linearizable() {
    let least: [&[(usize, i64)]; 5] = [
        &[(1, 1), (2, 1)],
        &[(0, 1), (2, 2)],
        &[(0, 2), (1, 2)],
        &[(0, 2), (1, 1)],
        &[(1, 2), (2, 1)],
    ];
    assert!(agreed_verdict(&concurrent(3, 2, &least.map(<[_]>::to_vec))));
    let larger: [&[(usize, i64)]; 5] = [
        &[(0, 1), (1, 2), (3, 1)],
        &[(0, 2), (1, 1), (2, 2), (3, 1)],
        &[(1, 1), (2, 1), (3, 2)],
        &[(2, 1)],
        &[(0, 1)],
    ];
    assert!(agreed_verdict(&concurrent(4, 2, &larger.map(<[_]>::to_vec))));
}

/// Betweenness: scan b is between scans a and c.
fn between(triples: &[(usize, usize, usize)], elements: usize) -> History<i64> {
    let mut scans = vec![Vec::new(); elements];
    for (number, &(a, b, c)) in triples.iter().enumerate() {
        for (segment, pair, other) in [(2 * number, [a, b], c), (2 * number + 1, [b, c], a)] {
            pair.into_iter().for_each(|scan| scans[scan].push((segment, 1)));
            scans[other].push((segment, 2));
        }
    }
    concurrent(2 * triples.len(), 2, &scans)
}

/// Returns true if some order of the elements has the second of each triple between the others.
fn has_order(triples: &[(usize, usize, usize)], elements: usize) -> bool {
    fn extend(order: &mut Vec<usize>, elements: usize, triples: &[(usize, usize, usize)]) -> bool {
        if order.len() == elements {
            let place = |x| order.iter().position(|y| *y == x);
            return triples.iter().all(|&(a, b, c)| {
                let (a, b, c) = (place(a), place(b), place(c));
                (a < b && b < c) || (c < b && b < a)
            });
        }
        (0..elements).any(|next| {
            if order.contains(&next) {
                return false;
            }
            order.push(next);
            let found = extend(order, elements, triples);
            order.pop();
            found
        })
    }
    extend(&mut Vec::new(), elements, triples)
}

/// The reduction of `docs/many-writers.md`, against all orders of the elements.
#[test]
fn betweenness() {
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(Just([0, 1, 2, 3, 4, 5, 6, 7]).prop_shuffle(), 4..14);
    let (mut satisfiable, mut with_suppositions, mut nested) = (0, 0, 0);
    for _ in 0..either(120, 300) {
        let triples = strategy.new_tree(&mut runner).expect("no rejection").current();
        let triples: Vec<(usize, usize, usize)> =
            triples.iter().map(|order| (order[0], order[1], order[2])).collect();
        let history = between(&triples, 8);
        let expected = has_order(&triples, 8);
        let (found, rules) = by_saturation(&history);
        assert_eq!(found, expected, "{triples:?}");
        satisfiable += usize::from(found);
        let supposed = rules.iter().filter(|rule| **rule == Rule::Suppose).count();
        with_suppositions += usize::from(supposed > 0);
        nested += usize::from(supposed > 1);
    }
    assert!((either(20, 50)..either(100, 250)).contains(&satisfiable), "{satisfiable}");
    let least = either((20, 2), (50, 5));
    assert!(with_suppositions >= least.0 && nested >= least.1, "{with_suppositions} {nested}");
}

/// Sets of a few scans of two or three of four segments, all concurrent: the exact search decides
/// which have an order.
#[test]
fn few_concurrent_scans() {
    let mut runner = TestRunner::deterministic();
    let scan = prop::collection::vec((0..4_usize, 1..3_i64), 2..6);
    let strategy = prop::collection::vec(scan, 5..11);
    let (mut linearizable, mut supposed) = (0, 0);
    for _ in 0..either(800, 2_000) {
        let mut scans = strategy.new_tree(&mut runner).expect("no rejection").current();
        for scan in &mut scans {
            scan.sort_unstable();
            scan.dedup_by_key(|entry| entry.0);
        }
        let history = concurrent(4, 2, &scans);
        let expected = is_linearizable(&history);
        let (found, rules) = by_saturation(&history);
        assert_eq!(found, expected, "{scans:?}");
        linearizable += usize::from(found);
        supposed += usize::from(rules.contains(&Rule::Suppose));
    }
    let least = either((120, 80), (300, 200));
    assert!(linearizable >= least.0 && supposed >= least.1, "{linearizable} {supposed}");
}

/// Reads of one segment each are full scans of objects of one segment.
#[test]
fn reads_of_single_segments_need_no_search() {
    let mut runner = TestRunner::deterministic();
    let strategy = runs(shapes().prop_map(|shape| Shape { losses: false, ..shape }), 400);
    let mut single = 0;
    for _ in 0..100 {
        let run = strategy.new_tree(&mut runner).expect("no rejection").current();
        let mut recording = Recording::of(&run.history);
        recording.keep_one_entry();
        let history = recording.history();
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        let report = check(&history, &mut budget);
        assert!(matches!(report.verdict, Verdict::Linearizable(_)), "{}", drawing(&history));
        assert_ne!(report.method, Method::Search);
        if history.writers() == Writers::Single && history.has_partial_scans() {
            assert_eq!(report.method, Method::Linear);
            let by_conditions = check_by(Checker::Linear, &history, &mut budget).expect("decided");
            assert_eq!(by_conditions.verdict, report.verdict);
            single += 1;
        }
    }
    assert!(single > 20, "{single}");
}

/// A violation in one of two components is reported in terms of the whole history.
#[test]
fn first_violation_of_all_components_is_reported() {
    let declaration = Declaration::new(0).with_segments(4);
    let mut history = History::builder(declaration).unwrap();
    let read = |history: &mut snapshot_core::history::HistoryBuilder<i64>, entries: &[_]| {
        history.invoke_scan(9).unwrap();
        history.respond_partial_scan(9, entries).unwrap();
    };
    for segment in [3, 1] {
        history.invoke_update(segment, segment, 5).unwrap();
        history.respond_update(segment).unwrap();
    }
    read(&mut history, &[(1, 5), (2, 0)]);
    read(&mut history, &[(1, 0), (2, 0)]);
    read(&mut history, &[(0, 0), (3, 0)]);
    let history = history.finish();
    let report = check(&history, &mut Budget { memory: 1 << 20, proceed: &mut || true });
    assert_eq!(report.decided_at, Some(7));
    let Verdict::Violation(witness) = &report.verdict else { panic!("{report:?}") };
    assert_eq!(witness.segments, [snapshot_core::Segment::from_index(1)]);
    assert!(witness.operations.contains(&OperationId::from_index(3)), "{witness:?}");
    snapshot_core::certificate::witness::check(&history, witness).unwrap();
    let explanation = report.explanation.expect("an explanation");
    assert_eq!(explanation.operations.last().map(|operation| operation.invocation), Some(6));
}
