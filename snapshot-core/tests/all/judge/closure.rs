//! The saturated relation against its definition: the least relation with the five rules,
//! computed by trying them until nothing changes.
//!
//! The relation must contain all consequences: where the definition has a cycle, the answer is that
//! cycle and not a missing order of scans, and each is reported at the first event at which it
//! exists.

use snapshot_core::history::{Declaration, Writers};
use snapshot_core::saturation::{self, Outcome, Saturation};
use snapshot_core::search::Budget;
use snapshot_core::verdict::Reason;
use snapshot_core::{History, OperationId, Segment};
use test_support::effort::either;

use crate::judge::checkers::drawing;
use crate::judge::enumeration::Space;
use crate::judge::forgetting::{self, Draw, Shape};
use crate::judge::recording::Recording;
use crate::judge::sketch;

/// The membership of an operation in a block of a segment: a value, and whether it wrote it.
type Member = Option<(i64, bool)>;

/// Returns true if the least relation of the five rules has a cycle.
fn has_cycle(history: &History<i64>) -> bool {
    let operations: Vec<OperationId> = history
        .operation_ids()
        .filter(|id| {
            let operation = history.operation(*id);
            if operation.is_scan() { operation.is_complete() } else { !operation.is_failed() }
        })
        .collect();
    let (count, segments) = (operations.len(), history.segments());
    let initial = |segment| *history.declaration().initial_value(segment);
    let member = |id: OperationId, segment: usize| -> Member {
        let operation = history.operation(id);
        match operation.segment() {
            Some(updated) if updated.index() == segment => {
                Some((*history.update_value(operation), true))
            }
            Some(_) => None,
            None => {
                let entry = history.entry(operation, Segment::from_index(segment));
                entry.map(|value| (*value, false))
            }
        }
    };
    let members: Vec<Vec<Member>> = (0..segments)
        .map(|segment| operations.iter().map(|id| member(*id, segment)).collect())
        .collect();
    let mut before = vec![vec![false; count]; count];
    for x in 0..count {
        for y in 0..count {
            let time = history.operation(operations[x]).precedes(history.operation(operations[y]));
            let of_values =
                (0..segments).any(|segment| match (members[segment][x], members[segment][y]) {
                    (Some((written, true)), Some((seen, false))) => written == seen,
                    (Some((seen, false)), Some((_, true))) => seen == initial(segment),
                    _ => false,
                });
            before[x][y] = time || of_values;
        }
    }
    loop {
        let mut changed = false;
        for middle in 0..count {
            let later = before[middle].clone();
            for row in before.iter_mut().filter(|row| row[middle]) {
                for (known, follows) in row.iter_mut().zip(&later) {
                    changed |= *follows && !std::mem::replace(known, true);
                }
            }
        }
        for of in &members {
            let value = |x: usize| of[x].map(|(value, _)| value);
            let pairs = (0..count).flat_map(|x| (0..count).map(move |y| (x, y)));
            let steps: Vec<(usize, usize)> = pairs
                .filter(|(x, y)| before[*x][*y] && of[*x].is_some() && of[*y].is_some())
                .filter(|(x, y)| value(*x) != value(*y))
                .collect();
            for (x, y) in steps {
                for a in (0..count).filter(|a| value(*a) == value(x)) {
                    for b in (0..count).filter(|b| value(*b) == value(y)) {
                        changed |= !std::mem::replace(&mut before[a][b], true);
                    }
                }
            }
        }
        if !changed {
            return (0..count).any(|x| before[x][x]);
        }
    }
}

/// Numbers of answers of each kind.
#[derive(Debug, Default)]
struct Counts {
    none: u64,
    cycles: u64,
    orders: u64,
}

fn compare(history: &History<i64>, counts: &mut Counts) {
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let (event, reason) = match saturation::check(history, &mut budget) {
        Outcome::Linearizable(_) => {
            assert!(!has_cycle(history), "{}", drawing(history));
            counts.none += 1;
            return;
        }
        Outcome::Violation { event, witness, .. } => (event, witness.reason),
        other => panic!("{other:?}: {}", drawing(history)),
    };
    let told = || format!("{reason:?} at {event}: {}", drawing(history));
    assert!(!has_cycle(&history.prefix(event)), "{}", told());
    match reason {
        Reason::Cycle => {
            assert!(has_cycle(&history.prefix(event + 1)), "{}", told());
            counts.cycles += 1;
        }
        Reason::Ordering => {
            assert!(!has_cycle(&history.prefix(event + 1)), "{}", told());
            counts.orders += 1;
        }
        _ => {}
    }
    if !history.has_partial_scans() {
        let mut online = Saturation::new(history.declaration());
        let alarm = history.events().position(|event| online.observe(&event).is_some());
        assert_eq!(alarm, Some(event), "{}", told());
    }
}

#[test]
fn small_histories() {
    let spaces = [
        Space::many_writers(2, 2, 2, 3).with_gaps(),
        Space::many_writers(2, 2, 2, 3).with_faults(),
        Space::many_writers(2, 3, 2, 4),
    ];
    for space in spaces.into_iter().take(either(2, 3)) {
        let mut counts = Counts::default();
        space.explore(&mut |history| compare(history, &mut counts));
        assert!(counts.none > 1000 && counts.cycles > 100, "{counts:?}");
    }
}

#[test]
fn random_histories() {
    let mut draw = Draw(20_261_125);
    let mut counts = Counts::default();
    for round in 0..6_000 {
        let faults = if round % 2 == 0 { 0 } else { 8 };
        let shape = Shape {
            segments: 1 + round % 4,
            processes: 3 + round % 6,
            events: 24 + round % 40,
            unknown: faults,
            failed: faults,
            repeated: 0,
            wrong: 3 + round % 9,
        };
        let whole = forgetting::history(shape, &mut draw);
        if round % 3 > 0 {
            compare(&whole, &mut counts);
            continue;
        }
        let mut recording = Recording::of(&whole);
        let gaps: Vec<bool> = (0..64).map(|k| (round >> (k % 11) ^ k) & 1 == 1).collect();
        recording.leave_gaps(&gaps);
        compare(&recording.history(), &mut counts);
    }
    assert!(counts.none > 500 && counts.cycles > 1000, "{counts:?}");
}

/// Updates of two values per segment, and scans that return any of these, all concurrent for a
/// while: then they end one after the other, among further scans.
fn crowd(draw: &mut Draw) -> History<i64> {
    let segments = 2 + draw.below(2);
    let declaration = Declaration::new(0).with_segments(segments).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("a sound declaration");
    let updates = 2 * segments;
    for update in 0..updates {
        history
            .invoke_update(update, update / 2, 1 + update as i64 % 2)
            .expect("the process is idle");
    }
    let scans = 4 + draw.below(3);
    for scan in 0..scans {
        history.invoke_scan(updates + scan).expect("the process is idle");
    }
    let mut ended = 0;
    for response in 0..scans + 3 {
        let scan = updates + response % scans;
        let values: Vec<i64> = (0..segments).map(|_| 1 + draw.below(2) as i64).collect();
        history.respond_scan(scan, &values).expect("an operation is open");
        history.invoke_scan(scan).expect("the process is idle");
        if draw.below(3) == 0 && ended < updates {
            history.respond_update(ended).expect("an operation is open");
            ended += 1;
        }
    }
    history.finish()
}

#[test]
fn crowded_histories() {
    let mut draw = Draw(8);
    let mut counts = Counts::default();
    for _ in 0..4_000 {
        compare(&crowd(&mut draw), &mut counts);
    }
    assert!(counts.none > 100 && counts.cycles > 500 && counts.orders > 50, "{counts:?}");
}

/// The rule *block* applies at updates as well. Let a scan see an update, and another operation
/// overlap the update and see the previous value: then that operation comes before the scan.
#[test]
fn scans_with_opposite_orders_of_updates_form_a_cycle() {
    let history =
        sketch::history(2, "0:u0=1 0:ok 1:u1=1 1:ok 4:s 5:s 0:u0=2 1:u1=2 4:1,2 5:2,1 0:ok 1:ok");
    let mut counts = Counts::default();
    compare(&history, &mut counts);
    assert_eq!(counts.cycles, 1);
}

/// Scans that have no order are an alarm when the last of them responds, even if a cycle completes
/// later, or a scan returns a value that was never written.
#[test]
fn missing_order_is_reported_before_a_later_cycle() {
    let square = "0:u0=1 1:u0=2 2:u1=1 3:u1=2 4:s 5:s 6:s 7:s 4:1,1 5:1,2 6:2,2 7:2,1";
    for later in ["", "0:ok 4:s 4:0,1", "4:s 4:3,1", "0:ok 1:ok 2:ok 3:ok 4:s 4:0,0 5:s 5:1,1"] {
        let history = sketch::history(2, &format!("{square} {later}"));
        let mut counts = Counts::default();
        compare(&history, &mut counts);
        assert_eq!(counts.orders, 1, "{later}");
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        let report = snapshot_core::check::check(&history, &mut budget);
        assert_eq!(report.decided_at, Some(11), "{later}");
    }
}
