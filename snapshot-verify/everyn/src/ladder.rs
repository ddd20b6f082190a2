//! From a program to an answer for every n: which obligations are tried, in which order.
//!
//! A program is proved with some kind of ghost scans if the views that its scans return are
//! those of ghost scans within them ([`Mode::Nested`]), and the vectors that ghost scans
//! put together themselves are right ([`Mode::Direct`]), by one specification or another.
//! A wrong guess can only fail. Faults are excluded with nesting, for all code.

use std::time::Instant;

use snapshot_language::program::{Program, independence};

use super::compile::compile;
use super::model::{Ghosts, Obligation, Specification, Unsupported};
use super::prove::{Finding, Limits, Sabotage, prove};
use super::shape::Mode;

/// What became of an obligation.
#[derive(Clone, Debug)]
pub struct Rung {
    /// Which.
    pub obligation: Obligation,
    /// How its proof went; or what is not modelled.
    pub finding: Result<Finding, Unsupported>,
}

/// The answer for every n.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether all simple executions of all n >= 2 processes are linearizable, for all
    /// pairs, and no execution goes wrong.
    pub proved: bool,
    /// Whether the program looks at values, so that nothing was tried.
    pub looks_at_values: bool,
    /// What was tried, in order.
    pub rungs: Vec<Rung>,
}

/// What a proof may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes at most.
    pub bytes: usize,
    /// When to stop.
    pub until: Option<Instant>,
}

/// Tries to prove a program for every n. `progress` is asked before each obligation
/// whether to go on.
pub fn prove_all(
    program: &Program,
    budget: Budget,
    progress: &mut dyn FnMut(Obligation) -> bool,
) -> Answer {
    let mut answer = Answer { proved: false, looks_at_values: false, rungs: Vec::new() };
    if independence::check(program).is_err() {
        answer.looks_at_values = true;
        return answer;
    }
    for ghosts in [Ghosts::Scans, Ghosts::Calls] {
        let nested =
            Obligation { mode: Mode::Nested, ghosts, specification: Specification::Observer };
        let direct = |specification| Obligation { mode: Mode::Direct, ghosts, specification };
        if !attempt(program, nested, budget, progress, &mut answer.rungs) {
            continue;
        }
        let specifications = match ghosts {
            Ghosts::Scans => [Specification::Observer, Specification::Local],
            Ghosts::Calls => [Specification::Local, Specification::Observer],
        };
        for specification in specifications {
            let obligation = direct(specification);
            if attempt(program, obligation, budget, progress, &mut answer.rungs) {
                answer.proved = true;
                return answer;
            }
        }
    }
    answer
}

fn attempt(
    program: &Program,
    obligation: Obligation,
    budget: Budget,
    progress: &mut dyn FnMut(Obligation) -> bool,
    rungs: &mut Vec<Rung>,
) -> bool {
    if !progress(obligation) {
        return false;
    }
    let limits = Limits { views: usize::MAX, bytes: budget.bytes, until: budget.until };
    let finding = compile(program, obligation)
        .map(|model| prove(&model, limits, Sabotage::default()).finding);
    let holds = finding.as_ref().is_ok_and(Finding::holds);
    rungs.push(Rung { obligation, finding });
    holds
}
