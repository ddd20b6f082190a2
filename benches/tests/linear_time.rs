//! The checks take linear time, measured: on histories of 2^14 to 2^20 events,
//! the exponent of the time is about 1.
//!
//! Where the tests run, others run too. So each size is measured several times,
//! all sizes in turn, and only the least time of each counts: a slow phase of
//! the machine must last through all turns to spoil a point. The limit leaves
//! room for caches, which make short histories faster; anything like n log n
//! over so many doublings exceeds what is left, and n^2 by far.

use std::hint::black_box;
use std::time::{Duration, Instant};

use benches::{exponent, half_scans};
use snapshot_core::History;
use snapshot_core::linear::{self, Outcome};
use snapshot_core::monitor::Monitor;

const LIMIT: f64 = 1.15;
const TURNS: usize = 7;
const SIZES: [u64; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// A slow phase spoils one attempt, a wrong algorithm all of them.
const ATTEMPTS: usize = 3;

fn check(history: &History<i64>) {
    let outcome = linear::check(black_box(history));
    assert!(matches!(black_box(outcome), Outcome::Linearizable(_)));
}

fn linearize(history: &History<i64>) {
    let Outcome::Linearizable(reading) = linear::check(black_box(history)) else {
        panic!("linearizable by construction")
    };
    black_box(reading.linearization());
}

fn monitor(history: &History<i64>) {
    let mut monitor = Monitor::new(history.declaration()).expect("a history declares its sizes");
    for event in history.events() {
        monitor.observe(&event).expect("a history's events are admissible");
    }
    black_box(monitor.judgement());
}

/// Something that is done with a history.
type Work = fn(&History<i64>);

/// Sizes in events with their least times in seconds.
fn least_times(histories: &[History<i64>], work: Work) -> Vec<(f64, f64)> {
    let mut least = vec![Duration::MAX; histories.len()];
    for _ in 0..TURNS {
        for (history, least) in histories.iter().zip(&mut least) {
            let start = Instant::now();
            work(history);
            *least = (*least).min(start.elapsed());
        }
    }
    let points = histories.iter().zip(&least);
    points.map(|(history, time)| (history.len() as f64, time.as_secs_f64())).collect()
}

/// One test for all, so that they do not disturb each other.
#[test]
fn all_checks_take_linear_time() {
    let histories = SIZES.map(half_scans);
    let works: [(&str, Work); 3] =
        [("check", check), ("linearization", linearize), ("monitor", monitor)];
    for (name, work) in works {
        let mut attempts = (0..ATTEMPTS).map(|_| {
            let times = least_times(&histories, work);
            let exponent = exponent(&times);
            println!("{name}: exponent {exponent:.3}, {times:?}");
            exponent
        });
        assert!(attempts.any(|exponent| exponent <= LIMIT), "{name} is not linear");
    }
}
