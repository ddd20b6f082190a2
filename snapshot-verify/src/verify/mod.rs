//! From a question to its answer: all stages, for all pairs, within a budget.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `request`, `reduction` | what is asked, with what means |
//! | `effort`, `strategy` | in which order executions are explored, and when that ends |
//! | `pipeline`, `simple` | simple executions: compiled, reduced, explored |
//! | `full` | all executions over a few values, by the second method |
//! | `expand` | from the steps of a search to those of the program |
//! | `conformance` | `expect` lines as tests |
//! | `outcome`, `error`, `watch` | what is answered, and told meanwhile |
//!
//! No violation leaves this module without having been replayed by the
//! interpreter and judged by the exact check of histories.

mod conformance;
mod effort;
mod error;
mod expand;
mod full;
mod outcome;
pub mod pipeline;
mod reduction;
mod request;
mod simple;
mod strategy;
mod watch;

pub use conformance::{Conformance, conformance, request};
pub use effort::Effort;
pub use error::VerifyError;
pub use outcome::{Cause, Measures, Outcome, ProgramFault, Verdict};
pub use pipeline::Prepared;
pub use reduction::{Entry, Reduction, Reductions, ReductionsError, TABLE};
pub use request::{Operations, Pairs, Request};
pub use watch::Watch;

use crate::program::Program;
use simple::Simple;
use strategy::{Finding, Found, explore_all};

/// Answers a request; one outcome per pair, in order, or a single one with
/// [`Request::values`].
///
/// `speaks_for_all`: whether the program is data-independent, so that its simple
/// executions speak for all others.
///
/// # Errors
/// If the request cannot be met, or this program turns out to be wrong.
pub fn verify(
    program: &Program,
    speaks_for_all: bool,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, VerifyError> {
    if let Some(values) = request.values {
        if request.operations == Operations::Grow {
            return Err(VerifyError::FullBound(request.operations));
        }
        return Ok(vec![full::explore(program, request, values, watch)?]);
    }
    let clean = if speaks_for_all { Verdict::Verified } else { Verdict::Refused };
    let found = explore_all(request, &mut Simple::new(program, request, watch)?)?;
    let outcome = |found: Found<Verdict>| Outcome {
        pair: Some(found.pair),
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
