//! Objects that are a lock around a sequential one never fail; objects that release the lock too
//! early fail, in executions that replay.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use lineup::sync::{Condvar, Mutex};
use lineup::{AnySubject, Check, Failure, Schedule, Subject, Test, Text, Verdict, batch};
use snapshot_core::generic::Specification;
use test_support::effort::{by_effort, either};

const STATES: u64 = 3;
const OPERATIONS: u64 = 4;

/// Returns a number that depends on all arguments.
fn mix(seed: u64, state: u64, operation: u64, what: u64) -> u64 {
    let mut x = seed ^ state << 20 ^ operation << 30 ^ what << 40;
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    x >> 33
}

/// Returns the behaviour of a random object: the answer and the next state; `None`: it waits.
fn table(seed: u64, state: u64, operation: u64) -> Option<(u64, u64)> {
    let waits = mix(seed, state, operation, 0).is_multiple_of(6);
    let answer = mix(seed, state, operation, 1) % 3;
    (!waits).then(|| (answer, mix(seed, state, operation, 2) % STATES))
}

/// Seeds of the objects of the present test; for right and for broken ones.
static SEEDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// The object behind a lock, with a condition for waiting threads; `BROKEN`: the lock is released
/// between reading the state and writing it.
struct Behind<const BROKEN: bool> {
    seed: u64,
    state: Mutex<u64>,
    changed: Condvar,
}

impl<const BROKEN: bool> Subject for Behind<BROKEN> {
    type Invocation = u64;

    const NAME: &'static str = if BROKEN { "broken" } else { "locked" };

    fn new() -> Self {
        let seed = SEEDS[usize::from(BROKEN)].load(SeqCst);
        Self { seed, state: Mutex::new(0), changed: Condvar::new() }
    }

    fn call(&self, operation: &u64) -> Text {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some((answer, next)) = table(self.seed, *state, *operation) {
                if BROKEN {
                    drop(state);
                    state = self.state.lock().unwrap();
                }
                *state = next;
                self.changed.notify_all();
                return Text::new(&answer);
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn representatives() -> Vec<u64> {
        (0..OPERATIONS).collect()
    }
}

struct Table(u64);

impl Specification for Table {
    type State = u64;
    type Input = u64;
    type Output = u64;
    type Part = ();

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, state: &mut u64, input: &u64, output: Option<&u64>) -> bool {
        match table(self.0, *state, *input) {
            Some((answer, next)) if output.is_none_or(|output| *output == answer) => {
                *state = next;
                true
            }
            _ => false,
        }
    }

    fn part(&self, _: &u64) {}
}

#[derive(Debug, Default)]
struct Counts {
    tests: usize,
    stuck: u64,
    failures: usize,
    executions: u64,
}

const SHAPES: [(usize, usize); 5] = [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3)];

fn tests<S: Subject>(samples: usize, seed: u64) -> Vec<Test> {
    let of = |shape| {
        batch::RandomCheck { shape, samples, seed, ..Default::default() }
            .tests(AnySubject::new::<S>())
            .unwrap()
    };
    SHAPES.into_iter().flat_map(of).collect()
}

/// Returns the check against the table.
fn specified<const BROKEN: bool>(check: &Check, seed: u64) -> Check {
    let answer = |_: &u64, response: &Text| response.0.parse().ok();
    check.clone().against::<Behind<BROKEN>, _>(Table(seed), |i| *i, answer)
}

fn locked(seed: u64, counts: &mut Counts) {
    SEEDS[0].store(seed, SeqCst);
    let check = Check::new().executions(Some(400));
    let specified = specified::<false>(&check, seed);
    let unwinding = check.clone().unwinding(true);
    let checks =
        if seed.is_multiple_of(4) { [&unwinding, &specified] } else { [&check, &specified] };
    for test in tests::<Behind<false>>(2, seed) {
        for check in checks {
            let report = check.run(&test);
            assert!(matches!(report.verdict, Verdict::Pass { .. }), "{seed} {report:?}");
            counts.stuck += report.concurrent.stuck;
            counts.executions += report.concurrent.executions;
        }
        counts.tests += 1;
    }
}

fn broken(seed: u64, counts: &mut Counts) {
    SEEDS[1].store(seed, SeqCst);
    let check = Check::new().executions(Some(1_000));
    let specified = specified::<true>(&check, seed);
    for test in tests::<Behind<true>>(2, seed) {
        counts.tests += 1;
        let report = check.run(&test);
        let other = specified.run(&test);
        assert_eq!(report.verdict.fails(), other.verdict.fails(), "{seed} {report:?}");
        let Verdict::Violation(violation) = &report.verdict else { continue };
        counts.failures += 1;
        counts.stuck += u64::from(violation.history.is_stuck());
        // The schedule as text, and from a file, leads to the same execution.
        let file = Failure::new(&test, violation).text();
        let schedule: Schedule = Failure::parse(&file).unwrap().schedule().unwrap();
        assert_eq!(schedule, violation.schedule);
        let replayed = check.replay(&test, &schedule).unwrap();
        assert_eq!(replayed.diverged, None);
        assert_eq!(replayed.history.as_ref(), Some(&violation.history));
        // The reported test is minimal, and fails, too.
        if counts.failures.is_multiple_of(32) {
            let smaller = check.minimise(report.clone());
            assert!(smaller.verdict.fails());
            // A smaller test may fail with more preemptions.
            let Verdict::Violation(violation) = &smaller.verdict else { continue };
            let within = check.clone().preemptions(Some(violation.preemptions));
            let operations = smaller.test.shape().operations();
            assert!(operations <= test.shape().operations());
            for thread in smaller.test.shape().threads() {
                for index in 0..smaller.test.sequence(thread).len() {
                    let less = smaller.test.without(thread, index);
                    assert!(!within.run(&less).verdict.fails(), "{seed} {:?}", smaller.test);
                }
            }
        }
    }
}

/// At night also half a million tests of random objects, by serial executions alone.
#[test]
fn a_lock_around_a_sequential_object_never_fails() {
    let mut counts = Counts::default();
    let seeds = either(2, 8);
    (1..=seeds).for_each(|seed| locked(seed, &mut counts));
    assert_eq!(counts.tests as u64, 10 * seeds);
    assert!(2 * counts.stuck > 15 * seeds && counts.executions > 625 * seeds, "{counts:?}");
    let more = by_effort(0, 0, 500_000);
    if more == 0 {
        return;
    }
    let mut counts = Counts::default();
    let check = Check::new().executions(Some(30)).unwinding(true);
    for seed in 1_000.. {
        if counts.tests >= more {
            break;
        }
        SEEDS[0].store(seed, SeqCst);
        for test in tests::<Behind<false>>(20, seed) {
            let report = check.run(&test);
            assert!(matches!(report.verdict, Verdict::Pass { .. }), "{seed} {report:?}");
            counts.tests += 1;
            counts.stuck += report.concurrent.stuck;
            counts.executions += report.concurrent.executions + report.serial.executions;
        }
        if seed.is_multiple_of(500) {
            eprintln!("before seed {}: {counts:?}", seed + 1);
        }
    }
    eprintln!("a lock around a random object: {counts:?}");
}

/// At night until 10,000 failures are found, each replayed.
#[test]
fn locks_released_early_fail_by_both_judges_and_replay_exactly() {
    let mut counts = Counts::default();
    let seeds = either(3, 8);
    (1..=seeds).for_each(|seed| broken(seed, &mut counts));
    assert!(counts.failures as u64 > 2 * seeds - 1 && counts.stuck > 0, "{counts:?}");
    let more = by_effort(0, 0, 10_000);
    for seed in seeds + 1.. {
        if counts.failures >= more {
            break;
        }
        broken(seed, &mut counts);
    }
    if more > 0 {
        eprintln!("executions that fail, each replayed exactly: {counts:?}");
    }
}

/// Line before the operations of `Crossed`.
const LINE: u32 = line!();
lineup::subject! {
    /// Takes two locks in either order.
    Crossed(locks: [Mutex<u32>; 2]) = Default::default();
    there() => {
        let first = locks[0].lock().unwrap();
        let second = locks[1].lock().unwrap();
        *first + *second
    };
    back() => {
        let second = locks[1].lock().unwrap();
        let first = locks[0].lock().unwrap();
        *first + *second
    };
}

#[test]
fn a_stuck_execution_says_where_each_thread_waits_and_for_whom() {
    let check = Check::new();
    let report = check.run(&Test::parse::<Crossed>("there | back").unwrap());
    assert!(report.verdict.fails(), "{report:?}");
    let text = lineup::report::report(&check, &report).replace('\n', " ");
    let at = |line: u32| format!("lineup/tests/all/locks.rs:{}", LINE + line);
    let waits = |operation, of, line, holder, taken| {
        let (here, there) = (at(line), at(taken));
        format!("{operation} of {of} waits at {here} for the lock that {holder} took at {there}.")
    };
    assert!(text.contains(&waits("there()", "A", 6, "B", 10)), "{text}");
    assert!(text.contains(&waits("back()", "B", 11, "A", 5)), "{text}");
}
