//! A short search of a program that looks at values: its simple executions prove nothing, but a
//! violation may be near.

use std::time::Duration;

use snapshot_core::Process;

use super::error::VerifyError;
use super::outcome::Outcome;
use super::progress::Watch;
use super::request::{Barriers, Method, Operations, Pairs, Request};
use super::verify;
use crate::program::Program;
use crate::refine::Techniques;

/// The values that updates write.
const VALUES: u32 = 2;

/// Maximum number of states: a few seconds.
const STATES: u64 = 5_000_000;

/// Searches all executions over two values for a violation, with growing bounds on operations, or
/// within the bound of the request. Returns the request that was searched, and its outcome. `time`
/// is the time left for the original request.
///
/// # Errors
/// If the program cannot run with this many processes, or turns out to be wrong.
pub fn tried(
    program: &Program,
    request: &Request,
    time: Option<Duration>,
    watch: &dyn Watch,
) -> Result<(Request, Outcome), VerifyError> {
    let trial = Request {
        method: Method::Refinement(Techniques::default()),
        values: Some(VALUES),
        pairs: Pairs::One(Process::from_index(0), Process::from_index(1)),
        operations: match request.operations {
            Operations::Unbounded | Operations::Grow => Operations::Grow,
            bounded @ Operations::AtMost(_) => bounded,
        },
        barriers: Barriers::Unbounded,
        time,
        states: Some(request.states.map_or(STATES, |states| states.min(STATES))),
        ..request.clone()
    };
    let mut outcomes = verify(program, false, &trial, watch)?;
    let outcome = outcomes.pop().expect("one set of executions is searched");
    Ok((trial, outcome))
}

#[cfg(test)]
mod tests {
    use super::super::{Unfinished, Unwatched, Verdict};
    use super::*;

    /// The number of states decides how far the trial gets, so two trials agree.
    #[test]
    fn a_trial_ends_by_states() {
        let text = corpus::algorithm("double_collect").expect("an algorithm of the corpus").text;
        let algorithm = crate::language::parse("double_collect", text).expect("a right text");
        let program = algorithm.program(None).expect("a right program");
        let request = Request { states: Some(20_000), ..Request::new(4) };
        let tried = || {
            let (_, outcome) =
                tried(&program, &request, None, &Unwatched::default()).expect("runs");
            assert!(matches!(outcome.verdict, Verdict::Unknown(Unfinished::States)));
            (outcome.measures.states, outcome.scope)
        };
        let first = tried();
        assert_eq!(first, tried());
        assert!(first.0 >= 20_000 && first.0 < 40_000 && !first.1.is_empty(), "{first:?}");
    }
}
