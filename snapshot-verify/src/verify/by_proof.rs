//! Answers for one n by the proof for every n ([`super::every`]), where that is cheaper than the
//! search.
//!
//! A proof for every n is one for each n, and does not get larger with it; but most searches for
//! small n take less time than an attempt at it. So the search begins alone. When it has grown to
//! some size, all threads at rest between two levels, it waits for an attempt of limited size
//! ([`TURNS`], in states and views: the answer and its numbers do not depend on the machine). If
//! there is a proof, that is the answer for all pairs; else the search goes on. With a limit of
//! time, what may be tried at all is tried when a quarter of it is over; without any limit but
//! memory, when that is used up.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use snapshot_core::Process;
use snapshot_everyn::ladder::{Answer, Budget, Rungs};
use snapshot_everyn::prove::{Attempt, Finding, INTERRUPTED};

use super::confirmation::{Confirmation, confirm};
use super::every::{Every, proof};
use super::outcome::ByProof;
use super::{Effort, Measures, Outcome, Request, Unfinished, Verdict, VerifyError, Watch, verify};
use crate::instance::InstanceError;
use crate::program::Program;
use crate::search::layout::LayoutError;
use crate::search::{ExploreError, Progress};

/// At how many states, of all pairs together, a proof of at most how many views is tried. A
/// million states take a second or two, and as many views as belong to it less than that.
const TURNS: [(u64, usize); 2] = [(1_000_000, 40_000), (16_000_000, 500_000)];

/// The share of the time after which the proof is tried, and that it may take.
const SHARE: u32 = 4;

/// By which way a question about one n is answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Way {
    /// By the search.
    Search,
    /// By the search, and where it grows large by the proof for every n.
    Cheaper,
    /// By the proof for every n, of these rungs.
    Proof(Rungs),
}

/// Answers as [`verify`], by one way or another. If nothing but the proof was to be tried, what
/// came of it, too.
///
/// # Errors
/// As [`verify`].
pub fn verify_by(
    program: &Program,
    speaks_for_all: bool,
    request: &Request,
    way: &Way,
    watch: &dyn Watch,
) -> Result<(Vec<Outcome>, Option<Every>), VerifyError> {
    match way {
        Way::Search => Ok((verify(program, speaks_for_all, request, watch)?, None)),
        Way::Cheaper => Ok((cheaper(program, speaks_for_all, request, watch)?, None)),
        Way::Proof(rungs) => {
            let every = super::every::every_by(program, request, rungs, false, watch)?;
            Ok((unsearched(request, &every, watch), Some(every)))
        }
    }
}

fn cheaper(
    program: &Program,
    speaks_for_all: bool,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, VerifyError> {
    if !speaks_for_all || program.object().is_some() {
        return verify(program, speaks_for_all, request, watch);
    }
    let trying = Trying::new(program, request, watch);
    let mut outcomes = match verify(program, speaks_for_all, request, &trying) {
        Err(error) if is_too_large(&error) => {
            if !trying.is_proved() {
                trying.attempt(usize::MAX, request.memory, trying.end);
            }
            let pairs = request.pairs.among(request.processes).into_iter();
            match trying.is_proved() {
                true => pairs.map(|pair| open(pair, Unfinished::Answered)).collect(),
                false => return Err(error),
            }
        }
        outcomes => outcomes?,
    };
    let lacks_memory =
        |outcome: &Outcome| matches!(outcome.verdict, Verdict::Unknown(Unfinished::Memory));
    if outcomes.iter().any(lacks_memory) && !trying.is_proved() {
        trying.attempt(usize::MAX, request.memory, trying.end);
    }
    if let Some(proof) = trying.found.take() {
        conclude(&mut outcomes, request, proof)?;
    }
    Ok(outcomes)
}

/// What is not known of a pair without any search.
fn open(pair: [Process; 2], cause: Unfinished) -> Outcome {
    Outcome {
        pair: Some(pair),
        verdict: Verdict::Unknown(cause),
        scope: Vec::new(),
        measures: Measures::default(),
    }
}

/// The proof answers for all pairs that the search has not finished.
fn conclude(
    outcomes: &mut [Outcome],
    request: &Request,
    proof: ByProof,
) -> Result<(), VerifyError> {
    if outcomes.iter().any(|outcome| outcome.verdict.is_wrong()) {
        return Err(VerifyError::Contradiction);
    }
    let whole = Effort { operations: None, barriers: None, active: request.processes };
    for outcome in outcomes {
        if matches!(outcome.verdict, Verdict::Unknown(_)) {
            outcome.verdict = Verdict::Verified;
            outcome.scope = vec![whole];
            outcome.measures.proof = Some(proof);
        }
    }
    Ok(())
}

/// The outcomes of nothing but an attempt at the proof.
fn unsearched(request: &Request, every: &Every, watch: &dyn Watch) -> Vec<Outcome> {
    let cause = match every.answer.rungs.iter().rev().find_map(budget) {
        _ if watch.stop().load(Ordering::Relaxed) => Unfinished::Interrupted,
        Some("time") => Unfinished::Time,
        Some("memory") => Unfinished::Memory,
        _ => Unfinished::Unproved,
    };
    let pairs = request.pairs.among(request.processes).into_iter();
    let mut outcomes: Vec<Outcome> = pairs.map(|pair| open(pair, cause)).collect();
    if every.answer.looks_at_values {
        outcomes.iter_mut().for_each(|outcome| outcome.verdict = Verdict::Refused);
    }
    if let Some(proof) = proved(&every.answer, every.elapsed, every.confirmation.as_ref()) {
        // Nothing is wrong, as nothing was searched.
        let _ = conclude(&mut outcomes, request, proof);
    }
    outcomes
}

/// What a rung ran out of.
fn budget(rung: &snapshot_everyn::ladder::Rung) -> Option<&'static str> {
    match rung.finding.as_ref().ok()?.attempt {
        Attempt::Budget(which) if which != INTERRUPTED => Some(which),
        _ => None,
    }
}

/// The proof, if there is one in which the independent check finds no gap.
fn proved(
    answer: &Answer,
    elapsed: Duration,
    confirmation: Option<&Confirmation>,
) -> Option<ByProof> {
    let confirmation = confirmation.filter(|confirmation| !confirmation.finds_gap())?;
    let confirmed = confirmation.result.is_ok();
    let last = answer.rungs.last().filter(|_| answer.proved)?;
    let views = answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok());
    let views = views.map(|finding: &Finding| finding.views() as u64).sum();
    Some(ByProof { rung: last.obligation, views, elapsed, confirmed })
}

/// Whether an instance cannot be searched for its size alone.
pub(super) const fn is_too_large(error: &VerifyError) -> bool {
    matches!(
        error,
        VerifyError::Instance(
            InstanceError::TooManyProcesses { .. }
                | InstanceError::TooManySlots { .. }
                | InstanceError::TooManyBlocks { .. }
        ) | VerifyError::Explore(ExploreError::Layout(
            LayoutError::TooManyProcesses { .. } | LayoutError::TooLarge { .. }
        ))
    )
}

/// Watches a search, and tries the proof when it is its turn.
struct Trying<'a> {
    program: &'a Program,
    watch: &'a dyn Watch,
    memory: u64,
    began: Instant,
    end: Option<Instant>,
    /// Set when there is a proof.
    answered: AtomicBool,
    found: Cell<Option<ByProof>>,
    /// States of the explorations that are over, and of the present one.
    states: Cell<(u64, u64)>,
    /// The next of [`TURNS`].
    turn: Cell<usize>,
    /// Whether it was tried for the time.
    late: Cell<bool>,
    /// What the present exploration is about.
    about: RefCell<Option<(Option<[Process; 2]>, Effort)>>,
}

impl<'a> Trying<'a> {
    fn new(program: &'a Program, request: &Request, watch: &'a dyn Watch) -> Self {
        let began = Instant::now();
        Self {
            program,
            watch,
            memory: request.memory,
            began,
            end: request.time.and_then(|time| began.checked_add(time)),
            answered: AtomicBool::new(false),
            found: Cell::new(None),
            states: Cell::new((0, 0)),
            turn: Cell::new(0),
            late: Cell::new(false),
            about: RefCell::new(None),
        }
    }

    fn is_proved(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Tries the proof within a budget.
    fn attempt(&self, views: usize, bytes: u64, until: Option<Instant>) {
        let began = Instant::now();
        let budget = Budget {
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            views,
            until,
            stop: Some(self.watch.stop()),
        };
        let answer = proof(self.program, budget, &Rungs::default(), self.watch);
        let elapsed = began.elapsed();
        let confirmation = answer.proved.then(|| {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            confirm(self.program, &answer, elapsed, bytes, left, self.watch)
        });
        if let Some(proof) = proved(&answer, elapsed, confirmation.as_ref()) {
            self.found.set(Some(proof));
            self.answered.store(true, Ordering::Relaxed);
        } else if let Some((pair, effort)) = *self.about.borrow() {
            self.watch.begin(pair, effort);
        }
    }

    /// Tries it for the time, within its share of that.
    fn attempt_late(&self, bytes: u64) {
        self.late.set(true);
        self.turn.set(TURNS.len());
        let all = self.end.map(|end| end.saturating_duration_since(self.began) / SHARE);
        let until = all.and_then(|share| Instant::now().checked_add(share));
        self.attempt(usize::MAX, bytes, until);
    }

    /// Whether it is settled, or to be left.
    fn is_over(&self) -> bool {
        self.is_proved() || self.watch.stop().load(Ordering::Relaxed)
    }

    /// Whether the share of the time is over after which it is tried, whatever the size.
    fn is_late(&self) -> bool {
        let is_over = |end: Instant| {
            let all = end.saturating_duration_since(self.began);
            self.began.elapsed() >= all / SHARE
        };
        !self.late.get() && self.end.is_some_and(is_over)
    }
}

impl Watch for Trying<'_> {
    fn stop(&self) -> &AtomicBool {
        self.watch.stop()
    }

    fn answered(&self) -> Option<&AtomicBool> {
        Some(&self.answered)
    }

    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        let (before, present) = self.states.get();
        self.states.set((before + present, 0));
        *self.about.borrow_mut() = Some((pair, effort));
        self.watch.begin(pair, effort);
        // Where there are many pairs, the time of each may end before there is any progress.
        if !self.is_over() && self.is_late() {
            self.attempt_late(self.memory / 2);
        }
    }

    fn progress(&self, progress: &Progress) {
        self.watch.progress(progress);
        let (before, _) = self.states.get();
        self.states.set((before, progress.states));
        if progress.tracing || self.is_over() {
            return;
        }
        let left = self.memory.saturating_sub(progress.memory);
        if self.is_late() {
            return self.attempt_late(left / 2);
        }
        let all = before + progress.states;
        let due = TURNS.iter().skip(self.turn.get()).take_while(|(states, _)| all >= *states);
        // Of several the last: what it allows is more than the others.
        if progress.between
            && let Some((number, (_, views))) = due.enumerate().last()
        {
            self.turn.set(self.turn.get() + number + 1);
            self.attempt(*views, left / 2, self.end);
        }
    }

    fn prove(&self, rung: &str) {
        self.watch.prove(rung);
    }

    fn allocated(&self) -> Option<fn() -> u64> {
        self.watch.allocated()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProgramFault, Unwatched};
    use super::*;
    use crate::interpret::{Fault, FaultKind};
    use crate::language::{Span, parse};

    fn program(name: &str) -> Program {
        let text = corpus::algorithm(name).unwrap().text;
        parse(name, text).unwrap().program(None).unwrap()
    }

    fn at(states: u64, between: bool) -> Progress {
        Progress {
            seconds: 1.0,
            states,
            states_per_second: 0.0,
            frontier: 1,
            depth: 1,
            memory: 1 << 20,
            tracing: false,
            between,
        }
    }

    #[test]
    fn the_proof_is_tried_at_a_number_of_states_of_all_pairs() {
        let (program, request, watch) = (program("bowman"), Request::new(3), Unwatched::default());
        let (whole, pair) = (
            Effort { operations: None, barriers: None, active: 3 },
            [0, 1].map(Process::from_index),
        );
        let trying = Trying::new(&program, &request, &watch);
        trying.begin(Some(pair), whole);
        for progress in [at(999_999, true), at(1_500_000, false)] {
            trying.progress(&progress);
            assert!(!trying.is_proved() && trying.turn.get() == 0, "{progress:?}");
        }
        trying.progress(&at(400_000, true));
        trying.begin(Some(pair), whole);
        trying.progress(&at(600_000, true));
        assert!(trying.is_proved());
        let proof = trying.found.get().unwrap();
        assert!(proof.rung.name() == "scans.observer" && proof.views < 40_000, "{proof:?}");
        assert!(proof.confirmed);
    }

    /// With many pairs, each has a small part of the time.
    #[test]
    fn the_proof_is_tried_in_time_where_no_exploration_makes_progress() {
        let (program, request, watch) = (program("bowman"), Request::new(3), Unwatched::default());
        let whole = Effort { operations: None, barriers: None, active: 3 };
        let pair = [0, 1].map(Process::from_index);
        let now = Instant::now();
        for (end, is_tried) in [(None, false), (Some(3_600), false), (Some(100), true)] {
            let began = now.checked_sub(Duration::from_secs(30)).unwrap_or(now);
            let end = end.and_then(|seconds| began.checked_add(Duration::from_secs(seconds)));
            let trying = Trying { began, end, ..Trying::new(&program, &request, &watch) };
            trying.begin(Some(pair), whole);
            assert_eq!(trying.is_proved(), is_tried, "{end:?}");
        }
    }

    #[test]
    fn what_is_too_large_for_a_turn_is_not_tried_again_before_the_next() {
        let (program, request, watch) = (program("jayanti"), Request::new(2), Unwatched::default());
        let trying = Trying { turn: Cell::new(0), ..Trying::new(&program, &request, &watch) };
        trying.attempt(10, 1 << 30, None);
        assert!(!trying.is_proved());
        trying.turn.set(1);
        trying.progress(&at(15_999_999, true));
        assert_eq!(trying.turn.get(), 1);
    }

    #[test]
    fn a_violation_and_a_proof_contradict_each_other() {
        let proof =
            ByProof { rung: Rungs::all()[0], views: 1, elapsed: Duration::ZERO, confirmed: false };
        let request = Request::new(2);
        let pair = [0, 1].map(Process::from_index);
        let mut outcomes = [open(pair, Unfinished::Memory)];
        assert_eq!(conclude(&mut outcomes, &request, proof), Ok(()));
        assert!(matches!(outcomes[0].verdict, Verdict::Verified));
        assert_eq!(outcomes[0].scope, [Effort { operations: None, barriers: None, active: 2 }]);
        let fault = Fault { span: Span::default(), kind: FaultKind::NoneUnwrapped };
        outcomes[0].verdict =
            Verdict::Fault(Box::new(ProgramFault { moves: Vec::new(), fault, before: None }));
        let error = conclude(&mut outcomes, &request, proof).unwrap_err();
        assert!(error.is_ours(), "{error}");
    }
}
