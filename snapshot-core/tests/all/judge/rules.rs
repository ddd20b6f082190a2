//! Rules that random histories seldom use, each with a history in which it decides; and the details
//! of answers beyond yes or no.

use snapshot_core::check::{Checker, check, check_by};
use snapshot_core::explanation::explain;
use snapshot_core::linear;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::renaming::Renaming;
use snapshot_core::search::{self, Budget};
use snapshot_core::verdict::{Exhausted, Method, Reason, Verdict};
use snapshot_core::{History, OperationId, Segment};

use crate::judge::checkers::{agreed_verdict, drawing};
use crate::judge::sketch::{history, single_writers};

fn id(index: usize) -> OperationId {
    OperationId::from_index(index)
}

/// The report of `check` on a bad history of two segments: the event that completes the violation,
/// the reason, the operations, and the runs of segments 0 and 1 from which on the renaming gives 1.
struct Expectation {
    events: &'static str,
    decided_at: usize,
    reason: Reason,
    operations: &'static [usize],
    from: (u64, u64),
}

const NOTHING: u64 = u64::MAX;

fn expectations() -> Vec<Expectation> {
    let (first, second) = (Segment::from_index(0), Segment::from_index(1));
    vec![
        Expectation {
            events: "0:u0=1 0:ok 0:u0=2 2:s 1:u1=1 1:ok 0:ok 2:7,1",
            decided_at: 7,
            reason: Reason::NeverWritten { scan: id(2), segment: first },
            operations: &[2],
            from: (NOTHING, NOTHING),
        },
        Expectation {
            events: "1:s 0:u0=1 0:fail 1:1,0 2:s 2:0,0",
            decided_at: 3,
            reason: Reason::FailedUpdateSeen { scan: id(0), update: id(1) },
            operations: &[0, 1],
            from: (NOTHING, NOTHING),
        },
        Expectation {
            events: "0:u0=1 2:s 2:1,0 0:fail",
            decided_at: 3,
            reason: Reason::FailedUpdateSeen { scan: id(1), update: id(0) },
            operations: &[0, 1],
            from: (NOTHING, NOTHING),
        },
        // Two scans saw it; the first is named.
        Expectation {
            events: "0:u0=1 2:s 2:1,0 3:s 3:1,0 0:fail",
            decided_at: 5,
            reason: Reason::FailedUpdateSeen { scan: id(1), update: id(0) },
            operations: &[0, 1],
            from: (NOTHING, NOTHING),
        },
        // The first of two updates that wrote the value later; a failed update in between has no
        // number.
        Expectation {
            events: "0:u0=4 2:s 2:1,0 0:ok 1:u1=1 1:ok 0:u0=4 0:ok 0:u0=8 0:fail 0:u0=1 0:ok 0:u0=1",
            decided_at: 2,
            reason: Reason::Future { scan: id(1), update: id(5) },
            operations: &[1, 5],
            from: (2, NOTHING),
        },
        Expectation {
            events: "0:u0=1 0:ok 0:u0=2 0:ok 0:u0=3 0:ok 2:s 1:u1=1 2:1,0",
            decided_at: 8,
            reason: Reason::Stale { scan: id(3), overwriting: id(2) },
            operations: &[0, 2, 3],
            from: (3, NOTHING),
        },
        Expectation {
            events: "0:u0=1 0:ok 2:s 0:u0=2 2:0,0 0:ok",
            decided_at: 4,
            reason: Reason::Stale { scan: id(1), overwriting: id(0) },
            operations: &[0, 1],
            from: (1, NOTHING),
        },
        // Redundant updates have no number, failed ones neither.
        Expectation {
            events: "0:u0=1 0:ok 0:u0=5 0:fail 0:u0=1 0:ok 0:u0=2 2:s 0:ok 2:1,0 3:s 3:1,0",
            decided_at: 11,
            reason: Reason::Stale { scan: id(5), overwriting: id(3) },
            operations: &[0, 3, 5],
            from: (2, NOTHING),
        },
        // The value was written, overwritten, and written again: only the last time counts.
        Expectation {
            events: "0:u0=1 0:ok 0:u0=2 0:ok 0:u0=1 0:ok 0:u0=3 0:ok 2:s 2:1,0",
            decided_at: 9,
            reason: Reason::Stale { scan: id(4), overwriting: id(3) },
            operations: &[2, 3, 4],
            from: (4, NOTHING),
        },
        Expectation {
            events: "0:u0=9 0:ok 0:u0=1 2:s 1:u1=1 2:1,0 1:ok 3:s 3:9,1",
            decided_at: 8,
            reason: Reason::Decrease { earlier: id(2), later: id(4), segment: first },
            operations: &[0, 1, 2, 4],
            from: (2, NOTHING),
        },
        Expectation {
            events: "1:u1=1 2:s 2:0,1 3:s 0:u0=1 3:1,0",
            decided_at: 5,
            reason: Reason::Decrease { earlier: id(1), later: id(2), segment: second },
            operations: &[0, 1, 2],
            from: (NOTHING, 1),
        },
        Expectation {
            events: "0:u0=1 1:u1=1 1:ok 1:u1=2 2:s 3:s 2:1,1 3:0,2 0:ok 0:u0=2 0:ok 1:ok",
            decided_at: 7,
            reason: Reason::Inversion { first: id(3), second: id(4), i: first, j: second },
            operations: &[0, 1, 2, 3, 4],
            from: (1, 2),
        },
        Expectation {
            events: "0:u0=1 1:u1=1 2:s 3:s 2:0,1 3:1,0",
            decided_at: 5,
            reason: Reason::Inversion { first: id(2), second: id(3), i: second, j: first },
            operations: &[0, 1, 2, 3],
            from: (1, 1),
        },
        // The value was in the segment before the scan began, too: the update that overwrote it
        // then belongs to the proof, whether the older update does or not.
        Expectation {
            events: "0:u0=5 0:ok 0:u0=6 0:ok 2:s 0:u0=7 0:ok 0:u0=5 1:u1=1 3:s 2:5,0 3:7,1",
            decided_at: 11,
            reason: Reason::Inversion { first: id(2), second: id(6), i: first, j: second },
            operations: &[1, 2, 3, 4, 5, 6],
            from: (4, 1),
        },
        Expectation {
            events: "3:s 0:u0=5 0:ok 0:u0=6 0:ok 2:s 0:u0=7 0:ok 0:u0=5 1:u1=1 2:5,0 3:7,1",
            decided_at: 11,
            reason: Reason::Inversion { first: id(3), second: id(0), i: first, j: second },
            operations: &[0, 1, 2, 3, 4, 5, 6],
            from: (4, 1),
        },
        Expectation {
            events: "0:u0=6 0:ok 2:s 0:u0=7 0:ok 0:u0=0 1:u1=1 3:s 2:0,0 3:7,1",
            decided_at: 9,
            reason: Reason::Inversion { first: id(1), second: id(5), i: first, j: second },
            operations: &[0, 1, 2, 3, 4, 5],
            from: (3, 1),
        },
        Expectation {
            events: "2:s 0:u0=1 0:ok 0:u0=2 0:ok 0:u0=3 1:u1=1 1:ok 2:1,1 0:ok",
            decided_at: 8,
            reason: Reason::Missing { scan: id(0), seen: id(4), missing: id(2) },
            operations: &[0, 1, 2, 4],
            from: (2, 1),
        },
        Expectation {
            events: "2:s 1:u1=1 1:ok 1:u1=2 1:ok 0:u0=1 0:ok 2:1,1",
            decided_at: 7,
            reason: Reason::Missing { scan: id(0), seen: id(3), missing: id(2) },
            operations: &[0, 1, 2, 3],
            from: (1, 2),
        },
        // The value was there twice, both times before the scan.
        Expectation {
            events: "2:s 0:u0=1 0:ok 0:u0=2 0:ok 0:u0=1 0:ok 0:u0=3 0:ok 1:u1=7 2:1,7",
            decided_at: 10,
            reason: Reason::Missing { scan: id(0), seen: id(5), missing: id(4) },
            operations: &[0, 1, 3, 4, 5],
            from: (4, 1),
        },
    ]
}

#[test]
fn violations_list_the_expected_operations() {
    for Expectation { events, decided_at, reason, operations, from } in expectations() {
        let history = history(2, events);
        assert!(!agreed_verdict(&history), "{events}");
        let report = check(&history, &mut Budget { memory: usize::MAX, proceed: &mut || true });
        let Verdict::Violation(witness) = report.verdict else { panic!("{events}") };
        assert_ne!(report.method, Method::Search, "{events}");
        assert_eq!((report.decided_at, witness.reason), (Some(decided_at), reason), "{events}");
        let listed: Vec<usize> = witness.operations.iter().map(|id| id.index()).collect();
        assert_eq!(listed, operations, "{events}");
        let (i, j) = (Segment::from_index(0), Some(Segment::from_index(1)));
        let renaming = Renaming { i, j, from_i: from.0, from_j: from.1 };
        assert_eq!(witness.renaming, Some(renaming), "{events}");
    }
}

/// Where updates of one segment overlap, numbers do not distinguish them.
#[test]
fn overlapping_updates_are_not_renamed() {
    let history = history(1, "0:u0=5 1:s 1:5 2:u0=6 3:s 3:6 3:s 3:5");
    let mut monitor = Monitor::linear(history.declaration()).expect("a valid declaration");
    for event in history.events() {
        monitor.observe(&event).expect("an admissible event");
    }
    let Judgement::Violation(alarm) = monitor.judgement() else { panic!("{history:?}") };
    let explanation = explain(&history, &alarm);
    let segment = Segment::from_index(0);
    let reason = Reason::Decrease { earlier: id(3), later: id(4), segment };
    assert_eq!((explanation.witness.reason, explanation.witness.renaming), (reason, None));
    // These operations alone prove nothing, since they have an order.
    assert!(!agreed_verdict(&history));
    assert!(agreed_verdict(&explanation.history()));
}

/// A scan with repeated values has seen the runs that narrowing leaves; if the update fails, the
/// scan was wrong.
#[test]
fn narrowed_runs_count_as_seen() {
    let events = "1:s 0:u0=5 0:ok 0:u0=6 0:ok 2:u1=9 2:ok 0:u0=5 1:5,9 0:";
    assert!(!agreed_verdict(&history(2, &format!("{events}fail"))));
    assert!(agreed_verdict(&history(2, &format!("{events}ok"))));
    assert!(agreed_verdict(&history(2, &format!("{events}unknown"))));
}

/// A value was there too early, and again too late.
#[test]
fn value_is_absent_between_its_two_writes() {
    let events = "2:s 0:u0=1 0:ok 0:u0=2 0:ok 1:u1=7 1:ok 1:u1=8 1:ok 0:u0=1 0:ok ";
    assert!(!agreed_verdict(&single_writers(2, &format!("{events} 2:1,7"))));
    assert!(agreed_verdict(&single_writers(2, &format!("{events} 2:1,8"))));
    assert!(agreed_verdict(&single_writers(2, &format!("{events} 2:2,7"))));
}

/// The update fails only after another update of its segment began.
#[test]
fn seen_update_cannot_fail_late() {
    let events = "0:u0=5 1:s 1:5 2:u0=6 2:ok 1:s 1:6 0:";
    assert!(!agreed_verdict(&history(1, &format!("{events}fail"))));
    assert!(agreed_verdict(&history(1, &format!("{events}ok"))));
    let events = "0:u0=5 2:u0=6 2:ok 1:s 1:6 0:";
    assert!(agreed_verdict(&history(1, &format!("{events}fail"))));
    assert!(agreed_verdict(&history(1, &format!("{events}ok"))));
}

/// A redundant update whose successor failed is redundant again.
#[test]
fn redundant_update_is_redundant_again_after_a_failure() {
    let events = "1:s 0:u0=1 0:ok 2:u0=1 3:u0=5 3:fail 2:ok 0:u0=6 0:ok 4:u1=9 4:ok";
    assert!(!agreed_verdict(&history(2, &format!("{events} 1:1,9"))));
    assert!(agreed_verdict(&history(2, &format!("{events} 1:6,9"))));
    assert!(agreed_verdict(&history(2, &format!("{events} 1:1,0"))));
}

#[test]
fn unseen_pending_update_is_left_out() {
    let history = history(2, "0:u0=1 1:u1=2 2:s 2:1,0");
    let linear::Outcome::Linearizable(reading) = linear::check(&history) else {
        panic!("nothing is wrong with {}", drawing(&history))
    };
    assert_eq!(reading.linearization().order, [id(0), id(2)]);
}

/// Twelve processes update one segment concurrently; then two scans see different values, one after
/// the other. All orders of the updates must be tried.
fn riddle() -> (History<i64>, usize) {
    let mut events = String::new();
    for process in 0..12 {
        events += &format!("{process}:u0={} ", process + 1);
    }
    for process in 0..12 {
        events += &format!("{process}:ok ");
    }
    events += "0:s 0:12 0:s 0:11";
    let history = history(1, &events);
    let end = history.len() - 1;
    (history, end)
}

#[test]
fn failed_states_are_not_revisited() {
    let (riddle, end) = riddle();
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let outcome = search::search_plainly(&riddle, &mut budget);
    let search::Outcome::NotLinearizable { states } = outcome else { panic!("{outcome:?}") };
    // A set of updates and the last of them: 12 times 2^11.
    assert!(states <= 12 << 11, "{states} states");
    let outcome = search::search_plainly(&riddle.prefix(end), &mut budget);
    assert!(matches!(outcome, search::Outcome::Linearizable(_)), "{outcome:?}");
}

#[test]
fn a_search_ends_with_its_budget() {
    let (riddle, end) = riddle();
    for search in [search::search, search::search_plainly] {
        let outcome = search(&riddle, &mut Budget { memory: usize::MAX, proceed: &mut || false });
        let search::Outcome::Exhausted { exhausted, states, linearizable_events } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((exhausted, linearizable_events), (Exhausted::Time, end));
        assert!((1..=1000).contains(&states), "{states}");
        let outcome = search(&riddle, &mut Budget { memory: 4000, proceed: &mut || true });
        let search::Outcome::Exhausted { exhausted, states, linearizable_events } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((exhausted, linearizable_events), (Exhausted::Memory, end));
        assert!((1..=100).contains(&states), "{states}");
    }
    let report = check(&riddle, &mut Budget { memory: usize::MAX, proceed: &mut || false });
    assert!(matches!(report.verdict, Verdict::Unknown(_)));
    assert_eq!((report.method, report.decided_at), (Method::Saturation, None));
}

/// Where no condition names the culprits, unnecessary operations are left out.
#[test]
fn a_witness_of_overlapping_updates_is_small() {
    let told = |segments, events: &str| {
        let history = history(segments, events);
        assert!(!agreed_verdict(&history), "{events}");
        let report = check(&history, &mut Budget { memory: usize::MAX, proceed: &mut || true });
        let Verdict::Violation(witness) = report.verdict else { panic!("{events}") };
        let method = match witness.reason {
            Reason::Cycle | Reason::NeverWritten { .. } => Method::Saturation,
            // Each update of the value is excluded.
            Reason::NoOrder if segments == 1 => Method::Saturation,
            _ => Method::Search,
        };
        assert_eq!(report.method, method, "{events}");
        let segments: Vec<usize> = witness.segments.iter().map(|k| k.index()).collect();
        let operations: Vec<usize> = witness.operations.iter().map(|id| id.index()).collect();
        (report.decided_at, segments, operations)
    };
    // The updates of segment 1 overlap, and the last scan but one saw the other.
    let events = "0:u1=1 1:u1=2 0:ok 1:ok 2:u0=1 2:ok 3:s 3:1,2 3:s 3:1,2 3:s 3:1,1 3:s 3:1,2";
    assert_eq!(told(2, events), (Some(11), vec![1], vec![0, 1, 3, 5]));
    // An update without outcome takes effect late, or not.
    let events =
        "2:u1=5 0:u0=1 0:unknown 2:ok 0:u0=2 0:ok 2:u1=6 3:s 3:1,5 2:ok 3:s 3:2,6 3:s 3:1,6";
    assert_eq!(told(2, events), (Some(11), vec![0], vec![1, 2, 4, 5]));
    // Updates that these scans cannot have read are left out: overwritten before, or invoked after.
    let events = "0:u0=2 0:ok 0:u0=9 0:ok 0:u0=1 0:unknown 0:u0=2 0:ok 3:s 3:1 4:u0=1 3:s 3:2";
    assert_eq!(told(1, events), (Some(12), vec![0], vec![2, 3, 4, 6]));
    // No update ever wrote the value: the scan alone proves it.
    let events = "0:u0=1 1:u0=2 0:ok 1:ok 3:s 3:9";
    assert_eq!(told(1, events), (Some(5), vec![0], vec![2]));
}

#[test]
fn the_witness_against_a_riddle_is_small() {
    let (riddle, end) = riddle();
    let report = check(&riddle, &mut Budget { memory: usize::MAX, proceed: &mut || true });
    let Verdict::Violation(witness) = report.verdict else { panic!("{riddle:?}") };
    assert_eq!(
        (report.decided_at, witness.operations),
        (Some(end), vec![id(10), id(11), id(12), id(13)])
    );
}

#[test]
fn timeout_returns_the_smallest_witness_so_far() {
    let (riddle, end) = riddle();
    let mut needed = 0;
    let mut count = || {
        needed += 1;
        true
    };
    search::search(&riddle, &mut Budget { memory: usize::MAX, proceed: &mut count });
    let mut left = needed;
    let mut proceed = || {
        left -= i32::from(left > 0);
        left > 0
    };
    let mut budget = Budget { memory: usize::MAX, proceed: &mut proceed };
    let report = check_by(Checker::Search, &riddle, &mut budget).unwrap();
    assert!(matches!(report.verdict, Verdict::Unknown(_)));
    let mut left = needed + 1;
    let mut proceed = || {
        left -= i32::from(left > 0);
        left > 0
    };
    let mut budget = Budget { memory: usize::MAX, proceed: &mut proceed };
    let report = check_by(Checker::Search, &riddle, &mut budget).unwrap();
    let Verdict::Violation(witness) = report.verdict else { panic!("{riddle:?}") };
    assert_eq!((report.decided_at, witness.operations.len()), (Some(end), 14));
}

/// Updates of unknown outcome are on no chain; the scans that saw them carry them.
#[test]
fn scans_carry_updates_of_unknown_outcome() {
    let begin = "0:u0=1 0:unknown 0:u0=2 0:unknown 1:s 1:1 1:s 1:2 1:s";
    assert!(!agreed_verdict(&history(1, &format!("{begin} 1:1"))));
    assert!(agreed_verdict(&history(1, &format!("{begin} 1:2"))));
}
