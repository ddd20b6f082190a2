//! Type-erased subjects.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::commands::write;
use super::options::{Bounds, Failing, Given};
use super::progress::{self, OfExecutions};
use super::{CommandError, TROUBLE};
use crate::apart::{Apart, Arguments, Told};
use crate::check::{Check, Tally};
use crate::files::{Failure, ObservationFile, observation_lines};
use crate::many::{self, RandomCheck, Series};
use crate::matrix::{Test, TestError};
use crate::report;
use crate::spin::Diverging;
use crate::subject::{Subject, name};
use crate::survey::{Record, Tests};
use crate::verdict::{Report, Verdict};

/// An answer and its exit code.
pub(super) type Answered = Result<(String, u8), CommandError>;

/// A subject of a program.
pub trait AnySubject: Sealed + Send + Sync {
    /// Returns the name.
    fn name(&self) -> &'static str;
    /// Returns the texts of the invocations.
    fn invocations(&self) -> Vec<String>;
}

/// Commands of a subject, which only this module calls.
pub trait Sealed {
    #[doc(hidden)]
    fn commands(&self) -> &dyn Commands;
}

#[doc(hidden)]
#[allow(private_interfaces)]
pub trait Commands {
    fn run(
        &self,
        test: &str,
        observations: Option<&Path>,
        baseline: Option<&Path>,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered;
    fn random(
        &self,
        tests: &RandomCheck,
        around: &Given,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered;
    fn all(
        &self,
        shape: (usize, usize),
        around: &Given,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered;
    fn auto(&self, up_to: usize, around: &Given, failing: &Failing, bounds: &Bounds) -> Answered;
    fn replay(&self, path: &Path, failure: &Failure, bounds: &Bounds) -> Answered;
    fn survey(
        &self,
        tests: &Tests,
        seed: u64,
        budget: Duration,
        bounds: &Bounds,
    ) -> Result<Record, CommandError>;
}

struct Typed<S>(PhantomData<fn() -> S>);

/// Makes a subject for [`main!`](crate::main).
pub fn subject<S: Subject>() -> Box<dyn AnySubject> {
    Box::new(Typed::<S>(PhantomData))
}

impl<S: Subject> AnySubject for Typed<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn invocations(&self) -> Vec<String> {
        S::representatives().iter().chain(&S::dropping()).map(name).collect()
    }
}

impl<S: Subject> Sealed for Typed<S> {
    fn commands(&self) -> &dyn Commands {
        self
    }
}

impl<S: Subject> Typed<S> {
    /// Returns the answer to one test.
    fn answer(check: &Check<S>, report: &Report<S>, failing: &Failing) -> Answered {
        let failure = Failure::of_verdict(&report.test, &report.verdict);
        if let (Some(path), Some(mut failure)) = (&failing.save, failure) {
            failure.spurious_wakeups = check.spurious_wakeups;
            write(path, &failure.text())?;
        }
        Ok((report::report(check, report), report.verdict.exit_code()))
    }

    /// Returns the answer to one test; a failing test is minimised.
    fn minimised(check: &Check<S>, report: Report<S>, failing: &Failing) -> Answered {
        let report = if failing.no_minimise { report } else { check.minimise(report) };
        Self::answer(check, &report, failing)
    }

    /// Surrounds the tests by the given sequences; an initial sequence only up to where it gets
    /// stuck.
    fn surrounded(
        check: &Check<S>,
        tests: &[Test<S>],
        around: &Given,
    ) -> Result<Vec<Test<S>>, TestError> {
        let between = |test: &Test<S>| check.with_possible_start(around.around(test)?);
        tests.iter().map(between).collect()
    }

    fn several(check: &Check<S>, tests: &[Test<S>], around: &Given, failing: &Failing) -> Answered {
        let tests = Self::surrounded(check, tests, around)?;
        let series =
            many::run_with(check, &tests, false, &progress::of_tests(S::NAME, tests.len()));
        Self::series(check, series, failing)
    }

    fn series(check: &Check<S>, series: Series<S>, failing: &Failing) -> Answered {
        let tests = series.passed + series.failures.len() + series.unknown.len();
        let code = series.exit_code();
        let extent = extent(&series);
        let mut text = String::new();
        if let Some(report) = series.failures.into_iter().chain(series.unknown).next() {
            text = Self::minimised(check, report, failing)?.0;
        }
        let word = ["PASS", "FAIL", "", "unknown"].get(usize::from(code)).unwrap_or(&"");
        let passed = if code == 0 { "" } else { " passed" };
        text.push_str(&format!(
            "{}: {word}: {} of {tests} tests{passed}{extent}\n",
            S::NAME,
            series.passed
        ));
        text.push_str(&report::versions());
        Ok((text, code))
    }
}

/// Describes the executions of a series, such as `, each with up to 2 preemptions (3,323 executions;
/// none exhaustive)`.
fn extent<S: Subject>(series: &Series<S>) -> String {
    let bounded = series.rows.iter().filter(|row| row.verdict == "PASS" && !row.complete);
    let each = match bounded.map(|row| row.bound).min() {
        Some(Some(bound)) => format!(", each with up to {bound} preemptions"),
        Some(None) => ", some in part".to_owned(),
        None => String::new(),
    };
    let exhaustive = match series.complete {
        0 => "none".to_owned(),
        complete if complete == series.passed => "all".to_owned(),
        complete => complete.to_string(),
    };
    let executions = report::grouped(series.executions);
    format!("{each} ({executions} executions; {exhaustive} exhaustive)")
}

/// Maximum number of tests of one command.
const MOST: u128 = 1_000_000;

/// Refuses a command with too many tests of a shape, from so many invocations.
fn within_limit<S: Subject>(shape: (usize, usize), invocations: usize) -> Result<(), CommandError> {
    match many::number_of_tests(shape, invocations) {
        number if number > MOST => Err(CommandError::TooMany { subject: S::NAME, number }),
        _ => Ok(()),
    }
}

impl<S: Subject> Typed<S> {
    /// Returns the answer to a test, executed in this process.
    fn run_here(
        check: &Check<S>,
        test: &str,
        observations: Option<&Path>,
        baseline: Option<&Path>,
        failing: &Failing,
    ) -> Answered {
        let tally = Arc::new(Tally::default());
        let check = check.clone().tallied(Some(Arc::clone(&tally)));
        let test = Test::<S>::parse(test)?;
        let progress = OfExecutions::new(S::NAME, tally);
        let report = check.run(&test);
        drop(progress);
        let serial = &report.serial;
        let lines = observation_lines(&test, &serial.observations, serial.complete);
        if let Some(path) = observations {
            write(path, &lines)?;
        }
        let mut difference = None;
        if let Some(path) = baseline {
            let file = |error| CommandError::File { path: path.to_owned(), error };
            let old = ObservationFile::parse(&super::commands::read(path)?).map_err(file)?;
            let new = ObservationFile::parse(&lines).map_err(file)?;
            if (&old.subject, &old.test) != (&new.subject, &new.test) {
                let columns = old.test.iter().map(|column| column.join(" "));
                let baseline = columns.collect::<Vec<_>>().join(" | ");
                return Err(CommandError::Baseline { baseline: baseline + ", of " + &old.subject });
            }
            let mut histories = new.observations.histories();
            let known: Vec<_> = old.observations.histories().collect();
            difference = histories.find(|history| !known.contains(history));
            if difference.is_none() && known.len() != new.observations.len() && serial.complete {
                let now: Vec<_> = new.observations.histories().collect();
                difference = known.into_iter().find(|history| !now.contains(history));
            }
        }
        let (mut text, mut code) = Self::minimised(&check, report, failing)?;
        text.push_str(&report::versions());
        if let Some(history) = difference {
            let order = history.letters();
            let responses: Vec<&str> =
                history.operations.iter().map(|(_, response)| response.as_str()).collect();
            text.push_str(&format!(
                "\nFAIL: the serial executions differ from the baseline, in {order}: {}\n",
                responses.join(", ")
            ));
            code = 1;
        }
        Ok((text, code))
    }

    /// Executes a check in a process of its own.
    fn apart(check: &Check<S>, failing: &Failing, here: impl FnOnce() -> Answered) -> Answered {
        let told = |answered: Answered| match answered {
            Ok((text, code)) => Told::new(code, text),
            Err(error) => Told::new(TROUBLE, error.to_string()),
        };
        let apart = Apart::new(check, Arguments::Same, None);
        let crashed = |report| {
            let report = if failing.no_minimise { report } else { apart.minimise(report) };
            let answered = Self::answer(check, &report, failing);
            told(answered.map(|(text, code)| (text + &report::versions(), code)))
        };
        match apart.answer(|| told(here()), crashed) {
            Told { code: TROUBLE, text: message, .. } => Err(CommandError::Worker { message }),
            Told { code, text, .. } => Ok((text, code)),
        }
    }
}

#[allow(private_interfaces)]
impl<S: Subject> Commands for Typed<S> {
    fn run(
        &self,
        test: &str,
        observations: Option<&Path>,
        baseline: Option<&Path>,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered {
        let check = bounds.check::<S>(false);
        let here = || Self::run_here(&check, test, observations, baseline, failing);
        Self::apart(&check, failing, here)
    }

    fn random(
        &self,
        tests: &RandomCheck,
        around: &Given,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered {
        let check = bounds.check::<S>(true);
        Self::apart(&check, failing, || Self::several(&check, &tests.tests()?, around, failing))
    }

    fn all(
        &self,
        shape: (usize, usize),
        around: &Given,
        failing: &Failing,
        bounds: &Bounds,
    ) -> Answered {
        let check = bounds.check::<S>(true);
        Self::apart(&check, failing, || {
            within_limit::<S>(shape, S::representatives().len())?;
            Self::several(&check, &many::all_tests(shape, usize::MAX)?, around, failing)
        })
    }

    fn auto(&self, up_to: usize, around: &Given, failing: &Failing, bounds: &Bounds) -> Answered {
        let check = bounds.check::<S>(true);
        Self::apart(&check, failing, || {
            let mut series = many::run(&check, &[], false);
            for n in 1..=up_to {
                within_limit::<S>((n, n), n.min(S::representatives().len()))?;
                let tests = Self::surrounded(&check, &many::all_tests((n, n), n)?, around)?;
                let progress = progress::of_tests(S::NAME, tests.len());
                series.add(many::run_with(&check, &tests, false, &progress));
                if !series.failures.is_empty() {
                    break;
                }
            }
            Self::series(&check, series, failing)
        })
    }

    fn replay(&self, path: &Path, failure: &Failure, bounds: &Bounds) -> Answered {
        let mut check = bounds.check::<S>(false);
        if failure.spins {
            check = check.diverging(Diverging::Stuck);
        }
        if failure.spurious_wakeups {
            check = check.spurious_wakeups(true);
        }
        let test = Test::<S>::parse(&failure.test)?;
        let schedule = failure
            .schedule()
            .map_err(|error| CommandError::File { path: path.to_owned(), error })?;
        let apart = Apart::new(&check, Arguments::Same, Some(test.clone())).replaying();
        let here = || {
            let (text, code) = report::replayed(&check, &test, &schedule, failure);
            Told::new(code, text)
        };
        let told = apart.answer(here, |report| match &report.verdict {
            Verdict::Crash(crash) => Told::new(1, report::replayed_crash(&test, crash, failure)),
            verdict => Told::new(verdict.exit_code(), report::report(&check, &report)),
        });
        Ok((told.text, told.code))
    }

    fn survey(
        &self,
        tests: &Tests,
        seed: u64,
        budget: Duration,
        bounds: &Bounds,
    ) -> Result<Record, CommandError> {
        let name = format!("{}, {tests}", S::NAME);
        let all = tests.samples.unwrap_or(0);
        Ok(tests.run(&bounds.check::<S>(true), seed, budget, &progress::of_tests(&name, all))?)
    }
}
