//! Verification of algorithms of the corpus: from the text to the answer.

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_verify::language;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::verify::{
    Barriers, Method, Operations, Outcome, Pairs, Reduction, Reductions, Request, Unwatched,
    Verdict, verify,
};

use super::Visit;
use crate::{Digest, Size};

/// An algorithm without a bound on operations.
struct Row {
    name: &'static str,
    algorithm: &'static str,
    /// If absent: all reductions and all pairs; else these and the pair (0, 1).
    reductions: Option<&'static [Reduction]>,
    /// Processes and states of all pairs together: at the smoke size, at the full one.
    known: [(usize, u64); 2],
}

const ROWS: [Row; 3] = [
    // The search alone, with no more than what hand-made encodings for other model checkers
    // do, too. They count the same states.
    Row {
        name: "explore-raw",
        algorithm: "bowman",
        reductions: Some(&[Reduction::Constant, Reduction::Dead]),
        known: [(3, 76_075), (4, 2_151_306)],
    },
    // An algorithm that all reductions suit well: measures these more than the search.
    Row {
        name: "explore-reduced",
        algorithm: "bowman",
        reductions: None,
        known: [(5, 1_350), (8, 3_987)],
    },
    // Versions and embedded scans.
    Row {
        name: "explore-versions",
        algorithm: "afek_unbounded",
        reductions: None,
        known: [(2, 2_972); 2],
    },
];

/// Verifies with one thread, so that the time is that of a core. Its events are states.
pub(super) fn explored(size: Size, visitor: &mut impl Visit) {
    for row in ROWS {
        let (processes, states) = row.known[usize::from(size == Size::Full)];
        let (program, request) = (program(row.algorithm), request(&row, processes));
        let run = |program: &Program| {
            verify(program, true, &request, &Unwatched::default()).expect("the request can be met")
        };
        visitor.row(row.name, states, &program, run, |_, answer: &Vec<Outcome>| {
            let explored = answer.iter().filter(|outcome| outcome.measures.like.is_none());
            let found: u64 = explored.map(|outcome| outcome.measures.states).sum();
            assert_eq!(found, states, "{}: the states are known", row.name);
            answer.iter().fold(Digest::EMPTY, |digest, outcome| {
                assert!(matches!(outcome.verdict, Verdict::Verified), "{}: {outcome:?}", row.name);
                let pair = outcome.pair.expect("simple executions have a pair");
                let digest =
                    pair.iter().fold(digest, |digest, one| digest.number(one.index() as u64));
                let digest = digest.bytes(outcome.verdict.name().as_bytes());
                digest.number(outcome.measures.states).number(outcome.measures.transitions)
            })
        });
    }
}

fn program(name: &str) -> Program {
    let text = corpus::algorithm(name).expect("the row is of the corpus").text;
    let algorithm = language::parse(name, text).expect("the corpus is right");
    let program = algorithm.program(None).expect("the corpus is right");
    assert!(independence::check(&program).is_ok(), "a proof is wanted");
    program
}

fn request(row: &Row, processes: usize) -> Request {
    let (pairs, reductions) = match row.reductions {
        None => (Pairs::All, Reductions::standard()),
        Some(list) => {
            let pair = Pairs::One(Process::from_index(0), Process::from_index(1));
            (pair, list.iter().copied().collect())
        }
    };
    Request {
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
        memory: 1 << 30,
        time: None,
        keep_going: false,
        self_check: None,
    }
}
