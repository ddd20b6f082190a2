//! Answers for one n by the proof for every n ([`super::every`]), where that is cheaper than the
//! search.
//!
//! A proof for every n covers each n, and does not grow with it; but most searches for small n take
//! less time than an attempt at it. So the search begins alone. Beyond a certain size, the two take
//! turns: between two levels, while all threads are idle, the search waits until the attempt has as
//! many views as correspond to its states ([`FIRST`], [`STATES`]), so that both compute for about
//! as long. [Hunts](super::hunt) for a violation take turns, too. The first to finish answers, for
//! all pairs: neither the winner nor its numbers depend on the machine. If the search runs out of memory, the attempt has the rest of the budget.
//!
//! A proof whose check is ended by a budget ends no search.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use snapshot_core::Process;
use snapshot_hints::ladder::{Answer, Budget, Climb, Ladder, Limit, MEMORY, Rung};
use snapshot_hints::rungs::Rungs;

use super::every::{EveryNAnswer, LARGEST};
use super::hunt::Hunting;
use super::outcome::ByProof;
use super::proof::{Checked, check};
use super::subject::Subject;
use super::turns::{Turn, Turns};
use super::{Effort, Measures, Outcome, Request, Unfinished, Verdict, VerifyError, Watch, verify};
use crate::deadline::Deadline;
use crate::instance::InstanceError;
use crate::program::Program;
use crate::search::ExploreError;
use crate::search::layout::LayoutError;

/// Number of states of all pairs together from which a proof is attempted: about half a second.
const FIRST: u64 = 200_000;

/// Number of states that take about as long as a view.
const STATES: u64 = 25;

/// Method by which a question about one n is answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Way {
    Search,
    /// By the search, and once it grows large by growing bounds.
    Hunt,
    /// By the search, and once it grows large by growing bounds and by the proof for every n.
    Cheaper,
    /// By the proof for every n, with these rungs.
    Proof(Rungs),
}

/// Answers as [`verify`], by the given method. If only the proof was attempted, also returns its
/// result.
///
/// # Errors
/// As [`verify`].
pub fn verify_by(
    program: &Program,
    is_data_independent: bool,
    request: &Request,
    way: &Way,
    watch: &dyn Watch,
) -> Result<(Vec<Outcome>, Option<EveryNAnswer>), VerifyError> {
    match way {
        Way::Search => Ok((verify(program, is_data_independent, request, watch)?, None)),
        Way::Hunt => Ok((hunted(program, is_data_independent, request, watch)?, None)),
        Way::Cheaper => Ok((cheaper(program, is_data_independent, request, watch)?, None)),
        Way::Proof(rungs) => {
            let every = super::every::every_by(program, request, rungs, false, watch)?;
            Ok((unsearched(request, &every, watch), Some(every)))
        }
    }
}

/// Searches, and hunts if that takes long.
fn hunted(
    program: &Program,
    is_data_independent: bool,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, VerifyError> {
    in_turns(program, is_data_independent, request, watch, &AtomicBool::new(false), None)
}

/// Searches, with turns of hunts and of the attempt at a proof.
fn in_turns(
    program: &Program,
    is_data_independent: bool,
    request: &Request,
    watch: &dyn Watch,
    answered: &AtomicBool,
    trying: Option<&Trying<'_>>,
) -> Result<Vec<Outcome>, VerifyError> {
    let hunting = Hunting::new(program, is_data_independent, request, watch, answered);
    let turns: Vec<&dyn Turn> =
        trying.map(|one| one as _).into_iter().chain([&hunting as _]).collect();
    let turns = Turns::new(watch, request.memory, answered, &turns);
    let outcomes = verify(program, is_data_independent, request, &turns);
    hunting.into_found().unwrap_or(outcomes)
}

fn cheaper(
    program: &Program,
    is_data_independent: bool,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, VerifyError> {
    if program.object().is_some() {
        return verify(program, is_data_independent, request, watch);
    }
    if !is_data_independent {
        return hunted(program, is_data_independent, request, watch);
    }
    let end = request.time.and_then(|time| Instant::now().checked_add(time));
    let deadline = Deadline::new(end, Some(watch.stop()));
    let proceed = || !deadline.is_over();
    let limit = Limit { deadline, proceed: &proceed };
    let answered = AtomicBool::new(false);
    let trying = Trying::new(program, request, watch, &answered, limit);
    let searched = in_turns(program, is_data_independent, request, watch, &answered, Some(&trying));
    let mut outcomes = match searched {
        Err(error) if is_too_large(&error) => {
            trying.insist();
            if trying.found.borrow().is_none() {
                return Err(error);
            }
            let pairs = request.pairs.among(request.processes).into_iter();
            pairs.map(|pair| open(pair, Unfinished::Answered)).collect()
        }
        outcomes => outcomes?,
    };
    let lacks_memory =
        |outcome: &Outcome| matches!(outcome.verdict, Verdict::Unknown(Unfinished::Memory));
    if outcomes.iter().any(lacks_memory) {
        trying.insist();
    }
    if let Some(error) = trying.error.take() {
        return Err(error);
    }
    if let Some(found) = trying.found.take() {
        conclude(&mut outcomes, request, found)?;
    }
    Ok(outcomes)
}

/// Outcome of a pair that was not searched.
fn open(pair: [Process; 2], cause: Unfinished) -> Outcome {
    Outcome {
        pair: Some(pair),
        verdict: Verdict::Unknown(cause),
        scope: Vec::new(),
        measures: Measures::default(),
    }
}

/// Uses the proof for all pairs that the search has not finished.
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

/// Returns the outcomes of an attempt at the proof without a search.
fn unsearched(request: &Request, every: &EveryNAnswer, watch: &dyn Watch) -> Vec<Outcome> {
    let cause = match watch.stop().load(Ordering::Relaxed) {
        true => Unfinished::Interrupted,
        false => every.short(),
    };
    let pairs = request.pairs.among(request.processes).into_iter();
    let mut outcomes: Vec<Outcome> = pairs.map(|pair| open(pair, cause)).collect();
    if every.answer.looks_at_values {
        outcomes.iter_mut().for_each(|outcome| outcome.verdict = Verdict::Refused);
    }
    if let Some(proof) = proved(&every.answer).filter(|_| every.is_proved()) {
        // Nothing is wrong, as nothing was searched.
        let _ = conclude(&mut outcomes, request, proof);
    }
    outcomes
}

/// The proof, if there is one.
fn proved(answer: &Answer) -> Option<ByProof> {
    let rung = answer.parts.last()?.obligation;
    let elapsed = answer.rungs.iter().map(|rung| rung.elapsed).sum();
    Some(ByProof { rung, views: answer.views() as u64, elapsed })
}

/// Returns true if an instance cannot be searched only because of its size.
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

/// Continues the proof while a search runs.
struct Trying<'a> {
    program: &'a Program,
    watch: &'a dyn Watch,
    limit: Limit<'a>,
    memory: u64,
    /// Set by a proof.
    answered: &'a AtomicBool,
    found: RefCell<Option<ByProof>>,
    /// A fault of ours.
    error: RefCell<Option<VerifyError>>,
    ladder: RefCell<Ladder<'a>>,
    /// Set if there is nothing more to try.
    is_done: Cell<bool>,
}

impl<'a> Trying<'a> {
    fn new(
        program: &'a Program,
        request: &Request,
        watch: &'a dyn Watch,
        answered: &'a AtomicBool,
        limit: Limit<'a>,
    ) -> Self {
        Self {
            program,
            watch,
            limit,
            memory: request.memory,
            answered,
            found: RefCell::new(None),
            error: RefCell::new(None),
            ladder: RefCell::new(Ladder::new(program, &Rungs::default(), limit)),
            // Every n includes this one.
            is_done: Cell::new(program.check_extent(LARGEST).is_err()),
        }
    }

    fn is_proved(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Continues the proof up to this number of views, within this memory. Returns true if it has
    /// shown its progress and the search goes on.
    fn climb(&self, views: usize, memory: u64) -> bool {
        if self.is_done.get() || self.watch.stop().load(Ordering::Relaxed) {
            return false;
        }
        let budget = Budget { bytes: usize::try_from(memory).unwrap_or(usize::MAX), views };
        let mut ladder = self.ladder.borrow_mut();
        let mut has_begun = false;
        let climb = ladder.climb(budget, &mut |rung| {
            has_begun = true;
            self.watch.prove(&rung.name());
        });
        match climb {
            Climb::Proved => {
                self.is_done.set(true);
                self.check(&mut ladder, memory);
            }
            Climb::Failed => self.is_done.set(true),
            Climb::Short(_) => {}
        }
        has_begun && !self.is_proved()
    }

    /// Checks a proof.
    fn check(&self, ladder: &mut Ladder<'_>, memory: u64) {
        let subject = Subject::written(self.program);
        match check(&subject, ladder, memory, self.limit, self.watch) {
            Checked::Accepted(_) => {
                self.answered.store(true, Ordering::Relaxed);
                *self.found.borrow_mut() = proved(&ladder.answer());
            }
            Checked::Wrong(error) => *self.error.borrow_mut() = Some(error),
            Checked::Short(_) | Checked::Unsupported => {}
        }
    }

    /// Continues the proof to its end, without the search.
    fn insist(&self) {
        // A rung that ran out of memory beside the search may have all of it now.
        let lacks_memory = |rung: &Rung| rung.short() == Some(MEMORY);
        if self.ladder.borrow().answer().rungs.iter().any(lacks_memory) {
            let ladder = Ladder::new(self.program, &Rungs::default(), self.limit);
            *self.ladder.borrow_mut() = ladder;
        }
        self.climb(usize::MAX, self.memory);
    }
}

impl Turn for Trying<'_> {
    fn advance(&self, states: u64, memory: u64) -> bool {
        let held = self.ladder.borrow().bytes() as u64;
        // If memory is short, the proof continues after the search.
        states >= FIRST
            && !self.is_proved()
            && memory > 2 * held
            && self.climb(usize::try_from(states / STATES).unwrap_or(usize::MAX), memory)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{ProgramFault, Unwatched};
    use super::*;
    use crate::interpret::{Fault, FaultKind};
    use crate::language::{Span, parse};
    use crate::search::Progress;

    const LIMIT: Limit<'static> = Limit::never(&|| true);

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

    /// In the second half, a pair begins.
    #[test]
    fn proof_advances_with_the_states_of_all_pairs() {
        let (program, request, watch) = (program("bowman"), Request::new(3), Unwatched::default());
        let (whole, pair) = (
            Effort { operations: None, barriers: None, active: 3 },
            [0, 1].map(Process::from_index),
        );
        let answered = AtomicBool::new(false);
        let trying = Trying::new(&program, &request, &watch, &answered, LIMIT);
        let all: [&dyn Turn; 1] = [&trying];
        let turns = Turns::new(&watch, request.memory, &answered, &all);
        turns.begin(Some(pair), whole);
        for progress in [at(199_000, true), at(1_500_000, false)] {
            turns.progress(&progress);
            assert_eq!(trying.ladder.borrow().views(), 0, "{progress:?}");
        }
        // Its views roughly correspond to the states.
        turns.progress(&at(FIRST, true));
        let views = trying.ladder.borrow().views();
        assert!(views > 0 && views <= FIRST as usize / STATES as usize + 1_000, "{views}");
        assert!(trying.is_proved(), "{views}");
        let proof = trying.found.take().unwrap();
        assert!(proof.rung.name() == "scans.observer" && proof.views < 40_000, "{proof:?}");
    }

    /// With many pairs, each has few states, but preparing them takes time.
    #[test]
    fn proof_advances_with_each_begun_pair() {
        let (program, request, watch) = (program("bowman"), Request::new(20), Unwatched::default());
        let whole = Effort { operations: None, barriers: None, active: 20 };
        let answered = AtomicBool::new(false);
        let trying = Trying::new(&program, &request, &watch, &answered, LIMIT);
        let all: [&dyn Turn; 1] = [&trying];
        let turns = Turns::new(&watch, request.memory, &answered, &all);
        for pair in request.pairs.among(20).into_iter().take(2) {
            assert!(!trying.is_proved());
            turns.begin(Some(pair), whole);
        }
        assert!(trying.is_proved());
    }

    /// Progress depends neither on the number of turns nor on their sizes.
    #[test]
    fn turns_depend_on_states_alone() {
        let (program, request, watch) = (program("riany"), Request::new(3), Unwatched::default());
        let views = |steps: &[u64]| {
            let answered = AtomicBool::new(false);
            let trying = Trying::new(&program, &request, &watch, &answered, LIMIT);
            let all: [&dyn Turn; 1] = [&trying];
            let turns = Turns::new(&watch, request.memory, &answered, &all);
            steps.iter().for_each(|states| turns.progress(&at(*states, true)));
            trying.ladder.borrow().views()
        };
        let most = 400_000;
        let often: Vec<u64> = (1..=40).map(|step| step * most / 40).collect();
        assert_eq!(views(&[most]), views(&often));
    }

    #[test]
    fn a_proof_that_is_not_checked_ends_no_search() {
        let (program, request, watch) = (program("bowman"), Request::new(2), Unwatched::default());
        // No time for the check is left.
        let deadline = Deadline::new(Some(Instant::now()), None);
        let limit = Limit { deadline, proceed: &|| false };
        let answered = AtomicBool::new(false);
        let trying = Trying { limit, ..Trying::new(&program, &request, &watch, &answered, LIMIT) };
        trying.climb(usize::MAX, 1 << 30);
        assert!(trying.is_done.get() && !trying.is_proved());
        assert_eq!(trying.ladder.borrow().answer().parts.len(), 1);
        assert!(trying.found.take().is_none());
    }

    #[test]
    fn a_violation_and_a_proof_contradict_each_other() {
        let proof = ByProof { rung: Rungs::all()[0], views: 1, elapsed: Duration::ZERO };
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
