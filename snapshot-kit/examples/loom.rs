//! A snapshot object under loom, which tries the orders that weak memory allows.
//!
//! ```text
//! cargo run --release -p snapshot-kit --example loom
//! ```
//!
//! The recorder is used as it is, with [`Clock::Ticket`], under any version of loom: it knows
//! none, so it adds no order that the object would not have. Its record is the order in which
//! loom makes the calls; an update that returned while its value can still be missed by a scan
//! that begins later is a violation.
//!
//! Loom switches threads only where they use its types, and only if they use the same one. A
//! scan that reads nothing would thus come before all updates, where it is right. So each
//! operation begins with a relaxed increment of one counter of loom's: operations then begin in
//! all orders, and a relaxed increment makes no other access visible.
//!
//! Loom takes loads and stores with `SeqCst` for acquire and release (see its README). So an
//! object that needs their one order is found wrong there though it is right: check that
//! under shuttle instead, or put `fence(SeqCst)` where the order is needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Count, Ordering::SeqCst};

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use snapshot_kit::{Clock, Declaration, Overlap, Recorder, judge};

const SEGMENTS: usize = 2;

/// An object under test.
trait Object: Send + Sync + 'static {
    fn update(&self, segment: usize, value: u64);
    fn scan(&self) -> [u64; SEGMENTS];
}

/// One cell after the other: no snapshot.
struct Collect([AtomicU64; SEGMENTS]);

impl Object for Collect {
    fn update(&self, segment: usize, value: u64) {
        self.0[segment].store(value, Ordering::Release);
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        self.0.each_ref().map(|cell| cell.load(Ordering::Acquire))
    }
}

/// All cells behind a lock.
struct Locked(Mutex<[u64; SEGMENTS]>);

impl Object for Locked {
    fn update(&self, segment: usize, value: u64) {
        self.0.lock().expect("no one panics")[segment] = value;
    }

    fn scan(&self) -> [u64; SEGMENTS] {
        *self.0.lock().expect("no one panics")
    }
}

/// A scan that reads nothing: no snapshot.
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

/// Evidence from all executions. By types of `std`, which loom does not see.
#[derive(Debug, Default)]
pub struct Counts {
    /// Executions.
    pub executions: Count,
    /// Scans in them that overlapped an update.
    pub scans: Count,
}

/// Two writers and a scan, in every execution. Panics at the first that is no snapshot.
fn explore<O: Object>(counts: &Arc<Counts>, make: impl Fn() -> O + Send + Sync + 'static) {
    let counts = Arc::clone(counts);
    loom::model(move || {
        let declaration = Declaration::new(0).with_segments(SEGMENTS);
        let begun = AtomicUsize::new(0);
        let begin = move || {
            begun.fetch_add(1, Ordering::Relaxed);
        };
        let recorder =
            Arc::new(Recorder::with_clock(declaration, Clock::Ticket).before_each(begin));
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
        match judge(&history, "loom", &[]) {
            Ok(Overlap { scans, .. }) => {
                counts.executions.fetch_add(1, SeqCst);
                counts.scans.fetch_add(scans, SeqCst);
            }
            Err(failure) => panic!("{failure}"),
        }
    });
}

/// The objects, in which of them a violation was found, and after how many executions.
pub fn explore_all() -> [(&'static str, bool, Counts); 4] {
    let cells = || std::array::from_fn(|_| AtomicU64::new(0));
    [
        found("a collect", |counts| explore(counts, move || Collect(cells()))),
        found("behind a lock", |counts| explore(counts, || Locked(Mutex::new([0; SEGMENTS])))),
        found("a scan that reads nothing", |counts| explore(counts, move || Blind(cells()))),
        found("a relaxed load", |counts| explore(counts, || Word(AtomicU64::new(0)))),
    ]
}

fn found(name: &str, run: impl FnOnce(&Arc<Counts>)) -> (&str, bool, Counts) {
    let counts = Arc::default();
    let is_found = catch_unwind(AssertUnwindSafe(|| run(&counts))).is_err();
    // A panic may have leaked its share of them.
    let copy = |count: &Count| Count::new(count.load(SeqCst));
    let Counts { executions, scans } = &*counts;
    (name, is_found, Counts { executions: copy(executions), scans: copy(scans) })
}

fn main() {
    for (name, is_found, counts) in explore_all() {
        let answer = if is_found { "a violation" } else { "no violation in any execution" };
        println!("{name}: {answer} ({counts:?})");
    }
}
