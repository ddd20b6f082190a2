//! Phase 2: concurrent executions with 0, 1, 2, ... preemptions, and their witnesses.

use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::observation::{ConcurrentHistory, Event, Judgement, Observations, explain};

use super::{Check, History, Tally, given_up, unknown};
use crate::driver::{Abandonment, Choice, Driver, End, Execution, Situation};
use crate::execution::explore;
use crate::matrix::Test;
use crate::replay::Replay;
use crate::schedule::Schedule;
use crate::search::{Kind, Search};
use crate::subject::Answer;
use crate::verdict::{ConcurrentPhase, SerialPhase, Unknown, Verdict, Violation};

/// Abandoned executions after which phase 2 is abandoned.
const GIVEN_UP: u64 = 50;
/// Maximum number of remembered histories; each of these is judged once.
const REMEMBERED: usize = 2_000_000;
/// Maximum number of executions whose stacks are leaked, a few hundred bytes each at least.
const LEFT_BEHIND: u64 = 1_000_000;

/// Judges a history of one test.
type JudgeOfTest = dyn Fn(&History) -> Judgement + Send + Sync;

impl Check {
    pub(super) fn concurrent_phase(
        &self,
        test: &Test,
        deadline: Option<Instant>,
        serial: &SerialPhase,
        phase: &mut ConcurrentPhase,
    ) -> Verdict {
        let start = Instant::now();
        let test = Arc::new(test.clone());
        let mut driver = self.driver(&test, deadline, serial, std::mem::take(phase));
        let mut smaller = FxHashMap::default();
        let mut bound = 0;
        let verdict = loop {
            driver.bound = bound;
            driver.fresh = true;
            driver = match explore(&test, driver, &self.watch(deadline)) {
                Ok(driver) => driver,
                Err(broken) => return Verdict::Unknown(unknown(broken)),
            };
            if driver.unknown.is_none() && self.is_cancelled() {
                driver.unknown = Some(Unknown::Interrupted);
            }
            if let Some(unknown) = self.judge_deferred(&test, &mut driver, deadline, &mut smaller) {
                driver.unknown.get_or_insert(unknown);
            }
            if let Some(found) = driver.found.take() {
                break self.confirm(&test, serial, found);
            }
            if let Some(unknown) = driver.unknown.take() {
                break Verdict::Unknown(unknown);
            }
            if std::mem::take(&mut driver.begins_again) && !driver.phase.limited {
                driver.search = driver.search.afresh();
                driver.phase.bound = None;
                bound = 0;
                continue;
            }
            driver.phase.limited |= driver.search.full;
            if driver.phase.limited {
                break Verdict::Pass { complete: false };
            }
            driver.phase.bound = Some(bound);
            if !driver.search.raise() {
                driver.phase.complete = !driver.search.cut;
                break Verdict::Pass { complete: driver.phase.complete };
            }
            bound += 1;
        };
        *phase = driver.phase;
        phase.time = start.elapsed();
        verdict
    }

    /// Creates the driver of the executions of a test, before the first.
    fn driver(
        &self,
        test: &Arc<Test>,
        deadline: Option<Instant>,
        serial: &SerialPhase,
        phase: ConcurrentPhase,
    ) -> Concurrent {
        let judge: Box<JudgeOfTest> = match &self.specification {
            Some(judge) => {
                let (judge, test) = (Arc::clone(judge), Arc::clone(test));
                Box::new(move |history| judge(&test, history))
            }
            None => {
                let observations = serial.observations.clone();
                Box::new(move |history| observations.judge(history))
            }
        };
        let kind = Kind::Concurrent { most: self.preemptions, reduces: self.reduction };
        Concurrent {
            test: Arc::clone(test),
            judge,
            search: Search::new(kind, self.spin()),
            repeat: None,
            begins_again: false,
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
            tally: self.tally.clone(),
            bound: 0,
            phase,
        }
    }

    /// Judges histories with answers that are always allowed: these operations are struck, and the
    /// rest is compared with the serial executions of the smaller test.
    fn judge_deferred(
        &self,
        test: &Test,
        driver: &mut Concurrent,
        deadline: Option<Instant>,
        smaller: &mut FxHashMap<u64, Observations<Answer>>,
    ) -> Option<Unknown> {
        for (struck, found) in std::mem::take(&mut driver.deferred) {
            let Some(rest) = found.history.without(test.shape(), struck) else { continue };
            let rest_of_test = test.struck(struck);
            let judgement = if let Some(judge) = &self.specification {
                judge(&rest_of_test, &rest)
            } else {
                let observations = match smaller.entry(struck) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let (serial, verdict) =
                            self.confirming().serial_phase(&rest_of_test, deadline);
                        if let Some(Verdict::Unknown(unknown)) = verdict {
                            return Some(unknown);
                        }
                        place.insert(serial.observations)
                    }
                };
                observations.judge(&rest)
            };
            if judgement != Judgement::Linearizable {
                driver.found.get_or_insert(Found { judgement, ..found });
            }
        }
        None
    }

    /// Executes the schedule of a failure again, and all serial executions: the failure counts if
    /// both give the same results as before. With a static that changes the object's behaviour
    /// once, the phases contradict each other, while every repetition of the failure agrees.
    fn confirm(&self, test: &Test, serial: &SerialPhase, found: Found) -> Verdict {
        let spins = found.spins || serial.spinning > 0;
        let check = self.confirming();
        let gave_up = Verdict::Unknown(Unknown::Spinning { steps: check.patience });
        match check.execute(test, &found.schedule).map(Replay::finish) {
            Ok(replayed) if replayed.history.as_ref() == Some(&found.history) => {}
            Ok(replayed) if found.spins && replayed.history.is_some() => return gave_up,
            Ok(_) if found.spins => {
                return Verdict::Unknown(given_up(Abandonment::Diverging, check.patience, false));
            }
            Ok(replayed) => {
                let again = replayed.history.as_ref().map_or(&[][..], History::events);
                return Verdict::Unknown(Unknown::differing(found.history.events(), again));
            }
            Err(unknown) => return Verdict::Unknown(unknown),
        }
        if self.specification.is_none() {
            let (again, verdict) = check.serial_phase(test, None);
            if let Some(Verdict::Unknown(unknown)) = verdict {
                return Verdict::Unknown(unknown);
            }
            let same = serial.observations.histories().eq(again.observations.histories());
            if !same && serial.spinning > 0 {
                return gave_up;
            }
            if !same {
                return Verdict::Unknown(Unknown::Uncontrolled { executions: Vec::new() });
            }
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
            spins,
        }))
    }
}

/// A failure that is not confirmed yet.
struct Found {
    history: History,
    judgement: Judgement,
    schedule: Schedule,
    preemptions: u32,
    spins: bool,
}

/// The driver of phase 2, for one bound.
struct Concurrent {
    test: Arc<Test>,
    judge: Box<JudgeOfTest>,
    search: Search,
    /// Events of the first execution, while it is being repeated.
    repeat: Option<Vec<Event<Answer>>>,
    /// True if the search must begin again, with switches at more lines.
    begins_again: bool,
    fresh: bool,
    seen: FxHashSet<History>,
    /// Histories with struck operations, to be judged later.
    deferred: Vec<(u64, Found)>,
    found: Option<Found>,
    unknown: Option<Unknown>,
    given_up: u64,
    left_behind: u64,
    patience: u32,
    limit: Option<u64>,
    deadline: Option<Instant>,
    tally: Option<Arc<Tally>>,
    bound: u32,
    phase: ConcurrentPhase,
}

impl Concurrent {
    /// Returns the operations whose answers are always allowed, as bits.
    fn spurious(&self, events: &[Event<Answer>]) -> u64 {
        let mut called = [0; 16];
        let mut struck = 0;
        for event in events {
            match event {
                Event::Call(thread) => called[thread.index()] += 1,
                Event::Return(thread, Answer::Returned(response)) => {
                    let index = called[thread.index()] - 1;
                    let invocation = &self.test.sequence(*thread)[index];
                    if self.test.subject().is_spurious(invocation, response) {
                        struck |= 1 << self.test.shape().operation(*thread, index).index();
                    }
                }
                Event::Return(_, Answer::Panicked(_)) => {}
            }
        }
        struck
    }
}

impl Driver for Concurrent {
    fn begin(&mut self) -> Option<u64> {
        let is_over = self.found.is_some() || self.begins_again || self.phase.limited;
        if is_over || self.given_up >= GIVEN_UP {
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
        let goes_on = |u: &Unknown| matches!(u, Unknown::Diverging { .. } | Unknown::TimedWait);
        if self.unknown.as_ref().is_some_and(|u| !goes_on(u)) {
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

    fn choose(&mut self, situation: &Situation<'_>) -> Choice {
        self.search.choose(situation)
    }

    fn end(&mut self, execution: Execution) {
        self.phase.executions += 1;
        if let Some(tally) = &self.tally {
            tally.add_concurrent(self.bound);
        }
        self.phase.steps += execution.steps;
        self.left_behind += u64::from(execution.left_behind);
        if self.search.switch_at(&execution.unordered) {
            self.begins_again = true;
            self.phase.note_unordered(&execution.unordered);
        }
        if let End::Abandoned(reason) = execution.end {
            self.given_up += 1;
            let reason = given_up(reason, self.patience, false);
            self.unknown.get_or_insert(reason);
            self.repeat = None;
            return;
        }
        if !self.search.is_repeated() {
            self.unknown = Some(Unknown::Uncontrolled { executions: Vec::new() });
            self.repeat = None;
            return;
        }
        if let Some(first) = self.repeat.take() {
            if first != execution.events {
                self.unknown = Some(Unknown::differing(&first, &execution.events));
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
        self.phase.spinning += u64::from(execution.spins);
        let judgement = match struck {
            0 => (self.judge)(&history),
            _ => Judgement::NoWitness,
        };
        if judgement != Judgement::Linearizable {
            let found = Found {
                history: history.clone(),
                judgement,
                schedule: execution.schedule,
                preemptions: self.search.preemptions(),
                spins: execution.spins,
            };
            if struck == 0 {
                self.found = Some(found);
            } else {
                // It is judged after all executions were tried.
                self.deferred.push((struck, found));
            }
        }
        if self.seen.len() < REMEMBERED {
            self.seen.insert(history);
        }
    }
}
