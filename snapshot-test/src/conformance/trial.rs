//! The trial of one case before its judges.

use std::fmt;

use corpus::Expected;
use snapshot_core::History;
use snapshot_core::certificate::blocks::{self, BlocksError};
use snapshot_core::certificate::exchanges::ExchangesError;
use snapshot_core::certificate::linearization::{self, LinearizationError};
use snapshot_core::certificate::refutation::{self, RefutationError};
use snapshot_core::certificate::witness::{self, WitnessError};
use snapshot_core::check::{Report, check};
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_core::{certificate, immediate};
use thiserror::Error;

use super::{Case, Recorded, SEARCH_MEMORY, by_search, exchanges};
use crate::Value;

/// A verdict without its proof.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Answer {
    Linearizable,
    /// The history is not linearizable, for the reason of this name.
    Violation(&'static str),
    Unknown,
    Disputed,
}

impl Answer {
    fn new(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Linearizable(_) => Self::Linearizable,
            Verdict::Violation(witness) => Self::Violation(witness.reason.name()),
            Verdict::Unknown(_) => Self::Unknown,
            Verdict::Disputed(_) => Self::Disputed,
        }
    }

    fn of_exchanges(verdict: &immediate::Verdict) -> Self {
        match verdict {
            immediate::Verdict::SetLinearizable(_) => Self::Linearizable,
            immediate::Verdict::Violation(alarm) => {
                Self::Violation(alarm.violation.condition().name())
            }
            immediate::Verdict::Undecided(_) => Self::Unknown,
        }
    }

    /// Returns true if the answer is the expected one.
    pub fn meets(self, expected: Expected) -> bool {
        match (self, expected) {
            (Self::Linearizable, Expected::Linearizable) => true,
            (Self::Violation(found), Expected::Violation { reason }) => {
                reason.is_none_or(|reason| reason == found)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linearizable => f.write_str("linearizable"),
            Self::Violation(reason) => write!(f, "violation {reason}"),
            Self::Unknown => f.write_str("unknown"),
            Self::Disputed => f.write_str("disputed"),
        }
    }
}

/// A fault in the treatment of a case.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    #[error("expected {expected}, found {found}")]
    Answer {
        /// The answer of the case.
        expected: Expected,
        found: Answer,
    },
    /// The linearization of the checker is invalid.
    #[error("the linearization is refused: {0}")]
    Linearization(LinearizationError),
    /// The witness of the checker proves nothing.
    #[error("the witness is refused: {0}")]
    Witness(WitnessError),
    /// The lines of the checker do not follow.
    #[error("the lines are refused: {0}")]
    Refutation(RefutationError),
    /// The blocks of the checker explain nothing.
    #[error("the blocks are refused: {0}")]
    Blocks(BlocksError),
    /// The operations of the checker show no violation of an immediate snapshot.
    #[error("the violation is refused: {0}")]
    Exchanges(ExchangesError),
    /// Exact search finds the opposite of the expected answer.
    #[error("expected {expected}, but exact search finds the opposite")]
    Search {
        /// The answer of the case.
        expected: Expected,
    },
    /// Exact search ran out of its budget.
    #[error("exact search needs more than {memory} bytes")]
    SearchExhausted {
        /// The budget in bytes.
        memory: usize,
    },
}

/// The result of a case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trial {
    pub answer: Answer,
    /// True if the answer came with a certificate that was confirmed.
    pub is_confirmed: bool,
    /// True if exact search was run and found the expected answer.
    pub is_searched: bool,
    /// All faults; empty if the case is right.
    pub faults: Vec<Fault>,
}

impl Case {
    /// Judges the case by the checker, the judge of certificates and, if `searches`, the exact
    /// search.
    pub fn try_out(&self, searches: bool) -> Trial {
        let (answer, certificate) = match &self.history {
            Recorded::Snapshot(history) => {
                let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
                let report = check(history, &mut budget);
                (Answer::new(&report.verdict), confirm(history, &report))
            }
            Recorded::Immediate(history) => {
                let verdict = immediate::check(history);
                (Answer::of_exchanges(&verdict), confirm_exchanges(history, &verdict))
            }
        };
        let mut faults = Vec::new();
        if !answer.meets(self.expected) {
            faults.push(Fault::Answer { expected: self.expected, found: answer });
        }
        let is_confirmed = matches!(certificate, Some(Ok(())));
        faults.extend(certificate.and_then(Result::err));
        let mut is_searched = false;
        if searches {
            let found = match &self.history {
                Recorded::Snapshot(history) => by_search(history),
                Recorded::Immediate(history) => exchanges::by_search(history),
            };
            match found {
                Some(found) if found == self.expected.is_linearizable() => is_searched = true,
                Some(_) => faults.push(Fault::Search { expected: self.expected }),
                None => faults.push(Fault::SearchExhausted { memory: SEARCH_MEMORY }),
            }
        }
        Trial { answer, is_confirmed, is_searched, faults }
    }
}

/// Checks the certificate of a verdict that has one.
fn confirm(history: &History<Value>, report: &Report<Value>) -> Option<Result<(), Fault>> {
    match &report.verdict {
        Verdict::Linearizable(order) => {
            Some(linearization::check(history, order).map_err(Fault::Linearization))
        }
        Verdict::Violation(found) => {
            let lines = report.explanation.as_ref().and_then(|shown| shown.refutation.as_ref());
            let derived = lines.map_or(Ok(()), |lines| refutation::check(history, lines));
            let shown = || witness::check(history, found).map_err(Fault::Witness);
            Some(derived.map_err(Fault::Refutation).and_then(|()| shown()))
        }
        Verdict::Unknown(_) | Verdict::Disputed(_) => None,
    }
}

/// As `confirm`, for an immediate snapshot.
fn confirm_exchanges(
    history: &immediate::History<Value>,
    verdict: &immediate::Verdict,
) -> Option<Result<(), Fault>> {
    match verdict {
        immediate::Verdict::SetLinearizable(found) => {
            Some(blocks::check(history, found).map_err(Fault::Blocks))
        }
        immediate::Verdict::Violation(alarm) => {
            let checked = certificate::exchanges::check(history, &alarm.violation);
            Some(checked.map_err(Fault::Exchanges))
        }
        immediate::Verdict::Undecided(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Family;

    #[test]
    fn certificate_of_the_twin_is_refused() {
        let case = |name| Family::Twins.cases().find(|case: &Case| case.name == name).unwrap();
        let (bad, good) = (case("condition-b-stale-bad"), case("condition-b-stale-good"));
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        let (Recorded::Snapshot(bad), Recorded::Snapshot(good)) = (bad.history, good.history)
        else {
            panic!("the twins are snapshots");
        };
        let mut report = |history| check(history, &mut budget);
        let (violation, order) = (report(&bad), report(&good));
        assert_eq!(confirm(&bad, &violation), Some(Ok(())));
        assert_eq!(confirm(&good, &order), Some(Ok(())));
        let refused = confirm(&good, &violation);
        assert!(matches!(refused, Some(Err(Fault::Witness(_)))), "{refused:?}");
        let refused = confirm(&bad, &order);
        assert!(matches!(refused, Some(Err(Fault::Linearization(_)))), "{refused:?}");
    }
}
