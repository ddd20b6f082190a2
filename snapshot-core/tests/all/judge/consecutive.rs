//! Histories without a cycle that no order of the scans explains.
//!
//! Such histories are rare among random ones (the smallest has 8 operations, all concurrent), so
//! they are constructed: vectors whose columns are not *consecutive* in any order of the rows.

use snapshot_core::History;
use snapshot_core::check::decide;
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::saturation::{self, Outcome};
use snapshot_core::search::{self, Budget};
use snapshot_core::verdict::Reason;
use test_support::effort::either;

use crate::judge::checkers::agreed_verdict;

/// All operations concurrent: updates 1..=values of each segment, and these scans.
fn concurrent(segments: usize, values: i64, scans: &[Vec<i64>]) -> History<i64> {
    let updates: Vec<i64> = (1..=values).collect();
    concurrent_with(&vec![updates; segments], scans)
}

/// All operations concurrent: these updates of each segment, and these scans.
fn concurrent_with(updates: &[Vec<i64>], scans: &[Vec<i64>]) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(updates.len()).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("a valid declaration");
    let mut process = 0;
    for (segment, values) in updates.iter().enumerate() {
        for &value in values {
            history.invoke_update(process, segment, value).expect("the events are a history");
            process += 1;
        }
    }
    let first = process;
    for _ in scans {
        history.invoke_scan(process).expect("the events are a history");
        process += 1;
    }
    for (scan, values) in scans.iter().enumerate() {
        history.respond_scan(first + scan, values).expect("the events are a history");
    }
    for update in 0..first {
        history.respond_update(update).expect("the events are a history");
    }
    history.finish()
}

fn reason(history: &History<i64>) -> Option<Reason> {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    match saturation::check(history, &mut budget) {
        Outcome::Violation { witness, .. } => Some(witness.reason),
        Outcome::Linearizable(_) => None,
        other => panic!("{other:?}"),
    }
}

/// The smallest case that the cycles miss, and its twin without one scan.
#[test]
fn smallest_history_without_a_cycle() {
    let square = [vec![1, 1], vec![1, 2], vec![2, 2], vec![2, 1]];
    let history = concurrent(2, 2, &square);
    assert!(!agreed_verdict(&history));
    assert_eq!(reason(&history), Some(Reason::Ordering));
    for left_out in 0..4 {
        let mut scans = square.to_vec();
        scans.remove(left_out);
        let history = concurrent(2, 2, &scans);
        assert!(agreed_verdict(&history));
    }
}

/// All sets of three to six vectors over two segments with three values each, and
/// over three segments with two: exact search decides which have an order.
#[test]
fn all_sets_of_few_vectors() {
    let (mut orderings, mut linearizable) = (0, 0);
    for (segments, values, most) in [(2, 3, 5), (3, 2, 5)] {
        let vectors: Vec<Vec<i64>> = (0..i64::pow(values, segments as u32))
            .map(|code| {
                (0..segments).map(|k| code / i64::pow(values, k as u32) % values + 1).collect()
            })
            .collect();
        for set in 0..1_u32 << vectors.len() {
            if !(3..=most).contains(&set.count_ones()) {
                continue;
            }
            let scans: Vec<Vec<i64>> = (0..vectors.len())
                .filter(|k| set >> k & 1 == 1)
                .map(|k| vectors[k].clone())
                .collect();
            let history = concurrent(segments, values, &scans);
            let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
            let expected =
                matches!(search::search(&history, &mut budget), search::Outcome::Linearizable(_));
            let reason = reason(&history);
            assert_eq!(reason.is_none(), expected, "{scans:?}");
            linearizable += usize::from(expected);
            orderings += usize::from(reason == Some(Reason::Ordering));
        }
    }
    assert!(orderings >= 100 && linearizable >= 200, "{orderings} {linearizable}");
}

/// A ring of values has no order, however long; a path has one.
#[test]
fn rings() {
    for length in [2, 3, 10, 30].into_iter().take(either(3, 4)) {
        let next = |k: i64| k % length + 1;
        let ring: Vec<Vec<i64>> =
            (1..=length).flat_map(|k| [vec![k, k], vec![k, next(k)]]).collect();
        assert_eq!(reason(&concurrent(2, length, &ring)), Some(Reason::Ordering));
        assert_eq!(reason(&concurrent(2, length, &ring[1..])), None);
    }
}

/// A ring of k values: no order of its 2k scans makes the readers of each value consecutive, and
/// any 2k - 1 of them have one. Renamed to two values, in any of 4^k ways, it is linearizable: with
/// many writers, histories of two values do not suffice to find a violation.
#[test]
fn no_renaming_of_a_ring_to_two_values_is_a_violation() {
    let is_linearizable = |history: &History<i64>| {
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        decide(history, &mut budget).expect("there is no limit")
    };
    let mut renamings = Vec::new();
    for k in 2..=4_i64 {
        let scans: Vec<Vec<i64>> =
            (0..k).flat_map(|at| [vec![at + 1, at + 1], vec![at + 1, (at + 1) % k + 1]]).collect();
        assert!(!is_linearizable(&concurrent(2, k, &scans)), "{k} values");
        for left_out in 0..scans.len() {
            let mut fewer = scans.clone();
            fewer.remove(left_out);
            assert!(is_linearizable(&concurrent(2, k, &fewer)), "{k} values, {left_out}");
        }
        let mut count = 0;
        for renaming in 0..1_i64 << (2 * k) {
            // One bit per value of each segment; the initial value is 0.
            let renamed =
                |segment: usize, value: i64| renaming >> (k * segment as i64 + value - 1) & 1;
            let updates = [0, 1]
                .map(|segment| (1..=k).map(|value| renamed(segment, value)).collect::<Vec<_>>());
            let scans = scans.iter().map(|scan| vec![renamed(0, scan[0]), renamed(1, scan[1])]);
            let history = concurrent_with(&updates, &scans.collect::<Vec<_>>());
            assert!(is_linearizable(&history), "{k} values, renaming {renaming:b}");
            count += 1;
        }
        renamings.push(count);
    }
    assert_eq!(renamings, [16, 64, 256]);
}
