//! Implementation of [`assert!`](crate::assert).

use crate::apart::{Apart, Arguments, Told};
use crate::batch::{self, AutoCheck, RandomCheck, Series};
use crate::check::Check;
use crate::matrix::{Test, TestError};
use crate::report;
use crate::subject::{AnySubject, Subject};
use crate::verdict::{Report, Verdict};

/// Executions per test, where there are many tests.
const EXECUTIONS: u64 = 20_000;

fn told(check: &Check, report: &Report) -> Told {
    match report.verdict {
        Verdict::Pass { .. } => Told::default(),
        _ => Told::new(report.verdict.exit_code(), report::report(check, report)),
    }
}

/// Executes a check in a process of its own.
///
/// # Panics
/// Unless all its tests pass.
#[track_caller]
fn judge(
    subject: AnySubject,
    check: &Check,
    given: Option<&Test>,
    run: impl FnOnce() -> Result<Option<Report>, TestError>,
) {
    let apart = Apart::new(check, subject, Arguments::of_test(), given.cloned());
    let whole = || match run() {
        Ok(None) => Told::default(),
        Ok(Some(report)) => told(check, &check.minimise(report)),
        Err(error) => Told::new(2, error.to_string()),
    };
    let answer = apart.answer(whole, |report| told(check, &apart.minimise(report)));
    if answer.code != 0 {
        std::panic!("{}", answer.text);
    }
}

/// Returns the first test without success.
fn first(series: Series) -> Option<Report> {
    series.failures.into_iter().chain(series.unknown).next()
}

/// Asserts that one test passes.
///
/// # Panics
/// Unless it passes.
#[track_caller]
pub fn one(test: &Test) {
    let check = Check::new();
    judge(test.subject(), &check, Some(test), || Ok(Some(check.run(test))));
}

/// Asserts that random tests of a shape pass.
///
/// # Panics
/// Unless all pass.
#[track_caller]
pub fn random<S: Subject>(shape: (usize, usize), samples: usize) {
    let check = Check::new().executions(Some(EXECUTIONS));
    let tests = RandomCheck { shape, samples, ..RandomCheck::default() };
    judge(AnySubject::new::<S>(), &check, None, || {
        Ok(first(tests.run(AnySubject::new::<S>(), &check, false)?))
    });
}

/// Asserts that all tests of a shape pass.
///
/// # Panics
/// Unless all pass.
#[track_caller]
pub fn all<S: Subject>(shape: (usize, usize)) {
    let check = Check::new().executions(Some(EXECUTIONS));
    judge(AnySubject::new::<S>(), &check, None, || {
        Ok(first(batch::run(
            &check,
            &batch::all_tests(AnySubject::new::<S>(), shape, usize::MAX)?,
            false,
        )))
    });
}

/// Asserts that AutoCheck passes.
///
/// # Panics
/// Unless all tests pass.
#[track_caller]
pub fn auto<S: Subject>(up_to: usize) {
    let check = Check::new().executions(Some(EXECUTIONS));
    judge(AnySubject::new::<S>(), &check, None, || {
        Ok(first((AutoCheck { up_to }).run(AnySubject::new::<S>(), &check)?))
    });
}
