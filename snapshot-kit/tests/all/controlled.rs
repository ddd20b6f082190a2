//! Controlled schedules find violations, shrink them, and reproduce them.

#![cfg(feature = "shuttle")]
use std::collections::BTreeSet;

use std::time::Duration;

use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use snapshot_kit::controlled::{Found, Trial, explore};
use snapshot_kit::{Subject, Writers};

use crate::child;

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

/// A right scan: no cell gets a value twice.
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
fn correct_objects_pass() {
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
fn race_is_found_and_shrunk_to_a_minimum() {
    for seed in 0..2 {
        let Found { failure, trial } = *found(seed);
        assert!(failure.is_violation(), "{failure}");
        // A scan that sees the later of two updates, and misses the earlier.
        assert_eq!(trial.operations(), 3, "{failure}");
        assert!((1..=3).contains(&trial.switches.len()), "{failure}");
        // Every switch is needed: none can be omitted.
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
fn schedule_text_reproduces_the_execution() {
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

/// A comment sign before each line is harmless, so a recording can contain a schedule.
#[test]
fn malformed_schedules_are_refused_with_their_line() {
    let good = "snapshot-schedule 1\nsegments 2\nthread update\nthread scan\nswitches 3:1 5:2\n";
    assert_eq!(good.parse::<Trial>().unwrap().to_string(), good);
    let several = good.replace("thread scan", "thread update:0 scan:0,1 scan:1");
    assert_eq!(several.parse::<Trial>().unwrap().to_string(), several);
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
        ("thread scan", "thread scan:1,0", 4),
        ("thread scan", "thread scan:0,0", 4),
        ("thread scan", "thread scan:", 4),
        ("thread scan", "thread scan:0,2", 5),
        ("thread scan", "thread update:x", 4),
        ("thread scan", "thread update:2", 5),
    ] {
        let error = good.replace(from, to).parse::<Trial>().unwrap_err();
        assert_eq!(error.line, line, "{to}: {error}");
    }
    assert_eq!("".parse::<Trial>().unwrap_err().line, 1);
}

/// A scan that waits forever is neither a violation nor an endless test.
#[test]
fn unfinished_schedules_are_counted() {
    let waiting =
        explore(2).operations(2).schedules(40).steps(2_000).run(cells_of_two, store, wait);
    assert!((21..40).contains(&waiting.abandoned), "{waiting}");
    assert!(waiting.to_string().contains("schedules did not end"), "{waiting}");
    assert!(waiting.to_string().contains("warning: more than half"), "{waiting}");
    // Here only process 1 waits.
    let fewer = explore(2).operations(3).seed(1).schedules(40).steps(400);
    let fewer = fewer.run(cells_of_two, store, |cells: &[AtomicU64; 2], process| {
        while process == 1 && cells[0].load(SeqCst) < 2 {
            shuttle::hint::spin_loop();
        }
        cells.each_ref().map(|cell| cell.load(SeqCst))
    });
    assert!((1..=20).contains(&fewer.abandoned) && fewer.note().is_none(), "{fewer}");
}

fn cells_of_two() -> [AtomicU64; 2] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

fn store(cells: &[AtomicU64; 2], process: usize, value: u64) {
    cells[process].store(value, SeqCst);
}

fn wait(cells: &[AtomicU64; 2], _: usize) -> [u64; 2] {
    while cells[1].load(SeqCst) < 2 {
        shuttle::hint::spin_loop();
    }
    [cells[0].load(SeqCst), cells[1].load(SeqCst)]
}

/// A scan that never returns, in any schedule.
#[test]
fn endless_schedules_are_no_evidence() {
    let never = |cells: &[AtomicU64; 2], _: usize| -> [u64; 2] {
        loop {
            cells[0].load(SeqCst);
            shuttle::hint::spin_loop();
        }
    };
    let found = explore(2).schedules(30).steps(500).try_run(cells_of_two, store, never);
    let failure = found.unwrap_err().failure;
    let told = failure.to_string();
    assert!(failure.lacks_evidence(), "{told}");
    for part in ["none of 30 schedules ended within 500 steps", ": scan", "snapshot-schedule 1"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Types of `std` by mistake: everywhere, only in scans, only in updates.
#[test]
fn operations_invisible_to_shuttle_are_no_evidence() {
    use std::sync::atomic::AtomicU64 as Plain;

    type Both = [(AtomicU64, Plain); 3];
    let lacks = |update: fn(&Both, usize, u64), scan: fn(&Both, usize) -> [u64; 3], kind: &str| {
        let make = || -> Both { std::array::from_fn(|_| Default::default()) };
        let found = explore(3).schedules(50).try_run(make, update, scan).unwrap_err();
        let told = found.failure.to_string();
        assert!(found.failure.lacks_evidence(), "{told}");
        assert!(told.contains(&format!("saw no step inside any {kind}")), "{told}");
        assert!(told.contains("of version 0.9"), "{told}");
    };
    let plain = |cells: &Both, segment: usize, value| cells[segment].1.store(value, SeqCst);
    let both = |cells: &Both, segment: usize, value| {
        cells[segment].0.store(value, SeqCst);
        cells[segment].1.store(value, SeqCst);
    };
    let read_plain = |cells: &Both, _: usize| cells.each_ref().map(|cell| cell.1.load(SeqCst));
    let read_both = |cells: &Both, _: usize| {
        cells[0].0.load(SeqCst);
        cells.each_ref().map(|cell| cell.1.load(SeqCst))
    };
    lacks(plain, read_plain, "update");
    lacks(both, read_plain, "scan");
    lacks(plain, read_both, "update");
}

#[test]
fn a_summary_is_shown() {
    let shown = child::passing_output("controlled::unfinished_schedules_are_counted");
    assert!(shown.contains("explore: no violation in 40 schedules, "), "{shown}");
    assert!(shown.contains("warning: more than half of the schedules did not end"), "{shown}");
}

#[test]
fn one_thread_alone_is_no_evidence() {
    let alone = explore(1).schedules(50).try_run(
        || AtomicU64::new(0),
        |cell, _, value| cell.store(value, SeqCst),
        |cell, _| [cell.load(SeqCst)],
    );
    let failure = alone.unwrap_err().failure;
    assert!(failure.lacks_evidence(), "{failure}");
    assert!(failure.to_string().contains("no scan overlapped an update"), "{failure}");
}

/// The messages name the version that is used.
#[test]
fn messages_name_the_shuttle_version_in_use() {
    let manifest = include_str!("../../../Cargo.toml");
    let line = manifest.lines().find(|line| line.starts_with("shuttle = ")).unwrap();
    assert!(line.contains("\">=0.9") && line.contains("<0.10\""), "{line}");
    assert!(include_str!("../../../docs/kit.md").contains("shuttle 0.9"));
}

/// A lock of `std` across a step: the thread that waits for it is blocked forever.
#[test]
fn lock_invisible_to_shuttle_is_named() {
    let test = "controlled::lock_invisible_to_shuttle_is_named";
    let told = child::output_while_hanging(test, || {
        explore(3).schedules(50).patience(Duration::from_millis(300)).run(
            || (std::sync::Mutex::new([0; 3]), AtomicU64::new(0)),
            |object, process, value| {
                let mut cells = object.0.lock().unwrap();
                object.1.fetch_add(1, SeqCst);
                cells[process] = value;
            },
            |object, _| *object.0.lock().unwrap(),
        );
    });
    for part in [
        "shuttle has seen no step of it for 0.3 s",
        "a lock of `std`",
        ": update of segment ",
        "snapshot-schedule 1",
        "SNAPSHOT_SCHEDULE=",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// As with the types of another version: they have no scheduler.
#[test]
fn types_without_a_scheduler_are_explained() {
    let test = "controlled::types_without_a_scheduler_are_explained";
    let told = child::output_while_hanging(test, || {
        explore(2).schedules(50).run(cells_of_two, store, |cells: &[AtomicU64; 2], _: usize| {
            let read = |cell: &AtomicU64| {
                std::thread::scope(|scope| {
                    let read = scope.spawn(|| cell.load(SeqCst)).join();
                    read.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
            };
            cells.each_ref().map(read)
        });
    });
    for part in ["used a type of shuttle outside of this scheduler", "0.9", "snapshot-schedule 1"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Several writers, partial scans, texts: found, shrunk, and reproduced from a text.
#[test]
fn several_writers_and_partial_scans_are_explored() {
    struct Table(Vec<Mutex<String>>);

    impl Subject for Table {
        type Value = String;

        fn update(&self, _process: usize, segment: usize, value: String) {
            *self.0[segment].lock().unwrap() = value;
        }

        fn scan(&self, _process: usize) -> impl AsRef<[String]> {
            let locked: Vec<_> = self.0.iter().map(|cell| cell.lock().unwrap()).collect();
            locked.iter().map(|cell| (**cell).clone()).collect::<Vec<String>>()
        }

        /// The segments are not locked together: not a snapshot.
        fn scan_some(&self, _process: usize, segments: &[usize]) -> Vec<String> {
            segments.iter().map(|segment| self.0[*segment].lock().unwrap().clone()).collect()
        }
    }

    let make = || Table((0..3).map(|_| Mutex::new("v0".to_owned())).collect());
    let explore = || explore(3).writers(Writers::Many).values(|number| format!("v{number}"));
    let full = explore().schedules(300).run_subject(make);
    assert_eq!((full.schedules, full.abandoned), (300, 0));
    let found = explore().partial_scans().try_run_subject(make).unwrap_err();
    assert!(found.failure.is_violation(), "{found}");
    // A partial scan of two segments that sees the later of two updates, and misses the earlier.
    assert_eq!(found.trial.operations(), 3, "{found}");
    let told = found.to_string();
    assert!(told.contains("scan:") && told.contains("\"v"), "{told}");
    let trial: Trial = found.trial.to_string().parse().unwrap();
    assert_eq!(trial, found.trial);
    let again = explore().replay(trial).try_run_subject(make).unwrap_err();
    assert_eq!(again.failure.to_string(), told);
}
