//! From a program to an answer for every n: the ways to a proof that are tried, and their order.
//!
//! A program is proved with some kind of ghost scans if the views that its scans return belong to
//! ghost scans within them, and the vectors that ghost scans assemble themselves are right, by one
//! specification or another. A wrong guess can only fail. Behind the ways that keep what analyses find
//! come those that keep everything ([`guesses`]).
//!
//! The ways to a proof take turns: in each round every way that has not failed continues until its
//! rung has a number of views, which grows from round to round (`FIRST`, `GROWTH`). So a fruitless
//! way takes at most a multiple of the cost of the successful one; no rung restarts; and the result
//! depends on views alone, not on a clock. The ways that keep everything join in the third round, or once they are alone.

use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use snapshot_invariant::Budget as Spent;
use snapshot_invariant::Unfinished;
use snapshot_invariant::claim::{Claim, Ghosts, Obligation, Property};
use snapshot_invariant::file::File;
use snapshot_invariant::layout::{Layout, may_fail};
use snapshot_invariant::search::{Closing, Obstacle};
use snapshot_invariant::write::{Part, Summary, WriteError, fits};
use snapshot_language::deadline::Stopped;
use snapshot_language::program::{Program, independence};

pub use crate::attempt::{
    Answer, Attempt, Budget, Climb, INTERRUPTED, Limit, MEMORY, Rung, TIME, VIEWS,
};
use crate::attempt::{again, begin, budget_of};
use crate::guess::guesses;
use crate::rounds;
use crate::rungs::Rungs;
use crate::ways::{Hint, Way, ways};

/// Maximum number of views of a rung in the first round: the rungs of most proofs have fewer.
const FIRST: usize = 400_000;

/// Factor by which this maximum grows from round to round.
const GROWTH: usize = 4;

/// Of a guess at rounds that is not the first, the part of this maximum: programs name the begin of
/// a round before its other writes, so the first guess is usually the one.
const LATER: usize = 4;

/// Maximum number of views of a part that keeps everything.
const GUESSED: usize = 200_000;

/// Tries to prove a program for every n.
pub fn prove_all(program: &Program, budget: Budget) -> Answer {
    let proceed = || true;
    let mut ladder = Ladder::new(program, &Rungs::default(), Limit::never(&proceed));
    ladder.climb(budget, &mut |_| {});
    ladder.answer()
}

/// A rung that was begun.
struct Begun<'m> {
    hint: Hint,
    rung: Rung,
    state: State<'m>,
    part: Option<Part>,
}

/// State of a rung.
enum State<'m> {
    /// To be started, for the first time or again.
    Ready,
    /// Paused, or closed.
    Begun(Box<Closing<Rc<Layout<'m>>>>),
    Over,
}

impl Begun<'_> {
    /// Returns the number of views, unless they were dropped.
    fn views(&self) -> usize {
        match self.state {
            State::Ready => 0,
            State::Begun(_) | State::Over => self.rung.views(),
        }
    }

    fn bytes(&self) -> usize {
        match &self.state {
            State::Begun(closing) => closing.bytes(),
            State::Ready | State::Over => 0,
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
    limit: Limit<'m>,
    choice: Rungs,
    /// Ways that have not failed.
    ways: Vec<Way>,
    /// Index of the next way.
    turn: usize,
    /// Maximum number of views of each rung in this round.
    most: usize,
    /// From this maximum on, ways that keep everything have their turn beside others.
    late: usize,
    begun: Vec<Begun<'m>>,
    /// The rungs of the proof, by their indices.
    proof: Vec<usize>,
    /// Number of dropped views.
    lost: usize,
    answer: Answer,
}

impl<'m> Ladder<'m> {
    /// Makes the ladder of a program, with some rungs. Nothing is tried yet.
    pub fn new(program: &'m Program, choice: &Rungs, limit: Limit<'m>) -> Self {
        Self::paced(program, choice, limit, FIRST)
    }

    /// As [`Self::new`], with this maximum number of views for each rung in the first round.
    pub fn paced(program: &'m Program, choice: &Rungs, limit: Limit<'m>, first: usize) -> Self {
        let mut ladder = Self {
            program,
            limit,
            choice: choice.clone(),
            ways: Vec::new(),
            turn: 0,
            most: first,
            late: first.saturating_mul(GROWTH * GROWTH),
            begun: Vec::new(),
            proof: Vec::new(),
            lost: 0,
            answer: Answer::default(),
        };
        ladder.answer.looks_at_values = independence::check(program).is_err();
        if fits(program).is_ok() {
            let [small, whole] = [false, true].map(|is_whole| {
                let kinds = [Ghosts::Scans, Ghosts::Calls];
                kinds.map(|ghosts| ways(program, (ghosts, None), is_whole)).concat()
            });
            // The small ways first: the large ones take much longer.
            let others = whole.into_iter().filter(|way| !small.contains(way)).collect::<Vec<_>>();
            ladder.ways.extend(small.into_iter().map(Way::Hinted));
            ladder.ways.push(Way::Rounds);
            ladder.ways.extend(others.into_iter().map(Way::Hinted));
            ladder.ways.extend(guesses(program).into_iter().map(Way::Guessed));
        }
        ladder
    }

    /// Makes a ladder of these ways, whatever they keep: each is a list of parts.
    pub fn of_parts(program: &'m Program, ways: Vec<Vec<Part>>, limit: Limit<'m>) -> Self {
        let mut ladder = Self::new(program, &Rungs::default(), limit);
        ladder.ways = ways.into_iter().map(Way::Guessed).collect();
        ladder
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
    pub fn climb(&mut self, budget: Budget, progress: &mut dyn FnMut(Obligation)) -> Climb {
        if self.answer.is_proved() {
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
            let hints: Vec<Hint> = match &self.ways[self.turn] {
                Way::Hinted(steps) | Way::Later(steps) => {
                    steps.iter().copied().map(Hint::Analysis).collect()
                }
                Way::Guessed(parts) => {
                    parts.iter().cloned().map(|part| Hint::Guess(Box::new(part))).collect()
                }
                Way::Rounds => Vec::new(),
            };
            let standing = match hints.is_empty() {
                false if self.is_early() => Standing::Waits,
                false => {
                    let is_later = matches!(self.ways[self.turn], Way::Later(_));
                    let round = self.most / if is_later { LATER } else { 1 };
                    self.advance(&hints, (round, budget), progress)
                }
                true => match self.find_rounds() {
                    Some(found) => {
                        let of = |(number, round): (usize, [u16; 2])| {
                            let way = if number == 0 { Way::Hinted } else { Way::Later };
                            let ghosts = (Ghosts::Rounds, Some(round));
                            ways(self.program, ghosts, false).into_iter().map(way)
                        };
                        let found: Vec<Way> = found.into_iter().enumerate().flat_map(of).collect();
                        self.ways.splice(self.turn..=self.turn, found);
                        continue;
                    }
                    // Other ways may exclude faults.
                    None if self.ways.len() > 1 => Standing::Waits,
                    None => Standing::Fails,
                },
            };
            match standing {
                Standing::Holds => {
                    self.prove(&hints);
                    return Climb::Proved;
                }
                Standing::Waits => (self.turn, waits) = (self.turn + 1, waits + 1),
                Standing::Fails => _ = self.ways.remove(self.turn),
                Standing::Short(which) => {
                    self.answer.short = Some(which);
                    return Climb::Short(which);
                }
            }
        }
    }

    fn prove(&mut self, hints: &[Hint]) {
        let at = |hint: &Hint| self.begun.iter().position(|begun| begun.hint == *hint);
        self.proof = hints.iter().filter_map(at).collect();
        let parts = self.proof.iter().filter_map(|at| self.begun[*at].part.clone());
        self.answer.parts = parts.collect();
        self.answer.is_hinted = self.proof.iter().any(|at| self.begun[*at].rung.is_hinted);
        for (at, begun) in self.begun.iter_mut().enumerate() {
            if !self.proof.contains(&at) {
                begun.state = State::Over;
            }
        }
    }

    /// Writes the certificate of the proof, with a claim that is about its program, and forgets the
    /// views. `None`: there is no proof, or its views were forgotten.
    ///
    /// # Errors
    /// If it cannot be written, or the budget runs out.
    pub fn certificate(
        &mut self,
        claim: &Claim,
        output: &mut dyn Write,
    ) -> Option<Result<Summary, WriteError>> {
        let mut closed = Vec::new();
        for at in std::mem::take(&mut self.proof) {
            match std::mem::replace(&mut self.begun[at].state, State::Over) {
                State::Begun(closing) => closed.push(closing),
                State::Ready | State::Over => return None,
            }
        }
        (!closed.is_empty()).then(|| {
            let mut file = File::begin(claim, closed.len(), output)?;
            for closing in closed {
                let (layout, family) = closing.into_family();
                file.add(&layout, &family)?;
            }
            file.end()
        })
    }

    /// Returns true if it is the turn of a way that keeps everything, and others are to come first.
    fn is_early(&self) -> bool {
        let is_guess = |way: &Way| matches!(way, Way::Guessed(_));
        self.most < self.late && is_guess(&self.ways[self.turn]) && !self.ways.iter().all(is_guess)
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

    /// Returns the guesses at rounds, once faults are excluded.
    fn find_rounds(&self) -> Option<Vec<[u16; 2]>> {
        let is_safe = |begun: &Begun<'_>| {
            begun.rung.obligation.property == Property::Faults
                && begun.rung.obligation.ghosts != Ghosts::Rounds
                && begun.rung.holds()
        };
        if may_fail(self.program) && !self.begun.iter().any(is_safe) {
            return None;
        }
        let deadline = self.limit.deadline;
        let found = rounds::candidates(self.program, deadline);
        // Without time there is another attempt, if at all.
        found.ok().or_else(|| (!deadline.is_over()).then(Vec::new))
    }

    /// Continues a way, until it holds, fails, or has to wait.
    fn advance(
        &mut self,
        hints: &[Hint],
        (round, budget): (usize, Budget),
        progress: &mut dyn FnMut(Obligation),
    ) -> Standing {
        // Absence of faults was shown before there are rounds, and is shown again for them last.
        let is_last = |hint: &Hint| match hint {
            Hint::Analysis(step) => step.is_of_rounds_faults(),
            Hint::Guess(_) => false,
        };
        let (last, first): (Vec<&Hint>, Vec<&Hint>) = hints.iter().partition(|one| is_last(one));
        for hint in first.into_iter().chain(last) {
            let standing = self.attempt(hint, (round, budget), progress);
            if !matches!(standing, Standing::Holds) {
                return standing;
            }
        }
        Standing::Holds
    }

    /// Continues a rung.
    fn attempt(
        &mut self,
        hint: &Hint,
        (round, budget): (usize, Budget),
        progress: &mut dyn FnMut(Obligation),
    ) -> Standing {
        let (obligation, most) = match hint {
            Hint::Analysis(step) => (step.obligation, usize::MAX),
            Hint::Guess(part) => (part.obligation, GUESSED),
        };
        if !self.choice.contains(obligation) {
            return Standing::Fails;
        }
        let left = budget.views.saturating_sub(self.views());
        let known = self.begun.iter().position(|begun| begun.hint == *hint);
        let at = match known {
            Some(at) => at,
            None if left == 0 => return Standing::Short(VIEWS),
            None => match self.begin(hint, obligation) {
                Ok(at) => at,
                Err(stopped) => return Standing::Short(budget_of(stopped)),
            },
        };
        let begun = &self.begun[at];
        match (&begun.rung.attempt, begun.views() > round) {
            (Attempt::Holds, _) => return Standing::Holds,
            (Attempt::Fails(..) | Attempt::Unsupported(_), _) => return Standing::Fails,
            _ if begun.views() > most => return Standing::Fails,
            (Attempt::Budget(_), true) => return Standing::Waits,
            (Attempt::Budget(MEMORY), _) if matches!(begun.state, State::Over) => {
                return Standing::Fails;
            }
            _ if left == 0 => return Standing::Short(VIEWS),
            _ => {}
        }
        progress(obligation);
        self.go_on(at, (round, most), left, budget.bytes)
    }

    /// Continues a rung that has not ended.
    fn go_on(
        &mut self,
        at: usize,
        (round, most): (usize, usize),
        left: usize,
        memory: usize,
    ) -> Standing {
        let (held, limit) = (self.bytes(), self.limit);
        let begun = &mut self.begun[at];
        let (own, others) = (begun.views(), held - begun.bytes());
        let began = Instant::now();
        let mut obstacle = None;
        if matches!(begun.state, State::Ready) {
            match begin(self.program, begun.part.as_ref(), limit) {
                Ok(closing) => begun.state = State::Begun(Box::new(closing)),
                Err(found) => obstacle = Some(found),
            }
        }
        if let State::Begun(closing) = &mut begun.state {
            let most = round.min(own.saturating_add(left)).min(most);
            let mut proceed = limit.proceed;
            let memory = memory.saturating_sub(others) as u64;
            let mut spent = Spent { memory, proceed: &mut proceed };
            let mut closed = closing.go_on(most, &mut spent);
            if matches!(closed, Err(Obstacle::Failure(_))) && closing.layout.alike {
                // One list for all places of t may be too coarse.
                if let Some(again) = again(self.program, begun.part.as_mut(), limit) {
                    **closing = again;
                    closed = closing.go_on(most, &mut spent);
                }
            }
            begun.rung.lists =
                closing.lists().map(|(kinds, views)| (kinds.to_vec(), views)).collect();
            begun.rung.centres = closing.centres();
            begun.rung.attempt = match closed {
                Ok(()) => Attempt::Holds,
                Err(found) => {
                    obstacle = Some(found);
                    Attempt::Budget(VIEWS)
                }
            };
            if let Some(Obstacle::Failure(failure)) = obstacle {
                begun.rung.attempt = Attempt::Fails(failure, closing.events());
                begun.state = State::Over;
            }
        }
        begun.rung.elapsed += began.elapsed();
        let views = begun.views();
        let which = match obstacle {
            None => return Standing::Holds,
            Some(Obstacle::Views) if views > most => return Standing::Fails,
            Some(Obstacle::Views) if views > round => return Standing::Waits,
            Some(Obstacle::Views) => return Standing::Short(VIEWS),
            Some(Obstacle::Failure(failure)) => {
                if !matches!(begun.rung.attempt, Attempt::Fails(..)) {
                    begun.rung.attempt = Attempt::Fails(failure, Vec::new());
                }
                begun.state = State::Over;
                return Standing::Fails;
            }
            Some(Obstacle::Unfinished(Unfinished::Memory)) => MEMORY,
            Some(Obstacle::Unfinished(Unfinished::Ended)) => {
                limit.deadline.check().map_or_else(budget_of, |()| INTERRUPTED)
            }
        };
        begun.rung.attempt = Attempt::Budget(which);
        // It restarts with a larger budget: it may have ended within a step.
        begun.state = State::Ready;
        // Rungs that hold keep their memory.
        let is_paused = |begun: &Begun<'_>| begun.bytes() > 0 && !begun.rung.holds();
        if which == MEMORY && !self.begun.iter().any(is_paused) {
            self.begun[at].state = State::Over;
            return Standing::Fails;
        }
        self.lost += views;
        if which == MEMORY { Standing::Waits } else { Standing::Short(which) }
    }

    /// Prepares a rung, if that ends before the deadline.
    fn begin(&mut self, hint: &Hint, obligation: Obligation) -> Result<usize, Stopped> {
        let deadline = self.limit.deadline;
        let part = match hint {
            Hint::Analysis(step) => step.part(self.program, deadline),
            Hint::Guess(part) => Ok((**part).clone()),
        };
        let (attempt, part, state) = match part {
            Ok(part) => (Attempt::Budget(VIEWS), Some(part), State::Ready),
            Err(unsupported) => {
                deadline.check()?;
                (Attempt::Unsupported(unsupported), None, State::Over)
            }
        };
        let rung = Rung {
            obligation,
            is_hinted: matches!(hint, Hint::Analysis(_)),
            attempt,
            lists: Vec::new(),
            centres: 0,
            elapsed: Duration::ZERO,
        };
        self.begun.push(Begun { hint: hint.clone(), rung, state, part });
        Ok(self.begun.len() - 1)
    }
}
