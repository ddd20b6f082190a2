//! Stress finds violations and shows them, and accuses no right object.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use snapshot_kit::{Clock, Failure, Noise, Stress, Subject, Summary, Writers, noise, stress};

use crate::child;

/// Reads one cell after the other: not a snapshot.
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
fn violation_of_a_collect_is_found_and_reported() {
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
        let outcome = stress(4).rounds(40).clock(clock).noise(noise).try_run(
            Mutex::new([0; 4]),
            |object, process, value| object.lock().unwrap()[process] = value,
            |object, _| {
                let object = object.lock().unwrap();
                noise::point();
                *object
            },
        );
        match outcome {
            Ok(summary) => {
                // A scan ends each round.
                let operations = 40 * (4 * 500 + 1);
                assert_eq!((summary.rounds, summary.overlap.operations), (40, operations));
                assert!(summary.overlap.scans > 0, "{summary}");
            }
            // Without noise, threads may never overlap on a busy machine.
            Err(failure) => assert!(noise == Noise::Off && failure.lacks_evidence(), "{failure}"),
        }
    }
}

/// One thread; only scanning threads; and operations that never overlap.
#[test]
fn test_without_overlap_lacks_evidence() {
    let lacks = |stress: Stress| {
        let failure = stress
            .try_run(
                Mutex::new([0; 2]),
                |object, segment, value| object.lock().unwrap()[segment] = value,
                |object, _| *object.lock().unwrap(),
            )
            .unwrap_err();
        assert!(failure.lacks_evidence() && !failure.is_violation(), "{failure}");
        let told = failure.to_string();
        assert!(told.starts_with("no evidence: no scan overlapped an update"), "{told}");
    };
    lacks(stress(1).segments(2).writers(Writers::Many).rounds(3));
    lacks(stress(3).segments(2).operations(0).rounds(3));
    lacks(stress(3).segments(2).rounds(0));
    lacks(stress(3).segments(2).time(Duration::ZERO));
}

#[test]
#[should_panic = "no evidence: no scan overlapped an update"]
fn run_fails_without_evidence() {
    stress(1).rounds(1).run(
        Mutex::new([0]),
        |object, _, value| object.lock().unwrap()[0] = value,
        |object, _| *object.lock().unwrap(),
    );
}

#[test]
fn time_ends_a_stress_test() {
    let endless = stress(2).rounds(usize::MAX).time(Duration::from_millis(100));
    let summary = endless.noise(Noise::Much).run(
        Mutex::new([0; 2]),
        |object, process, value| object.lock().unwrap()[process] = value,
        |object, _| {
            let object = object.lock().unwrap();
            noise::point();
            *object
        },
    );
    assert!(summary.rounds > 0);
}

/// Several writers of a segment, some of whose updates get lost; partial scans; texts as values.
struct Table {
    cells: Mutex<Vec<String>>,
    /// Counts updates; every `lost`th is lost.
    updates: AtomicUsize,
    lost: usize,
    is_torn: bool,
}

impl Subject for Table {
    type Value = String;

    fn update(&self, _process: usize, segment: usize, value: String) {
        noise::point();
        if !(self.updates.fetch_add(1, SeqCst) + 1).is_multiple_of(self.lost) {
            self.cells.lock().unwrap()[segment] = value;
        }
    }

    fn scan(&self, _process: usize) -> impl AsRef<[String]> {
        noise::point();
        self.cells.lock().unwrap().clone()
    }

    fn scan_some(&self, _process: usize, segments: &[usize]) -> Vec<String> {
        let read = |segment: &usize| {
            noise::point();
            self.cells.lock().unwrap()[*segment].clone()
        };
        if self.is_torn {
            return segments.iter().map(read).collect();
        }
        let cells = self.cells.lock().unwrap();
        noise::point();
        segments.iter().map(|segment| cells[*segment].clone()).collect()
    }
}

fn table(lost: usize, is_torn: bool) -> Result<Summary, Failure> {
    let cells = Mutex::new(vec!["v0".to_owned(); 3]);
    let several = stress(4).segments(3).writers(Writers::Many).partial_scans();
    several
        .values(|number| format!("v{number}"))
        .rounds(60)
        .operations(60)
        .seed(5)
        .try_run_subject(Table { cells, updates: AtomicUsize::new(0), lost, is_torn })
}

#[test]
fn several_writers_partial_scans_and_texts_are_judged() {
    let right = table(usize::MAX, false).unwrap();
    assert_eq!(right.overlap.operations, 60 * (4 * 60 + 1));
    let torn = table(usize::MAX, true).unwrap_err();
    assert!(torn.is_violation(), "{torn}");
    let recording = fs::read_to_string(torn.recording().unwrap()).unwrap();
    for part in ["writers many\n", " update s", " \"v", " ok s"] {
        assert!(recording.contains(part), "{part}: {recording}");
    }
    let lost = table(1_000, false).unwrap_err();
    assert!(lost.is_violation(), "{lost}");
}

/// All updates are lost, even those followed only by the scan that ends the round.
#[test]
fn a_round_ends_with_a_scan() {
    for seed in 0..20 {
        let updates = AtomicUsize::new(0);
        let lost = stress(2).operations(1).rounds(1).noise(Noise::Off).seed(seed);
        let count = |_: &(), _, _| drop(updates.fetch_add(1, SeqCst).to_string());
        let failure = lost.try_run((), count, |_, _| [0; 2]).unwrap_err();
        assert_eq!(failure.is_violation(), updates.into_inner() > 0, "{failure}");
    }
}

/// The other threads wait for the next round, but not forever.
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

/// A scan that waits forever is named, and the test ends.
#[test]
fn an_operation_that_does_not_return_is_named() {
    let told =
        child::output_while_hanging("stress::an_operation_that_does_not_return_is_named", || {
            let calls = AtomicUsize::new(0);
            stress(3).segments(2).rounds(100).patience(Duration::from_millis(300)).run(
                Mutex::new([0; 2]),
                |object, segment, value| object.lock().unwrap()[segment] = value,
                |object, process| {
                    let object = object.lock().unwrap();
                    if process == 2 && calls.fetch_add(1, SeqCst) == 40 {
                        loop {
                            std::thread::park();
                        }
                    }
                    *object
                },
            );
        });
    for part in ["stress: no operation has begun or returned for 0.3 s", "process 2: scan", "seed"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_summary_is_shown() {
    let shown = child::passing_output("stress::time_ends_a_stress_test");
    assert!(shown.contains("stress: no violation in "), "{shown}");
    assert!(shown.contains(" scans overlapped an update (seed "), "{shown}");
}

#[test]
fn non_numeric_seed_variable_is_refused() {
    let told = child::failing_output("stress::time_ends_a_stress_test", ("SNAPSHOT_SEED", "7f"));
    assert!(told.contains("SNAPSHOT_SEED=7f: expected a number"), "{told}");
}

/// A slow operation that returns is not accused.
#[test]
fn a_slow_object_is_waited_for() {
    let slow = stress(2).rounds(1).operations(8).patience(Duration::from_millis(60));
    let outcome = slow.try_run(
        Mutex::new([0; 2]),
        |object, segment, value| object.lock().unwrap()[segment] = value,
        |object, _| {
            std::thread::sleep(Duration::from_millis(40));
            *object.lock().unwrap()
        },
    );
    assert!(outcome.is_ok_and(|summary| summary.rounds == 1));
}
