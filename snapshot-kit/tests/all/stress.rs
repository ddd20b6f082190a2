//! Stress finds what is wrong, shows it, and finds nothing in what is right.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use snapshot_kit::{Clock, Failure, Noise, noise, stress};

/// Reads one cell after the other: no snapshot.
fn collect(cells: &[AtomicU64]) -> Vec<u64> {
    let read = |cell: &AtomicU64| {
        noise::point();
        cell.load(SeqCst)
    };
    cells.iter().map(read).collect()
}

fn cells(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

fn naive_collect(seed: u64) -> Failure {
    stress(8)
        .segments(4)
        .rounds(5_000)
        .seed(seed)
        .try_run(
            cells(4),
            |cells, process, value| cells[process].store(value, SeqCst),
            |cells, _| collect(cells),
        )
        .expect_err("a collect is no snapshot")
}

#[test]
fn a_collect_is_found_out_and_shown() {
    let failure = naive_collect(7);
    assert!(failure.is_violation());
    let told = failure.to_string();
    for part in ["violation (", "S1 = scan by process", "|-", "SNAPSHOT_SEED=7"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let path = failure.recording().unwrap();
    assert!(told.contains(&path.display().to_string()), "{told}");
    let recording = fs::read_to_string(path).unwrap();
    assert!(recording.contains("\nsegments 4\nprocesses 8\n"), "{recording}");
    assert!(recording.ends_with('\n'));
}

#[test]
fn an_object_behind_a_lock_raises_no_alarm() {
    let clocks = [Clock::Ticket, Clock::Instant, Clock::best()];
    for (clock, noise) in clocks.into_iter().zip([Noise::Off, Noise::Some, Noise::Much]) {
        let summary = stress(4).rounds(40).clock(clock).noise(noise).run(
            Mutex::new([0; 4]),
            |object, process, value| object.lock().unwrap()[process] = value,
            |object, _| {
                let object = object.lock().unwrap();
                noise::point();
                *object
            },
        );
        assert_eq!((summary.rounds, summary.overlap.operations), (40, 40 * 4 * 500));
        // Undisturbed threads may not meet on a machine with other things to do.
        assert!(noise == Noise::Off || summary.overlap.overlapping > 0, "{summary}");
    }
}

#[test]
fn a_recording_that_can_find_nothing_says_so() {
    let object = Mutex::new([0]);
    let summary = stress(1).rounds(3).run(
        object,
        |object, process, value| object.lock().unwrap()[process] = value,
        |object, _| *object.lock().unwrap(),
    );
    assert!(summary.to_string().contains("no two operations overlapped"), "{summary}");
}

#[test]
fn time_ends_a_stress_test() {
    let summary = stress(2).rounds(usize::MAX).time(Duration::from_millis(50)).run(
        Mutex::new([0; 2]),
        |object, process, value| object.lock().unwrap()[process] = value,
        |object, _| *object.lock().unwrap(),
    );
    assert!(summary.rounds > 0);
}

/// The other threads wait for the next round, and must not do so for ever.
#[test]
#[should_panic = "the object is broken"]
fn an_operation_that_panics_ends_the_test() {
    let calls = AtomicUsize::new(0);
    stress(4).rounds(1_000).run(
        Mutex::new([0; 4]),
        |object, process, value| {
            assert!(calls.fetch_add(1, SeqCst) < 1_000, "the object is broken");
            object.lock().unwrap()[process] = value;
        },
        |object, _| *object.lock().unwrap(),
    );
}
