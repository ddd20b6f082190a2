//! The check of one test: Line-Up's two phases.
//!
//! Phase 1 executes all serial schedules, without any bound; if it does not finish, the answer is
//! *unknown*. Phase 2 executes concurrent schedules with 0, 1, 2, ... preemptions and looks for
//! serial witnesses. A bound on it only misses failures. So a failure is certain (Theorem 5 of the
//! paper); before it is reported its schedule and phase 1 are executed a second time, with the same
//! histories.

mod concurrent;
mod serial;
mod tally;

use std::fmt::Debug;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use snapshot_core::generic::Specification;
use snapshot_core::observation::{ConcurrentHistory, Event, Judgement, Observations, against};

use crate::control::lock;
use crate::driver::Abandonment;
use crate::execution::{Broken, Watch, explore};
use crate::matrix::{Test, TestError};
use crate::replay::Replay;
use crate::schedule::Schedule;
use crate::spin::{Diverging, Spin};
use crate::subject::{Answer, Subject, Text};
use crate::verdict::{ConcurrentPhase, Report, SerialPhase, Unknown, Verdict};

/// Factor of the patience with which a failure that rests on spinning threads is repeated.
const MORE: u32 = 10;

pub use tally::Tally;

/// Variable in which `cargo lineup` lists the crates under control with a bare `thread_local!`.
const THREAD_LOCALS: &str = "LINEUP_BARE_THREAD_LOCALS";

type History = ConcurrentHistory<Answer>;
type Judge = dyn Fn(&Test, &History) -> Judgement + Send + Sync;

/// Options and state of a check.
#[derive(Clone)]
pub struct Check {
    pub(crate) preemptions: Option<u32>,
    pub(crate) executions: Option<u64>,
    pub(crate) threads: Option<NonZero<usize>>,
    total: bool,
    pub(crate) time: Option<Duration>,
    patience: u32,
    reduction: bool,
    diverging: Diverging,
    unwinding: bool,
    pub(crate) spurious_wakeups: bool,
    silence: Duration,
    cancel: Arc<AtomicBool>,
    specification: Option<Arc<Judge>>,
    tally: Option<Arc<Tally>>,
    /// Locations of thread-locals that all threads of a test share, if the subject has any.
    shared: Option<Arc<str>>,
}

impl Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check")
            .field("preemptions", &self.preemptions)
            .field("executions", &self.executions)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl Default for Check {
    fn default() -> Self {
        Self::new()
    }
}

impl Check {
    /// Makes a check with up to two preemptions, all executions, and no limit of time.
    pub fn new() -> Self {
        Self {
            preemptions: Some(2),
            executions: None,
            threads: None,
            total: false,
            time: None,
            patience: 2_000,
            reduction: true,
            diverging: Diverging::Unknown,
            unwinding: false,
            spurious_wakeups: false,
            silence: Duration::from_secs(5),
            cancel: Arc::default(),
            specification: None,
            tally: None,
            shared: std::env::var(THREAD_LOCALS).ok().map(Into::into),
        }
    }

    /// Limits phase 2 to executions with at most this many preemptions; `None`: all. A preemption is
    /// a switch away from a thread that could continue, inside an operation; between two operations
    /// of a thread a switch is free.
    #[must_use]
    pub const fn preemptions(mut self, preemptions: Option<u32>) -> Self {
        self.preemptions = preemptions;
        self
    }

    /// Limits phase 2 to this many executions.
    #[must_use]
    pub const fn executions(mut self, executions: Option<u64>) -> Self {
        self.executions = executions;
        self
    }

    /// Runs several tests in parallel on this many threads; `None`: the machine's parallelism.
    #[must_use]
    pub const fn threads(mut self, threads: Option<NonZero<usize>>) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether a serial execution that gets stuck is a failure.
    #[must_use]
    pub const fn total(mut self, total: bool) -> Self {
        self.total = total;
        self
    }

    /// Sets the time for one test, after which its answer is *unknown*.
    #[must_use]
    pub const fn time(mut self, time: Option<Duration>) -> Self {
        self.time = time;
        self
    }

    /// Sets the number of steps without call or return after which an execution is abandoned
    /// (2,000).
    #[must_use]
    pub const fn patience(mut self, steps: u32) -> Self {
        self.patience = steps;
        self
    }

    /// Sets whether one execution suffices for all in which the same steps depend on each other in
    /// the same order (`true`), or every order of steps is tried. The answers, and the orders of
    /// returns before calls, are the same, unless the object depends on accesses that the scheduler
    /// does not see: of plain memory beside a lock, or of the counts of an `Arc`.
    #[must_use]
    pub const fn reduction(mut self, reduces: bool) -> Self {
        self.reduction = reduces;
        self
    }

    /// Sets the meaning of an execution in which all threads that can run spin for half of
    /// [`patience`](Self::patience), and nothing changes. With [`Diverging::Stuck`] it counts as
    /// stuck: the caller asserts that spinning operations of the object never give up by
    /// themselves, after a number of rounds or at some time. A failure that rests on it is executed
    /// once more with ten times the patience; an operation that then gives up makes the answer
    /// *unknown*.
    ///
    /// Changes are visible for the atomics of `lineup_std`, the stand-in for `std`; every other
    /// step counts as a change.
    #[must_use]
    pub const fn diverging(mut self, diverging: Diverging) -> Self {
        self.diverging = diverging;
        self
    }

    /// Unwinds the threads of executions that get stuck, as if the call in which each of them waits
    /// panicked. This frees their memory; otherwise it is leaked, some KB per execution.
    ///
    /// Off by default, because it executes destructors of the object that would not run otherwise:
    /// a destructor that panics or waits (a lock is poisoned, say) aborts the program.
    #[must_use]
    pub const fn unwinding(mut self, unwind: bool) -> Self {
        self.unwinding = unwind;
        self
    }

    /// Has the first wait at a condition variable of each operation wake up spuriously, in concurrent
    /// executions: at any time, also before it is notified. In [`block_on`](crate::block_on) this is
    /// a spurious poll. Executions in which a first wait is notified are those of a check without
    /// this option (the default).
    #[must_use]
    pub const fn spurious_wakeups(mut self, spurious: bool) -> Self {
        self.spurious_wakeups = spurious;
        self
    }

    /// Sets the time without a step after which a call counts as blocked outside control (5 s).
    #[must_use]
    pub const fn silence(mut self, time: Duration) -> Self {
        self.silence = time;
        self
    }

    /// Ends the check, with the answer *unknown*, soon after it becomes `true`.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Counts executions in a tally that another thread can read.
    #[must_use]
    pub fn tallied(mut self, tally: Option<Arc<Tally>>) -> Self {
        self.tally = tally;
        self
    }

    /// Declares that the subject uses thread-locals, at these locations, that the scheduler does
    /// not know and all threads of a test share: the answer is then *unknown*. `cargo lineup` sets
    /// it by a variable of the environment.
    #[must_use]
    pub fn shared_thread_locals(mut self, places: Option<&str>) -> Self {
        self.shared = places.map(Into::into);
        self
    }

    /// Judges by a sequential specification instead of serial executions, and omits phase 1.
    /// `input` and `output` translate invocations and responses of a subject, that of the tests;
    /// `output` returns `None` for a response that the specification cannot give. A panic is such a
    /// response.
    ///
    /// # Panics
    /// When a test of another subject is checked.
    #[must_use]
    pub fn against<S, T>(
        mut self,
        specification: T,
        input: impl Fn(&S::Invocation) -> T::Input + Send + Sync + 'static,
        output: impl Fn(&S::Invocation, &Text) -> Option<T::Output> + Send + Sync + 'static,
    ) -> Self
    where
        S: Subject,
        T: Specification + Send + Sync + 'static,
    {
        self.specification = Some(Arc::new(move |test: &Test, history: &History| {
            let inputs: Vec<T::Input> = test.invocations().map(|i| input(i.typed())).collect();
            let mut called = vec![0; test.shape().threads().len()];
            let events = history.events().iter().map(|event| match event {
                Event::Call(thread) => {
                    called[thread.index()] += 1;
                    Some(Event::Call(*thread))
                }
                Event::Return(thread, Answer::Returned(response)) => {
                    let invocation = &test.sequence(*thread)[called[thread.index()] - 1];
                    Some(Event::Return(*thread, output(invocation.typed(), response)?))
                }
                Event::Return(_, Answer::Panicked(_)) => None,
            });
            let Some(events) = events.collect::<Option<Vec<_>>>() else {
                return Judgement::NoWitness;
            };
            match ConcurrentHistory::new(test.shape(), events, history.is_stuck()) {
                Ok(history) => against(&specification, test.shape(), &inputs, &history),
                Err(_) => Judgement::NoWitness,
            }
        }));
        self
    }

    fn watch(&self, deadline: Option<Instant>) -> Watch {
        let cancel = Arc::clone(&self.cancel);
        Watch {
            patience: self.patience,
            unwind: self.unwinding,
            is_spurious: self.spurious_wakeups,
            silence: self.silence,
            cancel,
            deadline,
        }
    }

    /// Returns the rule by which spinning threads are stuck.
    fn spin(&self) -> Spin {
        Spin::new(self.diverging, self.patience)
    }

    /// Returns the check that confirms a failure: with more patience, if patience matters.
    fn confirming(&self) -> Self {
        match self.diverging {
            Diverging::Unknown => self.clone(),
            Diverging::Stuck => self.clone().patience(self.patience.saturating_mul(MORE)),
        }
    }

    /// Returns true if the check is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| Instant::now() + time)
    }

    /// Checks a test.
    pub fn run(&self, test: &Test) -> Report {
        self.run_until(test, None)
    }

    /// Checks a test; at `end` at the latest the answer is *unknown*.
    pub(crate) fn run_until(&self, test: &Test, end: Option<Instant>) -> Report {
        let deadline = [self.deadline(), end].into_iter().flatten().min();
        let mut report = self.examine(test, deadline);
        if let Some(places) = &self.shared
            && !matches!(report.verdict, Verdict::Unknown(_))
        {
            let places = places.to_string();
            report.verdict = Verdict::Unknown(Unknown::ThreadLocals { places });
        }
        report
    }

    fn examine(&self, test: &Test, deadline: Option<Instant>) -> Report {
        let empty = SerialPhase {
            observations: Observations::new(*test.shape()),
            executions: 0,
            time: Duration::ZERO,
            complete: false,
            spinning: 0,
        };
        let mut report = Report {
            test: test.clone(),
            verdict: Verdict::Pass { complete: false },
            serial: empty,
            concurrent: ConcurrentPhase::default(),
        };
        if self.specification.is_none() {
            let (serial, verdict) = self.serial_phase(test, deadline);
            report.serial = serial;
            if let Some(verdict) = verdict {
                report.verdict = self.confirm_serially(test, &report.serial, verdict);
                return report;
            }
        }
        report.verdict =
            self.concurrent_phase(test, deadline, &report.serial, &mut report.concurrent);
        report
    }

    /// Confirms an answer of phase 1. An operation that counts as stuck because it spins must spin
    /// with more patience, too.
    fn confirm_serially(&self, test: &Test, serial: &SerialPhase, verdict: Verdict) -> Verdict {
        if serial.spinning == 0 || !verdict.fails() {
            return verdict;
        }
        let check = self.confirming();
        match check.serial_phase(test, None) {
            (_, Some(Verdict::Unknown(unknown))) => Verdict::Unknown(unknown),
            (again, _) if again.observations.histories().eq(serial.observations.histories()) => {
                verdict
            }
            _ => Verdict::Unknown(Unknown::Spinning { steps: check.patience }),
        }
    }

    /// Returns the distinct histories of the concurrent executions, without judgement, in the order
    /// of their discovery.
    ///
    /// # Errors
    /// If not all executions can be tried, within the bounds.
    pub fn histories(&self, test: &Test) -> Result<Vec<History>, Unknown> {
        let found = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&found);
        let mut check = self.clone();
        check.specification = Some(Arc::new(move |_: &Test, history: &History| {
            lock(&notes).push(history.clone());
            Judgement::Linearizable
        }));
        match check.run(test).verdict {
            Verdict::Unknown(unknown) => Err(unknown),
            _ => Ok(std::mem::take(&mut lock(&found))),
        }
    }

    /// Returns the serial executions of a test.
    ///
    /// # Errors
    /// If not all of them can be tried.
    pub fn observations(&self, test: &Test) -> Result<Observations<Answer>, Verdict> {
        match self.serial_phase(test, self.deadline()) {
            (serial, None | Some(Verdict::NotTotal(_))) => Ok(serial.observations),
            (_, Some(verdict)) => Err(verdict),
        }
    }

    /// Returns the test with the longest prefix of its initial sequence that does not get stuck or
    /// spin: a random sequence may, and then no test takes place.
    ///
    /// # Errors
    /// Only those of [`Test::with`].
    pub fn with_possible_start(&self, test: Test) -> Result<Test, TestError> {
        if test.initial().is_empty() || self.is_cancelled() {
            return Ok(test);
        }
        let mut initial = test.initial().to_vec();
        let alone = Test::of(test.subject(), Vec::new(), initial.clone(), Vec::new())?;
        let (serial, _) = self.serial_phase(&alone, self.deadline());
        let lengths = serial.observations.histories().map(|history| history.operations.len());
        initial.truncate(lengths.min().unwrap_or(0));
        Test::of(test.subject(), test.columns().to_vec(), initial, test.finally().to_vec())
    }

    /// Executes one schedule.
    ///
    /// # Errors
    /// If the execution cannot be finished.
    pub fn replay(
        &self,
        test: &Test,
        schedule: &Schedule,
    ) -> Result<crate::replay::Replayed, Unknown> {
        self.execute(test, schedule).map(Replay::finish_with_places)
    }

    /// Executes one schedule, without the locations of its switches.
    fn execute(&self, test: &Test, schedule: &Schedule) -> Result<Replay, Unknown> {
        let driver = Replay::new(*test.shape(), schedule.clone(), self.diverging, self.spin());
        explore(&Arc::new(test.clone()), driver, &self.watch(self.deadline())).map_err(unknown)
    }
}

pub(crate) fn unknown(broken: Broken) -> Unknown {
    match broken {
        Broken::Silent(operation) => Unknown::Silent { operation },
        Broken::Panicked(message) => Unknown::Panicked { message },
        Broken::Interrupted => Unknown::Interrupted,
        Broken::Late => Unknown::Time,
    }
}

fn given_up(reason: Abandonment, patience: u32, serial: bool) -> Unknown {
    match reason {
        Abandonment::Diverging => Unknown::Diverging { steps: patience, serial },
        Abandonment::Foreign => Unknown::Threads,
        Abandonment::Unwinding => Unknown::Unwinding,
        Abandonment::Timed => Unknown::TimedWait,
        Abandonment::Nondeterministic => Unknown::Uncontrolled { executions: Vec::new() },
        Abandonment::Cancelled => Unknown::Interrupted,
    }
}
