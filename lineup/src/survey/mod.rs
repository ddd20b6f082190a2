//! Surveys: series of tests of a subject within a budget, with results as records.
//!
//! A record is a line of a CSV file: [`records`]. What was not run within the budget is counted as such: the
//! tests of a series come in an order that a seed fixes, so that those which were run are a
//! sample of all.

mod records;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::batch::{self, RandomCheck, Row};
use crate::check::Check;
use crate::matrix::{Test, TestError, dimension_of};
use crate::subject::AnySubject;
use crate::verdict::Verdict;

pub use records::{RecordError, latest, lines, records};

/// Of more tests than this not all are made, but as many random ones.
const ALL: u128 = 20_000;

/// A series of tests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tests {
    /// Operations per thread, threads.
    pub shape: (usize, usize),
    /// The number of random tests; `None`: all tests.
    pub samples: Option<usize>,
    /// Operations of a random initial sequence of random tests.
    pub initial: usize,
}

/// A text that does not describe tests.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "expected `all:2x2`, `random:3x3:100` (operations per thread, threads, number of tests), or \
     `random:2x2:100:init2` (a random initial sequence of two operations)"
)]
pub struct NoTests;

impl fmt::Display for Tests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = self.shape;
        match (self.samples, self.initial) {
            (None, _) => write!(f, "all:{rows}x{columns}"),
            (Some(samples), 0) => write!(f, "random:{rows}x{columns}:{samples}"),
            (Some(samples), initial) => {
                write!(f, "random:{rows}x{columns}:{samples}:init{initial}")
            }
        }
    }
}

impl FromStr for Tests {
    type Err = NoTests;

    fn from_str(text: &str) -> Result<Self, NoTests> {
        let parts: Vec<&str> = text.split(':').collect();
        let number = |text: &str| text.parse::<usize>().map_err(|_| NoTests);
        let shape = |text| dimension_of(text).ok_or(NoTests);
        match parts[..] {
            ["all", of] => Ok(Self { shape: shape(of)?, samples: None, initial: 0 }),
            ["random", of, samples] => {
                Ok(Self { shape: shape(of)?, samples: Some(number(samples)?), initial: 0 })
            }
            ["random", of, samples, initial] => {
                let initial = number(initial.strip_prefix("init").ok_or(NoTests)?)?;
                if initial > 16 {
                    return Err(NoTests);
                }
                Ok(Self { shape: shape(of)?, samples: Some(number(samples)?), initial })
            }
            _ => Err(NoTests),
        }
    }
}

/// Results of a series of tests of a subject.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// The subject.
    pub subject: String,
    /// The tests, as [`Tests`] are written.
    pub tests: String,
    /// The seed of their order, or of random ones.
    pub seed: u64,
    /// The largest number of preemptions; `None`: all executions.
    pub preemptions: Option<u32>,
    /// The largest number of concurrent executions per test.
    pub limit: Option<u64>,
    /// Number of tests in the series.
    pub number: u64,
    /// Number of tests that were run within the budget.
    pub run: u64,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that passed with all executions tried, with any number of preemptions.
    pub complete: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests without answer.
    pub unknown: u64,
    /// Failures found by serial executions alone; the next fields count those found by executions
    /// with 0, 1, 2 and more preemptions.
    pub failed_serially: u64,
    /// See [`Self::failed_serially`].
    pub failed_0: u64,
    /// See [`Self::failed_serially`].
    pub failed_1: u64,
    /// See [`Self::failed_serially`].
    pub failed_2: u64,
    /// Passed tests of which all executions without preemptions were tried; the next fields: with
    /// up to 1, and up to 2.
    pub tried_0: u64,
    /// See [`Self::tried_0`].
    pub tried_1: u64,
    /// See [`Self::tried_0`].
    pub tried_2: u64,
    /// Number of serial histories per test: the mean.
    pub histories: f64,
    /// The largest number of serial histories of a test.
    pub histories_most: u64,
    /// Seconds of phase 1 per test: the mean.
    pub phase_1: f64,
    /// The largest of these.
    pub phase_1_most: f64,
    /// Seconds of tests that passed, both phases: the mean.
    pub pass_seconds: Option<f64>,
    /// Seconds of tests that failed, both phases: the mean.
    pub fail_seconds: Option<f64>,
    /// Executions of both phases of all tests.
    pub executions: u64,
    /// Seconds of both phases of all tests, each on one core.
    pub seconds: f64,
    /// The smallest failing test that was found, after operations were removed.
    pub smallest: Option<String>,
    /// Operations per thread of the smallest failing test, without initial and final ones.
    pub rows: Option<usize>,
    /// Threads of the smallest failing test.
    pub columns: Option<usize>,
    /// Reason why the first test without answer has none.
    pub reason: Option<String>,
}

impl Tests {
    /// Returns the tests of a subject, in the order in which they are run, and their number.
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn of(
        &self,
        subject: AnySubject,
        check: &Check,
        seed: u64,
    ) -> Result<(Vec<Test>, u128), TestError> {
        let random = |samples| RandomCheck {
            shape: self.shape,
            samples,
            seed,
            initial: self.initial,
            finally: 0,
        };
        if let Some(samples) = self.samples {
            return Ok((random(samples).possible(subject, check)?, samples as u128));
        }
        let number = batch::number_of_tests(self.shape, subject.representatives().len());
        if number > ALL {
            return Ok((random(ALL as usize).tests(subject)?, number));
        }
        let mut tests = batch::all_tests(subject, self.shape, usize::MAX)?;
        tests.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Ok((tests, number))
    }

    /// Runs the tests of a subject, as long as the budget lasts.
    ///
    /// # Errors
    /// If the shape is too large.
    pub fn run(
        &self,
        subject: AnySubject,
        check: &Check,
        seed: u64,
        budget: Duration,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Record, TestError> {
        let end = Instant::now() + budget;
        let (tests, number) = self.of(subject, check, seed)?;
        let series = batch::run_until(check, &tests, true, Some(end), progress);
        let least = series.failures.iter().min_by_key(|report| report.test.shape().operations());
        let smallest = least.map(|report| check.minimise(report.clone()).test);
        let reason = series.unknown.first().map(|report| match &report.verdict {
            Verdict::Unknown(unknown) => {
                unknown.to_string().lines().next().unwrap_or("").to_owned()
            }
            _ => String::new(),
        });
        let rows = &series.rows;
        let seconds = |row: &Row| (row.phase_1 + row.phase_2).as_secs_f64();
        let mean_of = |word: &str| mean(rows.iter().filter(|r| r.verdict == word).map(seconds));
        let failing = |of: &dyn Fn(Option<u32>) -> bool| {
            rows.iter().filter(|row| row.verdict == "FAIL" && of(row.preemptions)).count() as u64
        };
        let tried = |bound: u32| {
            let all = |row: &Row| row.complete || row.bound.is_some_and(|most| most >= bound);
            rows.iter().filter(|row| row.verdict == "PASS" && all(row)).count() as u64
        };
        Ok(Record {
            subject: subject.name().to_owned(),
            tests: self.to_string(),
            seed,
            preemptions: check.preemptions,
            limit: check.executions,
            number: u64::try_from(number).unwrap_or(u64::MAX),
            run: rows.len() as u64,
            passed: series.passed as u64,
            complete: series.complete as u64,
            failed: series.failures.len() as u64,
            unknown: series.unknown.len() as u64,
            failed_serially: failing(&|preemptions| preemptions.is_none()),
            failed_0: failing(&|preemptions| preemptions == Some(0)),
            failed_1: failing(&|preemptions| preemptions == Some(1)),
            failed_2: failing(&|preemptions| preemptions.is_some_and(|p| p >= 2)),
            tried_0: tried(0),
            tried_1: tried(1),
            tried_2: tried(2),
            histories: mean(rows.iter().map(|row| row.histories as f64)).unwrap_or(0.0),
            histories_most: rows.iter().map(|row| row.histories).max().unwrap_or(0),
            phase_1: mean(rows.iter().map(|row| row.phase_1.as_secs_f64())).unwrap_or(0.0),
            phase_1_most: rows.iter().map(|r| r.phase_1.as_secs_f64()).fold(0.0, f64::max),
            pass_seconds: mean_of("PASS"),
            fail_seconds: mean_of("FAIL"),
            executions: series.executions,
            seconds: rows.iter().map(seconds).sum(),
            rows: smallest.as_ref().map(|test| test.dimension().0),
            columns: smallest.as_ref().map(|test| test.dimension().1),
            smallest: smallest.map(|test| test.text()),
            reason,
        })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}
