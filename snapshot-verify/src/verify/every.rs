//! An answer for every n: a proof, or a violation for some small n. The two searches take turns.
//!
//! The proof is a set of views that the rules of certificates close ([`snapshot_invariant`]), with hints
//! that need no trust ([`snapshot_hints`]); it is of the program as it is written, or of what it is
//! rewritten to ([`crate::program::rewrite`]). What it cannot exclude is no violation: one is only
//! ever found by the search, for a definite n, and replayed and judged as all of them.

use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_hints::ladder::{Answer, INTERRUPTED, Limit, MEMORY, TIME};
pub use snapshot_hints::rungs::{Rungs, UnknownRung};
pub use snapshot_hints::ways::kept;
use snapshot_invariant::digest;
use snapshot_invariant::file::present;

use super::attempt::{Allowance, Attempt};
use super::by_proof::is_too_large;
use super::proof::Proof;
use super::simulation;
use super::subject::{Subject, claim};
use super::unmodelled::{Unmodelled, unmodelled};
use super::{Operations, Outcome, Request, Unfinished, Verdict, VerifyError, Watch, verify};
use crate::deadline::Deadline;
use crate::interpret::MachineError;
use crate::program::Program;
use crate::program::rewrite::Change;
use crate::search::{Defect, ExploreError, SelfCheck};

/// Largest n for which a violation is searched.
pub const LARGEST: usize = 4;

/// The n whose executions show the coverage of a proof: it has all roles (two scanned segments and
/// a further process) and few states.
pub const EXERCISED: usize = 3;

/// Number of views of the proof in the first round.
const FIRST: usize = 50_000;

/// Factor by which views grow from round to round.
const GROWTH: usize = 4;

/// Number of rounds without a limit of time: proofs of up to 12,800,000 views.
const ROUNDS: u32 = 5;

/// States for each n in the search for a violation, per view of the proof: in the first round, in the
/// last, and where no proof is tried any more.
const STATES: u64 = 2;

/// Views of the proof per state for each n, in the rounds between: the search begins again in each,
/// and has found most violations in the first.
const VIEWS: u64 = 4;

/// Returns the number of states for each n in the search for a violation, in a round of this many
/// views. While a proof is `tried`, most of the time is the proof's.
fn states(views: usize, tried: bool) -> u64 {
    let all = (views as u64).saturating_mul(STATES);
    match tried {
        true => all.min(FIRST as u64 * STATES).max(views as u64 / VIEWS),
        false => all,
    }
}

#[derive(Clone, Debug)]
pub struct EveryNAnswer {
    /// The attempts at a proof.
    pub answer: Answer,
    /// The proof, if there is one.
    pub proof: Option<Proof>,
    /// The variables that are rewritten in what is proved, or was tried first.
    pub rewritten: Vec<Change>,
    /// What of it no proof follows.
    pub unmodelled: Vec<Unmodelled>,
    /// The n for which a violation or a fault was found, and the outcomes of its pairs.
    pub wrong: Option<(Request, Vec<Outcome>)>,
    /// The n that were searched without finding a violation.
    pub searched: Vec<usize>,
    /// Time of the proof and the search.
    pub elapsed: Duration,
}

impl EveryNAnswer {
    /// Returns true if there is a proof.
    pub const fn is_proved(&self) -> bool {
        self.proof.is_some()
    }

    /// Returns the number of views of all obligations that were tried.
    pub fn views(&self) -> u64 {
        self.answer.views() as u64
    }

    /// Writes the certificate of the proof, for a text with this digest; returns its size. `None`: there
    /// is no proof.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_certificate(
        &self,
        program: &Program,
        text: String,
        output: &mut dyn Write,
    ) -> io::Result<Option<u64>> {
        let Some(proof) = &self.proof else { return Ok(None) };
        let of = |digest| claim(program, &self.rewritten, digest);
        present(&proof.certificate, &of(digest("")), &of(text), output)
    }

    /// Returns the reason for an unknown answer.
    pub fn short(&self) -> Unfinished {
        match self.answer.short {
            Some(TIME) => Unfinished::Time,
            Some(MEMORY) => Unfinished::Memory,
            Some(INTERRUPTED) => Unfinished::Interrupted,
            Some(_) => Unfinished::Views,
            None => Unfinished::Unproved,
        }
    }

    /// Returns `verified`, `violation`, `fault`, `refused` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        let wrong = self.wrong.iter().flat_map(|(_, outcomes)| outcomes);
        let mut wrong = wrong.map(|outcome| &outcome.verdict).filter(|verdict| verdict.is_wrong());
        match wrong.next() {
            Some(verdict) => verdict.name(),
            None if self.is_proved() => "verified",
            None if self.answer.looks_at_values => "refused",
            None => "unknown",
        }
    }
}

/// Answers for every n. Uses only the budgets and the reductions of the request.
///
/// # Errors
/// If the search for a violation is impossible, or this program turns out to be wrong.
pub fn every(
    program: &Program,
    request: &Request,
    watch: &dyn Watch,
) -> Result<EveryNAnswer, VerifyError> {
    every_by(program, request, &Rungs::default(), true, watch)
}

/// As [`every`], with some rungs of the ladder only. `searches` says to search for a violation
/// where there is no proof.
///
/// The proof and the search take turns, by views and states (`FIRST`, `STATES`): the time
/// ends both, and decides nothing between them. A proof is checked at once; one that rests on a rewriting, or
/// keeps everything, is also held against the search, which has its turn first.
///
/// # Errors
/// As [`every`].
pub fn every_by(
    program: &Program,
    request: &Request,
    rungs: &Rungs,
    searches: bool,
    watch: &dyn Watch,
) -> Result<EveryNAnswer, VerifyError> {
    if program.object().is_some() {
        return Err(VerifyError::Object);
    }
    // Every n includes this one. A view also has this many processes: i, j, t and any other.
    let extent = program.check_extent(LARGEST);
    extent.map_err(|error| MachineError::Extent { processes: LARGEST, error })?;
    let began = Instant::now();
    let end = request.time.and_then(|time| began.checked_add(time));
    let deadline = Deadline::new(end, Some(watch.stop()));
    let proceed = || !deadline.is_over();
    let (limit, subjects) = (Limit { deadline, proceed: &proceed }, Subject::all(program));
    if let Some(options) = request.self_check {
        subjects.iter().try_for_each(|subject| try_rewriting(subject, options))?;
    }
    let mut attempts: Vec<Attempt<'_>> =
        subjects.iter().map(|subject| Attempt::new(subject, rungs, limit)).collect();
    let mut hunt = Hunt { open: Vec::new(), searched: Vec::new(), states: 0, end };
    hunt.open.extend((2..=LARGEST).filter(|_| searches));
    let is_data_independent = !attempts.iter().any(|attempt| attempt.answer().looks_at_values);
    let (mut wrong, mut proved) = (None, None);
    for round in 0.. {
        let is_over = deadline.is_over() || (end.is_none() && round == ROUNDS);
        if is_over || !(attempts.iter().any(Attempt::is_open) || hunt.is_open()) {
            break;
        }
        let views = FIRST.saturating_mul(GROWTH.saturating_pow(round));
        let may = Allowance { views, memory: request.memory };
        for (at, attempt) in attempts.iter_mut().enumerate() {
            if attempt.is_open() && attempt.go_on(may, watch)? {
                proved = Some(at);
                break;
            }
        }
        let is_last = end.is_none() && round + 1 == ROUNDS;
        let is_tried = proved.is_none() && !is_last && attempts.iter().any(Attempt::is_open);
        let states = states(views, is_tried);
        let is_alone = proved.is_none_or(|at| attempts[at].stands_alone());
        if is_alone {
            wrong = hunt.search(program, is_data_independent, request, states, watch)?;
        }
        match (proved, &wrong) {
            (Some(_), Some(_)) => return Err(VerifyError::Contradiction),
            (None, None) => {}
            _ => break,
        }
    }
    // Without a proof: what was found of the first.
    let told = attempts.swap_remove(proved.unwrap_or_default());
    let checking = |found: &Proof| found.elapsed + found.projection();
    let checking = told.proof.as_ref().map_or(Duration::ZERO, checking);
    let elapsed = began.elapsed().saturating_sub(checking);
    Ok(EveryNAnswer {
        answer: told.answer(),
        rewritten: told.subject.changes.clone(),
        unmodelled: unmodelled(&told.subject.program),
        proof: told.proof,
        wrong,
        searched: hunt.searched,
        elapsed,
    })
}

/// The self-check of a rewriting.
fn try_rewriting(subject: &Subject<'_>, options: SelfCheck) -> Result<(), VerifyError> {
    if subject.changes.is_empty() {
        return Ok(());
    }
    simulation::check(subject, options)?.map(|_| ()).map_err(|difference| {
        VerifyError::Explore(ExploreError::SelfCheck(Box::new(Defect {
            reduction: "rewriting",
            what: difference.what,
            step: difference.moves.join("; "),
            state: "()".to_owned(),
        })))
    })
}

/// Search for a violation at small n.
struct Hunt {
    /// The undecided n.
    open: Vec<usize>,
    /// The n without a violation.
    searched: Vec<usize>,
    /// Number of states of the last search for each of these.
    states: u64,
    end: Option<Instant>,
}

impl Hunt {
    const fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Searches each undecided n, with this many states, unless it was searched with as many.
    fn search(
        &mut self,
        program: &Program,
        is_data_independent: bool,
        request: &Request,
        states: u64,
        watch: &dyn Watch,
    ) -> Result<Option<(Request, Vec<Outcome>)>, VerifyError> {
        if states <= self.states {
            return Ok(None);
        }
        self.states = states;
        for processes in std::mem::take(&mut self.open) {
            let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
            if watch.stop().load(Ordering::Relaxed) || left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let request = Request {
                processes,
                operations: Operations::Grow,
                time: left,
                states: Some(states),
                keep_going: false,
                ..request.clone()
            };
            let outcomes = match verify(program, is_data_independent, &request, watch) {
                // Instances of more processes are no smaller.
                Err(error) if is_too_large(&error) => break,
                outcomes => outcomes?,
            };
            if outcomes.iter().any(|outcome| outcome.verdict.is_wrong()) {
                return Ok(Some((request, outcomes)));
            }
            let is_unknown = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Unknown(_));
            let goes_on =
                |outcome: &Outcome| matches!(outcome.verdict, Verdict::Unknown(Unfinished::States));
            if outcomes.iter().any(goes_on) {
                self.open.push(processes);
            } else if !outcomes.iter().any(is_unknown) {
                self.searched.push(processes);
            }
        }
        self.searched.sort_unstable();
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_work_is_that_of_a_proof_while_one_is_tried() {
        let rounds = (0..ROUNDS).map(|round| FIRST * GROWTH.pow(round));
        let states = |tried| rounds.clone().map(|views| states(views, tried)).collect::<Vec<_>>();
        assert_eq!(states(true), [100_000, 100_000, 200_000, 800_000, 3_200_000]);
        assert_eq!(states(false), [100_000, 400_000, 1_600_000, 6_400_000, 25_600_000]);
    }
}
