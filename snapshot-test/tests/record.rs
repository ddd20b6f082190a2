//! Recorded executions are histories that say what really happened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use snapshot_core::history::{Action, Declaration, Outcome};
use snapshot_core::{Process, Segment};
use snapshot_test::record::{RecordError, Recorder, Reply};

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
    let p0 = Process::must(0);
    let actions: Vec<_> =
        history.events().map(|event| (event.process == p0, event.action)).collect();
    let segment = Segment::must(0);
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
    let process = Process::must(3);
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

/// A history taken at any time is one that the recording goes through: no
/// thread's event is there without all that were numbered before it.
#[test]
fn histories_taken_meanwhile_are_prefixes() {
    const ROUNDS: i64 = 2_000;
    let recorder = Recorder::new(Declaration::new(0).with_segments(3));
    let object = Mutex::new(vec![0; 3]);
    let mut taken = recorder.history().unwrap();
    std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|process| {
            let mut handle = recorder.process(process).unwrap();
            let object = &object;
            scope.spawn(move || {
                for value in 1..=ROUNDS {
                    handle.update(process, value, || object.lock().unwrap()[process] = value);
                    handle.scan(|| object.lock().unwrap().clone());
                }
            })
        });
        while !threads.iter().all(|thread| thread.is_finished()) {
            let history = recorder.history().unwrap();
            assert!(taken.events().eq(history.events().take(taken.len())));
            taken = history;
        }
    });
    let whole = recorder.history().unwrap();
    whole.validate();
    assert_eq!(whole.len(), 3 * 4 * ROUNDS as usize);
    assert!(taken.events().eq(whole.events().take(taken.len())));
    // The order is that of real time: each scan sees the updates that responded
    // before it was invoked, and none that was invoked after it responded.
    for scan in whole.operations().iter().filter(|operation| operation.is_scan()) {
        for update in whole.operations().iter().filter(|operation| !operation.is_scan()) {
            let seen = whole.scan_values(scan)[update.segment().unwrap().index()];
            let value = *whole.update_value(update);
            assert!(!update.precedes(scan) || seen >= value);
            assert!(!scan.precedes(update) || seen < value);
        }
    }
}
