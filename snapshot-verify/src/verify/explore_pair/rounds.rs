//! The search of one pair, in rounds: each begins with knowledge from the ones before.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use snapshot_core::Process;

use super::{FEW_STATES, PairExplorer, WORTH_ANALYSING, WORTH_LEARNING, active, numbered};
use crate::deadline::Deadline;
use crate::instance::{Instance, InstanceError};
use crate::search::layout::LayoutError;
use crate::search::{Exploration, ExploreError, Outcome, Progress, SearchVerdict, Unfinished};
use crate::verify::Reduction;
use crate::verify::error::VerifyError;
use crate::verify::outcome::Verdict;
use crate::verify::pipeline::Prepared;
use crate::verify::schedule::Effort;
use crate::verify::self_check;
use crate::verify::strategy::{Finding, Share};

/// Reason why a round is followed by another one.
enum Restart {
    /// A number exceeded the limit of the narrow states.
    TooNarrow,
    /// There are many states: it is worth learning which variables are stale.
    ManyStates,
    /// The search refuted a conjecture on stale variables, which is dropped.
    Refuted,
    /// The violation was spurious: counters keep larger gaps.
    Spurious,
}

/// End of a round.
enum End {
    Restart(Restart),
    Found(Box<Outcome>, Finding<Verdict>),
}

/// The search of one pair with one effort.
pub(super) struct Rounds<'e, 'a> {
    explorer: &'e PairExplorer<'a>,
    pair: [Process; 2],
    effort: Effort,
    share: Share,
    deadline: Deadline<'e>,
    /// The processes that participate.
    active: BTreeSet<Process>,
    /// Bounds and claims of all rounds.
    pub plan: Exploration<'e>,
    pub prepared: Prepared,
    /// True if stale variables have not been learnt, and may be worth it.
    may_learn: bool,
    /// Limits of numbers not tried yet, the least first.
    most_numbers: &'static [u32],
}

impl<'e, 'a> Rounds<'e, 'a> {
    /// Prepares the first round, unless it is prepared.
    pub fn new(
        explorer: &'e PairExplorer<'a>,
        (pair, effort): ([Process; 2], Effort),
        share: Share,
        deadline: Deadline<'e>,
        prepared: Option<Prepared>,
    ) -> Result<Self, VerifyError> {
        let (request, watch) = (explorer.request, explorer.watch);
        let active: BTreeSet<Process> = active(pair, effort.active, request.processes).collect();
        let prepared = match prepared {
            Some(prepared) => prepared,
            None => {
                let is_active = |process| active.contains(&process);
                let (processes, reductions) = (request.processes, request.reductions);
                let program = explorer.program;
                let prepare =
                    || Prepared::new(program, processes, pair, reductions, is_active, deadline);
                explorer.pool.install(prepare)?
            }
        };
        let plan = Exploration {
            operations: effort.operations,
            barriers: effort.barriers,
            active: Some(active.clone()),
            threads: request.threads.get(),
            memory: request.memory,
            time: None,
            stop: Some(watch.stop()),
            answered: watch.answered(),
            past_violations: false,
            antichain: request.reductions.contains(Reduction::Antichain),
            self_check: request.self_check,
            ..Exploration::default()
        };
        let operations = effort.most_operations();
        let is_worth = operations.is_none_or(|operations| operations >= WORTH_LEARNING);
        let may_learn = is_worth && prepared.may_learn();
        let most_numbers = if operations.is_some() { explorer.few_numbers } else { &[] };
        Ok(Self {
            explorer,
            pair,
            effort,
            share,
            deadline,
            active,
            plan,
            prepared,
            may_learn,
            most_numbers,
        })
    }

    /// Checks the passes on samples, if the request asks for it. The interpreter's observer sees
    /// responses in their original order.
    pub fn check_passes(&self) -> Result<(), VerifyError> {
        let Some(options) = self.explorer.request.self_check else { return Ok(()) };
        let (operations, barriers) = (self.effort.most_operations(), None);
        let plain = self.prepared.plain(operations);
        let raw = numbered(&self.plan, self.prepared.numbering.as_ref(), plain.as_ref());
        let raw = Exploration { operations, barriers, ..raw };
        self_check::passes(&self.explorer.machine, &self.prepared.instance, &raw, options)?;
        Ok(())
    }

    /// Learns stale variables, if another pair has learnt them with the same effort: only then
    /// can the pairs be isomorphic.
    pub fn learn_as_others(&mut self) -> Result<(), VerifyError> {
        if self.may_learn && self.explorer.has_learnt(self.effort) {
            self.learn()?;
        }
        Ok(())
    }

    /// Searches until a round has an answer.
    pub fn run(&mut self) -> Result<(Outcome, Finding<Verdict>), VerifyError> {
        loop {
            match self.round()? {
                End::Found(outcome, finding) => return Ok((*outcome, finding)),
                End::Restart(Restart::TooNarrow) => self.most_numbers = &self.most_numbers[1..],
                End::Restart(Restart::ManyStates) => self.learn()?,
                // The preparation has changed.
                End::Restart(Restart::Refuted | Restart::Spurious) => {}
            }
        }
    }

    /// Searches once.
    fn round(&mut self) -> Result<End, VerifyError> {
        let (explorer, deadline) = (self.explorer, self.deadline);
        let operations = self.effort.most_operations();
        if operations.is_none_or(|operations| operations >= WORTH_ANALYSING) {
            self.prepared.analyse(deadline).map_err(InstanceError::from)?;
        }
        let numbering = self.prepared.numbering.clone();
        let plain = self.prepared.plain(operations);
        let symmetry = self.prepared.symmetry(|process| self.active.contains(&process), deadline);
        let symmetry = symmetry.map_err(InstanceError::from)?;
        let ample = self.prepared.ample(operations, deadline).map_err(InstanceError::from)?;
        let exploration = Exploration {
            time: self.time_left(),
            most_states: self.most_states(),
            ample: ample.as_ref().map(|ample| ample as _),
            symmetry: symmetry.as_ref().map(|symmetry| symmetry as _),
            ..numbered(&self.plan, numbering.as_ref(), plain.as_ref())
        };
        let forgetting = self.prepared.forgetting();
        let watch = explorer.watch;
        let forgetful = Exploration {
            forgetting: forgetting.as_ref().map(|forgetting| forgetting as _),
            memory: explorer.memory_left(),
            storage: watch.storage(),
            ..exploration.clone()
        };
        let forgetful = choose_width(&forgetful, self.prepared.explored(), &mut self.most_numbers)
            .map_err(ExploreError::from)?;
        let mut progress = |progress: &Progress| watch.progress(progress);
        let outcome = forgetful.run(self.prepared.explored(), &mut progress)?;
        if ends_for(&outcome.verdict, Unfinished::TooNarrow) {
            return Ok(End::Restart(Restart::TooNarrow));
        }
        let may_have_more = self.share.states.is_none_or(|most| most > FEW_STATES);
        if ends_for(&outcome.verdict, Unfinished::TooMany) && self.may_learn && may_have_more {
            return Ok(End::Restart(Restart::ManyStates));
        }
        if self.prepared.refute(&exploration, &outcome.verdict, deadline)? {
            return Ok(End::Restart(Restart::Refuted));
        }
        match explorer.finding((self.pair, self.effort), &self.prepared, &outcome.verdict) {
            Err(error) if error.is_ours() && self.has_larger_gaps()? => {
                Ok(End::Restart(Restart::Spurious))
            }
            finding => Ok(End::Found(Box::new(outcome), finding?)),
        }
    }

    /// Raises the gaps that counters keep, if they can be larger.
    fn has_larger_gaps(&mut self) -> Result<bool, VerifyError> {
        Ok(self.prepared.raise_counter_cap(self.deadline).map_err(InstanceError::from)?)
    }

    fn learn(&mut self) -> Result<(), VerifyError> {
        let numbering = self.prepared.numbering.clone();
        let plain = self.prepared.plain(self.effort.most_operations());
        let plan = numbered(&self.plan, numbering.as_ref(), plain.as_ref());
        let plan = Exploration { time: self.time_left(), ..plan };
        self.prepared.learn(&plan, self.deadline)?;
        self.may_learn = false;
        Ok(())
    }

    fn time_left(&self) -> Option<Duration> {
        self.share.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Returns the number of states after which a round ends.
    fn most_states(&self) -> Option<u64> {
        match (self.may_learn, self.share.states) {
            (true, most) => Some(most.map_or(FEW_STATES, |most| most.min(FEW_STATES))),
            (false, most) => most,
        }
    }
}

/// Returns the exploration with the first limit of numbers whose states are smaller than those of
/// the next limit, if any. Drops the limits before it.
fn choose_width<'a>(
    exploration: &Exploration<'a>,
    instance: &Instance,
    most_numbers: &mut &[u32],
) -> Result<Exploration<'a>, LayoutError> {
    let with =
        |most: Option<&u32>| Exploration { most_numbers: most.copied(), ..exploration.clone() };
    while let Some(most) = most_numbers.first() {
        let [narrow, wide] = [Some(most), most_numbers.get(1)].map(with);
        // The wider layout may be impossible.
        let width = wide.layout(instance).map_or(usize::MAX, |layout| layout.words());
        if narrow.layout(instance)?.words() < width {
            return Ok(narrow);
        }
        *most_numbers = &most_numbers[1..];
    }
    Ok(with(None))
}

fn ends_for(verdict: &SearchVerdict, why: Unfinished) -> bool {
    matches!(verdict, SearchVerdict::Unknown { cause, .. } if *cause == why)
}
