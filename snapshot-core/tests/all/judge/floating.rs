//! Updates of one segment that overlap, exhaustively: the linear-time check and
//! the monitor give up at the same event, and name the same two updates.
//!
//! The two updates are defined: first, the first invoked of the updates that the scan may have
//! read, and that were open when the next one of their segment began; second, the next update of
//! the segment that has not failed. Reports name them.

use snapshot_core::OperationId;
use snapshot_core::history::{Declaration, History, Writers};
use snapshot_core::linear::{self, Outcome};
use snapshot_core::monitor::{Judgement, Monitor, Undecided};
use snapshot_core::verdict::Cause;

use crate::judge::checkers::agreed_verdict;

/// Updates per history, by as many processes; they write one of two values.
const UPDATES: usize = 4;

/// The scanning process.
const READER: usize = UPDATES;

/// The end of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Response,
    Failure,
    Loss,
}

/// The events of the updates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Deed {
    Begin(i64),
    End(usize, End),
}

/// Counts of the comparisons.
#[derive(Debug, Default)]
struct Tally {
    histories: usize,
    /// Both give up, because a scan returned a value of overlapping updates.
    scans: usize,
    /// The same, after an update failed that had begun between others.
    scans_after_failures: usize,
}

fn history(deeds: &[Deed], scan: Option<(usize, i64)>) -> History<i64> {
    let declaration = Declaration::new(0)
        .with_segments(1)
        .with_processes(UPDATES + 1)
        .with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("the declaration is valid");
    let mut begun = 0;
    for (position, deed) in deeds.iter().enumerate() {
        if scan.is_some_and(|(begins, _)| begins == position) {
            history.invoke_scan(READER).expect("the reader is idle");
        }
        match *deed {
            Deed::Begin(value) => {
                history.invoke_update(begun, 0, value).expect("every process updates once");
                begun += 1;
            }
            Deed::End(process, End::Response) => history.respond_update(process).expect("open"),
            Deed::End(process, End::Failure) => history.fail(process).expect("open"),
            Deed::End(process, End::Loss) => history.unknown(process).expect("open"),
        };
    }
    if let Some((begins, value)) = scan {
        if begins == deeds.len() {
            history.invoke_scan(READER).expect("the reader is idle");
        }
        history.respond_scan(READER, &[value]).expect("the scan is open");
    }
    history.finish()
}

/// Returns the last judgement of the monitor.
fn monitored(history: &History<i64>) -> Judgement {
    let mut monitor = Monitor::linear(history.declaration()).expect("the declaration is valid");
    for event in history.events() {
        monitor.observe(&event).expect("a history's events are admissible");
    }
    monitor.judgement()
}

/// Compares the two on one history. Returns the event at which they give up, if they do.
fn compare(history: &History<i64>) -> Option<Undecided> {
    let events = || history.events().map(|event| format!("{event:?}")).collect::<Vec<_>>();
    let monitored = monitored(history);
    match linear::check(history) {
        Outcome::Linearizable(_) => {
            assert_eq!(monitored, Judgement::Linearizable, "{:#?}", events())
        }
        Outcome::Violation => {
            assert!(matches!(monitored, Judgement::Violation(_)), "{monitored:?} {:#?}", events());
        }
        Outcome::Undecided(undecided) => {
            assert_eq!(monitored, Judgement::Undecided(undecided), "{:#?}", events());
            return Some(undecided);
        }
    }
    None
}

/// Compares all histories that begin with these deeds.
fn explore(deeds: &mut Vec<Deed>, open: &mut Vec<usize>, begun: usize, tally: &mut Tally) {
    tally.histories += 1;
    if compare(&history(deeds, None)).is_some() {
        // Two updates overlap, and the first has responded: so it stays.
        return;
    }
    let has_failure = deeds.iter().any(|deed| matches!(deed, Deed::End(_, End::Failure)));
    for begins in [0, deeds.len()] {
        for value in [1, 2] {
            tally.histories += 1;
            let undecided = compare(&history(deeds, Some((begins, value))));
            let overlap =
                |undecided: Undecided| matches!(undecided.cause, Cause::OverlappingUpdates { .. });
            if undecided.is_some_and(overlap) {
                tally.scans += 1;
                tally.scans_after_failures += usize::from(has_failure);
            }
        }
    }
    if begun < UPDATES {
        for value in [1, 2] {
            deeds.push(Deed::Begin(value));
            open.push(begun);
            explore(deeds, open, begun + 1, tally);
            open.pop();
            deeds.pop();
        }
    }
    for at in 0..open.len() {
        let process = open.remove(at);
        for end in [End::Response, End::Failure, End::Loss] {
            deeds.push(Deed::End(process, end));
            explore(deeds, open, begun, tally);
            deeds.pop();
        }
        open.insert(at, process);
    }
}

#[test]
fn check_and_monitor_name_the_same_overlapping_updates() {
    let mut tally = Tally::default();
    explore(&mut Vec::new(), &mut Vec::new(), 0, &mut tally);
    assert!(tally.histories > 400_000, "{tally:?}");
    assert!(tally.scans > 100_000 && tally.scans_after_failures > 50_000, "{tally:?}");
}

/// Found by fuzzing: updates of one value float in the order of invocations,
/// also after one between them has failed.
#[test]
fn first_invoked_overlapping_update_is_named() {
    let mut deeds: Vec<Deed> = [2, 2, 2, 3].map(Deed::Begin).to_vec();
    deeds.push(Deed::End(0, End::Failure));
    let history = history(&deeds, Some((5, 2)));
    let (first, second) = (OperationId::from_index(1), OperationId::from_index(2));
    let cause = Cause::OverlappingUpdates { first, second };
    assert_eq!(compare(&history), Some(Undecided { event: 6, cause }));
}

/// A scan that returned a value of two updates saw only the one that the other entries permit. So
/// the other one, if its outcome is lost, may take effect late.
#[test]
fn update_excluded_by_other_entries_is_not_seen() {
    let mut history = History::builder(Declaration::new(0).with_segments(2)).expect("valid");
    let [left, right, reader] = [0, 1, 2];
    history.invoke_update(left, 0, 7).expect("idle");
    history.respond_update(left).expect("open");
    history.invoke_scan(reader).expect("idle");
    history.invoke_update(left, 0, 8).expect("idle");
    history.respond_update(left).expect("open");
    history.invoke_update(right, 1, 5).expect("idle");
    history.respond_update(right).expect("open");
    history.invoke_update(left, 0, 7).expect("idle");
    // The second update of 7 began when the value was 5.
    history.respond_scan(reader, &[7, 0]).expect("open");
    history.unknown(left).expect("open");
    history.invoke_update(left, 0, 9).expect("idle");
    history.invoke_scan(reader).expect("idle");
    history.respond_scan(reader, &[8, 5]).expect("open");
    let history = history.finish();
    assert!(agreed_verdict(&history), "8 was there until 9");
    assert_eq!(monitored(&history), Judgement::Linearizable);
}
