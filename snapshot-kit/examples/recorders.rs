//! Tables of the cost of recording, and of its success at finding bugs.
//!
//! ```text
//! cargo run --release -p snapshot-kit --example recorders [RUNS [SECONDS]]
//! ```
//!
//! *Found* counts the runs, of `RUNS` each (default 20), that found a bug in a collect of four
//! atomics, which is not a snapshot. All runs of a column do the same number of operations.
//! *Locked* instead runs a correct object, by each clock for `SECONDS` (default 5) in many short
//! rounds: any alarm would be false.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use snapshot_kit::{Clock, Declaration, Noise, RecordError, Recorder, noise, stress};

const SEGMENTS: usize = 4;

fn collect(cells: &[AtomicU64; SEGMENTS], has_points: bool) -> [u64; SEGMENTS] {
    std::array::from_fn(|cell| {
        if has_points {
            noise::point();
        }
        cells[cell].load(SeqCst)
    })
}

/// Returns the number of runs that find the bug of the collect.
fn found(runs: u64, threads: usize, clock: Clock, noise: Noise, has_points: bool) -> u64 {
    let (rounds, operations) = if threads > 8 { (2, 10_000) } else { (4, 50_000) };
    let is_found = |seed: &u64| {
        let stressed = stress(threads)
            .segments(SEGMENTS)
            .rounds(rounds)
            .operations(operations)
            .seed(*seed)
            .clock(clock)
            .noise(noise)
            .try_run(
                std::array::from_fn(|_| AtomicU64::new(0)),
                |cells: &[AtomicU64; SEGMENTS], process, value| cells[process].store(value, SeqCst),
                |cells, _| collect(cells, has_points),
            );
        stressed.is_err_and(|failure| failure.is_violation())
    };
    (0..runs).filter(is_found).count() as u64
}

/// Returns nanoseconds per operation while recording, and per operation of `history()`.
fn cost(clock: Clock, operations: u64) -> Result<(f64, f64), RecordError> {
    let recorder = Recorder::with_clock(Declaration::new(0).with_segments(SEGMENTS), clock);
    let mut handle = recorder.process(0)?;
    let object = [0; SEGMENTS];
    let began = Instant::now();
    for value in 1..=operations / 2 {
        handle.update(0, value, || ());
        handle.scan(|| std::hint::black_box(object));
    }
    let recorded = began.elapsed();
    let began = Instant::now();
    let history = recorder.history()?;
    let merged = began.elapsed();
    assert_eq!(history.operations().len() as u64, operations);
    let each = |time: Duration| time.as_nanos() as f64 / operations as f64;
    Ok((each(recorded), each(merged)))
}

/// Runs rounds of a locked object; panics at the first alarm.
fn locked(clock: Clock, time: Duration) -> snapshot_kit::Summary {
    stress(8).segments(SEGMENTS).rounds(usize::MAX).operations(16).time(time).clock(clock).run(
        Mutex::new([0; SEGMENTS]),
        |object, process, value| {
            if let Ok(mut object) = object.lock() {
                object[process] = value;
            }
        },
        |object, _| object.lock().map_or([u64::MAX; SEGMENTS], |object| *object),
    )
}

fn main() -> Result<(), RecordError> {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let seconds = arguments.next().and_then(|time| time.parse().ok()).unwrap_or(5);
    let clocks =
        [("ticket", Clock::Ticket), ("Instant", Clock::Instant), ("counter", Clock::Counter)];
    let clocks: Vec<_> = clocks
        .into_iter()
        .filter(|(_, clock)| *clock != Clock::Counter || Clock::has_counter())
        .collect();
    println!("| clock | ns per operation | ns per operation of history() |\n| --- | --- | --- |");
    for (name, clock) in &clocks {
        let (recorded, merged) = cost(*clock, 1_000_000)?;
        println!("| {name} | {recorded:.0} | {merged:.0} |");
    }
    println!(
        "\n| clock | noise | found, 4 threads | found, 64 threads |\n| --- | --- | --- | --- |"
    );
    for (name, clock) in &clocks {
        for (told, noise, has_points) in [
            ("none", Noise::Off, false),
            ("between operations", Noise::Some, false),
            ("and inside scans", Noise::Some, true),
        ] {
            let found = |threads| found(runs, threads, *clock, noise, has_points);
            println!("| {name} | {told} | {} of {runs} | {} of {runs} |", found(4), found(64));
        }
    }
    println!();
    for (name, clock) in &clocks {
        println!("locked, {name}: {}", locked(*clock, Duration::from_secs(seconds)));
    }
    Ok(())
}
