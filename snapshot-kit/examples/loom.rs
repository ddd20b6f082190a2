//! A snapshot object under loom, which tries the orders that weak memory allows.
//!
//! ```text
//! cargo run --release -p snapshot-kit --features loom --example loom
//! ```
//!
//! The recorder is used as it is, with [`Clock::Ticket`]: loom does not see it, so it adds
//! no order that the object would not have. What it records is the order in which loom
//! makes the calls; an update that returned while its value can still be missed by a scan
//! that begins later is a violation.
//!
//! Loom takes loads and stores with `SeqCst` for acquire and release (see its README). So an
//! object that needs their one order is found wrong there though it is right: check that
//! under shuttle instead, or put `fence(SeqCst)` where the order is needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use snapshot_kit::{Clock, Declaration, Recorder, judge};

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

/// Two writers and a scan, in every execution. Panics at the first that is no snapshot.
fn explore<O: Object>(make: impl Fn() -> O + Send + Sync + 'static) {
    loom::model(move || {
        let declaration = Declaration::new(0).with_segments(SEGMENTS);
        let recorder = Arc::new(Recorder::with_clock(declaration, Clock::Ticket));
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
        if let Err(failure) = judge(&history, "loom", &[]) {
            panic!("{failure}");
        }
    });
}

fn told(name: &str, run: impl FnOnce()) {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => println!("{name}: no violation in any execution"),
        Err(_) => println!("{name}: a violation"),
    }
}

fn main() {
    told("a collect", || explore(|| Collect(std::array::from_fn(|_| AtomicU64::new(0)))));
    told("behind a lock", || explore(|| Locked(Mutex::new([0; SEGMENTS]))));
}
