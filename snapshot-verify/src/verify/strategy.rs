//! Order in which an explorer tries pairs and efforts, and when the exploration ends.

mod tests;

use std::time::Instant;

use snapshot_core::Process;

use super::outcome::{Measures, Unfinished};
use super::request::{Barriers, Operations, Request};
use super::schedule::{Effort, Schedule};

/// Explores one effort of one pair.
pub trait Explore {
    /// Defect of the program that an exploration can find.
    type Wrong;
    /// Reason why an exploration is impossible.
    type Error;

    /// Explores until done, stopped, or out of its share of the budget.
    ///
    /// # Errors
    /// If exploration is impossible, because the state is too large, for instance.
    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
    ) -> Result<(Finding<Self::Wrong>, Measures), Self::Error>;

    /// Returns true if explorations are saved, so that a later run resumes them.
    fn is_kept(&self) -> bool {
        false
    }
}

/// Budget of one exploration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Deadline; `None` if unlimited.
    pub until: Option<Instant>,
    /// Approximate number of states; `None` if unlimited.
    pub states: Option<u64>,
}

/// Result of one exploration.
#[derive(Clone, Debug)]
pub enum Finding<W> {
    /// The exploration is complete, and nothing is wrong.
    Nothing,
    Wrong(W),
    /// The exploration ended early.
    Stopped(Unfinished),
}

/// Result for one pair.
#[derive(Clone, Debug)]
pub struct Found<W> {
    pub pair: [Process; 2],
    /// The answer; never [`Unfinished::Answered`] for a pair that is wrong itself.
    pub finding: Finding<W>,
    /// The effort that gave the answer; without an answer, the finished efforts.
    pub scope: Vec<Effort>,
    pub measures: Measures,
}

/// Explores each requested pair, in order.
///
/// # Errors
/// The first error of the explorer.
pub fn explore_all<E: Explore>(
    request: &Request,
    explorer: &mut E,
) -> Result<Vec<Found<E::Wrong>>, E::Error> {
    let end = request.time.and_then(|time| Instant::now().checked_add(time));
    let pairs = request.pairs.among(request.processes);
    let mut pairs_progress: Vec<PairProgress<E::Wrong>> =
        pairs.into_iter().map(|pair| PairProgress::new(pair, request)).collect();
    let cause = match (request.operations, request.barriers) {
        (Operations::Grow, _) | (_, Barriers::Grow) => {
            grow(request, end, &mut pairs_progress, explorer)?
        }
        _ => once(request, end, &mut pairs_progress, explorer)?,
    };
    Ok(pairs_progress.into_iter().map(|standing| standing.found(cause)).collect())
}

/// Number of states for each of several pairs in the first turn, if time or states are limited.
const FIRST_TURN: u64 = 1_000_000;

/// Factor by which the number of states grows from turn to turn.
const GROWTH: u64 = 8;

/// Explores each pair to its end, one after the other. Returns why some pairs have no finding.
///
/// With a limit of time or states, pairs take turns of a number of states each. Every turn starts
/// over with a larger number, until the remaining pairs are all isomorphic. So a pair that takes
/// long does not hide another one, and which pairs are explored to their end does not depend on
/// shares of the clock. If explorations are saved for a later run, there are no turns: each pair
/// has an equal share of the time left.
fn once<E: Explore>(
    request: &Request,
    end: Option<Instant>,
    pairs_progress: &mut [PairProgress<E::Wrong>],
    explorer: &mut E,
) -> Result<Unfinished, E::Error> {
    let (operations, barriers) = (request.operations.bound(), request.barriers.bound());
    let effort = Effort { operations, barriers, active: request.processes };
    let is_kept = explorer.is_kept();
    let takes_turns = (end.is_some() || request.states.is_some()) && !is_kept;
    let (mut turn, mut used) = (FIRST_TURN, 0);
    loop {
        let is_open = |standing: &PairProgress<E::Wrong>| standing.conclusion.is_none();
        let mut open = pairs_progress.iter().filter(|standing| is_open(standing)).count();
        if open == 0 {
            return Ok(Unfinished::Answered);
        }
        // Pairs that are isomorphic to others wait for those.
        let is_alone = |standing: &&PairProgress<E::Wrong>| {
            is_open(standing) && standing.measures.like.is_none()
        };
        let is_last = !takes_turns || pairs_progress.iter().filter(is_alone).count() <= 1;
        for standing in pairs_progress.iter_mut().filter(|standing| is_open(standing)) {
            let left = request.states.map(|all| all.saturating_sub(used));
            if left == Some(0) {
                return Ok(Unfinished::States);
            }
            let most = (!is_last).then_some(turn);
            let until = end.map(|end| if is_kept { share(end, open) } else { end });
            open -= 1;
            let share = Share { until, states: most.into_iter().chain(left).min() };
            let finding = standing.explore_again(effort, share, explorer)?;
            if standing.measures.like.is_none() {
                used += standing.measures.states;
            }
            let cause = match &finding {
                Finding::Stopped(Unfinished::States) => continue,
                Finding::Wrong(_) if !request.keep_going => Some(Unfinished::Answered),
                Finding::Stopped(Unfinished::Interrupted) => Some(Unfinished::Interrupted),
                Finding::Stopped(Unfinished::Time) if !is_kept => Some(Unfinished::Time),
                _ => None,
            };
            standing.conclude(finding, effort);
            if let Some(cause) = cause {
                return Ok(cause);
            }
        }
        turn = turn.saturating_mul(GROWTH);
    }
}

/// Returns the end of an equal part of the time left until `end`.
fn share(end: Instant, parts: usize) -> Instant {
    let now = Instant::now();
    let left = end.saturating_duration_since(now);
    now + left / u32::try_from(parts).unwrap_or(u32::MAX)
}

/// Number of turns that the first pair may be ahead of the others.
const HEAD_START: usize = 6;

/// Explores all pairs by growing efforts, the cheapest first. Returns why some pairs have no
/// finding.
///
/// If the effort suffices, a violation mostly shows for the first pairs already, and there are many
/// pairs if n is large. So the second pair begins one turn after the first, the third one turn
/// after the second, up to [`HEAD_START`] turns; then the pairs take turns.
fn grow<E: Explore>(
    request: &Request,
    end: Option<Instant>,
    pairs_progress: &mut [PairProgress<E::Wrong>],
    explorer: &mut E,
) -> Result<Unfinished, E::Error> {
    let whole = Effort { operations: None, barriers: None, active: request.processes };
    let mut used = 0;
    loop {
        let states = request.states.map(|all| all.saturating_sub(used));
        if states == Some(0) {
            return Ok(Unfinished::States);
        }
        // All pairs have the same schedule, except for efforts that did not fit.
        let all = pairs_progress.iter_mut().enumerate();
        let open = all.filter(|(_, standing)| standing.conclusion.is_none());
        let next =
            open.min_by_key(|(position, standing)| standing.turns + HEAD_START.min(*position));
        let Some((_, standing)) = next else {
            return Ok(Unfinished::Answered);
        };
        let Some(effort) = standing.schedule.next() else {
            standing.conclude(Finding::Stopped(Unfinished::Memory), whole);
            continue;
        };
        let before = standing.measures.states;
        let finding = standing.explore(effort, Share { until: end, states }, explorer)?;
        used += standing.measures.states - before;
        match finding {
            Finding::Nothing => {
                standing.schedule.note(effort, true);
                if effort == whole {
                    standing.conclude(Finding::Nothing, whole);
                }
            }
            Finding::Stopped(Unfinished::Memory) => standing.schedule.note(effort, false),
            Finding::Stopped(cause) => return Ok(cause),
            wrong @ Finding::Wrong(_) => {
                standing.conclude(wrong, effort);
                if !request.keep_going {
                    return Ok(Unfinished::Answered);
                }
            }
        }
    }
}

/// Progress of a pair.
#[derive(Debug)]
struct PairProgress<W> {
    pair: [Process; 2],
    schedule: Schedule,
    measures: Measures,
    /// Number of turns taken.
    turns: usize,
    /// The final result, and the effort that gave it.
    conclusion: Option<(Finding<W>, Effort)>,
}

impl<W> PairProgress<W> {
    fn new(pair: [Process; 2], request: &Request) -> Self {
        let schedule = match request.barriers {
            Barriers::Grow => Schedule::by_barriers(request.processes),
            Barriers::Unbounded | Barriers::AtMost(_) => Schedule::new(request.processes),
        };
        Self { pair, schedule, measures: Measures::default(), turns: 0, conclusion: None }
    }

    fn explore<E: Explore<Wrong = W>>(
        &mut self,
        effort: Effort,
        share: Share,
        explorer: &mut E,
    ) -> Result<Finding<W>, E::Error> {
        let (finding, measures) = explorer.explore(self.pair, effort, share)?;
        self.measures.add(&measures);
        self.turns += 1;
        Ok(finding)
    }

    /// Repeats an effort. The measures are those of the last exploration, but the elapsed time is
    /// the sum over all of them.
    fn explore_again<E: Explore<Wrong = W>>(
        &mut self,
        effort: Effort,
        share: Share,
        explorer: &mut E,
    ) -> Result<Finding<W>, E::Error> {
        let (finding, measures) = explorer.explore(self.pair, effort, share)?;
        self.measures = Measures { elapsed: self.measures.elapsed + measures.elapsed, ..measures };
        Ok(finding)
    }

    fn conclude(&mut self, finding: Finding<W>, effort: Effort) {
        self.conclusion = Some((finding, effort));
    }

    fn found(self, cause: Unfinished) -> Found<W> {
        let (finding, scope) = match self.conclusion {
            Some((finding @ (Finding::Nothing | Finding::Wrong(_)), effort)) => {
                (finding, vec![effort])
            }
            Some((stopped, _)) => (stopped, self.schedule.finished().collect()),
            None => (Finding::Stopped(cause), self.schedule.finished().collect()),
        };
        Found { pair: self.pair, finding, scope, measures: self.measures }
    }
}
