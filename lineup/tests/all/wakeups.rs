//! Spurious wake-ups of condition variables, and spurious polls: found with the option, silent
//! without it, and harmless for objects that look again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lineup::sync::{Condvar, Mutex};
use lineup::{Check, Report, Subject, Test, Verdict};

use crate::hostile::program;

type Latch = (Mutex<bool>, Condvar);

fn set(latch: &Latch) {
    *latch.0.lock().unwrap() = true;
    latch.1.notify_all();
}

lineup::subject! {
    /// Waits once, and presumes that it was notified.
    pub(crate) LatchPre(latch: Latch) = Latch::default();
    set() => set(latch);
    wait() => {
        let open = latch.0.lock().unwrap();
        if *open { true } else { *latch.1.wait(open).unwrap() }
    };
}

lineup::subject! {
    /// Waits until the latch is set.
    LatchPost(latch: Latch) = Latch::default();
    set() => set(latch);
    wait() => *latch.1.wait_while(latch.0.lock().unwrap(), |open| !*open).unwrap();
}

/// A value that is received once, and the receiver's waker.
type Slot = Mutex<(Option<u32>, Option<Waker>)>;

fn send(slot: &Slot) {
    let mut slot = slot.lock().unwrap();
    slot.0 = Some(7);
    if let Some(waker) = slot.1.take() {
        waker.wake();
    }
}

/// Receives the value; `PRESUMES`: a second poll takes it for granted.
struct Receive<'s, const PRESUMES: bool> {
    slot: &'s Slot,
    is_second: bool,
}

impl<const PRESUMES: bool> Future for Receive<'_, PRESUMES> {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        let mut slot = self.slot.lock().unwrap();
        if slot.0.is_some() || PRESUMES && self.is_second {
            return Poll::Ready(slot.0.take());
        }
        slot.1 = Some(context.waker().clone());
        drop(slot);
        self.is_second = true;
        Poll::Pending
    }
}

lineup::subject! {
    ReceivePre(slot: Slot) = Slot::default();
    send() => send(slot);
    receive() => lineup::block_on(Receive::<true> { slot, is_second: false });
}

lineup::subject! {
    ReceivePost(slot: Slot) = Slot::default();
    send() => send(slot);
    receive() => lineup::block_on(Receive::<false> { slot, is_second: false });
}

fn checked<S: Subject>(test: &str, spurious: bool) -> Report {
    let check = Check::new().preemptions(None).spurious_wakeups(spurious);
    check.run(&Test::parse::<S>(test).unwrap())
}

fn found_only_with_spurious_wakeups<Wrong: Subject, Right: Subject>(test: &str) {
    assert_eq!(checked::<Wrong>(test, false).verdict.word(), "PASS");
    assert!(matches!(checked::<Wrong>(test, true).verdict, Verdict::Violation(_)));
    let (without, with) = (checked::<Right>(test, false), checked::<Right>(test, true));
    let steps = [&without, &with].map(|report| report.concurrent.steps);
    assert!(steps[0] < steps[1], "woken up: {steps:?}");
    assert!(matches!(without.verdict, Verdict::Pass { complete: true }));
    assert!(matches!(with.verdict, Verdict::Pass { complete: true }));
}

#[test]
fn spurious_wakeup_of_a_condition_variable_is_found() {
    found_only_with_spurious_wakeups::<LatchPre, LatchPost>("set | wait | wait");
}

#[test]
fn spurious_poll_is_found() {
    found_only_with_spurious_wakeups::<ReceivePre, ReceivePost>("send | receive");
}

#[test]
fn failure_with_spurious_wakeups_is_replayed_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failure.json").display().to_string();
    let run = ["run", "LatchPre", "--test", "set | wait"];
    assert_eq!(program(&run).0, Some(0));
    let (code, text, _) = program(&[&run[..], &["--spurious-wakeups", "--save", &file]].concat());
    assert_eq!(code, Some(1), "{text}");
    let (code, text, _) = program(&["replay", &file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("\nthe execution that was recorded\n"), "{text}");
}
