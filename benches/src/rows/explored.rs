//! Verification of algorithms of the corpus: from the text to the answer.

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_verify::language;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::verify::{
    Barriers, Method, Operations, Outcome, Pairs, Reduction, Reductions, Request, Unwatched,
    Verdict, verify,
};

use crate::{Digest, Row, Size};

/// Bytes that a search may take; no row needs a quarter.
const MEMORY: u64 = 1 << 30;

/// Verifies an algorithm without a bound on operations, with one thread, so that
/// what is measured is what a core does. Its events are states.
#[derive(Clone, Copy, Debug)]
pub struct Explored {
    name: &'static str,
    algorithm: &'static str,
    /// Without: all that there are, and all pairs.
    reductions: Option<&'static [Reduction]>,
    smoke: Known,
    full: Known,
}

/// A size, and how many states it has, all pairs together.
#[derive(Clone, Copy, Debug)]
struct Known {
    processes: usize,
    states: u64,
}

impl Explored {
    /// The search alone: bowman with the pair (0, 1), with no more than what hand-made
    /// encodings for other model checkers do, too. They count the same states.
    pub const RAW: Self = Self {
        name: "explore-raw",
        algorithm: "bowman",
        reductions: Some(&[Reduction::Constant, Reduction::Dead]),
        smoke: Known { processes: 3, states: 76_075 },
        full: Known { processes: 4, states: 2_151_306 },
    };

    /// All reductions and all pairs, for an algorithm that they suit well: what is
    /// measured is the reductions more than the search.
    pub const REDUCED: Self = Self {
        name: "explore-reduced",
        algorithm: "bowman",
        reductions: None,
        smoke: Known { processes: 5, states: 1_350 },
        full: Known { processes: 8, states: 3_987 },
    };

    /// Versions and embedded scans; the same at every size.
    pub const VERSIONS: Self = Self {
        name: "explore-versions",
        algorithm: "afek_unbounded",
        reductions: None,
        smoke: Known { processes: 2, states: 2_972 },
        full: Known { processes: 2, states: 2_972 },
    };

    /// All of them.
    pub const ALL: [Self; 3] = [Self::RAW, Self::REDUCED, Self::VERSIONS];

    fn known(&self, size: Size) -> Known {
        match size {
            Size::Smoke => self.smoke,
            Size::Full => self.full,
        }
    }
}

/// What is verified.
#[derive(Debug)]
pub struct Question {
    program: Program,
    request: Request,
    states: u64,
}

impl Row for Explored {
    type Input = Question;
    type Answer<'i> = Vec<Outcome>;

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn seed(&self) -> String {
        format!("none: {}", self.algorithm)
    }

    fn input(&self, size: Size) -> Question {
        let text = corpus::algorithm(self.algorithm).expect("the row is of the corpus").text;
        let algorithm = language::parse(self.algorithm, text).expect("the corpus is right");
        let program = algorithm.program(None).expect("the corpus is right");
        assert!(independence::check(&program).is_ok(), "a proof is wanted");
        let Known { processes, states } = self.known(size);
        let (pairs, reductions) = match self.reductions {
            None => (Pairs::All, Reductions::standard()),
            Some(list) => {
                let pair = Pairs::One(Process::from_index(0), Process::from_index(1));
                (pair, list.iter().copied().collect())
            }
        };
        let request = Request {
            states: None,
            processes,
            pairs,
            method: Method::Exploration,
            values: None,
            updater: None,
            operations: Operations::Unbounded,
            barriers: Barriers::Unbounded,
            reductions,
            threads: NonZeroUsize::MIN,
            memory: MEMORY,
            time: None,
            keep_going: false,
            self_check: None,
        };
        Question { program, request, states }
    }

    fn events(&self, input: &Question) -> u64 {
        input.states
    }

    fn run(&self, input: &Question) -> Vec<Outcome> {
        verify(&input.program, true, &input.request, &Unwatched::default())
            .expect("the request can be met")
    }

    fn digest(&self, input: &Question, answer: &Vec<Outcome>) -> Digest {
        let explored = answer.iter().filter(|outcome| outcome.measures.like.is_none());
        let states: u64 = explored.map(|outcome| outcome.measures.states).sum();
        assert_eq!(states, input.states, "{}: the states are known", self.name);
        answer.iter().fold(Digest::EMPTY, |digest, outcome| {
            assert!(matches!(outcome.verdict, Verdict::Verified), "{}: {outcome:?}", self.name);
            let [i, j] = outcome.pair.expect("simple executions have a pair").map(Process::index);
            let digest = digest.number(i as u64).number(j as u64);
            let digest = digest.bytes(outcome.verdict.name().as_bytes());
            digest.number(outcome.measures.states).number(outcome.measures.transitions)
        })
    }
}
