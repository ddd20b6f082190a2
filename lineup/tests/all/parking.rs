//! The parking lot that replaces `parking_lot_core`: locks made with it in the way of
//! `parking_lot`, right and wrong. The scheduler sees that a thread waits.

use std::collections::BTreeSet;

use lineup::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use lineup::{Check, Report, Subject, Test, Verdict};
use snapshot_core::observation::Event;
use test_support::effort::either;

#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "a crate of its own, whose source this is"
)]
#[path = "../../parking_lot_core/src/lib.rs"]
mod parking_lot_core;

use parking_lot_core::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp,
    UnparkToken, park, unpark_all, unpark_filter, unpark_one, unpark_requeue,
};

const LOCKED: usize = 1;
const PARKED: usize = 2;

/// A lock with two bits, and a condition whose threads are moved to the lock; `FORGETS`: it wakes
/// no thread.
#[derive(Default)]
struct Lock<const FORGETS: bool> {
    state: AtomicUsize,
    condition: AtomicUsize,
}

impl<const FORGETS: bool> Lock<FORGETS> {
    fn key(of: &AtomicUsize) -> usize {
        std::ptr::from_ref(of) as usize
    }

    fn lock(&self) {
        loop {
            let state = self.state.load(SeqCst);
            if state & LOCKED == 0 {
                if self.state.compare_exchange(state, state | LOCKED, SeqCst, SeqCst).is_ok() {
                    return;
                }
                continue;
            }
            if state & PARKED == 0
                && self.state.compare_exchange(state, state | PARKED, SeqCst, SeqCst).is_err()
            {
                continue;
            }
            let validate = || self.state.load(SeqCst) == LOCKED | PARKED;
            let timed_out = |_, _| unreachable!("there is no time limit");
            park(Self::key(&self.state), validate, || (), timed_out, DEFAULT_PARK_TOKEN, None);
        }
    }

    fn unlock(&self) {
        if FORGETS {
            self.state.store(0, SeqCst);
            return;
        }
        if self.state.compare_exchange(LOCKED, 0, SeqCst, SeqCst).is_ok() {
            return;
        }
        unpark_one(Self::key(&self.state), |result| {
            self.state.store(if result.have_more_threads { PARKED } else { 0 }, SeqCst);
            DEFAULT_UNPARK_TOKEN
        });
    }

    /// Releases the lock, waits to be called, and takes the lock again.
    fn wait(&self, token: ParkToken) -> usize {
        let validate = || true;
        let timed_out = |_, _| unreachable!("there is no time limit");
        let unlock = || self.unlock();
        match park(Self::key(&self.condition), validate, unlock, timed_out, token, None) {
            ParkResult::Unparked(UnparkToken(answer)) => {
                self.lock();
                answer
            }
            other => unreachable!("{other:?}"),
        }
    }

    /// Calls a waiting thread, which gets the lock when it is free.
    fn call_one(&self) -> usize {
        let validate = || {
            // As the condition of `parking_lot`: the thread that has the lock wakes it.
            loop {
                let state = self.state.load(SeqCst);
                if state & LOCKED == 0 {
                    return RequeueOp::UnparkOne;
                }
                if self.state.compare_exchange(state, state | PARKED, SeqCst, SeqCst).is_ok() {
                    return RequeueOp::RequeueOne;
                }
            }
        };
        let (from, to) = (Self::key(&self.condition), Self::key(&self.state));
        let result = unpark_requeue(from, to, validate, |_, _| DEFAULT_UNPARK_TOKEN);
        result.unparked_threads + result.requeued_threads
    }
}

lineup::subject! {
    /// A counter behind the lock.
    Locked(cell: (Lock<false>, AtomicUsize)) = Default::default();
    add() => { cell.0.lock(); let n = cell.1.load(SeqCst); cell.1.store(n + 1, SeqCst); cell.0.unlock(); n };
    twice() => { cell.0.lock(); cell.0.lock() };
}

lineup::subject! {
    /// As `Locked`, without waking.
    Forgetting(cell: (Lock<true>, AtomicUsize)) = Default::default();
    add() => { cell.0.lock(); let n = cell.1.load(SeqCst); cell.1.store(n + 1, SeqCst); cell.0.unlock(); n };
}

lineup::subject! {
    /// A semaphore by the condition, called with the lock (threads are moved) or without.
    Conditional(cell: (Lock<false>, AtomicUsize)) = Default::default();
    acquire() => {
        cell.0.lock();
        while cell.1.load(SeqCst) == 0 { cell.0.wait(DEFAULT_PARK_TOKEN); }
        cell.1.fetch_sub(1, SeqCst);
        cell.0.unlock();
    };
    release() => { cell.0.lock(); cell.1.fetch_add(1, SeqCst); cell.0.call_one(); cell.0.unlock(); };
    release_early() => { cell.0.lock(); cell.1.fetch_add(1, SeqCst); cell.0.unlock(); cell.0.call_one(); };
}

lineup::subject! {
    /// Threads that wait with a token of theirs, and others that wake those with some token.
    Chosen(cell: AtomicUsize) = Default::default();
    wait(token: usize) in [1, 2] => {
        let timed_out = |_, _| unreachable!("there is no time limit");
        match park(7, || cell.load(SeqCst) == 0, || (), timed_out, ParkToken(token), None) {
            ParkResult::Unparked(UnparkToken(answer)) => answer,
            ParkResult::Invalid => 0,
            ParkResult::TimedOut => unreachable!("time is not over"),
        }
    };
    wake(token: usize) in [1, 2] => {
        let filter = |ParkToken(of)| if of == token { FilterOp::Unpark } else { FilterOp::Skip };
        unpark_filter(7, filter, |result| UnparkToken(10 + result.unparked_threads)).unparked_threads
    };
    all() => { cell.store(1, SeqCst); unpark_all(7, UnparkToken(20)) };
}

fn run<S: Subject>(test: &str) -> Report {
    Check::new().run(&Test::parse::<S>(test).unwrap())
}

#[test]
fn parking_locks_pass_and_their_waits_are_visible() {
    for test in ["add | add", "add add | add add", "add | add | add"] {
        let report = run::<Locked>(test);
        assert!(matches!(report.verdict, Verdict::Pass { .. }), "{test}: {report:?}");
        assert_eq!(report.concurrent.stuck, 0, "{test}");
    }
    // It waits for itself, in serial executions, too; `add` beside it waits in none.
    assert!(run::<Locked>("add | twice").verdict.fails());
    let report = run::<Locked>("twice | twice");
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
    assert!(report.concurrent.stuck > 0);
}

#[test]
fn lock_that_wakes_no_thread_gets_stuck() {
    let report = run::<Forgetting>("add | add");
    assert!(report.verdict.fails(), "{report:?}");
    let text = lineup::report::report(&Check::new(), &report);
    assert!(text.contains("gets stuck where no serial one does"), "{text}");
}

#[test]
fn threads_are_moved_between_keys() {
    for (test, most) in
        [("acquire | release", 2), ("acquire | release release_early | acquire", either(1, 2))]
    {
        let check = Check::new().preemptions(Some(most));
        let report = check.run(&Test::parse::<Conditional>(test).unwrap());
        assert!(matches!(report.verdict, Verdict::Pass { .. }), "{test}: {report:?}");
        assert_eq!(report.concurrent.bound, Some(most));
    }
}

/// Returns all answers of a thread, in any execution.
fn answers<S: Subject>(test: &str, thread: usize) -> BTreeSet<String> {
    let histories = Check::new().histories(&Test::parse::<S>(test).unwrap()).unwrap();
    let events = histories.iter().flat_map(|history| history.events());
    let answer = |event: &Event<_>| match event {
        Event::Return(of, answer) if of.index() == thread => Some(format!("{answer:?}")),
        _ => None,
    };
    events.filter_map(answer).collect()
}

#[test]
fn threads_are_chosen_by_their_tokens() {
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<BTreeSet<_>>();
    let one = "wait(1) | wait(2) | wake(2)";
    assert_eq!(answers::<Chosen>(one, 0), set(&[]));
    assert_eq!(answers::<Chosen>(one, 1), set(&["11"]));
    assert_eq!(answers::<Chosen>(one, 2), set(&["0", "1"]));
    // A late thread finds that there is no reason to wait.
    let all = "wait(1) | wait(2) | all";
    assert_eq!(answers::<Chosen>(all, 0), set(&["0", "20"]));
    assert_eq!(answers::<Chosen>(all, 2), set(&["0", "1", "2"]));
}
