//! Executions that get stuck: the same ones are found with unwound and with kept threads, and the
//! memory of unwound threads is freed.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use lineup::{Check, Report, Subject, Test, Text, Verdict};
use shuttle::sync::mpsc::channel;
use shuttle::sync::{Arc, Condvar, Mutex};
use test_support::effort::either;

/// Number of tokens.
static TOKENS: AtomicUsize = AtomicUsize::new(0);

/// A value that the object or a waiting thread owns.
struct Token;

impl Token {
    fn new() -> Self {
        TOKENS.fetch_add(1, SeqCst);
        Self
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        TOKENS.fetch_sub(1, SeqCst);
    }
}

#[derive(Default)]
struct Semaphore {
    count: Mutex<u32>,
    changed: Condvar,
}

impl Semaphore {
    fn acquire(&self) {
        let mut count = self.count.lock().unwrap();
        while *count == 0 {
            count = self.changed.wait(count).unwrap();
        }
        *count -= 1;
    }

    fn release(&self) {
        *self.count.lock().unwrap() += 1;
        self.changed.notify_one();
    }
}

lineup::subject! {
    Counted(semaphore: (Semaphore, Token)) = (Semaphore::default(), Token::new());
    acquire() => { let _token = Token::new(); semaphore.0.acquire() };
    release() => semaphore.0.release();
}

fn run<S: Subject>(test: &str, unwind: bool) -> Report {
    Check::new().unwinding(unwind).run(&Test::parse::<S>(test).unwrap())
}

/// Returns the numbers of executions and histories.
fn numbers(report: &Report) -> [u64; 5] {
    let (serial, concurrent) = (&report.serial, &report.concurrent);
    let histories = serial.observations.len() as u64;
    [serial.executions, histories, concurrent.executions, concurrent.histories, concurrent.stuck]
}

#[test]
fn values_of_unwound_threads_are_dropped() {
    let larger = either("acquire acquire | release", "acquire acquire | release acquire | release");
    for test in ["acquire | acquire", larger] {
        let unwound = run::<Counted>(test, true);
        assert!(matches!(unwound.verdict, Verdict::Pass { .. }), "{unwound:?}");
        assert_eq!(TOKENS.load(SeqCst), 0, "{test}");
        let kept = run::<Counted>(test, false);
        assert_eq!(numbers(&kept), numbers(&unwound), "{test}");
        // The object, and the tokens of its waiting thread.
        let stuck = kept.concurrent.stuck as usize;
        assert!(stuck > 0 && TOKENS.swap(0, SeqCst) >= 2 * stuck, "{test}: {kept:?}");
    }
}

/// A semaphore with its own thread, which waits before the object is made.
struct Attended(Arc<Semaphore>);

impl Subject for Attended {
    type Invocation = bool;

    const NAME: &'static str = "Attended";

    fn new() -> Self {
        let semaphore = Arc::<Semaphore>::default();
        let door = Arc::new((Mutex::new(()), Condvar::new()));
        let (sender, receiver) = channel();
        let inner = Arc::clone(&door);
        shuttle::thread::spawn(move || {
            let guard = inner.0.lock().unwrap();
            sender.send(()).unwrap();
            drop(inner.1.wait(guard));
        });
        receiver.recv().unwrap();
        // Free only when the thread waits.
        drop(door.0.lock().unwrap());
        Self(semaphore)
    }

    fn call(&self, acquire: &bool) -> Text {
        Text::new(&if *acquire { self.0.acquire() } else { self.0.release() })
    }

    fn representatives() -> Vec<bool> {
        vec![true, false]
    }
}

#[test]
fn waiting_threads_of_the_object_are_no_failure() {
    for unwind in [false, true] {
        let test = Test::new::<Attended>(vec![vec![true, true], vec![false]]).unwrap();
        let report = Check::new().unwinding(unwind).run(&test);
        assert!(matches!(report.verdict, Verdict::Pass { .. }), "{unwind}: {report:?}");
        assert!(report.concurrent.stuck > 0, "{unwind}");
    }
}

/// The values that its threads leave behind must not be unwound: that would panic twice.
struct Ticket<'s>(&'s Mutex<u32>);

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        *self.0.lock().expect("the lock is not poisoned") += 1;
    }
}

lineup::subject! {
    Poisoned(cell: (Mutex<u32>, Condvar)) = (Mutex::new(0), Condvar::new());
    wait() => {
        let _ticket = Ticket(&cell.0);
        let guard = cell.0.lock().unwrap();
        drop(cell.1.wait(guard).unwrap());
    };
    deadlock() => { let _ticket = Ticket(&cell.0); let _guard = cell.0.lock().unwrap(); shuttle::thread::park() };
}

#[test]
fn stuck_threads_are_kept_without_unwinding() {
    for test in ["wait | wait", "wait | deadlock", "deadlock deadlock | wait"] {
        let report = run::<Poisoned>(test, false);
        assert!(matches!(report.verdict, Verdict::Pass { .. }), "{test}: {report:?}");
        assert!(report.concurrent.stuck > 0, "{test}");
    }
}
