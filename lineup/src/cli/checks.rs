//! Commands for one subject.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::commands::{read, write};
use super::options::{Bounds, Failing, Given, SurveyArguments};
use super::progress::{self, OfExecutions};
use super::{CommandError, TROUBLE};
use crate::apart::{Apart, Arguments, Told};
use crate::batch::{self, RandomCheck, Series};
use crate::check::{Check, Tally};
use crate::files::{Failure, ObservationFile, observation_lines};
use crate::matrix::{Test, TestError};
use crate::report;
use crate::spin::Diverging;
use crate::subject::AnySubject;
use crate::survey::{self, Record};
use crate::verdict::{Report, Verdict};

/// An answer and its exit code.
pub(super) type Answered = Result<(String, u8), CommandError>;

/// Maximum number of tests of one command.
const MOST: u128 = 1_000_000;

/// The check of a subject, for its commands.
pub(super) struct Checks {
    subject: AnySubject,
    check: Check,
}

impl Checks {
    /// Makes the check of one test, or of `several`.
    pub(super) fn new(subject: AnySubject, bounds: &Bounds, several: bool) -> Self {
        Self { subject, check: bounds.check(several) }
    }

    /// Returns the answer to one test.
    fn answer(&self, report: &Report, failing: &Failing) -> Answered {
        let failure = Failure::of_verdict(&report.test, &report.verdict);
        if let (Some(path), Some(mut failure)) = (&failing.save, failure) {
            failure.spurious_wakeups = self.check.spurious_wakeups;
            write(path, &failure.text())?;
        }
        Ok((report::report(&self.check, report), report.verdict.exit_code()))
    }

    /// Returns the answer to one test; a failing test is minimised.
    fn minimised(&self, report: Report, failing: &Failing) -> Answered {
        let report = if failing.no_minimise { report } else { self.check.minimise(report) };
        self.answer(&report, failing)
    }

    /// Surrounds the tests by the given sequences; an initial sequence only up to where it gets
    /// stuck.
    fn surrounded(&self, tests: &[Test], around: &Given) -> Result<Vec<Test>, TestError> {
        let between = |test: &Test| self.check.with_possible_start(around.around(test)?);
        tests.iter().map(between).collect()
    }

    /// Runs tests until one fails.
    fn tested(&self, tests: &[Test], around: &Given) -> Result<Series, TestError> {
        let tests = self.surrounded(tests, around)?;
        let progress = progress::of_tests(self.subject.name(), tests.len());
        Ok(batch::run_with(&self.check, &tests, false, &progress))
    }

    fn series(&self, series: Series, failing: &Failing) -> Answered {
        let tests = series.passed + series.failures.len() + series.unknown.len();
        let code = series.exit_code();
        let extent = extent(&series);
        let mut text = String::new();
        if let Some(report) = series.failures.into_iter().chain(series.unknown).next() {
            text = self.minimised(report, failing)?.0;
        }
        let word = ["PASS", "FAIL", "", "unknown"].get(usize::from(code)).unwrap_or(&"");
        let passed = if code == 0 { "" } else { " passed" };
        text.push_str(&format!(
            "{}: {word}: {} of {tests} tests{passed}{extent}\n",
            self.subject.name(),
            series.passed
        ));
        text.push_str(&report::versions());
        Ok((text, code))
    }

    /// Refuses a command with too many tests of a shape, from so many invocations.
    fn within_limit(&self, shape: (usize, usize), invocations: usize) -> Result<(), CommandError> {
        match batch::number_of_tests(shape, invocations) {
            number if number > MOST => {
                Err(CommandError::TooMany { subject: self.subject.name(), number })
            }
            _ => Ok(()),
        }
    }

    /// Returns the answer to a test, executed in this process.
    fn run_here(
        &self,
        test: &str,
        observations: Option<&Path>,
        baseline: Option<&Path>,
        failing: &Failing,
    ) -> Answered {
        let tally = Arc::new(Tally::default());
        let check = self.check.clone().tallied(Some(Arc::clone(&tally)));
        let test = Test::parse_among(self.subject, test, None)?;
        let progress = OfExecutions::new(self.subject.name(), tally);
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
            let old = ObservationFile::parse(&read(path)?).map_err(file)?;
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
        let (mut text, mut code) = self.minimised(report, failing)?;
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
    fn apart(&self, failing: &Failing, here: impl FnOnce() -> Answered) -> Answered {
        let told = |answered: Answered| match answered {
            Ok((text, code)) => Told::new(code, text),
            Err(error) => Told::new(TROUBLE, error.to_string()),
        };
        let apart = Apart::new(&self.check, self.subject, Arguments::Same, None);
        let crashed = |report| {
            let report = if failing.no_minimise { report } else { apart.minimise(report) };
            let answered = self.answer(&report, failing);
            told(answered.map(|(text, code)| (text + &report::versions(), code)))
        };
        match apart.answer(|| told(here()), crashed) {
            Told { code: TROUBLE, text: message, .. } => Err(CommandError::Worker { message }),
            Told { code, text, .. } => Ok((text, code)),
        }
    }

    /// Checks one test.
    pub(super) fn run(
        &self,
        test: &str,
        observations: Option<&Path>,
        baseline: Option<&Path>,
        failing: &Failing,
    ) -> Answered {
        self.apart(failing, || self.run_here(test, observations, baseline, failing))
    }

    /// Checks random tests.
    pub(super) fn random(
        &self,
        tests: &RandomCheck,
        around: &Given,
        failing: &Failing,
    ) -> Answered {
        self.apart(failing, || {
            self.series(self.tested(&tests.tests(self.subject)?, around)?, failing)
        })
    }

    /// Checks all tests of a shape.
    pub(super) fn all(&self, shape: (usize, usize), around: &Given, failing: &Failing) -> Answered {
        self.apart(failing, || {
            self.within_limit(shape, self.subject.representatives().len())?;
            let tests = batch::all_tests(self.subject, shape, usize::MAX)?;
            self.series(self.tested(&tests, around)?, failing)
        })
    }

    /// Checks all tests of the sizes up to `up_to`.
    pub(super) fn auto(&self, up_to: usize, around: &Given, failing: &Failing) -> Answered {
        self.apart(failing, || {
            let mut series = batch::run(&self.check, &[], false);
            for n in 1..=up_to {
                self.within_limit((n, n), n.min(self.subject.representatives().len()))?;
                let tests = batch::all_tests(self.subject, (n, n), n)?;
                series.add(self.tested(&tests, around)?);
                if !series.failures.is_empty() {
                    break;
                }
            }
            self.series(series, failing)
        })
    }

    /// Executes the schedule of a failure.
    pub(super) fn replay(self, path: &Path, failure: &Failure) -> Answered {
        let mut check = self.check;
        if failure.spins {
            check = check.diverging(Diverging::Stuck);
        }
        if failure.spurious_wakeups {
            check = check.spurious_wakeups(true);
        }
        let test = Test::parse_among(self.subject, &failure.test, None)?;
        let schedule = failure
            .schedule()
            .map_err(|error| CommandError::File { path: path.to_owned(), error })?;
        let apart = Apart::new(&check, self.subject, Arguments::Same, Some(test.clone()));
        let here = || {
            let (text, code) = report::replayed(&check, &test, &schedule, failure);
            Told::new(code, text)
        };
        let told = apart.replaying().answer(here, |report| match &report.verdict {
            Verdict::Crash(crash) => Told::new(1, report::replayed_crash(&test, crash, failure)),
            verdict => Told::new(verdict.exit_code(), report::report(&check, &report)),
        });
        Ok((told.text, told.code))
    }

    /// Runs series of tests as long as the budget lasts, and records them. A crash ends it.
    pub(super) fn survey(&self, survey: &SurveyArguments) -> Answered {
        let failing = Failing { no_minimise: false, save: None };
        self.apart(&failing, || {
            let (mut text, mut worst) = (String::new(), 0);
            let end = survey.subject_budget.map(|budget| Instant::now() + budget);
            for (index, tests) in survey.tests.iter().enumerate() {
                let budget = end.map_or(survey.budget, |end| {
                    let left = end.saturating_duration_since(Instant::now());
                    left / u32::try_from(survey.tests.len() - index).unwrap_or(u32::MAX)
                });
                let name = format!("{}, {tests}", self.subject.name());
                let progress = progress::of_tests(&name, tests.samples.unwrap_or(0));
                let found = tests.run(self.subject, &self.check, survey.seed, budget, &progress)?;
                if self.check.is_cancelled() {
                    return Ok((text + "interrupted\n", 3));
                }
                worst = match (found.failed, found.unknown) {
                    (1.., _) => 1,
                    (0, 1..) if worst == 0 => 3,
                    _ => worst,
                };
                let Record { subject, tests, run, number, passed, failed, unknown, .. } = &found;
                let _ = writeln!(
                    text,
                    "{subject}, {tests}: {run} of {number} tests run: {passed} passed, {failed} \
                     failed, {unknown} unknown"
                );
                record(&survey.record, found)?;
            }
            Ok((text, worst))
        })
    }
}

/// Adds a record to a file, in place of an earlier one of the same tests.
fn record(path: &Path, found: Record) -> Result<(), CommandError> {
    let error = |error| CommandError::Records { path: path.to_owned(), error };
    let mut all =
        if path.exists() { survey::records(&read(path)?).map_err(error)? } else { Vec::new() };
    all.push(found);
    write(path, &survey::lines(&survey::latest(all)))
}

/// Describes the executions of a series, such as `, each with up to 2 preemptions (3,323 executions;
/// none exhaustive)`.
fn extent(series: &Series) -> String {
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
