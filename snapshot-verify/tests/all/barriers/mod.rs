//! Executions with few barriers: exploration against all executions of the interpreter, and the
//! number of barriers that planted bugs need.

mod agreement;
mod oracle;
mod planted;

use snapshot_core::Process;
use snapshot_verify::program::Program;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::{
    Barriers, Outcome, Pairs, Reductions, Request, Unwatched, Verdict, VerifyError, verify,
};

/// Explores the executions of a pair with at most this many barriers.
fn explored(
    program: &Program,
    processes: usize,
    [i, j]: [usize; 2],
    most: u32,
    reductions: Reductions,
) -> Result<Outcome, VerifyError> {
    let request = Request {
        pairs: Pairs::One(Process::from_index(i), Process::from_index(j)),
        barriers: Barriers::AtMost(most),
        reductions,
        memory: 64 << 20,
        self_check: (reductions == Reductions::standard()).then_some(SelfCheck::DEFAULT),
        ..Request::new(processes)
    };
    let mut outcomes = verify(program, true, &request, &Unwatched::default())?;
    Ok(outcomes.pop().expect("one pair"))
}

/// Returns true if a violation or fault was found; `None` if unknown.
fn is_wrong(outcome: &Outcome) -> Option<bool> {
    match outcome.verdict {
        Verdict::Unknown(_) => None,
        _ => Some(outcome.verdict.is_wrong()),
    }
}
