//! Subjects that allow no certain answer, or tempt to an answer that is too strong.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use lineup::sync::atomic::{AtomicU32, Ordering::SeqCst};
use lineup::{AnySubject, Check, Subject, Test, Unknown, Verdict, batch};
use shuttle::sync::{Condvar, Mutex};
use test_support::effort::either;

fn verdict<S: Subject>(test: &str) -> Verdict {
    Check::new().run(&Test::parse::<S>(test).unwrap()).verdict
}

fn unknown<S: Subject>(check: &Check, test: &str) -> Unknown {
    match check.run(&Test::parse::<S>(test).unwrap()).verdict {
        Verdict::Unknown(unknown) => unknown,
        other => panic!("{test}: {other:?}"),
    }
}

lineup::subject! {
    /// Spins on a lock of its own, telling that it does.
    Spinning(cell: (AtomicU32, AtomicU32)) = Default::default();
    inc() => {
        while cell.0.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            lineup::hint::spin_loop();
        }
        let value = cell.1.load(SeqCst) + 1;
        cell.1.store(value, SeqCst);
        cell.0.store(0, SeqCst);
        value
    };
}

lineup::subject! {
    /// As `Spinning`, without a spin hint.
    Silently(cell: (AtomicU32, AtomicU32)) = Default::default();
    inc() => {
        while cell.0.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {}
        let value = cell.1.load(SeqCst) + 1;
        cell.1.store(value, SeqCst);
        cell.0.store(0, SeqCst);
        value
    };
}

#[test]
fn spinning_passes_and_terminates() {
    let tests = ["inc | inc", "inc inc | inc inc", "inc | inc | inc"];
    for test in &tests[..either(2, 3)] {
        let passed = verdict::<Spinning>(test);
        assert!(matches!(passed, Verdict::Pass { .. }), "{test}: {passed:?}");
    }
    for test in &tests[..either(1, 2)] {
        let passed = verdict::<Silently>(test);
        assert!(matches!(passed, Verdict::Pass { .. }), "{test}: {passed:?}");
    }
}

lineup::subject! {
    /// `wait` spins until `go` was called.
    Waiting(flag: AtomicBoolean) = Default::default();
    wait() => while !flag.load(SeqCst) { shuttle::thread::yield_now(); };
    go() => flag.store(true, SeqCst);
}
type AtomicBoolean = shuttle::sync::atomic::AtomicBool;

#[test]
fn endless_spin_is_unknown_not_stuck() {
    let diverging = Unknown::Diverging { steps: 2_000, serial: true };
    assert_eq!(unknown::<Waiting>(&Check::new(), "wait | go"), diverging);
    assert_eq!(unknown::<Waiting>(&Check::new(), "wait"), diverging);
}

lineup::subject! {
    /// `pop` panics where there is nothing; `racy` only if two of them overlap.
    Panicking(cell: (Mutex<u32>, AtomicU32)) = Default::default();
    push() => *cell.0.lock().unwrap_or_else(|e| e.into_inner()) += 1;
    pop() => {
        let mut count = cell.0.lock().unwrap_or_else(|e| e.into_inner());
        *count = count.checked_sub(1).expect("there is nothing");
    };
    racy() => {
        assert_eq!(cell.1.fetch_add(1, SeqCst), 0, "not alone");
        cell.1.fetch_sub(1, SeqCst);
    };
}

#[test]
fn panics_are_outcomes() {
    // In some serial executions pop panics: then it may.
    let passed = verdict::<Panicking>("push pop | pop");
    assert!(matches!(passed, Verdict::Pass { .. }), "{passed:?}");
    let report = Check::new().run(&Test::parse::<Panicking>("racy | racy").unwrap());
    assert!(report.verdict.fails());
    let text = lineup::report::report(&Check::new(), &report);
    assert!(text.contains("returned panic: assertion"), "{text}");
    assert!(text.contains("not alone"), "{text}");
}

lineup::subject! {
    /// Locks the same lock twice, the second time only if another thread was there.
    Relocking(cell: (Mutex<u32>, Mutex<u32>)) = Default::default();
    twice() => {
        let first = cell.0.lock().unwrap();
        let second = cell.0.lock().unwrap();
        *first + *second
    };
    once() => *cell.0.lock().unwrap();
    nested() => {
        let other = cell.1.lock().unwrap();
        let first = cell.0.lock().unwrap();
        let second = cell.0.lock().unwrap();
        *other + *first + *second
    };
}

#[test]
fn unwinding_a_self_deadlock_gives_unknown() {
    // Unwinding would release the first lock, and let other threads run.
    assert_eq!(unknown::<Relocking>(&Check::new(), "twice"), Unknown::Unwinding);
    assert_eq!(unknown::<Relocking>(&Check::new(), "nested | once"), Unknown::Unwinding);
}

static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

lineup::subject! {
    /// Numbers from a static: they continue from one execution to the next.
    Statics(_cell: ()) = ();
    next() => NEXT.fetch_add(1, SeqCst);
}

lineup::subject! {
    /// Random numbers of shuttle are under control: a die is nondeterministic.
    Die(cell: Mutex<()>) = Mutex::new(());
    throw() => { drop(cell.lock().unwrap()); shuttle::rand::Rng::r#gen::<u64>(&mut shuttle::rand::thread_rng()) % 6 };
}

static MADE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

lineup::subject! {
    /// Changes its behaviour for good from the thirtieth object on.
    Ageing(age: (u32, AtomicU32)) = (MADE.fetch_add(1, SeqCst), AtomicU32::new(0));
    get() => { age.1.load(SeqCst); age.0 >= 30 };
    set() => age.1.store(1, SeqCst);
}

/// The phases contradict each other, and the failing execution repeats; phase 1 does not.
#[test]
fn static_that_changes_once_gives_unknown() {
    let test = Test::parse::<Ageing>("get set get | set get set").unwrap();
    let report = Check::new().run(&test);
    let Verdict::Unknown(unknown) = &report.verdict else { panic!("{report:?}") };
    assert!(matches!(unknown, Unknown::Uncontrolled { .. }), "{unknown}");
    assert_eq!(report.serial.observations.len(), 20, "phase 1 was over before");
    assert!(report.concurrent.executions > 5, "{report:?}");
    // From then on it always does the same.
    assert!(matches!(Check::new().run(&test).verdict, Verdict::Pass { .. }));
}

#[test]
fn uncontrolled_state_is_unknown_and_randomness_fails() {
    let answer = unknown::<Statics>(&Check::new(), "next | next");
    assert!(matches!(answer, Unknown::Uncontrolled { .. }), "{answer:?}");
    let text = answer.to_string();
    assert!(text.contains("\n  first difference, event 2: Return("), "{text}");
    let answer = verdict::<Die>("throw | throw");
    assert!(matches!(answer, Verdict::Nondeterministic(_)), "{answer:?}");
}

lineup::subject! {
    /// Blocks the thread of the operating system.
    Blocking(cell: std::sync::Mutex<()>) = Default::default();
    fine() => drop(cell.lock().unwrap());
    block() => { let (_keep, never) = std::sync::mpsc::channel::<()>(); assert!(never.recv().is_err()) };
}

#[test]
fn a_call_that_blocks_outside_control_is_named() {
    let check = Check::new().silence(Duration::from_millis(300));
    let operation = Some("block() of thread B".to_owned());
    assert_eq!(unknown::<Blocking>(&check, "fine | block"), Unknown::Silent { operation });
    // The next check is not disturbed.
    assert!(matches!(verdict::<Blocking>("fine | fine"), Verdict::Pass { complete: true }));
}

/// Judging an execution may take longer than a call may be silent: it is not a blocked call.
#[test]
fn slow_judge_is_not_a_silent_call() {
    struct Slow;
    impl snapshot_core::generic::Specification for Slow {
        type State = ();
        type Input = ();
        type Output = ();
        type Part = ();

        fn initial(&self) {
            std::thread::sleep(Duration::from_millis(500));
        }

        fn apply(&self, (): &mut (), (): &(), _: Option<&()>) -> bool {
            true
        }

        fn part(&self, (): &()) {}
    }
    let check = Check::new().silence(Duration::from_millis(150));
    let check = check.against::<Spinning, _>(Slow, |_| (), |_, _| Some(()));
    let report = check.run(&Test::parse::<Spinning>("inc").unwrap());
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
}

lineup::subject! {
    /// Leaves a thread behind in each call.
    Spawning(cell: Arc<AtomicU32>) = Default::default();
    inc() => {
        let cell = Arc::clone(cell);
        drop(shuttle::thread::spawn(move || cell.fetch_add(1, SeqCst)));
    };
}

lineup::subject! {
    /// Cannot be made.
    Unmakable(_cell: u32) = "seven".parse().unwrap();
    get() => 7;
}

#[test]
fn subjects_that_spawn_or_cannot_be_made_are_unknown() {
    assert_eq!(unknown::<Spawning>(&Check::new(), "inc | inc"), Unknown::Threads);
    let answer = unknown::<Unmakable>(&Check::new(), "get | get");
    let Unknown::Panicked { message } = answer else { panic!("{answer:?}") };
    assert!(message.contains("pitfalls.rs"), "{message}");
}

#[test]
fn time_and_interruption_end_in_unknown() {
    let time = Check::new().preemptions(None).time(Some(Duration::from_millis(200)));
    let start = Instant::now();
    assert_eq!(
        unknown::<Spinning>(&time, "inc inc inc | inc inc inc | inc inc inc"),
        Unknown::Time
    );
    let cancel = Arc::new(AtomicBool::new(false));
    let check = Check::new().preemptions(None).cancelled_by(Arc::clone(&cancel));
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        cancel.store(true, SeqCst);
    });
    assert_eq!(
        unknown::<Spinning>(&check, "inc inc inc | inc inc inc | inc inc inc"),
        Unknown::Interrupted
    );
    other.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20));
}

lineup::subject! {
    /// A lock that can be tried: refusals are always allowed.
    Trying(cell: Mutex<u32>) = Mutex::new(0), spurious(try_inc => None::<u32>);
    try_inc() => match cell.try_lock() { Ok(mut cell) => { *cell += 1; Some(*cell) } Err(_) => None };
    inc() => *cell.lock().unwrap() += 1;
}

lineup::subject! {
    /// As `Trying`, without the allowance.
    Strictly(cell: Mutex<u32>) = Mutex::new(0);
    try_inc() => match cell.try_lock() { Ok(mut cell) => { *cell += 1; Some(*cell) } Err(_) => None };
    inc() => *cell.lock().unwrap() += 1;
}

lineup::subject! {
    /// Refuses, but counts nevertheless.
    Cheating(cell: (Mutex<u32>, AtomicU32)) = Default::default(), spurious(try_inc => None::<u32>);
    try_inc() => match cell.0.try_lock() {
        Ok(mut count) => { *count += 1; Some(*count) }
        Err(_) => { cell.1.fetch_add(1, SeqCst); None }
    };
    get() => *cell.0.lock().unwrap() + cell.1.load(SeqCst);
}

#[test]
fn allowed_refusals_must_have_no_effect() {
    assert!(verdict::<Strictly>("try_inc | try_inc").fails());
    for test in ["try_inc | try_inc", "try_inc inc | try_inc inc", "inc try_inc | inc"] {
        let passed = verdict::<Trying>(test);
        assert!(matches!(passed, Verdict::Pass { .. }), "{test}: {passed:?}");
    }
    assert!(verdict::<Cheating>("try_inc get | try_inc").fails());
}

lineup::subject! {
    /// Gets stuck immediately, unless opened.
    Gate(gate: (Mutex<bool>, Condvar)) = Default::default();
    open() => { *gate.0.lock().unwrap() = true; gate.1.notify_all(); };
    pass() => {
        let mut open = gate.0.lock().unwrap();
        while !*open { open = gate.1.wait(open).unwrap(); }
    };
}

#[test]
fn initial_and_final_sequences_are_executed() {
    let test = lineup::test!(Gate, init[open()], [pass()], [pass()], finally[pass()]);
    let report = Check::new().preemptions(None).run(&test);
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
    assert_eq!((report.serial.observations.len(), report.serial.observations.stuck()), (2, 0));
    let without = lineup::test!(Gate, [pass()], [pass()], finally[open()]);
    let report = Check::new().preemptions(None).run(&without);
    assert!(matches!(report.verdict, Verdict::Pass { .. }), "{report:?}");
    assert_eq!(report.serial.observations.stuck(), 2);
    let answer = unknown::<Gate>(&Check::new(), "init: pass | open");
    assert!(matches!(answer, Unknown::Initial { .. }), "{answer:?}");
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let check = Check::new();
    let tests = batch::RandomCheck { shape: (2, 2), samples: 24, seed: 5, ..Default::default() }
        .tests(AnySubject::new::<Strictly>())
        .unwrap();
    let first = |threads| {
        let series = batch::run(&check.clone().threads(NonZero::new(threads)), &tests, false);
        (series.failures[0].test.text(), series.passed, series.skipped)
    };
    assert_eq!(first(1), first(3));
}
