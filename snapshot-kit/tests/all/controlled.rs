//! Controlled schedules find what is wrong, make it small, and make it again.

#![cfg(feature = "shuttle")]
use std::collections::BTreeSet;

use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use snapshot_kit::controlled::{Found, Trial, explore};

type Cells = [AtomicU64; 3];

fn cells() -> Cells {
    std::array::from_fn(|_| AtomicU64::new(0))
}

fn write(cells: &Cells, process: usize, value: u64) {
    cells[process].store(value, SeqCst);
}

fn collect(cells: &Cells, _: usize) -> [u64; 3] {
    cells.each_ref().map(|cell| cell.load(SeqCst))
}

/// Right: no cell gets a value twice.
fn collect_twice(cells: &Cells, process: usize) -> [u64; 3] {
    let mut first = collect(cells, process);
    loop {
        let second = collect(cells, process);
        if first == second {
            return first;
        }
        first = second;
    }
}

fn found(seed: u64) -> Box<Found> {
    explore(4)
        .segments(3)
        .seed(seed)
        .try_run(cells, write, collect)
        .expect_err("a collect is no snapshot")
}

#[test]
fn what_is_right_is_not_found_wrong() {
    let locked = explore(4).schedules(400).run(
        || Mutex::new([0; 4]),
        |object, process, value| object.lock().unwrap()[process] = value,
        |object, _| *object.lock().unwrap(),
    );
    assert_eq!((locked.schedules, locked.abandoned), (400, 0));
    let collected = explore(3).schedules(400).run(cells, write, collect_twice);
    assert_eq!((collected.schedules, collected.abandoned), (400, 0));
}

#[test]
fn a_race_is_found_and_made_as_small_as_it_can_be() {
    for seed in 0..2 {
        let Found { failure, trial } = *found(seed);
        assert!(failure.is_violation(), "{failure}");
        // A scan that sees the later of two updates, and misses the earlier.
        assert_eq!(trial.operations(), 3, "{failure}");
        assert!((1..=3).contains(&trial.switches.len()), "{failure}");
        // Nothing can be left out: each switch is needed.
        for at in 0..trial.switches.len() {
            let mut smaller = trial.clone();
            smaller.switches.remove(at);
            let fewer = explore(4).segments(3).replay(smaller).try_run(cells, write, collect);
            assert!(fewer.is_ok(), "{trial}");
        }
        let told = failure.to_string();
        for part in ["snapshot-schedule 1", "SNAPSHOT_SCHEDULE=", "violation (", "|-"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}

#[test]
fn a_text_makes_the_same_execution_again() {
    let mut recordings = BTreeSet::new();
    for seed in [3, 3, 4] {
        let first = found(seed);
        let trial: Trial = first.trial.to_string().parse().unwrap();
        assert_eq!(trial, first.trial);
        let again = explore(4).segments(3).replay(trial).try_run(cells, write, collect);
        let again = again.expect_err("the same schedule");
        assert_eq!(again.failure.to_string(), first.failure.to_string());
        recordings.insert(std::fs::read_to_string(first.failure.recording().unwrap()).unwrap());
        // The right object, with the same schedule.
        let trial = first.trial.clone();
        let right = explore(4).segments(3).replay(trial).try_run(cells, write, collect_twice);
        assert!(right.is_ok());
    }
    assert_eq!(recordings.len(), 2, "one per seed");
}

/// A comment sign before each line does no harm: so a schedule stands in a recording.
#[test]
fn bad_texts_are_refused_with_their_line() {
    let good = "snapshot-schedule 1\nsegments 2\nthread update\nthread scan\nswitches 3:1 5:2\n";
    assert_eq!(good.parse::<Trial>().unwrap().to_string(), good);
    let commented: String = good.lines().map(|line| format!("#   {line}\n")).collect();
    assert_eq!(commented.parse::<Trial>().unwrap().to_string(), good);
    for (from, to, line) in [
        ("snapshot-schedule 1", "snapshot-schedule 2", 1),
        ("segments 2", "segments 0", 2),
        ("segments 2\n", "", 4),
        ("thread update", "thread write", 3),
        ("thread scan", "spawn scan", 4),
        ("3:1 5:2", "5:1 3:2", 5),
        ("3:1 5:2", "3", 5),
        ("switches 3:1 5:2\n", "", 4),
        ("segments 2\nthread update\nthread scan", "segments 1\nthread scan\nthread update", 5),
    ] {
        let error = good.replace(from, to).parse::<Trial>().unwrap_err();
        assert_eq!(error.line, line, "{to}: {error}");
    }
    assert_eq!("".parse::<Trial>().unwrap_err().line, 1);
}

/// A scan that waits for ever is no violation, and no endless test.
#[test]
fn what_does_not_end_is_counted() {
    let waiting = explore(2).operations(2).schedules(20).steps(2_000).run(
        cells_of_two,
        |cells: &[AtomicU64; 2], process, value| cells[process].store(value, SeqCst),
        |cells: &[AtomicU64; 2], _| {
            while cells[1].load(SeqCst) < 2 {
                shuttle::hint::spin_loop();
            }
            [cells[0].load(SeqCst), cells[1].load(SeqCst)]
        },
    );
    assert!((1..=20).contains(&waiting.abandoned), "{waiting}");
    assert!(waiting.to_string().contains("did not end"), "{waiting}");
}

fn cells_of_two() -> [AtomicU64; 2] {
    std::array::from_fn(|_| AtomicU64::new(0))
}
