//! Hunts for a violation near the initial state while a search without bounds takes long.
//!
//! A violation mostly takes few operations of few processes, and a search without bounds comes to
//! it late, among the idle steps of all the others ([`super::schedule`]). It begins alone, since
//! most searches are small, and a counterexample of it is a shortest one of all. Beyond [`FIRST`]
//! states it pauses between two levels, and growing bounds are explored within
//! [some states](LEAST) or a [share](SHARE) of the states of the search; again at [`GROWTH`] times
//! as many states, and so on. So neither the answer nor its numbers depend on the machine, and
//! hunts add about a sixth to the states of a long search.
//!
//! A hunt proves nothing: it ends the search only by an execution that is wrong.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use snapshot_core::Process;

use super::by_proof::is_too_large;
use super::turns::Turn;
use super::{Barriers, Effort, Method, Operations, Outcome, Request, VerifyError, Watch, verify};
use crate::program::Program;
use crate::search::Progress;

/// The first hunt begins at this number of states, of all pairs together, divided by n²: levels
/// grow fast with n.
const FIRST: u64 = 225_000;

/// Number of states that every hunt may explore, per process beyond the second. With few processes
/// they take a fraction of a second.
const LEAST: u64 = 25_000;

/// Factor by which the states grow from hunt to hunt.
const GROWTH: u64 = 4;

/// The part of the states of the search that a hunt may explore: one out of so many.
const SHARE: u64 = 8;

/// Returns the number of states at which the first hunt begins.
const fn first(processes: usize) -> u64 {
    FIRST / (processes * processes) as u64
}

/// Hunts while a search runs.
pub struct Hunting<'a> {
    program: &'a Program,
    is_data_independent: bool,
    request: Request,
    watch: &'a dyn Watch,
    /// Set by a finding, or another answer.
    answered: &'a AtomicBool,
    found: RefCell<Option<Result<Vec<Outcome>, VerifyError>>>,
    /// Number of states at which the next hunt begins; `None` if there is nothing to hunt for.
    next: Cell<Option<u64>>,
}

impl<'a> Hunting<'a> {
    pub fn new(
        program: &'a Program,
        is_data_independent: bool,
        request: &Request,
        watch: &'a dyn Watch,
        answered: &'a AtomicBool,
    ) -> Self {
        let is_unbounded = request.operations == Operations::Unbounded
            && request.barriers == Barriers::Unbounded
            && request.states.is_none();
        // With all wrong pairs wanted, each has to be searched to its end.
        let is_hunted =
            is_unbounded && request.method == Method::Exploration && !request.keep_going;
        Self {
            program,
            is_data_independent,
            request: Request { operations: Operations::Grow, ..request.clone() },
            watch,
            answered,
            found: RefCell::new(None),
            next: Cell::new(is_hunted.then_some(first(request.processes))),
        }
    }

    /// Returns the outcomes of the hunt that found a violation, or failed.
    pub fn into_found(self) -> Option<Result<Vec<Outcome>, VerifyError>> {
        self.found.into_inner()
    }
}

impl Turn for Hunting<'_> {
    fn advance(&self, states: u64, memory: u64) -> bool {
        let is_due = self.next.get().is_some_and(|next| states >= next);
        if !is_due || self.answered.load(Ordering::Relaxed) {
            return false;
        }
        self.next.set(states.checked_mul(GROWTH));
        let others = self.request.processes.saturating_sub(2).max(1) as u64;
        let most = (LEAST * others).max(states / SHARE);
        let request = Request { states: Some(most), memory, ..self.request.clone() };
        let watch = Hunt { watch: self.watch };
        let found = verify(self.program, self.is_data_independent, &request, &watch);
        let is_wrong = |outcome: &Outcome| outcome.verdict.is_wrong();
        match &found {
            Ok(outcomes) if !outcomes.iter().any(is_wrong) => true,
            // With a bound, states are larger.
            Err(error) if is_too_large(error) => true,
            Ok(_) | Err(_) => {
                *self.found.borrow_mut() = Some(found);
                self.answered.store(true, Ordering::Relaxed);
                false
            }
        }
    }
}

/// Watches a hunt: in memory, on threads of its own.
struct Hunt<'a> {
    watch: &'a dyn Watch,
}

impl Watch for Hunt<'_> {
    fn stop(&self) -> &AtomicBool {
        self.watch.stop()
    }

    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        self.watch.begin(pair, effort);
    }

    fn progress(&self, progress: &Progress) {
        self.watch.progress(progress);
    }

    fn allocated(&self) -> Option<fn() -> u64> {
        self.watch.allocated()
    }
}

#[cfg(test)]
mod tests {
    use super::super::turns::Turns;
    use super::super::{Pairs, Unwatched, Verdict};
    use super::*;

    fn program(name: &str, bug: Option<&str>) -> Program {
        let text = corpus::algorithm(name).expect("an algorithm of the corpus").text;
        let algorithm = crate::language::parse(name, text).expect("a right text");
        algorithm.program(bug).expect("a right program")
    }

    struct Counted<'a> {
        hunting: Hunting<'a>,
        hunts: Cell<usize>,
    }

    impl Turn for Counted<'_> {
        fn advance(&self, states: u64, memory: u64) -> bool {
            let before = self.hunting.next.get();
            let has_shown = self.hunting.advance(states, memory);
            let has_hunted = self.hunting.next.get() != before;
            self.hunts.set(self.hunts.get() + usize::from(has_hunted));
            has_shown
        }
    }

    /// Verifies, hunting from this number of states on. Returns the outcomes, the number of hunts,
    /// and the states of the search.
    fn hunted(program: &Program, request: &Request, first: u64) -> (Vec<Outcome>, usize, u64) {
        let (watch, answered) = (Unwatched::default(), AtomicBool::new(false));
        let hunting = Hunting::new(program, true, request, &watch, &answered);
        hunting.next.set(hunting.next.get().map(|_| first));
        let counted = Counted { hunting, hunts: Cell::new(0) };
        let turns: [&dyn Turn; 1] = [&counted];
        let turns = Turns::new(&watch, request.memory, &answered, &turns);
        let outcomes = verify(program, true, request, &turns);
        let (states, hunts) = (turns.states(), counted.hunts.get());
        let outcomes = counted.hunting.into_found().unwrap_or(outcomes).expect("runs");
        (outcomes, hunts, states)
    }

    /// The search alone takes 5,493,176 states.
    #[test]
    fn a_near_violation_ends_a_long_search() {
        let program = program("jayanti", Some("plain_ss"));
        let (outcomes, hunts, states) = hunted(&program, &Request::new(3), first(3));
        assert!(hunts == 1 && (first(3)..2 * first(3)).contains(&states), "{hunts}, {states}");
        let wrong = outcomes.iter().find(|outcome| outcome.verdict.is_wrong()).expect("a finding");
        assert!(matches!(wrong.verdict, Verdict::Violation(_)));
        // The scope is that of the hunt.
        let [effort] = wrong.scope[..] else { panic!("{:?}", wrong.scope) };
        assert_eq!((effort.operations, effort.active), (Some(2), 2));
        assert_eq!((wrong.measures.explorations, wrong.measures.states), (2, 15_176));
    }

    #[test]
    fn hunts_are_rare_and_change_no_proof() {
        let program = program("afek_bounded", None);
        let request = Request {
            pairs: Pairs::One(Process::from_index(0), Process::from_index(1)),
            ..Request::new(2)
        };
        let (outcomes, hunts, states) = hunted(&program, &request, 100);
        assert!(matches!(outcomes[0].verdict, Verdict::Verified), "{:?}", outcomes[0].verdict);
        assert_eq!(outcomes[0].scope[0].operations, None);
        let most = (states as f64 / 100.0).log(GROWTH as f64) as usize + 1;
        assert!(hunts >= 2 && hunts <= most, "{hunts} of {most}, {states} states");
        let (alone, none, same) = hunted(&program, &request, u64::MAX);
        assert_eq!((none, same), (0, states));
        assert_eq!(alone[0].measures.states, outcomes[0].measures.states);
    }

    #[test]
    fn bounds_and_limits_are_kept() {
        let program = program("bowman", Some("early_exit"));
        let pairs = Pairs::One(Process::from_index(0), Process::from_index(1));
        for request in [
            Request { operations: Operations::AtMost(2), ..Request::new(3) },
            Request { barriers: Barriers::AtMost(2), ..Request::new(3) },
            Request { states: Some(1_500), ..Request::new(3) },
            Request { keep_going: true, ..Request::new(3) },
        ] {
            let (_, hunts, states) = hunted(&program, &Request { pairs, ..request }, 600);
            assert!(hunts == 0 && states > 600, "{states}");
        }
        let (_, hunts, _) = hunted(&program, &Request { pairs, ..Request::new(3) }, 600);
        assert!(hunts > 0);
    }
}
