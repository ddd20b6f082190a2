//! Checks in a process of their own: a crash of the object is an answer.
//!
//! The program starts itself again, as a *worker*, with the same arguments. The worker comes to the
//! same check, executes it and writes its answer to a file, the [`record`]. If it ends without an
//! answer, another worker executes each test that was running alone, and records each step before it
//! is made; a third one executes the schedule found again. So executions are not slower as long as
//! none crashes, and a crash that is reported is replayable.

mod crash;
mod record;
mod supervisor;
mod worker;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use snapshot_core::observation::Observations;

pub use crash::Crash;
pub(crate) use supervisor::interrupt;
use supervisor::{Ended, Outcome};
use worker::{Job, Task, Worker};
pub(crate) use worker::{Recorder, obey, recorder, running, stack};

use crate::check::Check;
use crate::matrix::Test;
use crate::schedule::Schedule;
use crate::subject::AnySubject;
use crate::verdict::{ConcurrentPhase, Report, SerialPhase, Unknown, Verdict};

/// Bytes of stack per thread of a test when a crash is confirmed: as a thread of `std` has.
const STACK: usize = 2 << 20;

/// Factor of the time limit while steps are recorded.
const SLOWER: u32 = 10;

/// Answer of a worker.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Told {
    /// Exit code.
    pub(crate) code: u8,
    pub(crate) text: String,
    executions: u64,
}

impl Told {
    pub(crate) const fn new(code: u8, text: String) -> Self {
        Self { code, text, executions: 0 }
    }
}

/// Arguments with which the program comes to a check.
#[derive(Clone, Debug)]
pub(crate) enum Arguments {
    /// Those that it has.
    Same,
    /// Those of one test of a program of tests.
    Test(String),
}

impl Arguments {
    /// Returns those of the running test: the harness names its thread.
    pub(crate) fn of_test() -> Self {
        match std::thread::current().name() {
            None | Some("main") => Self::Same,
            Some(name) => Self::Test(name.to_owned()),
        }
    }
}

/// A check that is executed in a process of its own.
pub(crate) struct Apart<'c> {
    check: &'c Check,
    subject: AnySubject,
    arguments: Arguments,
    /// Number of checks that this thread came to before.
    place: u64,
    /// The test whose invocations need not be representatives.
    given: Option<Test>,
    /// True if one schedule of the given test is executed.
    replays: bool,
}

impl<'c> Apart<'c> {
    pub(crate) fn new(
        check: &'c Check,
        subject: AnySubject,
        arguments: Arguments,
        given: Option<Test>,
    ) -> Self {
        Self { check, subject, arguments, place: worker::next_place(), given, replays: false }
    }

    /// Records the first execution already.
    pub(crate) fn replaying(self) -> Self {
        Self { replays: true, ..self }
    }

    /// Returns the answer of a worker, which executes `whole`; after a crash the answer of
    /// `crashed`.
    pub(crate) fn answer(
        &self,
        whole: impl FnOnce() -> Told,
        crashed: impl FnOnce(Report) -> Told,
    ) -> Told {
        if let Some(worker) = worker::this() {
            return self.work(worker, whole);
        }
        match self.start(Task::Whole, self.replays) {
            Outcome::Told(told) => told,
            Outcome::Unreached => whole(),
            Outcome::Ended(ended) => crashed(self.crashed(&ended)),
        }
    }

    /// Executes the task of this worker, if it is of this check.
    fn work(&self, worker: &Worker, whole: impl FnOnce() -> Told) -> Told {
        if worker.job.place != self.place {
            // It has passed: else the supervisor would not have come further.
            return Told::default();
        }
        worker.begin();
        let parse = |text: &str| Test::parse_among(self.subject, text, self.given.as_ref());
        let told = match &worker.job.task {
            Task::Whole => whole(),
            Task::Test { test, executions } => parse(test).map_or_else(
                |error| Told::new(2, error.to_string()),
                |test| {
                    let time = self.check.time.map(|time| time.saturating_mul(SLOWER));
                    let check = self.check.clone().executions(*executions).time(time);
                    let report = check.run(&test);
                    let executions = report.serial.executions + report.concurrent.executions;
                    Told { code: report.verdict.exit_code(), text: String::new(), executions }
                },
            ),
            Task::Replay { test, schedule } => match (parse(test), schedule.parse::<Schedule>()) {
                (Ok(test), Ok(schedule)) => {
                    drop(self.check.replay(&test, &schedule));
                    Told::default()
                }
                _ => Told::new(2, format!("{test}, {schedule}")),
            },
        };
        worker.tell(told)
    }

    fn start(&self, task: Task, steps: bool) -> Outcome {
        let confirms = self.replays || matches!(task, Task::Replay { .. });
        let stack = confirms.then_some(STACK);
        supervisor::start(&self.arguments, |record| Job {
            record,
            supervisor: std::process::id(),
            place: self.place,
            task,
            steps,
            stack,
        })
    }

    /// Returns the answer after a worker ended without one.
    fn crashed(&self, ended: &Ended) -> Report {
        if let Some(test) = self.given.as_ref().filter(|_| self.replays && ended.is_crash) {
            return report(test, Verdict::Crash(Box::new(Crash::new(ended))), 0);
        }
        let running = record::running(&ended.notes);
        let parse = |text: &String| Test::parse_among(self.subject, text, self.given.as_ref());
        let tests = running.iter().map(parse);
        let tests: Vec<Test> = tests.filter_map(Result::ok).filter(|_| ended.is_crash).collect();
        let mut again = tests.iter().map(|test| self.examine(test, self.check.executions));
        again.find(|report| report.verdict.fails()).unwrap_or_else(|| {
            let unknown = Unknown::Crash { ended: ended.name.clone(), tests: running };
            let none = || Test::of(self.subject, Vec::new(), Vec::new(), Vec::new()).ok();
            let test = tests.into_iter().next().or_else(none);
            let test = test.expect("the test without operations is possible");
            report(&test, Verdict::Unknown(unknown), 0)
        })
    }

    /// Checks one test in a worker that records its steps; only a crash that is confirmed fails.
    fn examine(&self, test: &Test, executions: Option<u64>) -> Report {
        let text = test.text();
        let passed = Verdict::Pass { complete: false };
        match self.start(Task::Test { test: text.clone(), executions }, true) {
            Outcome::Told(told) => report(test, passed, told.executions),
            Outcome::Ended(ended) if ended.is_crash => {
                let crash = Crash::new(&ended);
                let task = Task::Replay { test: text, schedule: crash.schedule.to_string() };
                let again = match self.start(task, true) {
                    Outcome::Ended(ended) if ended.is_crash => Some(Crash::new(&ended)),
                    _ => None,
                };
                let same = again.filter(|again| again.is_same(&crash));
                let verdict = match same {
                    Some(_) => Verdict::Crash(Box::new(crash)),
                    None => passed,
                };
                report(test, verdict, record::executions(&ended.notes))
            }
            Outcome::Ended(_) | Outcome::Unreached => report(test, passed, 0),
        }
    }

    /// Removes operations, as [`Check::minimise`] does, as long as the test crashes.
    pub(crate) fn minimise(&self, report: Report) -> Report {
        self.check.minimise_by(report, &|check, test| self.examine(test, check.executions))
    }
}

/// Returns the report of a test that was executed in another process.
fn report(test: &Test, verdict: Verdict, executions: u64) -> Report {
    let serial = SerialPhase {
        observations: Observations::new(*test.shape()),
        executions: 0,
        time: Duration::ZERO,
        complete: false,
        spinning: 0,
    };
    let concurrent = ConcurrentPhase { executions, ..ConcurrentPhase::default() };
    Report { test: test.clone(), verdict, serial, concurrent }
}
