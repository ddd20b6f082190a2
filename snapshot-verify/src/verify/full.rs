//! All executions over a few values, by the second method: refinement of the
//! atomic snapshot, which knows neither pairs nor observer.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::effort::Effort;
use super::error::VerifyError;
use super::outcome::{Cause, Measures, Outcome, ProgramFault, Verdict};
use super::request::Request;
use super::watch::Watch;
use crate::counterexample::Counterexample;
use crate::interpret::{Client, Machine, Roles, Values};
use crate::program::Program;
use crate::refine::{self, Budget, refine};

/// Bytes that the second method takes per state, generously: it counts states
/// rather than bytes.
const BYTES_PER_STATE: u64 = 1 << 9;

/// Explores all executions over this many values.
///
/// # Errors
/// If the program cannot be run with so many processes, or the search is wrong.
pub fn explore(
    program: &Program,
    request: &Request,
    values: u32,
    watch: &dyn Watch,
) -> Result<Outcome, VerifyError> {
    let began = Instant::now();
    let machine = Machine::new(program, request.processes)?;
    let effort = Effort { operations: request.operations.bound(), active: request.processes };
    let (values, operations) = (Values::Full(values), effort.operations);
    let client = Client { values, operations, roles: Roles::All };
    watch.begin(None, effort);
    let states = usize::try_from(request.memory / BYTES_PER_STATE).unwrap_or(usize::MAX);
    let mut cause = Cause::Memory;
    let mut proceed = || {
        if watch.stop().load(Ordering::Relaxed) {
            cause = Cause::Interrupted;
        } else if request.time.is_some_and(|time| began.elapsed() >= time) {
            cause = Cause::Time;
        }
        cause == Cause::Memory
    };
    let found = refine(&machine, &client, &mut Budget { states, proceed: &mut proceed })?;
    let verdict = match found.verdict {
        refine::Verdict::Verified => Verdict::Verified,
        refine::Verdict::Violation(moves) => {
            let counterexample = Counterexample::validated(&machine, None, &moves)?;
            Verdict::Violation(Box::new(counterexample))
        }
        refine::Verdict::Faulty { moves, fault } => {
            Verdict::Fault(Box::new(ProgramFault { moves, fault }))
        }
        refine::Verdict::Unknown => Verdict::Unknown(cause),
    };
    let finished = !matches!(verdict, Verdict::Unknown(_));
    let measures = Measures {
        explorations: 1,
        states: found.states as u64,
        transitions: found.transitions,
        depth: found.depth as u64,
        elapsed: began.elapsed(),
        ..Measures::default()
    };
    Ok(Outcome {
        pair: None,
        verdict,
        scope: finished.then_some(effort).into_iter().collect(),
        measures,
    })
}
