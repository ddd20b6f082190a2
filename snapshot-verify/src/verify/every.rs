//! An answer for every n: the proof, and where it fails a search for a violation at small n.
//!
//! The proof is that of [`snapshot_everyn`], which shares nothing with the search. What it
//! cannot exclude is no violation: one is only ever found by the search, for a definite n,
//! and replayed and judged as all of them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_everyn::compile::{compile, compile_within};
use snapshot_everyn::ladder::{Answer, Budget, prove_all};
pub use snapshot_everyn::ladder::{Rungs, UnknownRung};
use snapshot_everyn::prove::is_ordered;
use snapshot_everyn::shape::Mode;
use snapshot_everyn::{export, model};
use snapshot_invariant::claim::{Aim, Ghosts, Obligation};
use snapshot_invariant::layout::may_fail;
use snapshot_invariant::write::Part;

use super::by_proof::is_too_large;
use super::confirmation::{Confirmation, confirm};
use super::{Operations, Outcome, Request, Verdict, VerifyError, Watch, verify};
use crate::deadline::Deadline;
use crate::interpret::MachineError;
use crate::program::{Program, Type};

/// The largest n that is searched for a violation.
pub const LARGEST: usize = 4;

/// The n whose executions show what a proof exercised: all roles of two scanned segments and of
/// further processes, and few states.
pub const EXERCISED: usize = 3;

/// How long is searched for a violation, of each n, if there is no limit.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a proof may take, if there is no limit.
const PROOF: Duration = Duration::from_secs(300);

/// The answer for every n.
#[derive(Clone, Debug)]
pub struct Every {
    /// The proof, or the attempts at one.
    pub answer: Answer,
    /// The n for which a violation or a fault was found, and the outcomes of its pairs.
    pub wrong: Option<(Request, Vec<Outcome>)>,
    /// The n that were searched without finding one.
    pub searched: Vec<usize>,
    /// How long the proof and the search took.
    pub elapsed: Duration,
    /// What the independent check says of the proof; nothing if there is none.
    pub confirmation: Option<Confirmation>,
}

impl Every {
    /// Whether there is a proof in which the independent check finds no gap.
    pub fn is_proved(&self) -> bool {
        self.answer.proved && !self.confirmation.as_ref().is_some_and(Confirmation::finds_gap)
    }

    /// `verified`, `violation`, `fault`, `refused` or `unknown`.
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

/// What a certificate of the proof is to keep, part by part; nothing if there is no proof. Those that are
/// not prepared before the deadline are left out.
pub fn certificate_parts(program: &Program, answer: &Answer, deadline: Deadline<'_>) -> Vec<Part> {
    let held = answer.rungs.iter().filter(|rung| rung.holds()).map(|rung| rung.obligation);
    let is_direct = |rung: &model::Obligation| rung.mode == Mode::Direct;
    let Some(last) = held.clone().rfind(is_direct).filter(|_| answer.proved) else {
        return Vec::new();
    };
    let ghosts = match last.ghosts {
        model::Ghosts::Scans => Ghosts::Scans,
        model::Ghosts::Calls => Ghosts::Calls,
        model::Ghosts::Rounds { .. } => Ghosts::Rounds,
    };
    let mut round = None;
    let mut parts: Vec<Part> = Vec::new();
    for rung in held {
        let is_whole = rung.part == model::Part::Whole;
        let is_same = rung.ghosts == last.ghosts;
        // That the program does not go wrong is shown before there are rounds.
        let is_nested = rung.mode == Mode::Nested;
        let is_before = ghosts == Ghosts::Rounds && is_nested && parts.is_empty();
        let aims = match (rung.mode, rung.specification) {
            _ if !is_same && !is_before => Vec::new(),
            (Mode::Nested, _) => {
                let faults = is_whole || rung.part == model::Part::Faults;
                let nesting = is_same && (is_whole || rung.part == model::Part::Tokens);
                let faults = (faults && may_fail(program)).then_some(Aim::Faults);
                // A scan is within itself, and has nothing else to borrow but what is in memory.
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
        // Those of all obligations, once they are known.
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
            classes: export::classes(program, &model),
        }));
    }
    parts.iter_mut().for_each(|part| part.round = round);
    parts
}

/// Whether views are stored in shared memory.
fn has_views(program: &Program) -> bool {
    let is_view = |content: &Type| *content == Type::view();
    program.shared.iter().any(|variable| variable.content.any(&is_view))
}

/// The names of what a proof of the vectors of scans by the observer keeps, whether there is one or
/// not.
///
/// # Errors
/// What is not modelled.
pub fn kept(program: &Program) -> Result<Vec<String>, &'static str> {
    let observer = |rung: &model::Obligation| rung.name() == "scans.observer";
    let rung = Rungs::all().into_iter().find(observer).ok_or("this rung")?;
    let model = compile(program, rung).map_err(|unsupported| unsupported.construct)?;
    Ok(export::kept(program, &model))
}

/// Tries the proof within a budget; not of a program that is too large for [`LARGEST`] processes.
pub(super) fn proof(
    program: &Program,
    budget: Budget<'_>,
    rungs: &Rungs,
    watch: &dyn Watch,
) -> Answer {
    let stopped = || watch.stop().load(Ordering::Relaxed);
    if program.check_extent(LARGEST).is_err() {
        return Answer { proved: false, looks_at_values: false, rungs: Vec::new() };
    }
    prove_all(program, budget, &mut |rung| {
        let goes_on = !stopped() && rungs.contains(rung);
        if goes_on {
            watch.prove(&rung.name());
        }
        goes_on
    })
}

/// Answers for every n. Of the request, only the budgets and the reductions matter. A proof is shown
/// to the independent check, within what the request leaves of the time, and at most two seconds and a
/// quarter of what the proof took.
///
/// # Errors
/// If the search for a violation cannot be made, or this program turns out to be wrong.
pub fn every(
    program: &Program,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Every, VerifyError> {
    every_by(program, request, &Rungs::default(), true, watch)
}

/// As [`every`], by some rungs of the ladder only; `searches`: whether a violation is searched
/// for where there is no proof. If not, the proof has all of the time.
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
    // Every n is this one, too; and a view has as many processes: i, j, t and any other.
    let extent = program.check_extent(LARGEST);
    extent.map_err(|error| MachineError::Extent { processes: LARGEST, error })?;
    let began = Instant::now();
    let end = request.time.and_then(|time| began.checked_add(time));
    let part = if searches { 2 } else { 1 };
    let for_proof = request.time.map_or(PROOF, |time| time / part);
    let budget = Budget {
        bytes: usize::try_from(request.memory).unwrap_or(usize::MAX),
        until: began.checked_add(for_proof),
        stop: Some(watch.stop()),
        ..Budget::default()
    };
    let stopped = || watch.stop().load(Ordering::Relaxed);
    let answer = proof(program, budget, rungs, watch);
    let took = began.elapsed();
    let confirmation = answer.proved.then(|| {
        let left = request.time.map(|time| time.saturating_sub(took));
        confirm(program, &answer, took, request.memory, left, watch)
    });
    let mut every =
        Every { answer, wrong: None, searched: Vec::new(), elapsed: took, confirmation };
    let searching = Instant::now();
    for processes in 2..=LARGEST {
        let left =
            end.map_or(PATIENCE, |end| PATIENCE.min(end.saturating_duration_since(Instant::now())));
        if !searches || every.is_proved() || stopped() || left.is_zero() {
            break;
        }
        let request = Request {
            processes,
            operations: Operations::Grow,
            time: Some(left),
            keep_going: false,
            ..request.clone()
        };
        let outcomes = match verify(program, !every.answer.looks_at_values, &request, watch) {
            // More processes make it no smaller.
            Err(error) if is_too_large(&error) => break,
            outcomes => outcomes?,
        };
        if outcomes.iter().any(|outcome| outcome.verdict.is_wrong()) {
            every.wrong = Some((request, outcomes));
            break;
        }
        let done = |outcome: &Outcome| !matches!(outcome.verdict, Verdict::Unknown(_));
        if outcomes.iter().all(done) {
            every.searched.push(processes);
        }
    }
    every.elapsed += searching.elapsed();
    Ok(every)
}
