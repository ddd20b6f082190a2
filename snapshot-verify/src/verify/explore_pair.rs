//! Simple executions of one pair, through all stages: compiled, reduced, explored.

mod rounds;
mod tests;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use snapshot_core::Process;

use self::rounds::Rounds;
use super::Reduction;
use super::barriers::require_within;
use super::error::VerifyError;
use super::expand::expand;
use super::outcome::{Measures, ProgramFault, Unfinished, Verdict};
use super::pipeline::Prepared;
use super::progress::Watch;
use super::request::Request;
use super::schedule::Effort;
use super::self_check;
use super::strategy::{Explore, Finding, Share};
use crate::counterexample::Counterexample;
use crate::deadline::{Allowance, Deadline, Stopped};
use crate::instance::InstanceError;
use crate::interpret::{Machine, MoveErrorKind};
use crate::limits::{LimitSet, Limits};
use crate::program::Program;
use crate::quotient::canonical_renaming::CanonicalRenaming;
use crate::quotient::canonical_renaming::plain::Plain;
use crate::quotient::process_symmetry::isomorphism;
use crate::search::{self, Exploration, ExploreError, SearchPath, SearchVerdict, Storage};

/// With fewer operations hardly any state is ever abandoned.
const WORTH_ANALYSING: u32 = 2;

/// Learning stale variables takes about a second: not worth it for fewer operations.
const WORTH_LEARNING: u32 = 3;

/// Learning is not worth it for fewer states: their search takes a fraction of its time. It also
/// comes after the first hunt (see [`super::hunt`]).
const FEW_STATES: u64 = 60_000;

/// Uncounted bytes: the base usage of any program, and small instances.
const FREE: u64 = 16 << 20;

/// Bounded runs use few distinct counters and versions: these limits are tried first.
const FEW_NUMBERS: [u32; 4] = [7, 15, 255, 65_535];

pub struct PairExplorer<'a> {
    machine: Machine<'a>,
    program: &'a Program,
    request: &'a Request,
    watch: &'a dyn Watch,
    /// Threads for passes over the graphs of all processes.
    pool: ThreadPool,
    /// Preparations of a pair with a number of active processes, for its next effort.
    prepared: HashMap<([Process; 2], usize), Prepared>,
    /// Explorations that found nothing, with their costs. The last field is the number of states at
    /// which an incomplete exploration stopped.
    finished: Vec<([Process; 2], Effort, Measures, Option<u64>)>,
    few_numbers: &'static [u32],
}

impl<'a> PairExplorer<'a> {
    /// Prepares exploration of a program for a request.
    ///
    /// # Errors
    /// If the program cannot run with this many processes, or the threads cannot be started.
    pub fn new(
        program: &'a Program,
        request: &'a Request,
        watch: &'a dyn Watch,
    ) -> Result<Self, VerifyError> {
        let machine = Machine::new(program, request.processes)?;
        let threads = request.threads.get().min(request.processes);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool =
            pool.map_err(|error| VerifyError::Threads { threads, reason: error.to_string() })?;
        let (prepared, finished) = (HashMap::new(), Vec::new());
        let few_numbers = &FEW_NUMBERS;
        Ok(Self { machine, program, request, watch, pool, prepared, finished, few_numbers })
    }

    /// Returns the finding of the search, confirmed by code that shares nothing with it.
    fn finding(
        &self,
        (pair, effort): ([Process; 2], Effort),
        prepared: &Prepared,
        verdict: &SearchVerdict,
    ) -> Result<Finding<Verdict>, VerifyError> {
        Ok(match verdict {
            SearchVerdict::Verified => Finding::Nothing,
            SearchVerdict::Unknown { cause, .. } => Finding::Stopped(match *cause {
                search::Unfinished::Time => Unfinished::Time,
                search::Unfinished::Memory => Unfinished::Memory,
                search::Unfinished::Interrupted => Unfinished::Interrupted,
                search::Unfinished::TooMany => Unfinished::States,
                search::Unfinished::TooNarrow => {
                    unreachable!("the search began again, with another limit")
                }
            }),
            SearchVerdict::Violation { trace, .. } => {
                let moves = expand(&prepared.instance, trace, effort.barriers.is_some());
                let counterexample = Counterexample::validated(&self.machine, Some(pair), &moves)?;
                require_within(&self.machine, effort.barriers, &moves)?;
                Finding::Wrong(Verdict::Violation(Box::new(counterexample)))
            }
            SearchVerdict::Fault { trace, fault } => {
                let found = self.fault(effort, prepared, trace);
                let found = found.ok_or(VerifyError::NoFault { what: fault.what })?;
                Finding::Wrong(Verdict::Fault(Box::new(found)))
            }
        })
    }

    /// Returns the measures of the same effort for an isomorphic pair, if that found nothing: this
    /// pair would give the same result. The flag is false if that exploration stopped at a number
    /// of states no smaller than this pair's share.
    fn reuse_isomorphic(
        &self,
        pair: [Process; 2],
        prepared: &Prepared,
        effort: Effort,
        exploration: &Exploration<'_>,
        share: Share,
        deadline: Deadline<'_>,
    ) -> Result<Option<(Measures, bool)>, VerifyError> {
        if !self.request.reductions.contains(Reduction::Symmetry) {
            return Ok(None);
        }
        for (like, known, measures, more_than) in &self.finished {
            let fits =
                more_than.is_none_or(|states| share.states.is_some_and(|most| most <= states));
            if *known != effort || !fits {
                continue;
            }
            let Some(known) = self.prepared.get(&(*like, effort.active)) else { continue };
            let [i, j] = pair;
            let mut found = None;
            for images in [[i, j], [j, i]] {
                if found.is_none() {
                    let renaming = renaming(*like, images, self.request.processes);
                    let (known, prepared) = (known.explored(), prepared.explored());
                    found = isomorphism(known, prepared, &renaming, deadline)
                        .map_err(InstanceError::from)?;
                }
            }
            let Some(by) = found else { continue };
            if let Some(options) = self.request.self_check {
                let active = Some(active(*like, effort.active, self.request.processes).collect());
                let plain = [known, prepared].map(|of| of.plain(effort.most_operations()));
                let of_known = Exploration { active, ..exploration.clone() };
                let of_known = numbered(&of_known, known.numbering.as_ref(), plain[0].as_ref());
                let of_pair = numbered(exploration, prepared.numbering.as_ref(), plain[1].as_ref());
                let both = [(known.explored(), &of_known), (prepared.explored(), &of_pair)];
                self_check::renamed(both, &by, options)?;
            }
            let measures = Measures { explorations: 0, like: Some(*like), ..*measures };
            return Ok(Some((measures, more_than.is_none())));
        }
        Ok(None)
    }

    /// Returns true if a search of the same effort that found nothing has learnt stale variables.
    fn has_learnt(&self, effort: Effort) -> bool {
        let mut finished = self.finished.iter().filter(|(_, known, ..)| *known == effort);
        finished.any(|(pair, ..)| {
            self.prepared.get(&(*pair, effort.active)).is_some_and(|known| !known.may_learn())
        })
    }

    /// Returns the fault that the interpreter meets on a trace, if any.
    fn fault(
        &self,
        effort: Effort,
        prepared: &Prepared,
        trace: &SearchPath,
    ) -> Option<ProgramFault> {
        let mut moves = expand(&prepared.instance, trace, effort.barriers.is_some());
        let error = self.machine.run(&moves).err()?;
        let MoveErrorKind::Fault(fault) = error.kind else { return None };
        moves.truncate(error.number);
        Some(ProgramFault { moves, fault, before: None })
    }
}

impl Explore for PairExplorer<'_> {
    type Wrong = Verdict;
    type Error = VerifyError;

    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
    ) -> Result<(Finding<Verdict>, Measures), VerifyError> {
        self.watch.begin(Some(pair), effort);
        if self.watch.answered().is_some_and(|answered| answered.load(Ordering::Relaxed)) {
            return Ok((Finding::Stopped(Unfinished::Answered), Measures::default()));
        }
        let began = Instant::now();
        let limit = self.request.memory.saturating_add(FREE);
        let memory = self.watch.allocated().map(|allocated| Allowance { limit, allocated });
        let limits = Limits::default();
        let deadline = Deadline::new(share.until, Some(self.watch.stop()));
        let deadline = deadline.with_memory(memory).with_notes(limits.notes());
        match self.explore_within(pair, effort, share, deadline) {
            Err(VerifyError::Instance(InstanceError::Stopped(stopped))) => {
                let cause = match stopped {
                    Stopped::Time => Unfinished::Time,
                    Stopped::Memory => Unfinished::Memory,
                    Stopped::Interrupted => Unfinished::Interrupted,
                };
                let (elapsed, limits) = (began.elapsed(), limits.reached());
                Ok((Finding::Stopped(cause), Measures { elapsed, limits, ..Measures::default() }))
            }
            // The preparation uses up the remainder.
            Err(VerifyError::Explore(ExploreError::Memory { given, .. }))
                if given < self.request.memory =>
            {
                let (elapsed, limits) = (began.elapsed(), limits.reached());
                let measures = Measures { elapsed, limits, ..Measures::default() };
                Ok((Finding::Stopped(Unfinished::Memory), measures))
            }
            found => found,
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self.watch.storage(), Storage::Checkpoints(_))
    }
}

impl PairExplorer<'_> {
    /// Returns the memory for states: the limit without the memory of preparations.
    fn memory_left(&self) -> u64 {
        let held = self.watch.allocated().map_or(0, |allocated| allocated());
        self.request.memory.saturating_sub(held.saturating_sub(FREE))
    }

    /// As `explore`, but a preparation that ends early is an error.
    fn explore_within(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
        deadline: Deadline<'_>,
    ) -> Result<(Finding<Verdict>, Measures), VerifyError> {
        let began = Instant::now();
        let key = (pair, effort.active);
        let prepared = self.prepared.remove(&key);
        let mut rounds = Rounds::new(self, (pair, effort), share, deadline, prepared)?;
        rounds.check_passes()?;
        rounds.learn_as_others()?;
        let like =
            self.reuse_isomorphic(pair, &rounds.prepared, effort, &rounds.plan, share, deadline)?;
        if let Some((measures, is_whole)) = like {
            let prepared = rounds.prepared;
            self.prepared.insert(key, prepared);
            let measures = Measures { elapsed: began.elapsed(), ..measures };
            if !is_whole {
                return Ok((Finding::Stopped(Unfinished::States), measures));
            }
            if let Some(options) = self.request.self_check {
                self_check::answer(&self.machine, pair, effort, options)?;
            }
            return Ok((Finding::Nothing, measures));
        }
        let (outcome, finding) = rounds.run()?;
        let prepared = rounds.prepared;
        let measures = Measures {
            explorations: 1,
            states: outcome.states,
            transitions: outcome.transitions,
            depth: u64::from(outcome.depth),
            elapsed: Duration::ZERO,
            peak_bytes: outcome.peak_bytes,
            bytes_per_state: outcome.bytes_per_state(),
            like: None,
            limits: prepared.limits.union(LimitSet::noted(deadline)).union(outcome.limits),
            proof: None,
        };
        self.prepared.insert(key, prepared);
        if matches!(finding, Finding::Nothing) {
            if let Some(options) = self.request.self_check {
                self_check::answer(&self.machine, pair, effort, options)?;
            }
            self.finished.push((pair, effort, measures, None));
        } else if matches!(finding, Finding::Stopped(Unfinished::States)) {
            self.finished.push((pair, effort, measures, share.states));
        }
        Ok((finding, Measures { elapsed: began.elapsed(), ..measures }))
    }
}

/// Adds the numbering that a layout requires.
fn numbered<'a>(
    exploration: &Exploration<'a>,
    canonical: Option<&'a CanonicalRenaming>,
    plain: Option<&'a Plain>,
) -> Exploration<'a> {
    let numbering = canonical.map(|numbering| numbering as _);
    let numbering = numbering.or(plain.map(|plain| plain as _));
    Exploration { numbering, ..exploration.clone() }
}

/// Returns the renaming of a pair to its images, and of the other processes to the others in order,
/// which maps active processes to active ones.
fn renaming(pair: [Process; 2], images: [Process; 2], processes: usize) -> Vec<usize> {
    let others = |pair: [Process; 2]| {
        (0..processes).filter(move |&process| !pair.contains(&Process::from_index(process)))
    };
    let mut renaming = vec![0; processes];
    for (from, to) in others(pair).zip(others(images)) {
        renaming[from] = to;
    }
    for (from, to) in pair.into_iter().zip(images) {
        renaming[from.index()] = to.index();
    }
    renaming
}

/// Returns i, j, and then the first of the others.
fn active(pair: [Process; 2], count: usize, processes: usize) -> impl Iterator<Item = Process> {
    let others =
        (0..processes).map(Process::from_index).filter(move |process| !pair.contains(process));
    pair.into_iter().chain(others.take(count.saturating_sub(2)))
}
