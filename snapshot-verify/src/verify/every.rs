//! An answer for every n: a proof, or a violation for some small n. The two searches take turns.
//!
//! The proof is that of [`snapshot_everyn`], which shares nothing with the search, or, where that finds none,
//! one by the rules of certificates alone ([`snapshot_invariant::guess`]); it is of the program as it is
//! written, or of what it is rewritten to ([`crate::program::rewrite`]). What it
//! cannot exclude is no violation: one is only ever found by the search, for a definite n,
//! and replayed and judged as all of them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_everyn::compile::{compile, compile_within};
use snapshot_everyn::ladder::{Answer, Models};
pub use snapshot_everyn::ladder::{Rungs, UnknownRung};
use snapshot_everyn::prove::{INTERRUPTED, MEMORY, TIME, is_ordered};
use snapshot_everyn::shape::Mode;
use snapshot_everyn::{export, model};
use snapshot_invariant::claim::{Aim, Claim, Ghosts, Obligation};
use snapshot_invariant::layout::may_fail;
use snapshot_invariant::write::Part;

use super::attempt::{Allowance, Attempt};
use super::by_proof::is_too_large;
use super::confirmation::{Closed, Confirmation, Unconfirmed};
use super::simulation;
use super::subject::{Subject, claim};
use super::unmodelled::{Unmodelled, unmodelled};
use super::{Operations, Outcome, Request, Unfinished, Verdict, VerifyError, Watch, verify};
use crate::deadline::Deadline;
use crate::interpret::MachineError;
use crate::program::rewrite::Change;
use crate::program::{Program, Type};
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

/// States for each n in the search for a violation, per view of the proof: all these searches take
/// a fraction of the time of the proof.
const STATES: u64 = 2;

#[derive(Clone, Debug)]
pub struct Every {
    /// The prover's proof, or its attempts at one.
    pub answer: Answer,
    /// The proof by the rules of certificates alone, if it is one.
    pub closed: Option<Closed>,
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
    /// Result of the independent check of the proof; `None` without a proof.
    pub confirmation: Option<Confirmation>,
}

impl Every {
    /// Returns true if there is a proof in which the independent check finds no gap.
    pub fn is_proved(&self) -> bool {
        let is_closed = self.answer.proved || self.closed.is_some();
        is_closed && !self.confirmation.as_ref().is_some_and(Confirmation::finds_gap)
    }

    /// Views of all obligations that were tried by the prover, or closed without it.
    pub fn views(&self) -> u64 {
        let rungs = self.answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok());
        let tried: usize = rungs.map(snapshot_everyn::prove::Finding::views).sum();
        let closed = self.closed.as_ref().map_or(0, |closed| closed.summary.views());
        (tried + closed) as u64
    }

    /// What a certificate of the proof claims of the program of the text, and its parts. Those that are not prepared
    /// before the deadline are left out.
    pub fn certificate(
        &self,
        program: &Program,
        digest: String,
        deadline: Deadline<'_>,
    ) -> (Claim, Vec<Part>) {
        let claim = claim(program, &self.rewritten, digest);
        let parts = match &self.closed {
            Some(closed) => closed.parts.clone(),
            None => {
                let subjects = Subject::all(program);
                let mut is_this = subjects.iter().filter(|one| one.changes == self.rewritten);
                let parts = |subject: &Subject<'_>| {
                    certificate_parts(&subject.program, &self.answer, deadline)
                };
                is_this.next().map(parts).unwrap_or_default()
            }
        };
        (claim, parts)
    }

    /// Returns why an existing proof is not confirmed, or `None`.
    pub fn unconfirmed(&self) -> Option<&Unconfirmed> {
        self.confirmation.as_ref()?.result.as_ref().err().filter(|_| self.is_proved())
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

    /// Returns `verified`, `unconfirmed`, `violation`, `fault`, `refused` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        let wrong = self.wrong.iter().flat_map(|(_, outcomes)| outcomes);
        let mut wrong = wrong.map(|outcome| &outcome.verdict).filter(|verdict| verdict.is_wrong());
        match wrong.next() {
            Some(verdict) => verdict.name(),
            None if self.unconfirmed().is_some() => "unconfirmed",
            None if self.is_proved() => "verified",
            None if self.answer.looks_at_values => "refused",
            None => "unknown",
        }
    }
}

/// What a certificate of the proof is to keep, part by part; nothing if there is no proof. Those that are
/// not prepared before the deadline are left out.
pub(super) fn certificate_parts(
    program: &Program,
    answer: &Answer,
    deadline: Deadline<'_>,
) -> Vec<Part> {
    let Some(last) = answer.way.last() else { return Vec::new() };
    let ghosts = match last.ghosts {
        model::Ghosts::Scans => Ghosts::Scans,
        model::Ghosts::Calls => Ghosts::Calls,
        model::Ghosts::Rounds { .. } => Ghosts::Rounds,
    };
    let mut round = None;
    let mut parts: Vec<Part> = Vec::new();
    for rung in answer.way.iter().copied() {
        let is_whole = rung.part == model::Part::Whole;
        let is_same = rung.ghosts == last.ghosts;
        // Absence of faults is shown before there are rounds.
        let is_nested = rung.mode == Mode::Nested;
        let is_before = ghosts == Ghosts::Rounds && is_nested && parts.is_empty();
        let aims = match (rung.mode, rung.specification) {
            _ if !is_same && !is_before => Vec::new(),
            (Mode::Nested, _) => {
                let faults = is_whole || rung.part == model::Part::Faults;
                let nesting = is_same && (is_whole || rung.part == model::Part::Tokens);
                let faults = (faults && may_fail(program)).then_some(Aim::Faults);
                // A scan lies within itself, and can borrow only views in shared memory.
                let borrows = ghosts != Ghosts::Scans || has_views(program);
                let nesting = (nesting && borrows).then_some(Aim::Nesting);
                faults.into_iter().chain(nesting).collect::<Vec<_>>()
            }
            (Mode::Direct, _) if rung.specification != last.specification => Vec::new(),
            (Mode::Direct, model::Specification::Observer) => vec![Aim::Observer],
            (Mode::Direct, model::Specification::Local) => match rung.part {
                model::Part::By(member) => vec![Aim::Memory(member)],
                _ => Vec::new(),
            },
        };
        let Ok(model) = compile_within(program, rung, deadline) else { continue };
        // Rounds of all obligations, once they are known.
        round = round.or_else(|| export::round(&model));
        let nested = parts.iter().any(|part| part.obligation.aim == Aim::Nesting);
        parts.extend(aims.into_iter().map(|aim| Part {
            obligation: Obligation { ghosts, aim },
            nested,
            kept: export::kept(program, &model),
            point: export::point(&model),
            round: None,
            late: model.delays,
            loose: export::loose(&model),
            decided: export::decided(program, &model),
            alike: !is_ordered(&model),
            names: export::named(program, &model),
            clock: None,
            classes: export::classes(program, &model),
        }));
    }
    parts.iter_mut().for_each(|part| part.round = round);
    parts
}

/// Returns true if shared memory stores views.
fn has_views(program: &Program) -> bool {
    let is_view = |content: &Type| *content == Type::view();
    program.shared.iter().any(|variable| variable.content.any(&is_view))
}

/// Returns the names of the state tracked by a proof of scan vectors by the observer, whether such
/// a proof exists or not.
///
/// # Errors
/// The construct that has no model.
pub fn kept(program: &Program) -> Result<Vec<String>, &'static str> {
    let observer = |rung: &model::Obligation| rung.name() == "scans.observer";
    let rung = Rungs::all().into_iter().find(observer).ok_or("this rung")?;
    let model = compile(program, rung).map_err(|unsupported| unsupported.construct)?;
    Ok(export::kept(program, &model))
}

/// Answers for every n. Uses only the budgets and the reductions of the request.
///
/// # Errors
/// If the search for a violation is impossible, or this program turns out to be wrong.
pub fn every(
    program: &Program,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Every, VerifyError> {
    every_by(program, request, &Rungs::default(), true, watch)
}

/// As [`every`], with some rungs of the ladder only. `searches` says to search for a violation
/// where there is no proof.
///
/// The proof and the search take turns, by views and states (`FIRST`, `STATES`): the time
/// ends both, and decides nothing between them. A proof is shown to the independent check at once; one that rests on
/// a rewriting, or on the rules of certificates alone, is also held against the search, which has its turn first.
///
/// # Errors
/// As [`every`].
pub fn every_by(
    program: &Program,
    request: &Request,
    rungs: &Rungs,
    searches: bool,
    watch: &dyn Watch,
) -> Result<Every, VerifyError> {
    if program.object().is_some() {
        return Err(VerifyError::Object);
    }
    // Every n includes this one. A view also has this many processes: i, j, t and any other.
    let extent = program.check_extent(LARGEST);
    extent.map_err(|error| MachineError::Extent { processes: LARGEST, error })?;
    let began = Instant::now();
    let end = request.time.and_then(|time| began.checked_add(time));
    let (models, subjects) = (Models::default(), Subject::all(program));
    if let Some(options) = request.self_check {
        subjects.iter().try_for_each(|subject| try_rewriting(subject, options))?;
    }
    let mut attempts: Vec<Attempt<'_>> =
        subjects.iter().map(|subject| Attempt::new(subject, rungs, &models)).collect();
    let mut hunt = Hunt { open: Vec::new(), searched: Vec::new(), end };
    hunt.open.extend((2..=LARGEST).filter(|_| searches));
    let speaks_for_all = !attempts.iter().any(|attempt| attempt.answer().looks_at_values);
    let (mut wrong, mut proved) = (None, None);
    for round in 0.. {
        let is_over = watch.stop().load(Ordering::Relaxed)
            || end.is_some_and(|end| Instant::now() >= end)
            || (end.is_none() && round == ROUNDS);
        if is_over || !(attempts.iter().any(Attempt::is_open) || hunt.is_open()) {
            break;
        }
        let views = FIRST.saturating_mul(GROWTH.saturating_pow(round));
        let may = Allowance { views, memory: request.memory, began, time: request.time };
        let mut open = attempts.iter_mut().enumerate().filter(|(_, attempt)| attempt.is_open());
        proved = open.find_map(|(at, attempt)| attempt.go_on(may, watch).then_some(at));
        let uncovered = attempts.iter().find_map(Attempt::uncovered);
        if let Some(uncovered) = uncovered {
            return Err(VerifyError::Uncovered(uncovered.clone()));
        }
        let states = (views as u64).saturating_mul(STATES);
        let is_alone = proved.is_none_or(|at| attempts[at].stands_alone());
        if is_alone {
            wrong = hunt.search(program, speaks_for_all, request, states, watch)?;
        }
        match (proved, &wrong) {
            (Some(_), Some(_)) => return Err(VerifyError::Contradiction),
            (None, None) => {}
            _ => break,
        }
    }
    // Without a proof: what was found of the first.
    let told = attempts.swap_remove(proved.unwrap_or_default());
    let checking = |found: &Confirmation| found.elapsed + found.projection();
    let checking = told.confirmation.as_ref().map_or(Duration::ZERO, checking);
    let elapsed = began.elapsed().saturating_sub(checking);
    Ok(Every {
        answer: told.answer(),
        rewritten: told.subject.changes.clone(),
        unmodelled: unmodelled(&told.subject.program),
        closed: told.closed,
        confirmation: told.confirmation,
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
    end: Option<Instant>,
}

impl Hunt {
    const fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Searches each undecided n, with this many states.
    fn search(
        &mut self,
        program: &Program,
        speaks_for_all: bool,
        request: &Request,
        states: u64,
        watch: &dyn Watch,
    ) -> Result<Option<(Request, Vec<Outcome>)>, VerifyError> {
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
            let outcomes = match verify(program, speaks_for_all, &request, watch) {
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
