//! The check of one test: Line-Up's two phases.
//!
//! Phase 1 executes all serial schedules, without any bound; if it does not get to its end,
//! the answer is *unknown*. Phase 2 executes concurrent schedules with 0, 1, 2, ...
//! preemptions and looks for serial witnesses. It may be bounded: it then only misses
//! failures. So a failure is one for certain (Theorem 5 of the paper), and its schedule was
//! executed a second time, with the same history, before it is told.

use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::generic::Specification;
use snapshot_core::observation::{
    ConcurrentHistory, Event, Judgement, ObservationError, Observations, SerialHistory, Shape,
    against, explain,
};

use crate::control::{Abandonment, Choice, Driver, End, Execution, Situation, lock};
use crate::execution::{Broken, Watch, explore};
use crate::matrix::{Role, Test};
use crate::replay::Replay;
use crate::schedule::Schedule;
use crate::search::{Kind, Search};
use crate::subject::{Answer, Subject};
use crate::verdict::{ConcurrentPhase, Report, SerialPhase, Unknown, Verdict, Violation};

/// Seeds of random numbers tried in phase 1, if the subject draws any.
const SEEDS: u64 = 4;
/// Executions that are given up before phase 2 is.
const GIVEN_UP: u64 = 50;
/// Histories that are remembered, so as to be judged once.
const REMEMBERED: usize = 2_000_000;
/// Executions that leave their stacks behind, a few hundred bytes each at least.
const LEFT_BEHIND: u64 = 1_000_000;

type History<S> = ConcurrentHistory<Answer<<S as Subject>::Response>>;
type Judge<S> = dyn Fn(&Test<S>, &History<S>) -> Judgement + Send + Sync;

/// How a test is checked.
pub struct Check<S: Subject> {
    pub(crate) preemptions: Option<u32>,
    pub(crate) executions: Option<u64>,
    free_boundaries: bool,
    total: bool,
    time: Option<Duration>,
    patience: u32,
    silence: Duration,
    cancel: Arc<AtomicBool>,
    specification: Option<Arc<Judge<S>>>,
    subject: PhantomData<fn() -> S>,
}

impl<S: Subject> Clone for Check<S> {
    fn clone(&self) -> Self {
        Self {
            cancel: Arc::clone(&self.cancel),
            specification: self.specification.clone(),
            ..*self
        }
    }
}

impl<S: Subject> Debug for Check<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check")
            .field("preemptions", &self.preemptions)
            .field("executions", &self.executions)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl<S: Subject> Default for Check<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Subject> Check<S> {
    /// Up to two preemptions, all executions, no limit of time.
    pub fn new() -> Self {
        Self {
            preemptions: Some(2),
            executions: None,
            free_boundaries: false,
            total: false,
            time: None,
            patience: 2_000,
            silence: Duration::from_secs(5),
            cancel: Arc::default(),
            specification: None,
            subject: PhantomData,
        }
    }

    /// Phase 2 tries executions with at most this many preemptions; `None`: all.
    #[must_use]
    pub const fn preemptions(mut self, preemptions: Option<u32>) -> Self {
        self.preemptions = preemptions;
        self
    }

    /// Phase 2 tries at most this many executions: a bound as that on preemptions.
    #[must_use]
    pub const fn executions(mut self, executions: Option<u64>) -> Self {
        self.executions = executions;
        self
    }

    /// To switch between two operations of a thread is no preemption.
    #[must_use]
    pub const fn free_boundaries(mut self, free: bool) -> Self {
        self.free_boundaries = free;
        self
    }

    /// A serial execution that gets stuck is a failure.
    #[must_use]
    pub const fn total(mut self, total: bool) -> Self {
        self.total = total;
        self
    }

    /// The time for one test, after which its answer is *unknown*.
    #[must_use]
    pub const fn time(mut self, time: Option<Duration>) -> Self {
        self.time = time;
        self
    }

    /// Steps without call or return after which an execution is given up (2,000).
    #[must_use]
    pub const fn patience(mut self, steps: u32) -> Self {
        self.patience = steps;
        self
    }

    /// Time without a step after which a call counts as blocked outside control (5 s).
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

    /// Judges by a sequential specification instead of serial executions; phase 1 is left
    /// out. `output` is `None` for a response that the specification cannot give. A panic is
    /// one.
    #[must_use]
    pub fn against<T>(
        mut self,
        specification: T,
        input: impl Fn(&S::Invocation) -> T::Input + Send + Sync + 'static,
        output: impl Fn(&S::Invocation, &S::Response) -> Option<T::Output> + Send + Sync + 'static,
    ) -> Self
    where
        T: Specification + Send + Sync + 'static,
    {
        self.specification = Some(Arc::new(move |test: &Test<S>, history: &History<S>| {
            let inputs: Vec<T::Input> = test.invocations().map(&input).collect();
            let mut called = vec![0; test.shape().threads().len()];
            let events = history.events().iter().map(|event| match event {
                Event::Call(thread) => {
                    called[thread.index()] += 1;
                    Some(Event::Call(*thread))
                }
                Event::Return(thread, Answer::Returned(response)) => {
                    let invocation = &test.sequence(*thread)[called[thread.index()] - 1];
                    Some(Event::Return(*thread, output(invocation, response)?))
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

    fn watch(&self) -> Watch {
        Watch { patience: self.patience, silence: self.silence, cancel: self.cancel.clone() }
    }

    fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| Instant::now() + time)
    }

    /// Checks a test.
    pub fn run(&self, test: &Test<S>) -> Report<S> {
        let deadline = self.deadline();
        let empty = SerialPhase {
            observations: Observations::new(*test.shape()),
            executions: 0,
            time: Duration::ZERO,
            complete: false,
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
                report.verdict = verdict;
                return report;
            }
        }
        report.verdict =
            self.concurrent_phase(test, deadline, &report.serial, &mut report.concurrent);
        report
    }

    /// The different histories of the concurrent executions, without judgement, in the order
    /// in which they came.
    ///
    /// # Errors
    /// If the executions cannot all be tried, within the bounds.
    pub fn histories(&self, test: &Test<S>) -> Result<Vec<History<S>>, Unknown> {
        let found = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&found);
        let mut check = self.clone();
        check.specification = Some(Arc::new(move |_: &Test<S>, history: &History<S>| {
            lock(&notes).push(history.clone());
            Judgement::Linearizable
        }));
        match check.run(test).verdict {
            Verdict::Unknown(unknown) => Err(unknown),
            _ => Ok(std::mem::take(&mut lock(&found))),
        }
    }

    /// The serial executions of a test.
    ///
    /// # Errors
    /// If they cannot all be tried.
    pub fn observations(
        &self,
        test: &Test<S>,
    ) -> Result<Observations<Answer<S::Response>>, Verdict<S::Response>> {
        match self.serial_phase(test, self.deadline()) {
            (serial, None | Some(Verdict::NotTotal(_))) => Ok(serial.observations),
            (_, Some(verdict)) => Err(verdict),
        }
    }

    /// All serial executions; and the answer, if it is known after them.
    pub(crate) fn serial_phase(
        &self,
        test: &Test<S>,
        deadline: Option<Instant>,
    ) -> (SerialPhase<S::Response>, Option<Verdict<S::Response>>) {
        let start = Instant::now();
        let driver = Serial::new(*test.shape(), deadline, self);
        let (driver, mut verdict) = match explore(test, driver, &self.watch()) {
            Ok(mut driver) => {
                let verdict = driver.verdict.take();
                (driver, verdict)
            }
            Err(broken) => (
                Serial::new(*test.shape(), deadline, self),
                Some(Verdict::Unknown(unknown(broken))),
            ),
        };
        if verdict.is_none() && self.cancel.load(Ordering::Relaxed) {
            verdict = Some(Verdict::Unknown(Unknown::Interrupted));
        }
        let complete = verdict.is_none();
        if verdict.is_none() {
            let stuck: Vec<SerialHistory<Answer<S::Response>>> =
                driver.observations.histories().filter(|h| h.stuck.is_some()).collect();
            let initial =
                |h: &&SerialHistory<_>| h.stuck.is_some_and(|t| test.role(t) == Role::Initial);
            if let Some(history) = stuck.iter().find(initial) {
                let history = history.letters();
                verdict = Some(Verdict::Unknown(Unknown::Initial { history }));
            } else if self.total
                && let Some(history) = stuck.into_iter().next()
            {
                verdict = Some(Verdict::NotTotal(history));
            }
        }
        let serial = SerialPhase {
            observations: driver.observations,
            executions: driver.executions,
            time: start.elapsed(),
            complete,
        };
        (serial, verdict)
    }

    fn concurrent_phase(
        &self,
        test: &Test<S>,
        deadline: Option<Instant>,
        serial: &SerialPhase<S::Response>,
        phase: &mut ConcurrentPhase,
    ) -> Verdict<S::Response> {
        let start = Instant::now();
        let judge: Arc<Judge<S>> = match &self.specification {
            Some(judge) => Arc::clone(judge),
            None => {
                let observations = serial.observations.clone();
                Arc::new(move |_, history| observations.judge(history))
            }
        };
        let mut driver = Concurrent {
            test: test.clone(),
            judge,
            search: Search::new(Kind::Serial),
            repeat: None,
            fresh: true,
            seen: FxHashSet::default(),
            deferred: Vec::new(),
            found: None,
            unknown: None,
            given_up: 0,
            left_behind: 0,
            patience: self.patience,
            limit: self.executions,
            deadline,
            phase: std::mem::take(phase),
        };
        let mut smaller = FxHashMap::default();
        let mut bound = 0;
        let verdict = loop {
            driver.search = Search::new(Kind::Concurrent {
                preemptions: bound,
                free_boundaries: self.free_boundaries,
            });
            driver.fresh = true;
            driver = match explore(test, driver, &self.watch()) {
                Ok(driver) => driver,
                Err(broken) => return Verdict::Unknown(unknown(broken)),
            };
            if driver.unknown.is_none() && self.cancel.load(Ordering::Relaxed) {
                driver.unknown = Some(Unknown::Interrupted);
            }
            if let Some(unknown) = self.judge_deferred(&mut driver, deadline, &mut smaller) {
                driver.unknown.get_or_insert(unknown);
            }
            if let Some(found) = driver.found.take() {
                break self.confirm(test, serial, found);
            }
            if let Some(unknown) = driver.unknown.take() {
                break Verdict::Unknown(unknown);
            }
            if driver.phase.limited {
                break Verdict::Pass { complete: false };
            }
            driver.phase.bound = Some(bound);
            if !driver.search.cut {
                driver.phase.complete = true;
                break Verdict::Pass { complete: true };
            }
            if self.preemptions.is_some_and(|most| bound >= most) {
                break Verdict::Pass { complete: false };
            }
            bound += 1;
        };
        *phase = driver.phase;
        phase.time = start.elapsed();
        verdict
    }

    /// Histories with answers that are always allowed: these are struck, and the rest is
    /// looked up among the serial executions of the smaller test.
    fn judge_deferred(
        &self,
        driver: &mut Concurrent<S>,
        deadline: Option<Instant>,
        smaller: &mut FxHashMap<u64, Observations<Answer<S::Response>>>,
    ) -> Option<Unknown> {
        let test = driver.test.clone();
        for (history, struck, schedule, preemptions) in std::mem::take(&mut driver.deferred) {
            let Some(rest) = history.without(test.shape(), struck) else { continue };
            let rest_of_test = test.struck(struck);
            let judgement = if self.specification.is_some() {
                (driver.judge)(&rest_of_test, &rest)
            } else {
                let observations = match smaller.entry(struck) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let (serial, verdict) = self.serial_phase(&rest_of_test, deadline);
                        if let Some(Verdict::Unknown(unknown)) = verdict {
                            return Some(unknown);
                        }
                        place.insert(serial.observations)
                    }
                };
                observations.judge(&rest)
            };
            if judgement != Judgement::Linearizable {
                driver.found.get_or_insert(Found { history, judgement, schedule, preemptions });
            }
        }
        None
    }

    /// Executes the schedule of a failure again, and tells the failure if it is the same.
    fn confirm(
        &self,
        test: &Test<S>,
        serial: &SerialPhase<S::Response>,
        found: Found<S>,
    ) -> Verdict<S::Response> {
        match self.replay(test, &found.schedule) {
            Ok(replayed) if replayed.history.as_ref() == Some(&found.history) => {}
            Ok(replayed) => {
                let executions = [Some(&found.history), replayed.history.as_ref()];
                let text = |history: &History<S>| format!("{:?}", history.events());
                let executions = executions.into_iter().flatten().map(text).collect();
                return Verdict::Unknown(Unknown::Uncontrolled { executions });
            }
            Err(unknown) => return Verdict::Unknown(unknown),
        }
        let explanation = match self.specification {
            Some(_) => None,
            None => explain(&serial.observations, &found.history),
        };
        Verdict::Violation(Box::new(Violation {
            explanation,
            history: found.history,
            judgement: found.judgement,
            schedule: found.schedule,
            preemptions: found.preemptions,
        }))
    }

    /// Executes one schedule.
    ///
    /// # Errors
    /// If the execution cannot be brought to its end.
    pub fn replay(
        &self,
        test: &Test<S>,
        schedule: &Schedule,
    ) -> Result<crate::replay::Replayed<S::Response>, Unknown> {
        let driver = Replay::new(*test.shape(), schedule.clone());
        explore(test, driver, &self.watch()).map(Replay::finish).map_err(unknown)
    }
}

pub(crate) fn unknown(broken: Broken) -> Unknown {
    match broken {
        Broken::Silent(operation) => Unknown::Silent { operation },
        Broken::Panicked(message) => Unknown::Panicked { message },
    }
}

fn given_up(reason: Abandonment, patience: u32, serial: bool) -> Unknown {
    match reason {
        Abandonment::Diverging => Unknown::Diverging { steps: patience, serial },
        Abandonment::Foreign => Unknown::Threads,
        Abandonment::Unwinding => Unknown::Unwinding,
        Abandonment::Nondeterministic => Unknown::Uncontrolled { executions: Vec::new() },
        Abandonment::Cancelled => Unknown::Interrupted,
    }
}

/// The driver of phase 1.
struct Serial<R> {
    search: Search,
    observations: Observations<Answer<R>>,
    executions: u64,
    /// The first execution, which is done twice.
    first: Option<Vec<Event<Answer<R>>>>,
    seed: u64,
    random: bool,
    deadline: Option<Instant>,
    patience: u32,
    cancel: Arc<AtomicBool>,
    verdict: Option<Verdict<R>>,
}

impl<R: Clone + Debug + Eq + std::hash::Hash> Serial<R> {
    fn new<S: Subject>(shape: Shape, deadline: Option<Instant>, check: &Check<S>) -> Self {
        Self {
            search: Search::new(Kind::Serial),
            observations: Observations::new(shape),
            executions: 0,
            first: None,
            seed: 0,
            random: false,
            deadline,
            patience: check.patience,
            cancel: Arc::clone(&check.cancel),
            verdict: None,
        }
    }
}

impl<R: Clone + Debug + Eq + std::hash::Hash> Driver<R> for Serial<R> {
    fn begin(&mut self) -> Option<u64> {
        if self.verdict.is_some() {
            return None;
        }
        if self.cancel.load(Ordering::Relaxed) {
            self.verdict = Some(Verdict::Unknown(Unknown::Interrupted));
            return None;
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            self.verdict = Some(Verdict::Unknown(Unknown::Time));
            return None;
        }
        if self.executions == 1 && self.first.is_some() {
            self.search.again();
            return Some(self.seed);
        }
        if !self.search.next() {
            if !self.random || self.seed + 1 == SEEDS {
                return None;
            }
            self.seed += 1;
            self.search = Search::new(Kind::Serial);
            self.search.next();
        }
        Some(self.seed)
    }

    fn choose(&mut self, situation: &Situation) -> Choice {
        self.search.choose(situation)
    }

    fn end(&mut self, execution: Execution<R>) {
        self.random |= execution.random;
        if let End::Abandoned(reason) = execution.end {
            self.verdict = Some(Verdict::Unknown(given_up(reason, self.patience, true)));
            return;
        }
        if self.executions == 0 {
            self.first = Some(execution.events.clone());
        } else if let Some(first) = self.first.take()
            && first != execution.events
        {
            let executions = vec![format!("{first:?}"), format!("{:?}", execution.events)];
            self.verdict = Some(Verdict::Unknown(Unknown::Uncontrolled { executions }));
            return;
        } else if self.executions == 1 {
            // The repetition is no execution of its own.
            self.executions += 1;
            return;
        }
        self.executions += 1;
        let mut operations = Vec::with_capacity(execution.events.len() / 2);
        let mut open = None;
        for event in execution.events {
            match event {
                Event::Call(thread) => open = Some(thread),
                Event::Return(thread, answer) => {
                    operations.push((thread, answer));
                    open = None;
                }
            }
        }
        match self.observations.insert(SerialHistory { operations, stuck: open }) {
            Ok(_) => {}
            Err(ObservationError::Nondeterministic(pair)) if self.random => {
                self.verdict = Some(Verdict::Nondeterministic(pair));
            }
            Err(error) => {
                let executions = match error {
                    ObservationError::Nondeterministic(pair) => {
                        vec![format!("{:?}", pair.first), format!("{:?}", pair.second)]
                    }
                    _ => Vec::new(),
                };
                self.verdict = Some(Verdict::Unknown(Unknown::Uncontrolled { executions }));
            }
        }
    }
}

/// A failure that is not confirmed yet.
struct Found<S: Subject> {
    history: History<S>,
    judgement: Judgement,
    schedule: Schedule,
    preemptions: u32,
}

/// The driver of phase 2, for one bound.
struct Concurrent<S: Subject> {
    test: Test<S>,
    judge: Arc<Judge<S>>,
    search: Search,
    /// The first execution, if it is now done again.
    repeat: Option<Vec<Event<Answer<S::Response>>>>,
    fresh: bool,
    seen: FxHashSet<History<S>>,
    /// Histories with struck operations, to be judged later.
    deferred: Vec<(History<S>, u64, Schedule, u32)>,
    found: Option<Found<S>>,
    unknown: Option<Unknown>,
    given_up: u64,
    left_behind: u64,
    patience: u32,
    limit: Option<u64>,
    deadline: Option<Instant>,
    phase: ConcurrentPhase,
}

impl<S: Subject> Concurrent<S> {
    /// The operations that answered what is always allowed.
    fn spurious(&self, events: &[Event<Answer<S::Response>>]) -> u64 {
        let mut called = [0; 16];
        let mut struck = 0;
        for event in events {
            match event {
                Event::Call(thread) => called[thread.index()] += 1,
                Event::Return(thread, Answer::Returned(response)) => {
                    let index = called[thread.index()] - 1;
                    if S::is_spurious(&self.test.sequence(*thread)[index], response) {
                        struck |= 1 << self.test.shape().operation(*thread, index).index();
                    }
                }
                Event::Return(_, Answer::Panicked(_)) => {}
            }
        }
        struck
    }
}

impl<S: Subject> Driver<S::Response> for Concurrent<S> {
    fn begin(&mut self) -> Option<u64> {
        if self.found.is_some() || self.given_up >= GIVEN_UP || self.phase.limited {
            return None;
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            self.unknown.get_or_insert(Unknown::Time);
            return None;
        }
        if self.left_behind > LEFT_BEHIND {
            self.unknown.get_or_insert(Unknown::Memory);
            return None;
        }
        if self.unknown.as_ref().is_some_and(|u| !matches!(u, Unknown::Diverging { .. })) {
            return None;
        }
        if self.repeat.is_some() {
            self.search.again();
            return Some(0);
        }
        if !self.search.next() {
            return None;
        }
        if self.limit.is_some_and(|limit| self.phase.executions >= limit) {
            self.phase.limited = true;
            return None;
        }
        Some(0)
    }

    fn choose(&mut self, situation: &Situation) -> Choice {
        self.search.choose(situation)
    }

    fn end(&mut self, execution: Execution<S::Response>) {
        self.phase.executions += 1;
        self.phase.steps += execution.steps;
        self.left_behind += u64::from(execution.end != End::Full);
        if let End::Abandoned(reason) = execution.end {
            self.given_up += 1;
            let reason = given_up(reason, self.patience, false);
            self.unknown.get_or_insert(reason);
            self.repeat = None;
            return;
        }
        if let Some(first) = self.repeat.take() {
            if first != execution.events {
                let executions = vec![format!("{first:?}"), format!("{:?}", execution.events)];
                self.unknown = Some(Unknown::Uncontrolled { executions });
            }
            return;
        }
        if std::mem::take(&mut self.fresh) && self.phase.executions == 1 {
            self.repeat = Some(execution.events.clone());
        }
        let struck = self.spurious(&execution.events);
        let stuck = execution.end == End::Stuck;
        let history = match ConcurrentHistory::new(self.test.shape(), execution.events, stuck) {
            Ok(history) => history,
            Err(error) => {
                let message = format!("the record of an execution is no history: {error}");
                self.unknown = Some(Unknown::Panicked { message });
                return;
            }
        };
        if self.seen.contains(&history) {
            return;
        }
        self.phase.histories += 1;
        self.phase.stuck += u64::from(stuck);
        if struck != 0 {
            let preemptions = self.search.preemptions();
            self.deferred.push((history.clone(), struck, execution.schedule, preemptions));
        } else {
            let judgement = (self.judge)(&self.test, &history);
            if judgement != Judgement::Linearizable {
                self.found = Some(Found {
                    history: history.clone(),
                    judgement,
                    schedule: execution.schedule,
                    preemptions: self.search.preemptions(),
                });
            }
        }
        if self.seen.len() < REMEMBERED {
            self.seen.insert(history);
        }
    }
}
