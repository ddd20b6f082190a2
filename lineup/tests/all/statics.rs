//! Statics have their first value before each execution.

use std::num::NonZero;

use lineup::cell::Cell;
use lineup::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use lineup::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use lineup::{Check, Test, Verdict, batch};
use lineup_std::statics::is_noted;

/// A value that owns memory, and has its first value in the program's file.
static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static WORDS: [AtomicU64; 2] = [AtomicU64::new(3), AtomicU64::new(0)];
static SET: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(7));
static SHARED: RwLock<Option<Box<u32>>> = RwLock::new(None);
static ONCE: Once = Once::new();
static RUNS: AtomicU32 = AtomicU32::new(0);
static CHANGED: Condvar = Condvar::new();

lineup::subject! {
    /// Each answer shows the state of a static.
    Statics(unused: ()) = ();
    push(n: u32) in [1] => { let mut list = LIST.lock().unwrap(); list.push(n); list.len() };
    add() => WORDS[0].fetch_add(2, SeqCst);
    store() => { let old = WORDS[1].load(SeqCst); WORDS[1].store(old + 1, SeqCst); old };
    set(n: u32) in [1] => SET.set(n.to_string()).is_ok();
    lazy() => LAZY.fetch_add(1, SeqCst);
    share() => {
        let old = SHARED.write().unwrap().replace(Box::new(1));
        old.is_some()
    };
    once() => { ONCE.call_once(|| { RUNS.fetch_add(1, SeqCst); }); RUNS.load(SeqCst) };
    wait() => { let _list = CHANGED.wait_while(LIST.lock().unwrap(), |list| list.is_empty()); };
    notify() => { LIST.lock().unwrap().push(2); CHANGED.notify_all() };
}

fn verdict(test: &str) -> Verdict {
    Check::new().run(&Test::parse::<Statics>(test).unwrap()).verdict
}

#[test]
fn executions_begin_with_the_first_values() {
    for test in ["push(1) push(1) | push(1)", "add | add", "set(1) | set(1)", "lazy | lazy"] {
        assert!(matches!(verdict(test), Verdict::Pass { .. }), "{test}: {:?}", verdict(test));
    }
    for test in ["share | share share", "once | once", "wait | notify", "once push(1) | add"] {
        assert!(matches!(verdict(test), Verdict::Pass { .. }), "{test}: {:?}", verdict(test));
    }
    // A lost update is found, and executed again with the same answers.
    assert!(verdict("store store | store").fails());
    let noted = [is_noted(&LIST), is_noted(&WORDS[0]), is_noted(&WORDS[1]), is_noted(&SET)];
    assert_eq!(noted, [true; 4]);
    let noted = [is_noted(&LAZY), is_noted(&SHARED), is_noted(&ONCE), is_noted(&CHANGED)];
    assert_eq!(noted, [true; 4]);
}

#[test]
fn tests_on_several_threads_take_turns() {
    let check = Check::new().threads(NonZero::new(3));
    let tests = ["push(1) push(1) | push(1) add", "add lazy | add push(1)", "once | push(1) lazy"];
    let tests: Vec<_> =
        (0..12).map(|index| Test::parse::<Statics>(tests[index % 3]).unwrap()).collect();
    let series = batch::run(&check, &tests, true);
    assert_eq!(series.passed, 12, "{series:?}");
}

/// Objects that are not static, and cells, are left alone.
#[test]
fn objects_on_the_heap_are_not_noted() {
    let heap = Box::new((AtomicU32::new(0), Cell::new(1)));
    heap.0.store(5, SeqCst);
    heap.1.set(6);
    assert_eq!((heap.0.load(SeqCst), heap.1.get()), (5, 6));
    assert!(!is_noted(&*heap));
}
