//! Many tests: random ones, all of a shape, and AutoCheck.
//!
//! Tests are independent of each other and run on all cores; the report does not depend on the
//! number of cores: the tests have a fixed order, and the first failing one counts.

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::check::Check;
use crate::control::lock;
use crate::matrix::{Test, TestError};
use crate::subject::{AnySubject, Invocation};
use crate::verdict::{Report, Unknown, Verdict};

/// Results of a series of tests.
#[derive(Default)]
pub struct Series {
    /// Number of tests that passed.
    pub passed: usize,
    /// Number of tests that passed with all their executions tried.
    pub complete: usize,
    /// Number of tests that were not run, since an earlier one failed, the time was up, or the
    /// check was interrupted.
    pub skipped: usize,
    /// The tests that failed, in their order; the first one alone, unless all were to be run.
    pub failures: Vec<Report>,
    /// The tests without answer.
    pub unknown: Vec<Report>,
    /// Executions of both phases of all tests that were run.
    pub executions: u64,
    /// Each test that was run, in their order.
    pub rows: Vec<Row>,
}

/// Result of one test of a series.
#[derive(Clone, Debug)]
pub struct Row {
    /// `PASS`, `FAIL` or `unknown`.
    pub verdict: &'static str,
    /// Number of serial histories.
    pub histories: u64,
    /// Time of the serial executions.
    pub phase_1: Duration,
    /// Time of the concurrent executions.
    pub phase_2: Duration,
    /// Number of executions of both phases.
    pub executions: u64,
    /// The preemptions of a concurrent execution that fails.
    pub preemptions: Option<u32>,
    /// The largest number of preemptions for which all executions were tried.
    pub bound: Option<u32>,
    /// True if all executions were tried, with any number of preemptions.
    pub complete: bool,
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series")
            .field("passed", &self.passed)
            .field("complete", &self.complete)
            .field("skipped", &self.skipped)
            .field("failures", &self.failures)
            .field("unknown", &self.unknown)
            .field("executions", &self.executions)
            .finish_non_exhaustive()
    }
}

impl Series {
    /// Returns 1 if a test failed, else 3 if one is without answer, else 0.
    pub const fn exit_code(&self) -> u8 {
        if !self.failures.is_empty() {
            1
        } else if !self.unknown.is_empty() {
            3
        } else {
            0
        }
    }
}

/// Uniformly random tests of a shape over the representatives (the paper's RandomCheck), with
/// random initial and final sequences of given lengths (section 4.3). Each ends with the invocation
/// that drops the object, if the subject has one.
#[derive(Clone, Debug)]
pub struct RandomCheck {
    /// Operations per thread, threads.
    pub shape: (usize, usize),
    /// Number of tests.
    pub samples: usize,
    /// The seed they are drawn with (ChaCha8).
    pub seed: u64,
    /// Operations of the initial sequence.
    pub initial: usize,
    /// Operations of the final sequence.
    pub finally: usize,
}

impl Default for RandomCheck {
    /// A hundred tests of 3 x 3, as in the paper.
    fn default() -> Self {
        Self { shape: (3, 3), samples: 100, seed: 0, initial: 0, finally: 0 }
    }
}

impl RandomCheck {
    /// Returns the tests of a subject as drawn: an initial sequence may get stuck
    /// ([`Check::with_possible_start`]).
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn tests(&self, subject: AnySubject) -> Result<Vec<Test>, TestError> {
        let representatives = subject.representatives();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let (rows, columns) = self.shape;
        let tests = (0..self.samples).map(|_| {
            let mut sequence = |length| -> Vec<Invocation> {
                let one = |_| {
                    let index = random.random_range(0..representatives.len().max(1));
                    representatives.get(index).cloned()
                };
                (0..length).filter_map(one).collect()
            };
            let columns = (0..columns).map(|_| sequence(rows)).collect();
            let (initial, finally) = (sequence(self.initial), sequence(self.finally));
            Test::of(subject, columns, Vec::new(), Vec::new())?.between(initial, finally)
        });
        tests.collect()
    }

    /// Returns the tests of a subject, each with the longest prefix of its initial sequence that does not get
    /// stuck.
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn possible(&self, subject: AnySubject, check: &Check) -> Result<Vec<Test>, TestError> {
        self.tests(subject)?.into_iter().map(|test| check.with_possible_start(test)).collect()
    }

    /// Checks the tests of a subject.
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn run(&self, subject: AnySubject, check: &Check, all: bool) -> Result<Series, TestError> {
        Ok(run(check, &self.possible(subject, check)?, all))
    }
}

/// Returns all tests of a subject and a shape over the first `invocations` representatives, one for each multiset
/// of columns; each ends with the invocation that drops the object, if the subject has one.
/// [`number_of_tests`] gives their number.
///
/// # Errors
/// If the shape is too large.
pub fn all_tests(
    subject: AnySubject,
    shape: (usize, usize),
    invocations: usize,
) -> Result<Vec<Test>, TestError> {
    let mut representatives = subject.representatives();
    representatives.truncate(invocations);
    let (rows, columns) = shape;
    let mut sequences: Vec<Vec<Invocation>> = vec![Vec::new()];
    for _ in 0..rows {
        let longer = |sequence: &Vec<Invocation>| {
            let with = |invocation: &Invocation| {
                let mut longer = sequence.clone();
                longer.push(invocation.clone());
                longer
            };
            representatives.iter().map(with).collect::<Vec<_>>()
        };
        sequences = sequences.iter().flat_map(longer).collect();
    }
    // Columns in nondecreasing order: one arrangement of each multiset.
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..columns {
        let longer = |prefix: &Vec<usize>| {
            let least = prefix.last().copied().unwrap_or(0);
            let with = |next| prefix.iter().copied().chain([next]).collect();
            (least..sequences.len()).map(with).collect::<Vec<Vec<usize>>>()
        };
        chosen = chosen.iter().flat_map(longer).collect();
    }
    let test = |which: Vec<usize>| {
        let columns = which.into_iter().map(|index| sequences[index].clone()).collect();
        Test::of(subject, columns, Vec::new(), Vec::new())?.between(Vec::new(), Vec::new())
    };
    chosen.into_iter().map(test).collect()
}

/// Returns the number of tests of a shape over this many invocations, up to the order of columns.
pub fn number_of_tests(shape: (usize, usize), invocations: usize) -> u128 {
    let sequences = (0..shape.0).fold(1_u128, |all, _| all.saturating_mul(invocations as u128));
    // Multisets of columns: a product whose factors so far are a binomial coefficient.
    (0..shape.1 as u128).fold(1_u128, |all, column| {
        all.saturating_mul(sequences.saturating_add(column)) / (column + 1)
    })
}

/// The paper's AutoCheck, up to a size: all n x n tests over the first n representatives,
/// for n = 1, 2, ..., up to the order of columns.
#[derive(Clone, Debug)]
pub struct AutoCheck {
    /// The largest n.
    pub up_to: usize,
}

impl AutoCheck {
    /// Checks sizes in order, until a size has a failing test.
    ///
    /// # Errors
    /// If a size is too large.
    pub fn run(&self, subject: AnySubject, check: &Check) -> Result<Series, TestError> {
        let mut series = run(check, &[], false);
        for n in 1..=self.up_to {
            let next = run(check, &all_tests(subject, (n, n), n)?, false);
            series.add(next);
            if !series.failures.is_empty() {
                break;
            }
        }
        Ok(series)
    }
}

impl Series {
    /// Adds the report of a test, with the number of its serial histories.
    pub(crate) fn count(&mut self, report: Report, histories: u64) {
        self.rows.push(Row {
            verdict: report.verdict.word(),
            histories,
            phase_1: report.serial.time,
            phase_2: report.concurrent.time,
            executions: report.concurrent.executions + report.serial.executions,
            preemptions: match &report.verdict {
                Verdict::Violation(violation) => Some(violation.preemptions),
                Verdict::Crash(crash) => Some(crash.preemptions()),
                _ => None,
            },
            bound: report.concurrent.bound,
            complete: report.concurrent.complete,
        });
        self.executions += report.concurrent.executions + report.serial.executions;
        match &report.verdict {
            Verdict::Pass { complete } => {
                self.passed += 1;
                self.complete += usize::from(*complete);
            }
            Verdict::Unknown(_) => self.unknown.push(report),
            _ => self.failures.push(report),
        }
    }

    /// Appends the results of another series.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.complete += other.complete;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        self.unknown.extend(other.unknown);
        self.executions += other.executions;
        self.rows.extend(other.rows);
    }
}

/// Checks tests, on all cores: all of them, or until one fails; the tests before the failing one
/// are checked in any case.
pub fn run(check: &Check, tests: &[Test], all: bool) -> Series {
    run_with(check, tests, all, &|_| ())
}

/// As [`run`]; after each test `progress` is called with the number of finished tests.
pub fn run_with(
    check: &Check,
    tests: &[Test],
    all: bool,
    progress: &(dyn Fn(usize) + Sync),
) -> Series {
    run_until(check, tests, all, None, progress)
}

/// Slot for the report of a test, with the number of its serial histories.
type Place = Mutex<Option<(Report, u64)>>;

/// As [`run_with`]; no test begins after `end`, and a test that is unfinished then is not counted.
pub fn run_until(
    check: &Check,
    tests: &[Test],
    all: bool,
    end: Option<Instant>,
    progress: &(dyn Fn(usize) + Sync),
) -> Series {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let first = AtomicUsize::new(usize::MAX);
    let is_interrupted = AtomicBool::new(false);
    let reports: Vec<Place> = tests.iter().map(|_| Mutex::new(None)).collect();
    // Each thread takes the next test: a scheduler with its own queues, such as rayon's, would
    // bring the crates under test into the checker.
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = tests.get(index) else { return };
            let is_late = || end.is_some_and(|end| Instant::now() > end);
            if !all && index > first.load(Ordering::Relaxed) || is_late() {
                continue;
            }
            // One further test reports that the series was interrupted.
            if check.is_cancelled() && is_interrupted.swap(true, Ordering::Relaxed) {
                continue;
            }
            let mut report = check.run_until(test, end);
            if is_late() && matches!(report.verdict, Verdict::Unknown(Unknown::Time)) {
                continue;
            }
            let histories = report.serial.observations.len() as u64;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            if report.verdict.fails() {
                first.fetch_min(index, Ordering::Relaxed);
            } else if matches!(report.verdict, Verdict::Pass { .. }) {
                // A passed test is only counted; its serial histories need not be kept.
                let shape = *report.test.shape();
                report.serial.observations = snapshot_core::observation::Observations::new(shape);
            }
            *lock(&reports[index]) = Some((report, histories));
        }
    };
    thread::scope(|scope| {
        let threads = check.threads.map_or_else(available, NonZero::get).min(tests.len());
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let first = first.into_inner();
    let mut series = Series::default();
    for (index, report) in reports.into_iter().enumerate() {
        let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(report) = report.filter(|_| all || index <= first) else {
            series.skipped += 1;
            continue;
        };
        series.count(report.0, report.1);
    }
    series
}

/// Returns the parallelism of this machine.
fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
