//! The entry point of the library: from a text and a question to the answer.

use thiserror::Error;

use super::{Outcome, Request, Unwatched, Verdict, VerifyError, verify};
use crate::counterexample::Counterexample;
use crate::language::{Diagnostics, parse};
use crate::program::independence;

/// The answer for an algorithm: an outcome per pair, in order, or a single one with
/// [`Request::values`].
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcomes: Vec<Outcome>,
}

/// Reason why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The text is not a valid algorithm; with places and reasons.
    #[error(transparent)]
    Text(#[from] Diagnostics),
    /// The request cannot be met.
    #[error(transparent)]
    Request(#[from] VerifyError),
}

impl Answer {
    /// Returns true if no requested execution violates linearizability.
    pub fn is_verified(&self) -> bool {
        self.outcomes.iter().all(|outcome| matches!(outcome.verdict, Verdict::Verified))
    }

    /// Returns the first violation, replayed by the interpreter and confirmed by the exact check of
    /// histories.
    pub fn violation(&self) -> Option<&Counterexample> {
        self.outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Verdict::Violation(counterexample) => Some(&**counterexample),
            _ => None,
        })
    }
}

/// Answers a request about the algorithm of a text, without its planted bugs. `name` is used in
/// diagnostics.
///
/// ```
/// use snapshot_verify::{Request, answer};
///
/// let bowman = "\
/// algorithm bowman
/// shared active: process or none := none
/// shared a[segment]: value
/// update(v):
///     active := none
///     a[me] := v
/// scan:
///     local copy[segment]: value
///     repeat
///         active := me
///         for s in segments: copy[s] := a[s]
///     until active = me
///     return copy
/// ";
/// assert!(answer("bowman", bowman, &Request::new(3))?.is_verified());
///
/// let collect = "\
/// algorithm collect
/// shared a[segment]: value
/// update(v):
///     a[me] := v
/// scan:
///     local copy[segment]: value
///     for s in segments: copy[s] := a[s]
///     return copy
/// ";
/// let answer = answer("collect", collect, &Request::new(3))?;
/// let counterexample = answer.violation().expect("two scans may disagree");
/// println!("{}", counterexample.text(100));
/// # Ok::<(), snapshot_verify::AnswerError>(())
/// ```
///
/// # Errors
/// If the text is not a valid algorithm, or the request cannot be met.
pub fn answer(name: &str, text: &str, request: &Request) -> Result<Answer, AnswerError> {
    let program = request.method.program(&parse(name, text)?, None)?;
    let is_independent = independence::check(&program).is_ok();
    let outcomes = verify(&program, is_independent, request, &Unwatched::default())?;
    Ok(Answer { outcomes })
}
