//! Every invalid sequence of events is refused, for the right reason, and a refused event changes
//! nothing.

use snapshot_core::history::{Declaration, HistoryErrorKind, Writers};
use snapshot_core::monitor::Monitor;
use snapshot_core::{History, Process, Segment};

use crate::judge::sketch::letters;

/// Returns the reason why the last of these events is refused; all others must be admitted. The
/// builder and the monitor must agree, and continue without the refused event.
fn refusal(declaration: &Declaration<i64>, events: &str) -> HistoryErrorKind {
    let mut builder = History::builder(declaration.clone()).expect("a sound declaration");
    let mut monitor = Monitor::new(declaration.clone()).expect("a sound declaration");
    let letters = letters(events);
    let ((process, last), admitted) = letters.split_last().expect("an event");
    for (process, letter) in admitted {
        builder.push(&letter.event(*process)).unwrap_or_else(|error| panic!("{events}: {error}"));
        monitor.observe(&letter.event(*process)).expect("as the builder");
    }
    let sizes = |monitor: &Monitor<i64>| {
        (monitor.events(), monitor.pending(), monitor.segments(), monitor.processes())
    };
    let before = sizes(&monitor);
    let error = builder.push(&last.event(*process)).expect_err(events);
    assert_eq!(monitor.observe(&last.event(*process)), Err(error.clone()), "{events}");
    assert_eq!(error.event, admitted.len(), "{events}");
    assert_eq!((builder.len(), sizes(&monitor)), (admitted.len(), before), "{events}");
    error.kind
}

/// All of these events are admitted, by the builder and by the monitor.
fn admit(declaration: &Declaration<i64>, events: &str) -> (History<i64>, Monitor<i64>) {
    let mut builder = History::builder(declaration.clone()).expect("a sound declaration");
    let mut monitor = Monitor::new(declaration.clone()).expect("a sound declaration");
    for (process, letter) in letters(events) {
        builder.push(&letter.event(process)).unwrap_or_else(|error| panic!("{events}: {error}"));
        monitor.observe(&letter.event(process)).expect("as the builder");
    }
    (builder.finish(), monitor)
}

const fn two_segments() -> Declaration<i64> {
    Declaration::new(0).with_segments(2)
}

#[test]
fn process_ends_only_its_open_operation() {
    let idle = |process| HistoryErrorKind::NothingOpen { process: Process::from_index(process) };
    for end in ["ok", "0,0", "fail", "unknown"] {
        assert_eq!(refusal(&two_segments(), &format!("0:{end}")), idle(0));
        assert_eq!(refusal(&two_segments(), &format!("0:s 3:{end}")), idle(3));
        for done in ["0:s 0:0,0", "0:u0=1 0:ok", "0:s 0:fail", "0:u0=1 0:unknown"] {
            assert_eq!(refusal(&two_segments(), &format!("{done} 0:{end}")), idle(0));
        }
    }
}

#[test]
fn response_must_match_the_open_operation() {
    let wrong = |process, open_is_scan, invocation| HistoryErrorKind::WrongResponse {
        process: Process::from_index(process),
        open_is_scan,
        invocation,
    };
    assert_eq!(refusal(&two_segments(), "1:s 0:s 0:ok"), wrong(0, true, 1));
    assert_eq!(refusal(&two_segments(), "1:u0=1 1:0,0"), wrong(1, false, 0));
    // Nor does it settle the number of segments.
    assert_eq!(refusal(&Declaration::new(0), "0:s 1:u0=1 1:0,0,0"), wrong(1, false, 1));
}

#[test]
fn a_process_has_one_operation_open() {
    let busy = |process, invocation| HistoryErrorKind::AlreadyOpen {
        process: Process::from_index(process),
        invocation,
    };
    assert_eq!(refusal(&two_segments(), "0:s 0:s"), busy(0, 0));
    assert_eq!(refusal(&two_segments(), "1:s 0:s 0:u0=1"), busy(0, 1));
    assert_eq!(refusal(&two_segments(), "1:s 1:0,0 1:u0=1 1:u0=2"), busy(1, 2));
    assert_eq!(refusal(&two_segments(), "1:s 1:0,0 1:u0=1 1:s"), busy(1, 2));
}

#[test]
fn a_scan_returns_one_value_per_segment() {
    let wrong = |process, expected, found| HistoryErrorKind::WrongEntryCount {
        process: Process::from_index(process),
        expected,
        found,
    };
    assert_eq!(refusal(&two_segments(), "0:s 0:0"), wrong(0, 2, 1));
    assert_eq!(refusal(&two_segments(), "0:s 0:0,0,0"), wrong(0, 2, 3));
    // Undeclared, the first complete scan fixes the number of segments, unless it contradicts
    // earlier events.
    let undeclared = Declaration::new(0);
    assert_eq!(refusal(&undeclared, "0:s 0:0,0 1:s 1:0,0,0"), wrong(1, 2, 3));
    assert_eq!(refusal(&undeclared, "0:s 0:0,0 1:s 1:0"), wrong(1, 2, 1));
    assert_eq!(refusal(&undeclared, "0:u2=1 1:s 1:0,0"), wrong(1, 3, 2));
    let initial = Declaration::new(0).with_initial(vec![4, 5]);
    assert_eq!(refusal(&initial, "1:s 1:4"), wrong(1, 2, 1));
    let limit = Segment::LIMIT + 1;
    let many = |values: usize| format!("0:s 0:{}0", "0,".repeat(values - 1));
    assert_eq!(refusal(&undeclared, &many(limit + 1)), wrong(0, 1, limit + 1));
    assert_eq!(admit(&undeclared, &many(limit)).0.segments(), limit);
}

#[test]
fn undeclared_segments_and_processes_are_refused() {
    let absent = |segment, segments| HistoryErrorKind::NoSuchSegment {
        segment: Segment::from_index(segment),
        segments,
    };
    assert_eq!(refusal(&two_segments(), "0:u2=1"), absent(2, 2));
    assert_eq!(refusal(&two_segments(), "0:u9=1"), absent(9, 2));
    assert_eq!(refusal(&Declaration::new(0), "0:s 0:0,0,0 0:u3=1"), absent(3, 3));
    let absent = |process, processes| HistoryErrorKind::NoSuchProcess {
        process: Process::from_index(process),
        processes,
    };
    let three = two_segments().with_processes(3);
    for event in ["s", "u0=1", "ok", "0,0", "fail", "unknown"] {
        assert_eq!(refusal(&three, &format!("3:{event}")), absent(3, 3));
        assert_eq!(refusal(&three, &format!("2:s 7:{event}")), absent(7, 3));
    }
    let idle = HistoryErrorKind::NothingOpen { process: Process::from_index(2) };
    assert_eq!(refusal(&three, "2:ok"), idle);
}

#[test]
fn a_segment_has_one_writer() {
    let second = |segment, writer, process| HistoryErrorKind::SecondWriter {
        segment: Segment::from_index(segment),
        writer: Process::from_index(writer),
        process: Process::from_index(process),
    };
    assert_eq!(refusal(&two_segments(), "0:u1=1 0:ok 1:u1=2"), second(1, 0, 1));
    assert_eq!(refusal(&two_segments(), "1:u1=1 0:u1=2"), second(1, 1, 0));
    assert_eq!(refusal(&two_segments(), "1:u1=1 1:fail 0:u0=3 0:ok 0:u1=2"), second(1, 1, 0));
    let many = two_segments().with_writers(Writers::Many);
    admit(&many, "0:u1=1 0:ok 1:u1=2 2:u1=3 1:ok");
    // An update that was refused makes no process the writer.
    let mut builder = History::builder(two_segments()).unwrap();
    builder.invoke_scan(0).unwrap();
    builder.invoke_update(0, 1, 5).unwrap_err();
    builder.invoke_update(1, 1, 6).unwrap();
}

#[test]
fn undeclared_sizes_are_inferred() {
    let sizes = |declaration: &Declaration<i64>, events| {
        let (history, monitor) = admit(declaration, events);
        assert_eq!(history.segments(), monitor.segments(), "{events}");
        assert_eq!(history.processes(), monitor.processes(), "{events}");
        assert_eq!(history.pending() as u64, monitor.pending(), "{events}");
        (history.segments(), history.processes(), history.pending())
    };
    let undeclared = Declaration::new(0);
    assert_eq!(sizes(&undeclared, ""), (1, 0, 0));
    assert_eq!(sizes(&undeclared, "4:s"), (1, 5, 1));
    assert_eq!(sizes(&undeclared, "1:u3=1 0:s 1:unknown"), (4, 2, 2));
    assert_eq!(sizes(&undeclared, "1:u1=1 0:s 0:0,0,0 1:ok"), (3, 2, 0));
    assert_eq!(sizes(&undeclared, "1:u1=1 0:s 0:fail 1:fail"), (2, 2, 0));
    let initial = Declaration::new(0).with_initial(vec![4, 5]);
    assert_eq!(sizes(&initial, "0:s"), (2, 1, 1));
    assert_eq!(sizes(&two_segments().with_processes(6), "0:s"), (2, 6, 1));
}

#[test]
fn impossible_declarations_are_refused() {
    let refusal = |declaration: Declaration<i64>| {
        let error = History::builder(declaration.clone()).map(|_| ()).unwrap_err();
        assert_eq!(Monitor::new(declaration).map(|_| ()), Err(error.clone()));
        assert_eq!(error.event, 0);
        error.kind
    };
    let bad = |what, given, limit| HistoryErrorKind::BadSize { what, given, limit };
    let (segments, processes) = (Segment::LIMIT + 1, Process::LIMIT + 1);
    let undeclared = || Declaration::new(0);
    assert_eq!(refusal(undeclared().with_segments(0)), bad("segments", 0, segments));
    let given = segments + 1;
    assert_eq!(refusal(undeclared().with_segments(given)), bad("segments", given, segments));
    let initial = vec![0; given];
    assert_eq!(refusal(undeclared().with_initial(initial)), bad("segments", given, segments));
    assert_eq!(refusal(undeclared().with_processes(0)), bad("processes", 0, processes));
    let given = processes + 1;
    assert_eq!(refusal(undeclared().with_processes(given)), bad("processes", given, processes));
    let contradiction = HistoryErrorKind::TooManyInitialValues { initial: 3, segments: 2 };
    assert_eq!(refusal(two_segments().with_initial(vec![1, 2, 3])), contradiction);

    admit(&two_segments().with_initial(vec![1, 2]), "0:s 0:1,2");
    admit(&undeclared().with_segments(segments).with_processes(processes), "0:s");
    admit(&undeclared().with_initial(vec![0; segments]), "0:s");
}
