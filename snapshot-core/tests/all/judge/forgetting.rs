//! A relation that forgets its past against one that keeps everything: the same
//! verdict, at the same event.

use std::collections::VecDeque;

use snapshot_core::History;
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::saturation::{Forgotten, Saturation};
use test_support::effort::either;

use crate::judge::{checkers, sketch};

/// The run contains only possible events.
const POSSIBLE: &str = "an event that can happen here";

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }

    /// Returns true once in this many times; 0: never.
    fn once_in(&mut self, times: usize) -> bool {
        times > 0 && self.below(times) == 0
    }
}

/// Both relations agree on all prefixes. Returns the count of forgotten operations, and whether
/// there is an alarm. `is_time` chooses the events at which the past is forgotten.
fn compare(
    history: &History<i64>,
    mut is_time: impl FnMut() -> bool,
) -> (Forgotten, Option<usize>) {
    let mut forgetful = Saturation::new(history.declaration());
    let mut remembering = Saturation::new(history.declaration()).remembering();
    let mut alarm = None;
    for (position, event) in history.events().enumerate() {
        if is_time() && forgetful.conflict().is_none() {
            forgetful.forget();
        }
        let found = (forgetful.observe(&event), remembering.observe(&event));
        // Where values repeat, forgetting leaves fewer candidates: it may find more.
        let is_alike = found.0.is_some() == found.1.is_some()
            || found.0.is_some() && remembering.is_ambiguous();
        assert!(is_alike, "{found:?} at {position} of {}", checkers::drawing(history));
        if found.0.is_some() {
            alarm = Some(position);
            break;
        }
    }
    assert_eq!(remembering.forgotten(), Forgotten::default());
    (forgetful.forgotten(), alarm)
}

/// The ingredients of a random history.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub segments: usize,
    pub processes: usize,
    pub events: usize,
    /// One in this many updates ends without known outcome, fails, repeats a value.
    pub unknown: usize,
    pub failed: usize,
    pub repeated: usize,
    /// One in this many entries is replaced by another recent value.
    pub wrong: usize,
}

/// A run of a snapshot object whose operations take effect at random moments, some entries
/// of its scans replaced.
pub fn history(shape: Shape, draw: &mut Draw) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(shape.segments).with_writers(Writers::Many);
    let mut builder = History::builder(declaration).expect("a sound declaration");
    let mut values = vec![0; shape.segments];
    let mut recent: Vec<VecDeque<i64>> = vec![VecDeque::from([0]); shape.segments];
    // For each process: an update that has not taken effect, or the result of a scan, if it has.
    enum Open {
        Update { segment: usize, value: i64, has_effect: bool },
        Scan(Option<Vec<i64>>),
    }
    let mut open: Vec<Option<Open>> = (0..shape.processes).map(|_| None).collect();
    let mut floating: Vec<(usize, i64)> = Vec::new();
    let mut next = 0;
    for _ in 0..shape.events {
        let process = draw.below(shape.processes);
        // Unknown updates may take effect at any time.
        if !floating.is_empty() && draw.once_in(6) {
            let (segment, value) = floating.swap_remove(draw.below(floating.len()));
            values[segment] = value;
        }
        match open[process].take() {
            None if draw.once_in(2) => {
                let segment = draw.below(shape.segments);
                let value = if draw.once_in(shape.repeated) {
                    recent[segment][draw.below(recent[segment].len())]
                } else {
                    next += 1;
                    next
                };
                recent[segment].push_back(value);
                if recent[segment].len() > 4 {
                    recent[segment].pop_front();
                }
                builder.invoke_update(process, segment, value).expect(POSSIBLE);
                open[process] = Some(Open::Update { segment, value, has_effect: false });
            }
            None => {
                builder.invoke_scan(process).expect(POSSIBLE);
                open[process] = Some(Open::Scan(None));
            }
            Some(Open::Update { segment, value, has_effect: false }) => {
                if draw.once_in(shape.failed) {
                    builder.fail(process).expect(POSSIBLE);
                } else if draw.once_in(shape.unknown) {
                    builder.unknown(process).expect(POSSIBLE);
                    floating.push((segment, value));
                } else {
                    values[segment] = value;
                    open[process] = Some(Open::Update { segment, value, has_effect: true });
                }
            }
            Some(Open::Update { .. }) => {
                if draw.once_in(shape.unknown) {
                    builder.unknown(process).expect(POSSIBLE);
                } else {
                    builder.respond_update(process).expect(POSSIBLE);
                }
            }
            Some(Open::Scan(None)) => {
                let mut seen = values.clone();
                for (value, recent) in seen.iter_mut().zip(&recent) {
                    if draw.once_in(shape.wrong) {
                        *value = recent[draw.below(recent.len())];
                    }
                }
                open[process] = Some(Open::Scan(Some(seen)));
            }
            Some(Open::Scan(Some(seen))) => {
                builder.respond_scan(process, &seen).expect(POSSIBLE);
            }
        }
    }
    builder.finish()
}

fn compare_many(shape: Shape, count: u64) -> (u64, Forgotten) {
    let (mut alarms, mut total) = (0, Forgotten::default());
    for seed in 0..count {
        let mut draw = Draw(seed);
        let history = history(shape, &mut draw);
        // At each event, or only at some.
        let one_in = [1, 1, 3, 10][seed as usize % 4];
        let (forgotten, alarm) = compare(&history, || draw.once_in(one_in));
        alarms += u64::from(alarm.is_some());
        total.operations += forgotten.operations;
        total.values += forgotten.values;
    }
    (alarms, total)
}

const PLAIN: Shape =
    Shape { segments: 2, processes: 4, events: 120, unknown: 0, failed: 0, repeated: 0, wrong: 30 };

#[test]
fn forgetting_changes_no_verdict() {
    let shapes = [
        PLAIN,
        Shape { segments: 1, ..PLAIN },
        Shape { segments: 3, processes: 6, ..PLAIN },
        Shape { segments: 3, processes: 10, events: 200, wrong: 60, ..PLAIN },
        Shape { unknown: 8, failed: 12, ..PLAIN },
        Shape { segments: 3, processes: 5, unknown: 4, failed: 12, events: 200, ..PLAIN },
        Shape { unknown: 20, failed: 20, repeated: 6, ..PLAIN },
        Shape { wrong: 0, events: 400, unknown: 20, failed: 20, ..PLAIN },
    ];
    for shape in shapes {
        let (alarms, forgotten) = compare_many(shape, either(250, 600));
        assert!(alarms > either(25, 60) || shape.wrong == 0 && alarms == 0, "{shape:?}: {alarms}");
        assert!(forgotten.operations > either(800, 2_000), "{shape:?}: {forgotten:?}");
        assert!(forgotten.values > either(300, 800), "{shape:?}: {forgotten:?}");
    }
}

/// Scan 9 shares the block of value 2 with a kept scan (1), and both together decide that 1 comes
/// after 2, so that 4, which scan 1 saw, is not written behind the values that scan 0 saw. Scan 9
/// must not be forgotten only because no later scan can return a value that it saw.
#[test]
fn old_scans_that_decide_later_orders_are_kept() {
    // x (0) returns 1, 3, 5; y (1) returns 2, 4, 5; they overlap with all but the last operations.
    let before = "0:s 1:s 2:u0=1 3:u1=3 4:u1=4 5:u2=5 \
                  6:u0=2 7:u1=6 8:u2=7 6:ok 7:ok 8:ok 9:s 9:2,6,7 6:u2=8 6:ok 7:u1=9 7:ok \
                  0:1,3,5 1:2,4,5 2:ok 3:ok 4:ok 5:ok 6:u0=10 6:ok";
    let good = sketch::history(3, &format!("{before} 9:s 9:10,3,5"));
    let (_, alarm) = compare(&good, || true);
    assert_eq!(alarm, None);
    assert!(checkers::agreed_verdict_at_length(&good) != Some(false));
    // 4 was written last: then y is after x, and 2 after 1; but 2 was returned before 8 was written.
    let bad = sketch::history(3, &format!("{before} 9:s 9:10,4,5"));
    let (_, alarm) = compare(&bad, || true);
    assert_eq!(alarm, Some(bad.len() - 1));
}

/// Compares, with forgetting at each event. Returns the event of the alarm.
fn alarm(segments: usize, events: &str) -> Option<usize> {
    compare(&sketch::history(segments, events), || true).1
}

/// Condition 1: scan 4 saw only values of decided order, but update 2 comes before it, and 0 is
/// written by it or by 4 (value 2 or 4 of segment 0). Forgetting the scan would lose the successors
/// of the update.
#[test]
fn successors_of_undecided_operations_are_kept() {
    let before = "4:u1=1 4:ok 0:u0=2 4:s 0:ok 0:u0=4 0:ok 3:u1=6 2:s 4:0,1";
    assert_eq!(alarm(2, &format!("{before} 2:0,6")), Some(10));
    assert_eq!(alarm(2, &format!("{before} 2:4,6")), None);
}

/// Condition 2, for all operations of a block: scans 9, 10 and 11 saw only values overwritten
/// since, but scan 12, whose position is undecided, shares two blocks with them (3 of segment 0, 4
/// of segment 1). If it comes after them, then by one of these 11 comes before 9, and by the other
/// 10 comes before 11; but 9 came before 10.
#[test]
fn scans_sharing_a_block_with_an_undecided_scan_are_kept() {
    let updates = "0:u0=1 1:u0=2 2:u0=3 3:u1=4 4:u1=5 5:u2=6 6:u2=7 7:u2=8 8:u2=9";
    let scans = "11:s 12:s 9:s 9:1,4,6 10:s 10:2,4,7 11:3,5,8";
    let later = "13:u0=10 14:u1=11 15:u2=12 12:3,4,9";
    let ends: String = (0..=8).chain(13..=15).map(|process| format!("{process}:ok ")).collect();
    let before = format!("{updates} {scans} {later} {ends} 16:s");
    let last = before.split_whitespace().count();
    assert_eq!(alarm(3, &format!("{before} 16:10,11,9")), Some(last));
    assert_eq!(alarm(3, &format!("{before} 16:10,11,12")), None);
}

/// An update of unknown outcome is not over only because it has ended: a scan that was open then
/// can return the value that it may have replaced.
#[test]
fn unknown_outcome_does_not_end_the_replaced_value() {
    let before = "1:u0=1 1:ok 0:s 2:u0=2 3:s 3:2 2:unknown";
    assert_eq!(alarm(1, &format!("{before} 0:1")), None);
    assert_eq!(alarm(1, &format!("{before} 0:0")), Some(7));
}
