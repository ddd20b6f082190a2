//! A snapshot object under loom, which tries the orders that weak memory allows.
//!
//! ```text
//! cargo run --release -p snapshot-kit --example loom
//! ```
//!
//! The recorder works unchanged, with [`Clock::Ticket`], under any version of loom: it uses no type
//! of loom, so it adds no order that the object would not have. Its record is the order in which
//! loom makes the calls. An update that has returned while a scan that begins later can still miss
//! its value is a violation.
//!
//! Loom switches threads only where they use its types, and only if they use the same one. A scan
//! that reads nothing would thus precede all updates, where it is right. So each operation begins
//! with a relaxed increment of a counter of loom: operations then begin in all orders, and a
//! relaxed increment makes no other access visible. Without it, no scan may overlap an update in
//! any execution; this is counted, and fails.
//!
//! Loom treats loads and stores with `SeqCst` as acquire and release (see its README). So it finds
//! a right object wrong if the object needs their total order: check such an object under shuttle
//! instead, or put `fence(SeqCst)` where the order is needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use snapshot_kit::{Clock, Declaration, Overlap, Recorder, judge};

const SEGMENTS: usize = 2;

/// An object under test.
trait Object: Send + Sync + 'static {
    fn update(&self, segment: usize, value: u64);
    fn scan(&self) -> [u64; SEGMENTS];
}

/// Reads one cell after the other: not a snapshot.
struct Collect([AtomicU64; SEGMENTS]);

impl Object for Collect {
    fn update(&self, segment: usize, value: u64) {
        self.0[segment].store(value, Ordering::Release);
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        self.0.each_ref().map(|cell| cell.load(Ordering::Acquire))
    }
}

/// Keeps all cells behind a lock.
struct Locked(Mutex<[u64; SEGMENTS]>);

impl Object for Locked {
    fn update(&self, segment: usize, value: u64) {
        self.0.lock().expect("no one panics")[segment] = value;
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        *self.0.lock().expect("no one panics")
    }
}

/// Has a scan that reads nothing: not a snapshot.
struct Blind([AtomicU64; SEGMENTS]);

impl Object for Blind {
    fn update(&self, segment: usize, value: u64) {
        self.0[segment].store(value, Ordering::Release);
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        [0; SEGMENTS]
    }
}

/// Both segments in one word, which is an atomic snapshot under sequential consistency. But a
/// relaxed load may miss an update that has returned.
struct Word(AtomicU64);

impl Object for Word {
    fn update(&self, segment: usize, value: u64) {
        self.0.fetch_or(value << (32 * segment), Ordering::Relaxed);
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        let word = self.0.load(Ordering::Relaxed);
        [word & u64::from(u32::MAX), word >> 32]
    }
}

/// Runs two writers and a scan in every execution, and returns the number of executions. Panics at
/// the first violation, and if no scan overlapped an update in any execution.
fn explore<O: Object>(make: impl Fn() -> O + Send + Sync + 'static) -> u64 {
    explore_from(make, true)
}

/// As [`explore`]; operations begin with an access visible to loom if they are `marked`.
fn explore_from<O: Object>(make: impl Fn() -> O + Send + Sync + 'static, marked: bool) -> u64 {
    // Types of `std`, which loom does not see.
    let sum = Arc::new(std::sync::Mutex::new((0, Overlap::default())));
    let shared = Arc::clone(&sum);
    loom::model(move || {
        let declaration = Declaration::new(0).with_segments(SEGMENTS);
        let mut recorder = Recorder::with_clock(declaration, Clock::Ticket);
        if marked {
            let begun = AtomicUsize::new(0);
            recorder = recorder.before_each(move || {
                begun.fetch_add(1, Ordering::Relaxed);
            });
        }
        let recorder = Arc::new(recorder);
        let object = Arc::new(make());
        let writers: Vec<_> = (0..SEGMENTS)
            .map(|process| {
                let (recorder, object) = (Arc::clone(&recorder), Arc::clone(&object));
                loom::thread::spawn(move || {
                    let mut handle = recorder.process(process).expect("each thread its own");
                    handle.update(process, 1, || object.update(process, 1));
                })
            })
            .collect();
        let mut handle = recorder.process(SEGMENTS).expect("each thread its own");
        handle.scan(|| object.scan());
        drop(handle);
        for writer in writers {
            writer.join().expect("it stores a value");
        }
        let history = recorder.history().expect("a history");
        let overlap = judge(&history, "loom", &[]).unwrap_or_else(|failure| panic!("{failure}"));
        let mut sum = shared.lock().expect("no one panics");
        sum.0 += 1;
        sum.1 += overlap;
    });
    let (executions, overlap) = *sum.lock().expect("no one panics");
    if let Some(note) = overlap.note() {
        panic!("no evidence: {note} ({executions} executions)");
    }
    executions
}

/// Returns the objects, each with the number of executions, or the reason why one of them failed.
pub fn explore_all() -> [(&'static str, Result<u64, String>); 5] {
    let cells = || std::array::from_fn(|_| AtomicU64::new(0));
    [
        ("a collect", caught(|| explore(move || Collect(cells())))),
        ("behind a lock", caught(|| explore(|| Locked(Mutex::new([0; SEGMENTS]))))),
        ("a scan that reads nothing", caught(|| explore(move || Blind(cells())))),
        ("the same, not marked", caught(|| explore_from(move || Blind(cells()), false))),
        ("a relaxed load", caught(|| explore(|| Word(AtomicU64::new(0))))),
    ]
}

fn caught(run: impl FnOnce() -> u64) -> Result<u64, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        panic.downcast::<String>().map_or_else(|_| "a panic".to_owned(), |message| *message)
    })
}

fn main() {
    for (name, outcome) in explore_all() {
        match outcome {
            Ok(executions) => println!("{name}: no violation in any of {executions} executions"),
            Err(failure) => println!("{name}: {failure}"),
        }
    }
}
