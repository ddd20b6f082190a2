//! Verification of a request: all stages, for all pairs, within a budget.
//!
//! | file | topic |
//! | --- | --- |
//! | `answer` | the entry point of the library |
//! | `request` | executions to explore, methods, budgets |
//! | `barriers` | counting them |
//! | `schedule`, `strategy` | the order in which executions are explored, and its end |
//! | `explore_pair` | simple executions: compiled, reduced, explored |
//! | `refinement` | the second method, also for all executions over a few values |
//! | `expand` | moves of the program for the steps of a search |
//! | [`contribution`] | contribution of each statement to a proof |
//! | `exercised` | coverage of the executions of an answer |
//! | [`points`] | statements at which updates take effect, found by trying |
//! | [`properties`] | strong linearizability and progress |
//! | `trial` | a short search of programs that look at values |
//! | [`every`] | for every n: a proof, or a violation for some n |
//! | [`every_object`] | for every n, of a declared object |
//! | `attempt`, [`proof`] | the attempts at the proof, and its check |
//! | `by_proof` | for one n with a large search: the proof for every n |
//! | `self_check` | instances, isomorphic pairs and answers tried on random executions |
//! | `conformance` | `expect` lines as tests |
//! | `outcome`, `error`, `progress` | answers, errors, and progress reports |
//!
//! No violation leaves this module without having been replayed by the interpreter and judged by
//! the exact check of histories.

mod answer;
mod attempt;
mod barriers;
mod by_proof;
mod conformance;
pub mod contribution;
mod error;
pub mod every;
pub mod every_object;
mod exercised;
mod expand;
mod explore_pair;
mod hunt;
mod outcome;
pub mod points;
mod progress;
pub mod proof;
pub mod properties;
mod refinement;
mod request;
mod schedule;
mod self_check;
pub mod simulation;
mod strategy;
pub mod subject;
mod trial;
mod turns;
pub mod unmodelled;

pub use answer::{Answer, AnswerError, answer};
pub use by_proof::{Way, verify_by};
pub use conformance::{
    Conformance, conformance, object_request, progress_conformance, request, standings,
    strong_conformance,
};
pub use error::VerifyError;
pub use exercised::exercised;
pub use outcome::{ByProof, Measures, Misplaced, Outcome, ProgramFault, Unfinished, Verdict};
pub use progress::{Unwatched, Watch};
pub use request::{Barriers, Method, Operations, Pairs, Request};
pub use schedule::Effort;
pub use snapshot_explorer::pipeline::{self, Prepared};
pub use snapshot_explorer::reduction::{Entry, Reduction, Reductions, ReductionsError, TABLE};
pub use trial::tried;

use crate::program::Program;
use crate::refine::Techniques;
use explore_pair::PairExplorer;
use refinement::Refined;
use snapshot_core::Process;
use strategy::{Finding, Found, explore_all};

/// Answers a request. Returns one outcome per pair, in order, or a single one with
/// [`Request::values`].
///
/// `is_data_independent` says that the program is data-independent, so that its simple executions
/// represent all others.
///
/// # Errors
/// If the request cannot be met, or this program turns out to be wrong.
pub fn verify(
    program: &Program,
    is_data_independent: bool,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, VerifyError> {
    if program.object().is_some()
        && (request.method == Method::Exploration
            || request.values.is_none()
            || request.updater.is_some())
    {
        return Err(VerifyError::Object);
    }
    if request.barriers != Barriers::Unbounded
        && ((request.method != Method::Exploration && program.object().is_none())
            || request.operations != Operations::Unbounded)
    {
        return Err(VerifyError::Barriers);
    }
    let found = match (request.method, request.values) {
        (Method::Exploration, None) if request.updater.is_none() => {
            explore_all(request, &mut PairExplorer::new(program, request, watch)?)?
        }
        (Method::Exploration, _) => return Err(VerifyError::SimpleOnly),
        (Method::Refinement(means), None) => refined(program, request, means, watch)?,
        (Method::Refinement(means), Some(_)) => {
            // The pair only says that the first processes take part.
            let pairs = Pairs::One(Process::from_index(0), Process::from_index(1));
            refined(program, &Request { pairs, ..request.clone() }, means, watch)?
        }
    };
    let is_simple = request.values.is_none();
    let clean =
        if is_data_independent || !is_simple { Verdict::Verified } else { Verdict::Refused };
    let outcome = |found: Found<Verdict>| Outcome {
        pair: is_simple.then_some(found.pair),
        verdict: match found.finding {
            Finding::Nothing => clean.clone(),
            Finding::Wrong(verdict) => verdict,
            Finding::Stopped(cause) => Verdict::Unknown(cause),
        },
        scope: found.scope,
        measures: found.measures,
    };
    Ok(found.into_iter().map(outcome).collect())
}

fn refined(
    program: &Program,
    request: &Request,
    means: Techniques,
    watch: &dyn Watch,
) -> Result<Vec<Found<Verdict>>, VerifyError> {
    explore_all(request, &mut Refined::new(program, request, means, watch)?)
}
