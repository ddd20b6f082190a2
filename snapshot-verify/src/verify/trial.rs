//! A look at the executions of a program that looks at values: its simple executions
//! prove nothing, but a violation may be near.

use std::time::Duration;

use snapshot_core::Process;

use super::error::VerifyError;
use super::outcome::Outcome;
use super::progress::Watch;
use super::request::{Barriers, Method, Operations, Pairs, Request};
use super::verify;
use crate::program::Program;
use crate::refine::Means;

/// The values that updates write.
const VALUES: u32 = 2;

/// How long it may take.
const TIME: Duration = Duration::from_secs(3);

/// Searches all executions over two values for a violation, with growing bounds on
/// operations, or within the bound of the request: what was searched, and what came of
/// it. `time`: what is left of that of the request.
///
/// # Errors
/// If the program cannot be run with this many processes, or turns out to be wrong.
pub fn tried(
    program: &Program,
    request: &Request,
    time: Option<Duration>,
    watch: &dyn Watch,
) -> Result<(Request, Outcome), VerifyError> {
    let trial = Request {
        method: Method::Refinement(Means::default()),
        values: Some(VALUES),
        pairs: Pairs::One(Process::from_index(0), Process::from_index(1)),
        operations: match request.operations {
            Operations::Unbounded | Operations::Grow => Operations::Grow,
            bounded @ Operations::AtMost(_) => bounded,
        },
        barriers: Barriers::Unbounded,
        time: Some(time.map_or(TIME, |time| time.min(TIME))),
        ..request.clone()
    };
    let mut outcomes = verify(program, false, &trial, watch)?;
    let outcome = outcomes.pop().expect("one set of executions is searched");
    Ok((trial, outcome))
}
