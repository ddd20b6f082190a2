//! From a program to an answer for every n: the obligations tried, and their order.
//!
//! A program is proved with some kind of ghost scans if the views that its scans return belong to
//! ghost scans within them ([`Mode::Nested`]), and the vectors that ghost scans assemble themselves
//! are right ([`Mode::Direct`]), by one specification or another. A wrong guess can only fail.
//! Faults are excluded with nesting, for all code.
//!
//! The ways to a proof take turns: in each round every way that has not failed continues until its
//! rung has a number of views, which grows from round to round (`FIRST`, `GROWTH`). So a fruitless
//! way takes at most a multiple of the cost of the successful one; no rung restarts; and the result
//! depends on views alone, not on a clock.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use snapshot_language::deadline::{Deadline, Stopped};
use snapshot_language::program::{Program, independence};
use typed_arena::Arena;

use super::compile::compile_within;
use super::model::{Ghosts, Model, Obligation, Part, Unsupported};
use super::prove::{Attempt, Finding, Limits, MEMORY, Proving, Sabotage, VIEWS, budget_of};
use super::shape::Mode;
use snapshot_hints::ways::{direct, nested};

/// Maximum number of views of a rung in the first round: the rungs of most proofs have fewer.
const FIRST: usize = 200_000;

/// Factor by which this maximum grows from round to round.
const GROWTH: usize = 4;

/// An attempt at an obligation.
#[derive(Clone, Debug)]
pub struct Rung {
    pub obligation: Obligation,
    /// Result of its proof; or the unsupported construct.
    pub finding: Result<Finding, Unsupported>,
}

impl Rung {
    /// Returns true if the obligation was shown.
    pub fn holds(&self) -> bool {
        self.finding.as_ref().is_ok_and(Finding::holds)
    }

    /// Returns the exhausted budget, if the attempt did not finish.
    pub fn short(&self) -> Option<&'static str> {
        match self.finding.as_ref().ok()?.attempt {
            Attempt::Budget(which) => Some(which),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// True if all simple executions of all n >= 2 processes are linearizable, for all pairs, and
    /// no execution goes wrong.
    pub proved: bool,
    /// Obligations that make the proof, if there is one.
    pub way: Vec<Obligation>,
    /// True if the program looks at values, so that nothing was tried.
    pub looks_at_values: bool,
    /// Attempts, in order.
    pub rungs: Vec<Rung>,
    /// The exhausted budget, if there may be a proof nevertheless.
    pub short: Option<&'static str>,
}

/// Budget of a proof.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// Maximum memory.
    pub bytes: usize,
    /// Maximum number of views, of all rungs together.
    pub views: usize,
    pub until: Option<Instant>,
    /// Stops it as soon as it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Budget<'a> {
    const fn deadline(&self) -> Deadline<'a> {
        Deadline::new(self.until, self.stop)
    }
}

/// Without bound.
impl Default for Budget<'_> {
    fn default() -> Self {
        Self { bytes: usize::MAX, views: usize::MAX, until: None, stop: None }
    }
}

/// Tries to prove a program for every n.
pub fn prove_all(program: &Program, budget: Budget<'_>) -> Answer {
    let models = Models::default();
    let mut ladder = Ladder::new(program, &models);
    ladder.climb(budget, &mut |_| {});
    ladder.answer()
}

/// Models of the obligations of a ladder.
#[derive(Default)]
pub struct Models(Arena<Model>);

/// Result of a climb.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Climb {
    Proved,
    /// No way leads to a proof.
    Failed,
    /// Some way is left, and this budget is exhausted.
    Short(&'static str),
}

/// A way to a proof.
enum Way {
    /// All of these obligations.
    All(Vec<Obligation>),
    /// Rounds of several processes, by any guess, once faults are excluded: nesting and vectors do
    /// not depend on the kind of ghost scans.
    Rounds,
}

/// A rung that was begun.
struct Begun<'m> {
    rung: Rung,
    state: State<'m>,
}

/// State of a rung.
enum State<'m> {
    /// To be started, for the first time or again.
    Ready(&'m Model),
    /// Paused.
    Paused(&'m Model, Box<Proving<'m>>),
    /// Proved or failed.
    Over,
}

impl Begun<'_> {
    /// Returns the number of views, unless they were dropped.
    fn views(&self) -> usize {
        match self.state {
            State::Ready(_) => 0,
            State::Paused(..) | State::Over => self.rung.finding.as_ref().map_or(0, Finding::views),
        }
    }

    fn bytes(&self) -> usize {
        match &self.state {
            State::Paused(_, proving) => proving.bytes(),
            State::Ready(_) | State::Over => 0,
        }
    }
}

/// Progress of a way.
enum Standing {
    Holds,
    Fails,
    /// Its rung has the maximum number of views of this round.
    Waits,
    /// The budget of the climb is exhausted.
    Short(&'static str),
}

/// The ladder of a program, as far as it was climbed.
pub struct Ladder<'m> {
    program: &'m Program,
    models: &'m Models,
    /// Ways that have not failed.
    ways: Vec<Way>,
    /// Index of the next way.
    turn: usize,
    /// Maximum number of views of each rung in this round.
    most: usize,
    begun: Vec<Begun<'m>>,
    /// Number of dropped views.
    lost: usize,
    answer: Answer,
}

impl<'m> Ladder<'m> {
    /// Makes the ladder of a program. Nothing is tried yet.
    pub fn new(program: &'m Program, models: &'m Models) -> Self {
        Self::paced(program, models, FIRST)
    }

    /// As [`Self::new`], with this maximum number of views for each rung in the first round.
    pub fn paced(program: &'m Program, models: &'m Models, first: usize) -> Self {
        let mut ladder = Self {
            program,
            models,
            ways: Vec::new(),
            turn: 0,
            most: first,
            begun: Vec::new(),
            lost: 0,
            answer: Answer::default(),
        };
        if independence::check(program).is_err() {
            ladder.answer.looks_at_values = true;
            return ladder;
        }
        // The small ways to show nesting first, of each guess: the large ones take much longer.
        let guesses = [Ghosts::Scans, Ghosts::Calls];
        let [small, large] = [0, 1].map(|size| guesses.map(|ghosts| (ghosts, size)));
        let add = |ladder: &mut Self, (ghosts, size): (Ghosts, usize)| {
            ladder.add(nested(ghosts)[size].clone(), ghosts, ladder.ways.len());
        };
        small.into_iter().for_each(|guess| add(&mut ladder, guess));
        ladder.ways.push(Way::Rounds);
        large.into_iter().for_each(|guess| add(&mut ladder, guess));
        ladder
    }

    /// Adds the ways that follow a way to show nesting; returns their number.
    fn add(&mut self, nested: Vec<Obligation>, ghosts: Ghosts, mut at: usize) -> usize {
        let before = self.ways.len();
        for direct in direct(ghosts) {
            let all = [nested.clone(), direct].concat();
            self.ways.insert(at, Way::All(all));
            at += 1;
        }
        self.ways.len() - before
    }

    /// Returns the present answer.
    pub fn answer(&self) -> Answer {
        let rungs = self.begun.iter().map(|begun| begun.rung.clone()).collect();
        Answer { rungs, ..self.answer.clone() }
    }

    /// Returns the number of views, of all rungs.
    pub fn views(&self) -> usize {
        self.lost + self.begun.iter().map(Begun::views).sum::<usize>()
    }

    /// Returns the approximate memory of the paused rungs, in bytes.
    pub fn bytes(&self) -> usize {
        self.begun.iter().map(Begun::bytes).sum()
    }

    /// Continues, within a budget that counts from the beginning; may be called again with a larger
    /// one. The result does not depend on the division into calls. Calls `progress` for each rung
    /// that continues.
    pub fn climb(&mut self, budget: Budget<'m>, progress: &mut dyn FnMut(Obligation)) -> Climb {
        if self.answer.proved {
            return Climb::Proved;
        }
        self.answer.short = None;
        let mut waits = 0;
        loop {
            if self.turn >= self.ways.len() {
                if waits == 0 && self.turn == 0 {
                    return self.fail();
                }
                (self.turn, waits) = (0, 0);
                self.most = self.most.saturating_mul(GROWTH);
                continue;
            }
            let standing = match &self.ways[self.turn] {
                Way::All(all) => {
                    let all = all.clone();
                    let standing = self.advance(&all, budget, progress);
                    if matches!(standing, Standing::Holds) {
                        self.prove(all);
                        return Climb::Proved;
                    }
                    standing
                }
                Way::Rounds => match self.find_rounds(budget.deadline()) {
                    Some(found) => {
                        self.ways.remove(self.turn);
                        let mut at = self.turn;
                        for ghosts in found {
                            let [parts, _] = nested(ghosts);
                            at += self.add(parts[1..].to_vec(), ghosts, at);
                        }
                        continue;
                    }
                    // Other ways may exclude faults.
                    None if self.ways.len() > 1 => Standing::Waits,
                    None => Standing::Fails,
                },
            };
            match standing {
                Standing::Holds | Standing::Waits => {
                    (self.turn, waits) = (self.turn + 1, waits + 1)
                }
                Standing::Fails => _ = self.ways.remove(self.turn),
                Standing::Short(which) => {
                    self.answer.short = Some(which);
                    return Climb::Short(which);
                }
            }
        }
    }

    fn prove(&mut self, mut way: Vec<Obligation>) {
        let is_rounds = way.iter().any(|rung| matches!(rung.ghosts, Ghosts::Rounds { .. }));
        if is_rounds && let Some(safe) = self.safe() {
            way.insert(0, safe);
        }
        (self.answer.proved, self.answer.way) = (true, way);
        self.begun.iter_mut().for_each(|begun| begun.state = State::Over);
    }

    /// No way is left: unless a rung has failed for lack of memory, there is no proof.
    fn fail(&mut self) -> Climb {
        let mut short = self.begun.iter().filter_map(|begun| begun.rung.short());
        match short.find(|which| *which == MEMORY) {
            Some(which) => {
                self.answer.short = Some(which);
                Climb::Short(which)
            }
            None => Climb::Failed,
        }
    }

    /// Returns the rung that has shown that the program does not go wrong.
    fn safe(&self) -> Option<Obligation> {
        let is_safe = |begun: &&Begun<'_>| {
            let Obligation { mode, part, .. } = begun.rung.obligation;
            begun.rung.holds() && mode == Mode::Nested && part != Part::Tokens
        };
        self.begun.iter().find(is_safe).map(|begun| begun.rung.obligation)
    }

    /// Returns the guesses at rounds, once faults are excluded.
    fn find_rounds(&self, deadline: Deadline<'_>) -> Option<Vec<Ghosts>> {
        self.safe()?;
        let found = super::rounds::candidates_within(self.program, deadline);
        // Without time there is another attempt, if at all.
        found.ok().or_else(|| (!deadline.is_over()).then(Vec::new))
    }

    /// Continues a way, until it holds, fails, or has to wait.
    fn advance(
        &mut self,
        way: &[Obligation],
        budget: Budget<'m>,
        progress: &mut dyn FnMut(Obligation),
    ) -> Standing {
        for obligation in way {
            let standing = self.attempt(*obligation, budget, progress);
            if !matches!(standing, Standing::Holds) {
                return standing;
            }
        }
        Standing::Holds
    }

    /// Continues a rung.
    fn attempt(
        &mut self,
        obligation: Obligation,
        budget: Budget<'m>,
        progress: &mut dyn FnMut(Obligation),
    ) -> Standing {
        let left = budget.views.saturating_sub(self.views());
        let deadline = budget.deadline();
        let known = self.begun.iter().position(|begun| begun.rung.obligation == obligation);
        let at = match known {
            Some(at) => at,
            None if left == 0 => return Standing::Short(VIEWS),
            None => match self.begin(obligation, deadline) {
                Ok(at) => at,
                Err(stopped) => return Standing::Short(budget_of(stopped)),
            },
        };
        let held = self.bytes();
        let begun = &mut self.begun[at];
        let (own, own_bytes) = (begun.views(), begun.bytes());
        let (model, mut proving) = match std::mem::replace(&mut begun.state, State::Over) {
            State::Over if begun.rung.holds() => return Standing::Holds,
            State::Over => return Standing::Fails,
            paused @ State::Paused(..) if own > self.most => {
                begun.state = paused;
                return Standing::Waits;
            }
            state if left == 0 => {
                begun.state = state;
                return Standing::Short(VIEWS);
            }
            State::Paused(model, proving) => (model, proving),
            State::Ready(model) => (model, Box::new(Proving::new(model, Sabotage::default()))),
        };
        progress(obligation);
        let others = held - own_bytes;
        let limits = Limits {
            views: self.most.min(own.saturating_add(left)),
            bytes: budget.bytes.saturating_sub(others),
            until: budget.until,
            stop: budget.stop,
        };
        let finding = proving.go_on(limits);
        let (attempt, views) = (finding.attempt.clone(), finding.views());
        begun.rung.finding = Ok(finding);
        match attempt {
            Attempt::Holds => Standing::Holds,
            Attempt::Budget(VIEWS) => {
                begun.state = State::Paused(model, proving);
                if views > self.most { Standing::Waits } else { Standing::Short(VIEWS) }
            }
            Attempt::Budget(MEMORY) if others == 0 => Standing::Fails,
            Attempt::Budget(which) => {
                // It restarts with a larger budget: it may have ended within a step.
                begun.state = State::Ready(model);
                self.lost += views;
                if which == MEMORY { Standing::Waits } else { Standing::Short(which) }
            }
            Attempt::Fails(..) | Attempt::Unsupported(_) => Standing::Fails,
        }
    }

    /// Starts a rung, if it is prepared before the deadline.
    fn begin(&mut self, obligation: Obligation, deadline: Deadline<'_>) -> Result<usize, Stopped> {
        let compiled = compile_within(self.program, obligation, deadline);
        if compiled.is_err() {
            deadline.check()?;
        }
        let compiled = compiled.map(|model| &*self.models.0.alloc(model));
        self.begun.push(Begun {
            state: compiled.as_ref().map_or(State::Over, |model| State::Ready(model)),
            rung: Rung { obligation, finding: compiled.map(|_| Finding::not_begun()) },
        });
        Ok(self.begun.len() - 1)
    }
}
