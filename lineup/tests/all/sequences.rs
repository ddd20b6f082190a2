//! Initial and final sequences: given, random, and the operation that drops the object.

use std::sync::Arc;

use lineup::batch::{self, RandomCheck};
use lineup::sync::atomic::{AtomicBool, Ordering::SeqCst};
use lineup::sync::{Condvar, Mutex};
use lineup::{AnySubject, Check, Test, TestError, Unknown, Verdict};

/// Tokens in a lock, a counter of tokens, and a flag.
#[derive(Default)]
struct Tokens {
    kept: Mutex<Vec<Arc<()>>>,
    token: Arc<()>,
    is_busy: AtomicBool,
}

impl Tokens {
    fn push(&self, leaks: bool) {
        let token = Arc::clone(&self.token);
        if self.is_busy.swap(true, SeqCst) && leaks {
            // A second one at the same time is forgotten.
            std::mem::forget(token);
            return;
        }
        self.kept.lock().unwrap().push(token);
        self.is_busy.store(false, SeqCst);
    }

    /// Returns the number of tokens that remain after the object.
    fn left(self) -> usize {
        drop(self.kept);
        Arc::strong_count(&self.token) - 1
    }
}

lineup::subject! {
    /// Drops its tokens.
    Keeping(tokens: Tokens) = Tokens::default(), drop(tokens.left());
    push() => tokens.push(false);
}

lineup::subject! {
    /// Leaks where two threads push at a time: seen only when it is dropped.
    Leaking(tokens: Tokens) = Tokens::default(), drop(tokens.left());
    push() => tokens.push(true);
}

#[test]
fn final_drop_reveals_leaks() {
    let run = |finally| {
        let columns = vec![vec![Leaking::push()]; 2];
        let test = Test::with::<Leaking>(columns, Vec::new(), finally).unwrap();
        Check::new().run(&test)
    };
    let unseen = run(Vec::new());
    assert!(matches!(unseen.verdict, Verdict::Pass { .. }), "{unseen:?}");
    let seen = run(vec![Leaking::drop()]);
    assert!(seen.verdict.fails(), "{seen:?}");
    let text = lineup::report::report(&Check::new(), &seen);
    assert!(text.contains("drop() of final returned 1."), "{text}");
    // Random tests and all tests have it at their end.
    let check = Check::new();
    let tests = RandomCheck { shape: (2, 2), samples: 3, ..Default::default() };
    assert_eq!(tests.run(AnySubject::new::<Leaking>(), &check, true).unwrap().failures.len(), 3);
    let all = batch::all_tests(AnySubject::new::<Leaking>(), (1, 2), 5).unwrap();
    assert_eq!(all[0].text(), "push() | push() | final: drop()");
    let passed = RandomCheck { shape: (2, 2), samples: 3, finally: 2, ..Default::default() };
    assert_eq!(passed.run(AnySubject::new::<Keeping>(), &Check::new(), true).unwrap().passed, 3);
}

#[test]
fn the_object_is_dropped_last_or_not_at_all() {
    let last = Test::parse::<Keeping>("push | push | final: push drop").unwrap();
    assert!(last.drops());
    assert_eq!(last.text(), "push() | push() | final: push() drop()");
    for wrong in ["drop | push", "push | final: drop push", "init: drop | push"] {
        let error = Test::parse::<Keeping>(wrong).unwrap_err();
        assert!(matches!(error, TestError::Drop { .. }), "{wrong}: {error}");
    }
    // A subject without it has no such operation.
    assert!(Test::parse::<Full>("push(1) | final: drop").is_err());
    // The object of an execution that gets stuck is not dropped.
    let report = Check::new().run(&Test::parse::<Gated>("pass | pass | final: drop").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
    assert_eq!(report.serial.observations.stuck(), report.serial.observations.len());
    let report =
        Check::new().run(&Test::parse::<Gated>("init: open | pass | pass | final: drop").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
    assert_eq!(report.serial.observations.stuck(), 0);
}

/// A ring of two values that can be closed. `force` on a full ring restores its earlier closed
/// flag: a `close` in between is lost.
#[derive(Default)]
struct Ring {
    values: Mutex<Vec<u32>>,
    is_closed: AtomicBool,
}

lineup::subject! {
    /// Wrong only when it is full.
    Full(ring: Ring) = Ring::default();
    push(v: u32) in [1] => {
        let mut values = ring.values.lock().unwrap();
        let fits = values.len() < 2 && !ring.is_closed.load(SeqCst);
        if fits { values.push(v); }
        fits
    };
    close() => ring.is_closed.swap(true, SeqCst);
    force(v: u32) in [2] => {
        let mut values = ring.values.lock().unwrap();
        if values.len() == 2 {
            let was = ring.is_closed.load(SeqCst);
            values.remove(0);
            values.push(v);
            ring.is_closed.store(was, SeqCst);
        }
    };
    is_closed() => ring.is_closed.load(SeqCst);
}

#[test]
fn random_initial_sequences_find_more_than_all_2x2_tests() {
    let check = Check::new();
    let all = batch::all_tests(AnySubject::new::<Full>(), (2, 2), usize::MAX).unwrap();
    assert_eq!(all.len(), 136);
    assert_eq!(batch::number_of_tests((2, 2), 4), 136);
    assert_eq!(batch::number_of_tests((2, 3), 4), 816);
    assert_eq!(batch::run(&check, &all, true).passed, 136, "no test of 2 x 2 alone");
    let random = RandomCheck { shape: (2, 2), samples: 150, initial: 2, ..Default::default() };
    let tests = random.tests(AnySubject::new::<Full>()).unwrap();
    assert!(tests.iter().all(|test| test.initial().len() == 2 && test.finally().is_empty()));
    let series = batch::run(&check, &tests, true);
    assert!(series.failures.len() >= 2, "{series:?}");
    for report in &series.failures {
        let smaller = check.minimise(report.clone());
        assert!(!smaller.test.initial().is_empty(), "{smaller:?}");
    }
}

lineup::subject! {
    /// Waits until it was opened.
    Gated(gate: (Mutex<bool>, Condvar)) = Default::default(), drop(drop(gate));
    open() => { *gate.0.lock().unwrap() = true; gate.1.notify_all(); };
    pass() => {
        let mut open = gate.0.lock().unwrap();
        while !*open { open = gate.1.wait(open).unwrap(); }
    };
}

#[test]
fn random_initial_sequences_are_cut_where_they_get_stuck() {
    let check = Check::new();
    let random = RandomCheck { shape: (1, 2), samples: 40, initial: 2, ..Default::default() };
    let drawn = random.tests(AnySubject::new::<Gated>()).unwrap();
    let stuck = |test: &Test| {
        let verdict = check.run(test).verdict;
        matches!(verdict, Verdict::Unknown(Unknown::Initial { .. }))
    };
    assert!(drawn.iter().filter(|test| stuck(test)).count() > 5);
    let possible = random.possible(AnySubject::new::<Gated>(), &check).unwrap();
    assert!(!possible.iter().any(stuck));
    for (drawn, possible) in drawn.iter().zip(&possible) {
        assert_eq!(drawn.columns(), possible.columns());
        let initial = drawn.initial();
        assert!(initial.starts_with(possible.initial()));
        // Cut where it gets stuck, and not earlier.
        let length = if initial[0].text() == "open()" { 2 } else { 0 };
        assert_eq!(possible.initial().len(), length, "{drawn:?}");
    }
}
