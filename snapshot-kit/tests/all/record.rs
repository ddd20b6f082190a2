//! Recorded executions are histories of the real events.

use std::future::Future as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};

use snapshot_core::history::{Action, Declaration, Outcome};
use snapshot_core::{History, Process, Segment};
use snapshot_kit::record::{RecordError, Recorder, Reply};
use snapshot_kit::{Clock, Writers, assert_linearizable, judge};
use test_support::effort::either;

#[test]
fn operations_of_one_thread_are_recorded_in_their_order() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(2));
    let mut object = vec![0, 0];
    let mut p0 = recorder.process(0).unwrap();
    let mut p1 = recorder.process(1).unwrap();
    assert_eq!(p0.update(0, 5, || std::mem::replace(&mut object[0], 5)), 0);
    assert_eq!(p1.scan(|| object.clone()), [5, 0]);
    let failed: Reply<()> = p0.try_update(0, 6, || Reply::Failed);
    assert_eq!(failed, Reply::Failed);
    let lost: Reply<()> = p0.try_update(0, 7, || Reply::Unknown);
    assert_eq!(lost, Reply::Unknown);
    assert_eq!(p1.try_scan(|| Reply::Done([5, 0])), Reply::Done([5, 0]));
    let history = recorder.history().unwrap();
    let p0 = Process::from_index(0);
    let actions: Vec<_> =
        history.events().map(|event| (event.process == p0, event.action)).collect();
    let segment = Segment::from_index(0);
    assert_eq!(
        actions,
        [
            (true, Action::InvokeUpdate { segment, value: &5 }),
            (true, Action::RespondUpdate),
            (false, Action::InvokeScan),
            (false, Action::RespondScan { values: &[5, 0] }),
            (true, Action::InvokeUpdate { segment, value: &6 }),
            (true, Action::Fail),
            (true, Action::InvokeUpdate { segment, value: &7 }),
            (true, Action::Unknown),
            (false, Action::InvokeScan),
            (false, Action::RespondScan { values: &[5, 0] }),
        ]
    );
}

#[test]
fn intervals_contain_the_calls() {
    let recorder = Recorder::new(Declaration::new(0));
    let mut p0 = recorder.process(0).unwrap();
    let mut p1 = recorder.process(1).unwrap();
    // p1's scan runs within the call of p0's update.
    p0.update(0, 1, || p1.scan(|| vec![1]));
    let history = recorder.history().unwrap();
    let [update, scan] = history.operations() else { panic!("two operations") };
    assert!(update.invocation() < scan.invocation());
    assert!(scan.response().unwrap() < update.response().unwrap());
}

#[test]
fn a_thread_that_hangs_leaves_a_pending_operation() {
    let recorder = Recorder::new(Declaration::new(0));
    let (started, has_started) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        let mut hanging = recorder.process(0).unwrap();
        scope.spawn(move || {
            hanging.update(0, 1, || {
                started.send(()).unwrap();
                released.recv().unwrap();
            });
        });
        has_started.recv().unwrap();
        let history = recorder.history().unwrap();
        assert_eq!((history.len(), history.pending()), (1, 1));
        release.send(()).unwrap();
    });
    assert_eq!(recorder.history().unwrap().pending(), 0);
}

#[test]
fn a_call_that_panics_has_an_unknown_outcome() {
    let recorder = Recorder::new(Declaration::new(0));
    let mut handle = recorder.process(0).unwrap();
    let call = AssertUnwindSafe(|| handle.update(0, 1, || panic!("crash")));
    assert!(catch_unwind(call).is_err());
    assert_eq!(handle.scan(|| vec![0]), [0]);
    let history = recorder.history().unwrap();
    let outcomes: Vec<_> = history.operations().iter().map(|op| op.outcome()).collect();
    assert_eq!(outcomes, [Outcome::Unknown { event: 1 }, Outcome::Complete { response: 3 }]);
}

#[test]
fn a_process_is_one_thread_at_a_time() {
    let recorder = Recorder::new(Declaration::new(0));
    let mut handle = recorder.process(3).unwrap();
    handle.scan(|| vec![0]);
    let process = Process::from_index(3);
    assert_eq!(recorder.process(3).unwrap_err(), RecordError::InUse { process });
    drop(handle);
    recorder.process(3).unwrap().scan(|| vec![0]);
    assert_eq!(recorder.history().unwrap().len(), 4);
}

#[test]
fn a_scan_of_the_wrong_size_is_reported() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(2));
    recorder.process(0).unwrap().scan(|| vec![0]);
    assert!(matches!(recorder.history(), Err(RecordError::History(_))));
}

fn clocks() -> impl Iterator<Item = Clock> {
    let all = [Clock::Ticket, Clock::Instant, Clock::Counter];
    all.into_iter().filter(|clock| *clock != Clock::Counter || Clock::has_counter())
}

/// A history taken at any time is a part of the final one: for each process it has the beginning of
/// its events, in the final order.
#[test]
fn histories_taken_during_a_run_are_parts_of_the_final_one() {
    let taken: usize = clocks().map(take_during_a_run).sum();
    assert!(taken > 5, "{taken} histories were taken");
}

fn take_during_a_run(clock: Clock) -> usize {
    let rounds = either(200, 2_000);
    let mut count = 0;
    let recorder = Recorder::with_clock(Declaration::new(0).with_segments(3), clock);
    let object = Mutex::new(vec![0; 3]);
    let mut taken = recorder.history().unwrap();
    std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|process| {
            let mut handle = recorder.process(process).unwrap();
            let object = &object;
            scope.spawn(move || {
                for value in 1..=rounds {
                    handle.update(process, value, || object.lock().unwrap()[process] = value);
                    handle.scan(|| object.lock().unwrap().clone());
                    std::thread::yield_now();
                }
            })
        });
        while !threads.iter().all(|thread| thread.is_finished()) {
            let history = recorder.history().unwrap();
            history.validate();
            judge(&history, "taken meanwhile", &[]).unwrap();
            assert!(taken.len() <= history.len());
            count += 1;
            taken = history;
        }
    });
    let whole = recorder.history().unwrap();
    whole.validate();
    assert_eq!(whole.len(), 3 * 4 * rounds as usize);
    for process in (0..3).map(Process::from_index) {
        let of = |history: &History<i64>| {
            let events = history.events().filter(|event| event.process == process);
            events.map(|event| event.to_string()).collect::<Vec<_>>()
        };
        assert!(of(&whole).starts_with(&of(&taken)));
    }
    // The order agrees with real time: each scan sees the updates that responded before it was
    // invoked, and none that was invoked after it responded.
    for scan in whole.operations().iter().filter(|operation| operation.is_scan()) {
        for update in whole.operations().iter().filter(|operation| !operation.is_scan()) {
            let seen = whole.scan_values(scan)[update.segment().unwrap().index()];
            let value = *whole.update_value(update);
            assert!(!update.precedes(scan) || seen >= value);
            assert!(!scan.precedes(update) || seen < value);
        }
    }
    count
}

/// More values than a ring holds, more events than it holds, and a thread that panics.
#[test]
fn no_recorded_event_is_lost() {
    const SEGMENTS: usize = 5_000;
    let recorder = Recorder::new(Declaration::new(0).with_segments(SEGMENTS));
    let mut scanner = recorder.process(1).unwrap();
    let crash = std::thread::scope(|scope| {
        let mut writer = recorder.process(0).unwrap();
        let thread = scope.spawn(move || {
            (1..=4_000).for_each(|value| writer.update(0, value, || ()));
            writer.update(0, 4_001, || panic!("the object crashes"));
        });
        thread.join()
    });
    assert!(crash.is_err());
    let mut values = vec![0; SEGMENTS];
    values[0] = 4_000;
    scanner.scan(|| &values);
    let history = recorder.history().unwrap();
    assert_eq!((history.operations().len(), history.pending()), (4_002, 1));
    assert_linearizable!(history);
}

#[test]
fn guards_record_the_given_outcome() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(1));
    let mut handle = recorder.process(0).unwrap();
    handle.begin_update(0, 1).ok();
    handle.begin_update(0, 2).fail();
    handle.begin_update(0, 3).unknown();
    drop(handle.begin_update(0, 4));
    handle.begin_scan().ok(&[4]);
    handle.begin_scan().fail();
    drop(handle.begin_scan());
    let history = recorder.history().unwrap();
    let ended: Vec<String> = history.events().map(|event| event.to_string()).collect();
    let responses: Vec<&str> = ended.iter().skip(1).step_by(2).map(String::as_str).collect();
    assert_eq!(
        responses,
        ["p0 ok", "p0 fail", "p0 unknown", "p0 unknown", "p0 ok 4", "p0 fail", "p0 unknown"]
    );
    assert_linearizable!(history);
}

/// A waiting task holds its guard; a cancelled task drops it.
#[test]
fn a_cancelled_task_has_an_unknown_outcome() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(1));
    let mut handle = recorder.process(0).unwrap();
    {
        let mut task = Box::pin(async {
            let open = handle.begin_update(0, 9);
            std::future::pending::<()>().await;
            open.ok();
        });
        let mut context = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut context).is_pending());
    }
    let history = recorder.history().unwrap();
    assert!(matches!(history.operations()[0].outcome(), Outcome::Unknown { .. }));
}

#[test]
fn a_watched_recording_stops_at_the_first_violation() {
    let recorder = Recorder::watched(Declaration::new(0).with_segments(2)).unwrap();
    let mut writer = recorder.process(0).unwrap();
    let mut reader = recorder.process(1).unwrap();
    assert!(matches!(recorder.process(1), Err(RecordError::InUse { .. })));
    writer.update(0, 1, || ());
    reader.scan(|| [1, 0]);
    assert!(!recorder.is_stopped());
    reader.scan(|| [0, 0]);
    assert!(recorder.is_stopped());
    writer.update(0, 2, || ());
    let history = recorder.history().unwrap();
    assert_eq!(history.operations().len(), 3);
    assert!(catch_unwind(|| assert_linearizable!(history)).is_err());
    drop(reader);
    assert!(recorder.process(1).is_ok());
}

/// The taken part and the rest are two recordings, of which the second begins with the values that
/// the first one left.
#[test]
fn a_recording_can_be_taken_in_pieces() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(2));
    let mut handle = recorder.process(0).unwrap();
    handle.update(0, 5, || ());
    let first = recorder.take().unwrap().expect("nothing is open");
    assert_eq!(first.operations().len(), 1);
    handle.scan(|| [5, 0]);
    drop(handle.begin_update(0, 6));
    // The update may take effect later, so it must not be removed.
    assert!(recorder.take().unwrap().is_none());
    handle.scan(|| [6, 0]);
    let second = recorder.history().unwrap();
    assert_eq!(second.operations().len(), 3);
    assert_eq!(*second.initial_value(Segment::from_index(0)), 5);
    assert_linearizable!(second);
}

/// Partial scans are recorded with their entries, among full ones, by concurrent threads, and with
/// more entries than a ring holds.
#[test]
fn partial_scans_are_recorded_with_their_entries() {
    const SEGMENTS: usize = 3000;
    for is_watched in [false, true] {
        let declaration = Declaration::new(0).with_segments(SEGMENTS);
        let recorder = if is_watched {
            Recorder::watched(declaration).unwrap()
        } else {
            Recorder::new(declaration)
        };
        std::thread::scope(|scope| {
            for process in 0..3 {
                let mut handle = recorder.process(process).unwrap();
                scope.spawn(move || {
                    for round in 0..20 {
                        let first = 700 * process;
                        let few = [(first + 9, 0), (first, 0)];
                        assert_eq!(handle.scan_some(|| few), few);
                        if round % 5 == 0 {
                            handle.scan(|| vec![0; SEGMENTS]);
                            let all: Vec<_> = (0..SEGMENTS - 1).map(|k| (k, 0)).collect();
                            handle.scan_some(|| all);
                        }
                        let lost = handle.try_scan_some(|| Reply::<[(usize, i32); 0]>::Unknown);
                        assert!(matches!(lost, Reply::Unknown));
                    }
                });
            }
        });
        let history = recorder.history().unwrap();
        let of = |process: usize, width: usize| {
            let scans = history.operations().iter().filter(|operation| {
                operation.process().index() == process
                    && operation.is_complete()
                    && history.entries(operation).count() == width
            });
            scans.count()
        };
        assert_eq!(history.pending(), 60);
        let text = history.to_string();
        for process in 0..3 {
            assert_eq!(of(process, SEGMENTS), 4);
            let first = 700 * process;
            let line = format!("p{process} ok s{first} 0 s{} 0", first + 9);
            assert_eq!(text.lines().filter(|found| *found == line).count(), 20);
        }
    }
}

/// With several writers a recording can be taken in pieces after a full scan that runs alone at its
/// end.
#[test]
fn a_recording_of_several_writers_can_be_taken_after_a_scan() {
    let declaration = Declaration::new(0).with_segments(2).with_writers(Writers::Many);
    let recorder = Recorder::new(declaration);
    let mut handles = [0, 1].map(|process| recorder.process(process).unwrap());
    handles[0].update(0, 5, || ());
    assert!(recorder.take().unwrap().is_none(), "no scan");
    handles[1].scan_some(|| [(0, 5)]);
    assert!(recorder.take().unwrap().is_none(), "not all segments");
    let [first, second] = &mut handles;
    first.scan(|| {
        second.update(0, 6, || ());
        [6, 0]
    });
    assert!(recorder.take().unwrap().is_none(), "an update overlaps it");
    let [first, second] = &mut handles;
    second.update(0, 6, || drop(first.scan(|| vec![6, 0])));
    assert!(recorder.take().unwrap().is_none(), "an update that began before overlaps it");
    handles[0].begin_scan().fail();
    assert!(recorder.take().unwrap().is_none(), "it returned nothing");
    handles[0].scan(|| [6, 0]);
    let taken = recorder.take().unwrap().expect("a scan ends it");
    assert_eq!(taken.operations().len(), 8);
    handles[1].update(1, 7, || ());
    handles[0].scan(|| [6, 7]);
    let rest = recorder.history().unwrap();
    assert_eq!((rest.operations().len(), *rest.initial_value(Segment::from_index(0))), (2, 6));
    assert_linearizable!(rest);
}

#[test]
#[should_panic = "no evidence: no scan returned"]
fn assertion_without_scans_lacks_evidence() {
    let recorder = Recorder::new(Declaration::new(0).with_segments(1));
    recorder.process(0).unwrap().update(0, 1, || ());
    assert_linearizable!(recorder.history().unwrap());
}

#[test]
fn hook_runs_before_each_operation() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let recorder = Recorder::new(Declaration::new(0).with_segments(1)).before_each(move || {
        count.fetch_add(1, SeqCst);
    });
    let mut handle = recorder.process(0).unwrap();
    handle.update(0, 1, || assert_eq!(calls.load(SeqCst), 1));
    handle.scan(|| [calls.load(SeqCst) as i64 - 1]);
    handle.begin_scan().ok(&[1]);
    assert_eq!(calls.load(SeqCst), 3);
    assert_linearizable!(recorder.history().unwrap());
}
