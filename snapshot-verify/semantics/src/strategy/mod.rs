//! Certificates of strong linearizability: a strategy, and a program that only plays it.
//!
//! A certificate lists the answers of the player in the order of play. The check makes every move of
//! every process by the interpreter; at each response it appends the operations that the next answer
//! names, and the object must give the results that were returned. If all positions that are
//! reached were expanded, the strategy is a function from executions to orders, and longer
//! executions have longer orders.
//!
//! It shares the interpreter with the game that finds strategies ([`crate::strong`]), nothing else.
//!
//! | file | content |
//! | --- | --- |
//! | `claim` | the certificate as text |
//! | `play` | the executions |

mod claim;
mod play;

use thiserror::Error;

pub use claim::{Answers, Claim, TITLE, read, written};
pub use play::{Order, Played, Strategy, play};

use crate::certificate::{Budget, Unfinished};
use crate::contents;
use crate::interpret::{Machine, MachineError, Sequential};
use crate::program::{Program, independence};

/// Reason why a certificate is not accepted.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    #[error("this is no certificate of a strategy")]
    Malformed,
    #[error("the certificate is for another text of the algorithm, which has changed since")]
    OtherText,
    #[error("the algorithm or its object looks at values: no list of answers is for all values")]
    LooksAtValues,
    #[error("the object has operations with `when`: strategies for these have no certificate")]
    Guarded,
    #[error("the answers end before the executions")]
    End,
    #[error("answers are left when all executions have been played")]
    Left,
    #[error("an answer does not give the result that was returned")]
    Answer,
    #[error("a move cannot be made: {0}")]
    Move(String),
    #[error("the object is faulty: {0}")]
    Object(String),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{} ran out before all executions were played", .0.name())]
    Unknown(Unfinished),
}

impl From<Unfinished> for Refusal {
    fn from(cause: Unfinished) -> Self {
        Self::Unknown(cause)
    }
}

/// Checks a certificate against the program of an algorithm, whose text has this digest.
///
/// # Errors
/// If it proves nothing.
pub fn check(
    program: &Program,
    digest: &str,
    (claim, answers): (&Claim, Answers),
    budget: &mut Budget<'_>,
) -> Result<Played, Refusal> {
    if claim.digest != digest || claim.bug != program.bug {
        return Err(Refusal::OtherText);
    }
    let object = object_of(program, claim)?;
    let machine = Machine::new(program, claim.processes)?;
    let mut answers = answers;
    let played = play(&machine, object.as_ref(), claim, &mut answers, budget)?;
    if answers.is_used() { Ok(played) } else { Err(Refusal::Left) }
}

/// Returns the object of a program, if the claim suits it.
///
/// # Errors
/// If it does not.
pub fn object_of<'p>(
    program: &'p Program,
    claim: &Claim,
) -> Result<Option<Sequential<'p>>, Refusal> {
    let object = program.object();
    let looks = independence::check(program).is_err()
        || object.is_some_and(|object| independence::check(&object.specification).is_err());
    if looks && claim.values.is_none() {
        return Err(Refusal::LooksAtValues);
    }
    if object.is_some_and(|object| object.operations.iter().any(|one| one.when.is_some())) {
        return Err(Refusal::Guarded);
    }
    Ok(object.map(|object| Sequential::new(object, claim.processes)).transpose()?)
}
