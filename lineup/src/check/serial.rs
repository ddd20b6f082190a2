//! Phase 1: all serial executions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use snapshot_core::observation::{Event, ObservationError, Observations, SerialHistory, Shape};

use super::{Check, Tally, given_up, unknown};
use crate::driver::{Choice, Driver, End, Execution, Situation};
use crate::execution::explore;
use crate::matrix::{Role, Test};
use crate::search::{Kind, Search};
use crate::spin::Spin;
use crate::subject::Answer;
use crate::verdict::{SerialPhase, Unknown, Verdict};

/// Number of random seeds tried, if the subject draws random numbers.
const SEEDS: u64 = 4;

impl Check {
    /// Runs all serial executions; also returns the answer, if they determine it.
    pub(crate) fn serial_phase(
        &self,
        test: &Test,
        deadline: Option<Instant>,
    ) -> (SerialPhase, Option<Verdict>) {
        let start = Instant::now();
        let driver = Serial::new(*test.shape(), deadline, self);
        let watch = self.clone().spurious_wakeups(false).watch(deadline);
        let explored = explore(&Arc::new(test.clone()), driver, &watch);
        let (driver, mut verdict) = match explored {
            Ok(mut driver) => {
                let verdict = driver.verdict.take();
                (driver, verdict)
            }
            Err(broken) => (
                Serial::new(*test.shape(), deadline, self),
                Some(Verdict::Unknown(unknown(broken))),
            ),
        };
        if verdict.is_none() && self.is_cancelled() {
            verdict = Some(Verdict::Unknown(Unknown::Interrupted));
        }
        let complete = verdict.is_none();
        if verdict.is_none() {
            let stuck: Vec<SerialHistory<Answer>> =
                driver.observations.histories().filter(|h| h.stuck.is_some()).collect();
            let initial =
                |h: &&SerialHistory<Answer>| h.stuck.is_some_and(|t| test.role(t) == Role::Initial);
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
            spinning: driver.spinning,
        };
        (serial, verdict)
    }
}

/// The driver of phase 1.
struct Serial {
    search: Search,
    observations: Observations<Answer>,
    executions: u64,
    /// Number of stuck executions in which an operation spins.
    spinning: u64,
    spin: Spin,
    /// Events of the first execution, which is repeated.
    first: Option<Vec<Event<Answer>>>,
    seed: u64,
    random: bool,
    deadline: Option<Instant>,
    patience: u32,
    cancel: Arc<AtomicBool>,
    tally: Option<Arc<Tally>>,
    verdict: Option<Verdict>,
}

impl Serial {
    fn new(shape: Shape, deadline: Option<Instant>, check: &Check) -> Self {
        let spin = check.spin();
        Self {
            search: Search::new(Kind::Serial, spin.clone()),
            spinning: 0,
            spin,
            observations: Observations::new(shape),
            executions: 0,
            first: None,
            seed: 0,
            random: false,
            deadline,
            patience: check.patience,
            cancel: Arc::clone(&check.cancel),
            tally: check.tally.clone(),
            verdict: None,
        }
    }
}

impl Driver for Serial {
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
            self.search = Search::new(Kind::Serial, self.spin.clone());
            self.search.next();
        }
        Some(self.seed)
    }

    fn choose(&mut self, situation: &Situation<'_>) -> Choice {
        self.search.choose(situation)
    }

    fn end(&mut self, execution: Execution) {
        self.random |= execution.random;
        if let Some(tally) = &self.tally {
            tally.add_serial();
        }
        if let End::Abandoned(reason) = execution.end {
            self.verdict = Some(Verdict::Unknown(given_up(reason, self.patience, true)));
            return;
        }
        if !self.search.is_repeated() {
            let executions = Vec::new();
            self.verdict = Some(Verdict::Unknown(Unknown::Uncontrolled { executions }));
            return;
        }
        if self.executions == 0 {
            self.first = Some(execution.events.clone());
        } else if let Some(first) = self.first.take()
            && first != execution.events
        {
            let unknown = Unknown::differing(&first, &execution.events);
            self.verdict = Some(Verdict::Unknown(unknown));
            return;
        } else if self.executions == 1 {
            // The repetition is not counted as an execution.
            self.executions += 1;
            return;
        }
        self.executions += 1;
        self.spinning += u64::from(execution.spins);
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
