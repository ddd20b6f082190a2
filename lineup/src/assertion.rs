//! Implementation of [`assert!`](crate::assert).

use crate::check::Check;
use crate::many::{self, AutoCheck, RandomCheck, Series};
use crate::matrix::Test;
use crate::report;
use crate::subject::Subject;
use crate::verdict::{Report, Verdict};

/// Executions per test, where there are many tests.
const EXECUTIONS: u64 = 20_000;

fn judge<S: Subject>(check: &Check<S>, report: Report<S>) {
    if !matches!(report.verdict, Verdict::Pass { .. }) {
        let report = check.minimise(report);
        std::panic!("{}", report::report(check, &report));
    }
}

fn judge_all<S: Subject>(check: &Check<S>, series: Series<S>) {
    if let Some(report) = series.failures.into_iter().chain(series.unknown).next() {
        judge(check, report);
    }
}

/// Asserts that one test passes.
///
/// # Panics
/// Unless it passes.
#[track_caller]
pub fn one<S: Subject>(test: &Test<S>) {
    let check = Check::new();
    judge(&check, check.run(test));
}

/// Asserts that random tests of a shape pass.
///
/// # Panics
/// Unless all pass.
#[track_caller]
pub fn random<S: Subject>(shape: (usize, usize), samples: usize) {
    let check = Check::<S>::new().executions(Some(EXECUTIONS));
    match (RandomCheck { shape, samples, ..RandomCheck::default() }).run(&check, false) {
        Ok(series) => judge_all(&check, series),
        Err(error) => std::panic!("{error}"),
    }
}

/// Asserts that all tests of a shape pass.
///
/// # Panics
/// Unless all pass.
#[track_caller]
pub fn all<S: Subject>(shape: (usize, usize)) {
    let check = Check::<S>::new().executions(Some(EXECUTIONS));
    match many::all_tests(shape, usize::MAX) {
        Ok(tests) => judge_all(&check, many::run(&check, &tests, false)),
        Err(error) => std::panic!("{error}"),
    }
}

/// Asserts that AutoCheck passes.
///
/// # Panics
/// Unless all tests pass.
#[track_caller]
pub fn auto<S: Subject>(up_to: usize) {
    let check = Check::<S>::new().executions(Some(EXECUTIONS));
    match (AutoCheck { up_to }).run(&check) {
        Ok(series) => judge_all(&check, series),
        Err(error) => std::panic!("{error}"),
    }
}
