//! A violation of each condition with its twin, one value away, and its argument.

use snapshot_core::Names;
use snapshot_core::history::Declaration;
use snapshot_core::immediate::{Condition, History, HistoryBuilder, Verdict, check};

/// Judges executions of three processes that write 5, 6, 7 and then 8 (process 0); the argument
/// builds the events.
fn judged(build: impl FnOnce(&mut HistoryBuilder<u32>)) -> Result<usize, (Condition, String)> {
    let mut builder = History::builder(Declaration::new(0).with_segments(3)).unwrap();
    build(&mut builder);
    let history = builder.finish();
    match check(&history) {
        Verdict::SetLinearizable(blocks) => Ok(blocks.len()),
        Verdict::Violation(alarm) => Err((
            alarm.violation.condition(),
            alarm.violation.argument(&history, &Names::default(), |id| format!("O{id}")),
        )),
        other => panic!("{other:?}"),
    }
}

#[test]
fn own_value() {
    let case = |own: u32| {
        judged(move |history| {
            history.invoke(0, 5).unwrap();
            history.respond(0, &[own, 0, 0]).unwrap();
        })
    };
    assert_eq!(case(5), Ok(1));
    let (condition, argument) = case(0).unwrap_err();
    assert_eq!(condition, Condition::OwnValue);
    assert!(argument.starts_with("O0 wrote 5 to segment 0 and returned 0, the initial value"));
}

#[test]
fn containment() {
    let case = |second: u32| {
        judged(move |history| {
            history.invoke(0, 5).unwrap();
            history.invoke(1, 6).unwrap();
            history.respond(0, &[5, 0, 0]).unwrap();
            history.respond(1, &[second, 6, 0]).unwrap();
        })
    };
    assert_eq!(case(5), Ok(2));
    let (condition, argument) = case(0).unwrap_err();
    assert_eq!(condition, Condition::Containment);
    assert!(argument.contains("A contradiction"), "{argument}");
}

/// Three processes are needed where each exchanges once.
#[test]
fn immediacy() {
    let case = |viewer: u32| {
        judged(move |history| {
            for process in 0..3 {
                history.invoke(process, 5 + process as u32).unwrap();
            }
            history.respond(0, &[5, 6, viewer]).unwrap();
            history.respond(1, &[5, 6, 7]).unwrap();
            history.respond(2, &[5, 6, 7]).unwrap();
        })
    };
    assert_eq!(case(7), Ok(1));
    let (condition, argument) = case(0).unwrap_err();
    assert_eq!(condition, Condition::Immediacy);
    assert!(argument.contains("O1 returned 7, and O0 returned 0, the initial value"), "{argument}");
}

/// An update and then a scan of an atomic snapshot, recorded as one operation, is not an
/// immediate snapshot: for two processes from two operations on.
#[test]
fn write_then_scan_is_not_immediate() {
    let case = |last: u32| {
        judged(move |history| {
            history.invoke(0, 5).unwrap(); // writes 5
            history.invoke(1, 6).unwrap(); // writes 6, returns 5 6
            history.respond(1, &[5, 6, 0]).unwrap();
            history.invoke(1, 9).unwrap(); // writes 9 before process 0 scans
            history.respond(0, &[5, last, 0]).unwrap();
            history.respond(1, &[5, 9, 0]).unwrap();
        })
    };
    assert_eq!(case(6), Ok(2));
    assert_eq!(case(9).unwrap_err().0, Condition::Immediacy);
}

#[test]
fn validity() {
    let case = |is_later: bool, fails: bool| {
        judged(move |history| {
            history.invoke(0, 5).unwrap();
            if is_later {
                history.respond(0, &[5, 6, 0]).unwrap();
                history.invoke(1, 6).unwrap();
            } else {
                history.invoke(1, 6).unwrap();
                history.respond(0, &[5, 6, 0]).unwrap();
            }
            if fails {
                history.fail(1).unwrap();
            } else {
                history.respond(1, &[5, 6, 0]).unwrap();
            }
        })
    };
    assert_eq!(case(false, false), Ok(1));
    let (condition, argument) = case(true, false).unwrap_err();
    assert_eq!(condition, Condition::Validity);
    assert!(argument.contains("O0 had responded before O1 was invoked"), "{argument}");
    let (condition, argument) = case(false, true).unwrap_err();
    assert_eq!(condition, Condition::Validity);
    assert!(argument.contains("O1 failed"), "{argument}");
}

/// A value that was overwritten long ago, and forgotten by the monitor.
#[test]
fn forgotten_values() {
    let case = |old: u32| {
        judged(move |history| {
            for round in 1..=100 {
                history.invoke(0, round).unwrap();
                history.respond(0, &[round, 0, 0]).unwrap();
            }
            history.invoke(1, 7).unwrap();
            history.respond(1, &[old, 7, 0]).unwrap();
        })
    };
    assert_eq!(case(100), Ok(101));
    assert_eq!(case(3).unwrap_err().0, Condition::Containment);
    assert_eq!(case(999).unwrap_err().0, Condition::Validity);
}

#[test]
fn repeated_values_are_undecided() {
    let mut builder = History::builder(Declaration::new(0).with_segments(1)).unwrap();
    for _ in 0..2 {
        builder.invoke(0, 5).unwrap();
        builder.respond(0, &[5]).unwrap();
    }
    let verdict = check(&builder.finish());
    assert!(matches!(verdict, Verdict::Undecided(repeated) if repeated.operation.index() == 1));
}
