//! The stand-in for `std`: its parts under the scheduler, each with bugs that the scheduler must
//! find, and its pitfalls.

use std::time::Duration;

use lineup::{Check, Subject, Test, Unknown, Verdict};
use lineup_std::controlled::{
    Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Thread, current, park, park_timeout,
    yield_now,
};
use lineup_std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::SeqCst};

fn run<S: Subject>(test: &str) -> Verdict {
    Check::new().run(&Test::parse::<S>(test).unwrap()).verdict
}

fn passes<S: Subject>(test: &str) {
    let verdict = run::<S>(test);
    assert!(matches!(verdict, Verdict::Pass { .. }), "{}: {test}: {verdict:?}", S::NAME);
}

lineup::subject! {
    /// A lost increment, and one that is not.
    Atomics(cell: (AtomicU32, AtomicBool, AtomicPtr<u32>)) = Default::default();
    lose() => cell.0.store(cell.0.load(SeqCst) + 1, SeqCst);
    add() => cell.0.fetch_add(1, SeqCst);
    update() => cell.0.fetch_update(SeqCst, SeqCst, |value| Some(value + 1));
    get() => cell.0.load(SeqCst);
    raise() => cell.1.swap(true, SeqCst);
    is_null() => cell.2.load(SeqCst).is_null();
}

#[test]
fn atomics_are_steps() {
    assert!(run::<Atomics>("lose get | lose").fails());
    passes::<Atomics>("add get | add");
    passes::<Atomics>("update get | update");
    passes::<Atomics>("raise is_null | raise");
}

lineup::subject! {
    /// Everything that locks.
    Locks(locks: (Mutex<u32>, RwLock<u32>, OnceLock<u32>, Once, AtomicU32)) = (
        Mutex::new(0), RwLock::new(0), OnceLock::new(), Once::new(), AtomicU32::new(0)
    );
    add() => { let mut n = locks.0.lock().unwrap(); *n += 1; *n };
    try_add() => locks.0.try_lock().is_ok();
    write() => { let mut n = locks.1.write().unwrap(); *n += 1; *n };
    read() => *locks.1.read().unwrap();
    set(v: u32) in [1, 2] => locks.2.set(v);
    get() => locks.2.get().copied();
    init(v: u32) in [3] => *locks.2.get_or_init(|| v);
    once() => {
        locks.3.call_once(|| { locks.4.fetch_add(1, SeqCst); });
        locks.4.load(SeqCst)
    };
}

#[test]
fn locks_exclude_each_other() {
    passes::<Locks>("add add | add");
    passes::<Locks>("write read | write");
    passes::<Locks>("read | write");
    passes::<Locks>("set(1) get | set(2)");
    passes::<Locks>("init(3) | set(1) get");
    passes::<Locks>("once | once");
    // The scheduler does see that a lock is taken.
    assert!(run::<Locks>("add | try_add").fails());
}

lineup::subject! {
    /// Waits with and without a time limit.
    Waits(waits: (Mutex<u32>, Condvar, Barrier, Mutex<Option<Thread>>, AtomicBool)) = (
        Mutex::new(0), Condvar::new(), Barrier::new(2), Mutex::new(None), AtomicBool::new(false)
    );
    release() => { *waits.0.lock().unwrap() += 1; waits.1.notify_one(); };
    release_unseen() => { *waits.0.lock().unwrap() += 1; };
    acquire() => {
        let mut free = waits.0.lock().unwrap();
        while *free == 0 { free = waits.1.wait(free).unwrap(); }
        *free -= 1;
    };
    acquire_in_time() => {
        let mut free = waits.0.lock().unwrap();
        while *free == 0 {
            free = waits.1.wait_timeout(free, Duration::from_secs(1)).unwrap().0;
        }
        *free -= 1;
    };
    meet() => waits.2.wait().is_leader();
    sleep() => {
        *waits.3.lock().unwrap() = Some(current());
        while !waits.4.load(SeqCst) { park(); }
    };
    doze() => park_timeout(Duration::from_secs(1));
    wake() => {
        waits.4.store(true, SeqCst);
        if let Some(thread) = &*waits.3.lock().unwrap() { thread.unpark(); }
    };
    spin() => while !waits.4.load(SeqCst) { yield_now() };
}

#[test]
fn scheduler_sees_waiting_threads() {
    passes::<Waits>("release | acquire");
    passes::<Waits>("sleep | wake");
    let verdict = run::<Waits>("release_unseen | acquire");
    let Verdict::Violation(violation) = &verdict else { panic!("{verdict:?}") };
    assert!(violation.history.is_stuck());
    assert!(run::<Waits>("meet | meet").fails(), "threads that meet are no serial execution");
}

/// Under control no time passes: *stuck* would be wrong, because in reality the wait would end.
#[test]
fn a_wait_with_a_time_limit_is_not_stuck() {
    for test in ["acquire_in_time", "doze", "release_unseen | acquire_in_time"] {
        let verdict = run::<Waits>(test);
        assert!(matches!(verdict, Verdict::Unknown(Unknown::TimedWait)), "{test}: {verdict:?}");
        let Verdict::Unknown(unknown) = verdict else { return };
        assert!(unknown.to_string().contains("a wait with a time limit is open"), "{unknown}");
    }
    // A closed wait has no effect.
    let verdict = run::<Waits>("release acquire_in_time acquire");
    assert!(matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
}

lineup_std::__local!(CALLS, std::cell::Cell<u32>, std::cell::Cell::new(0));

std::thread_local! {
    static SHARED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

lineup::subject! {
    /// Counts the calls of its thread: rightly, and in a value that all threads share.
    PerThread(_object: ()) = SHARED.set(0);
    count() => { CALLS.set(CALLS.get() + 1); CALLS.get() };
    count_shared() => { SHARED.set(SHARED.get() + 1); SHARED.get() };
}

fn answers(test: &str) -> Vec<String> {
    let observations = Check::new().observations(&Test::parse::<PerThread>(test).unwrap()).unwrap();
    let mut all: Vec<String> = observations
        .histories()
        .flat_map(|history| history.operations)
        .map(|(_, answer)| format!("{answer:?}"))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// `std::thread_local!` of the stand-in has a value per thread; a bare `thread_local!`, from the
/// compiler's prelude, has one for all: then there is no answer.
#[test]
fn thread_locals_are_per_thread_and_bare_ones_give_unknown() {
    assert_eq!(answers("count | count"), ["1"]);
    assert_eq!(answers("count_shared | count_shared"), ["1", "2"]);
    let check =
        Check::new().shared_thread_locals(Some("a-crate 1.0 (list.rs:12); b-crate 2.0 (b.rs:5)"));
    let verdict = check.run(&Test::parse::<PerThread>("count | count").unwrap()).verdict;
    let Verdict::Unknown(unknown) = &verdict else { panic!("{verdict:?}") };
    let text = unknown.to_string();
    assert!(text.contains("a-crate 1.0 (list.rs:12); b-crate 2.0 (b.rs:5)"), "{text}");
    assert!(text.contains("`thread-locals-argued = [\"a-crate\", \"b-crate\"]`"), "{text}");
}

/// Outside an execution every part is the real one.
#[test]
fn outside_an_execution_nothing_is_controlled() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static TOTAL: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(7));
    let meeting = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                meeting.wait();
                for _ in 0..100 {
                    COUNT.fetch_add(1, SeqCst);
                    *TOTAL.lock().unwrap() += 1;
                }
                park_timeout(Duration::from_millis(1));
            });
        }
    });
    assert_eq!((COUNT.load(SeqCst), *TOTAL.lock().unwrap()), (400, 407));
    assert_eq!(CALLS.get(), 0);
}
