//! The second method: refinement of the atomic snapshot, for simple executions as well as for all
//! over a few values. It knows no observer, and only its own reductions.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_core::Process;

use super::barriers::require_within;
use super::error::VerifyError;
use super::outcome::{Measures, Misplaced, ProgramFault, Unfinished, Verdict};
use super::progress::Watch;
use super::request::{Barriers, Operations, Request};
use super::schedule::Effort;
use super::strategy::{Explore, Finding, Share};
use crate::counterexample::{Counterexample, ObjectCounterexample};
use crate::interpret::{Client, Machine, Roles, Sequential, Values};
use crate::limits::LimitSet;
use crate::program::linearization::has_points;
use crate::program::{Object, Program};
use crate::refine::{self, Budget, RefinementVerdict, Techniques, refine, refine_object};
use crate::search;

const REPORT_EVERY: Duration = Duration::from_millis(500);

pub struct Refined<'a> {
    machine: Machine<'a>,
    /// The object that the text declares, if any.
    object: Option<Sequential<'a>>,
    request: &'a Request,
    means: Techniques,
    watch: &'a dyn Watch,
    has_counters: bool,
}

impl<'a> Refined<'a> {
    /// Prepares the refinement of a program for a request.
    ///
    /// # Errors
    /// If the program cannot run with this many processes, lacks linearization points that the
    /// request needs, or has no finite state space.
    pub fn new(
        program: &'a Program,
        request: &'a Request,
        means: Techniques,
        watch: &'a dyn Watch,
    ) -> Result<Self, VerifyError> {
        if means.points && !has_points(program) {
            return Err(VerifyError::NoPoints);
        }
        let counts = |object: &Object| object.specification.has_counters();
        let has_counters = program.has_counters() || program.object().is_some_and(counts);
        let is_unbounded =
            request.operations == Operations::Unbounded && request.barriers == Barriers::Unbounded;
        if program.object().is_some() && has_counters && is_unbounded {
            return Err(VerifyError::ObjectCounters);
        }
        if has_counters && is_unbounded {
            return Err(VerifyError::Counters);
        }
        let machine = request.machine(program)?;
        let object = program.object();
        let object = object.map(|object| Sequential::new(object, request.processes)).transpose()?;
        Ok(Self { machine, object, request, means, watch, has_counters })
    }

    fn client(&self, pair: [Process; 2], effort: Effort) -> Client {
        let [i, j] = pair;
        let values = self.request.values.map_or(Values::Simple(i, j), Values::Full);
        let roles = match effort.active {
            active if active >= self.request.processes => Roles::All,
            active => Roles::Few { first: pair, others: active.saturating_sub(2) },
        };
        Client {
            values,
            operations: effort.operations,
            roles,
            updater: self.request.updater,
            barriers: effort.barriers,
            each: None,
        }
    }

    /// Returns the pair that is searched, if values are simple.
    fn pair(&self, pair: [Process; 2]) -> Option<[Process; 2]> {
        self.request.values.is_none().then_some(pair)
    }

    /// Returns the finding of the search, confirmed by the exact check of histories.
    fn finding(
        &self,
        pair: [Process; 2],
        barriers: Option<u32>,
        verdict: RefinementVerdict,
        cause: Unfinished,
    ) -> Result<Finding<Verdict>, VerifyError> {
        Ok(match verdict {
            RefinementVerdict::Verified => Finding::Nothing,
            RefinementVerdict::InObject { moves, fault } => {
                return Err(VerifyError::ObjectFault { moves: moves.len(), fault });
            }
            RefinementVerdict::Violation(moves) => {
                require_within(&self.machine, barriers, &moves)?;
                if let Some(object) = &self.object {
                    let counterexample =
                        ObjectCounterexample::validated(&self.machine, object, &moves)?;
                    return Ok(Finding::Wrong(Verdict::ObjectViolation(Box::new(counterexample))));
                }
                let counterexample =
                    Counterexample::validated(&self.machine, self.pair(pair), &moves)?;
                Finding::Wrong(Verdict::Violation(Box::new(counterexample)))
            }
            RefinementVerdict::Misplaced { moves, misplacement } => {
                let execution = self.machine.run(&moves).map_err(VerifyError::NotRepeated)?;
                let misplaced = Misplaced { moves, misplacement, execution };
                Finding::Wrong(Verdict::Misplaced(Box::new(misplaced)))
            }
            RefinementVerdict::Faulty { moves, fault } => {
                let before = match self.object {
                    Some(_) => {
                        let before = &moves[..moves.len().saturating_sub(1)];
                        Some(self.machine.run(before).map_err(VerifyError::NotRepeated)?)
                    }
                    None => None,
                };
                Finding::Wrong(Verdict::Fault(Box::new(ProgramFault { moves, fault, before })))
            }
            RefinementVerdict::Unknown(refine::Unfinished::Ended) => Finding::Stopped(cause),
            RefinementVerdict::Unknown(refine::Unfinished::Memory) => {
                Finding::Stopped(Unfinished::Memory)
            }
            RefinementVerdict::Unknown(refine::Unfinished::States) => {
                Finding::Stopped(Unfinished::States)
            }
            RefinementVerdict::Unknown(refine::Unfinished::Nodes) => {
                Finding::Stopped(Unfinished::Nodes)
            }
        })
    }
}

impl Explore for Refined<'_> {
    type Wrong = Verdict;
    type Error = VerifyError;

    /// For all executions over some values, a pair only names the first two participants.
    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
    ) -> Result<(Finding<Verdict>, Measures), VerifyError> {
        if self.has_counters && effort.operations.is_none() && effort.barriers.is_none() {
            // The exploration would run in vain until memory is exhausted.
            return Ok((Finding::Stopped(Unfinished::Memory), Measures::default()));
        }
        self.watch.begin(self.pair(pair), effort);
        let began = Instant::now();
        let client = self.client(pair, effort);
        let cause = Cell::new(Unfinished::Interrupted);
        let mut ticker = Ticker { watch: self.watch, began, last: None };
        let mut proceed = |progress: &refine::Progress| {
            ticker.tick(progress);
            if self.watch.stop().load(Ordering::Relaxed) {
                cause.set(Unfinished::Interrupted);
                return false;
            }
            cause.set(Unfinished::Time);
            share.until.is_none_or(|until| Instant::now() < until)
        };
        let memory = usize::try_from(self.request.memory).unwrap_or(usize::MAX);
        let states = share.states.and_then(|states| usize::try_from(states).ok());
        let states = states.unwrap_or(usize::MAX);
        let threads = self.request.threads;
        let mut budget = Budget { states, memory, threads, proceed: &mut proceed };
        let (machine, means) = (&self.machine, self.means);
        let found = match &self.object {
            None => refine(machine, &client, means, &mut budget)?,
            Some(object) => refine_object(machine, object, &client, means, &mut budget)?,
        };
        let measures = Measures {
            explorations: 1,
            states: found.states as u64,
            transitions: found.transitions,
            depth: found.depth as u64,
            elapsed: began.elapsed(),
            peak_bytes: found.peak_bytes as u64,
            bytes_per_state: found.peak_bytes as f64 / found.states.max(1) as f64,
            like: None,
            limits: LimitSet::default(),
            proof: None,
        };
        Ok((self.finding(pair, effort.barriers, found.verdict, cause.get())?, measures))
    }
}

/// Reports the progress of a search from time to time.
struct Ticker<'a> {
    watch: &'a dyn Watch,
    began: Instant,
    /// Time of the last report, and its number of states.
    last: Option<(Instant, u64)>,
}

impl Ticker<'_> {
    fn tick(&mut self, progress: &refine::Progress) {
        let now = Instant::now();
        let (then, states) = self.last.unwrap_or((self.began, 0));
        let since = now.duration_since(then);
        if since < REPORT_EVERY {
            return;
        }
        self.last = Some((now, progress.states));
        self.watch.progress(&search::Progress {
            seconds: now.duration_since(self.began).as_secs_f64(),
            states: progress.states,
            states_per_second: (progress.states - states) as f64 / since.as_secs_f64(),
            frontier: progress.frontier,
            depth: progress.depth,
            memory: progress.bytes,
            tracing: false,
            between: false,
        });
    }
}
