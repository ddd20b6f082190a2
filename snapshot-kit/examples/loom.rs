//! A snapshot object under loom, which tries the orders that weak memory allows.
//!
//! ```text
//! cargo run --release -p snapshot-kit --features loom --example loom
//! ```
//!
//! The recorder is used as it is, with [`Clock::Ticket`]: loom does not see it, so it adds
//! no order that the object would not have. What it records is the order in which loom
//! makes the calls; an update that returned while its value can still be missed by a scan
//! that begins later is a violation, as it is of an object that threads share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::atomic::{AtomicU64, Ordering};
use snapshot_kit::{Clock, Declaration, Recorder, judge};

const SEGMENTS: usize = 2;

/// Two writers and a scan, in every execution. Panics at the first that is no snapshot.
fn explore(write: Ordering, read: Ordering, is_collected_twice: bool) {
    loom::model(move || {
        let declaration = Declaration::new(0).with_segments(SEGMENTS);
        let recorder = Arc::new(Recorder::with_clock(declaration, Clock::Ticket));
        let cells: Arc<[AtomicU64; SEGMENTS]> =
            Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
        let writers: Vec<_> = (0..SEGMENTS)
            .map(|process| {
                let (recorder, cells) = (Arc::clone(&recorder), Arc::clone(&cells));
                loom::thread::spawn(move || {
                    let mut handle = recorder.process(process).expect("each thread its own");
                    handle.update(process, 1, || cells[process].store(1, write));
                })
            })
            .collect();
        let mut handle = recorder.process(SEGMENTS).expect("each thread its own");
        let collect = || cells.each_ref().map(|cell| cell.load(read));
        handle.scan(|| {
            let mut first = collect();
            // Values never return to what they were, so twice the same is a snapshot.
            while is_collected_twice {
                let second = collect();
                if first == second {
                    break;
                }
                first = second;
                loom::thread::yield_now();
            }
            first
        });
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

fn main() {
    use Ordering::{Relaxed, SeqCst};
    for (name, write, read, is_collected_twice) in [
        ("one collect", SeqCst, SeqCst, false),
        ("two collects, relaxed", Relaxed, Relaxed, true),
        ("two collects, sequentially consistent", SeqCst, SeqCst, true),
    ] {
        let run = AssertUnwindSafe(|| explore(write, read, is_collected_twice));
        match catch_unwind(run) {
            Ok(()) => println!("{name}: no violation in any execution"),
            Err(_) => println!("{name}: a violation"),
        }
    }
}
