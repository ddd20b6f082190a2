//! Judges whether the history of an execution is linearizable.
//!
//! Two judges decide: the checker that chooses among the fast methods, and the plain search over
//! orders. They share only the representation of histories. If they disagree, neither verdict is
//! used.

use snapshot_core::History;
use snapshot_core::check::{Report, check};
use snapshot_core::search::{Budget, Outcome, search_plainly};
use snapshot_core::verdict::{Dispute, Verdict};
use thiserror::Error;

/// Reason why a history has no verdict.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum JudgeError {
    #[error("the history has too many orders to try with {memory} bytes")]
    Undecided {
        /// Memory of each search, in bytes.
        memory: usize,
    },
    /// The caller ended a search.
    #[error("it was ended before the orders of the history were tried")]
    Ended,
    /// The two judges disagree.
    #[error(
        "this is a bug of this program: the checker finds a history {check}, but the search of \
         all orders finds it {search}"
    )]
    Disagreement {
        /// `linearizable` or `a violation`.
        check: &'static str,
        /// Verdict of the search, likewise.
        search: &'static str,
    },
    /// Two judges within the checker disagree.
    #[error(transparent)]
    Disputed(#[from] Dispute),
}

impl JudgeError {
    /// Returns true if this program is at fault, as opposed to the request.
    pub const fn is_ours(&self) -> bool {
        matches!(self, Self::Disagreement { .. } | Self::Disputed(_))
    }
}

/// Judges a history. `memory`: most bytes of each of the two searches; `proceed` is called
/// periodically and returns false to end the search.
///
/// # Errors
/// If the judges give no verdict, or disagree.
pub fn judge(
    history: &History<u32>,
    memory: usize,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<Report<u32>, JudgeError> {
    let mut has_ended = false;
    let mut proceed = || {
        has_ended = has_ended || !proceed();
        !has_ended
    };
    let report = check(history, &mut Budget { memory, proceed: &mut proceed });
    let plain = search_plainly(history, &mut Budget { memory, proceed: &mut proceed });
    match (&report.verdict, plain) {
        (Verdict::Linearizable(_), Outcome::Linearizable(_))
        | (Verdict::Violation(_), Outcome::NotLinearizable { .. }) => Ok(report),
        (Verdict::Unknown(_), _) | (_, Outcome::Exhausted { .. }) if has_ended => {
            Err(JudgeError::Ended)
        }
        (Verdict::Unknown(_), _) | (_, Outcome::Exhausted { .. }) => {
            Err(JudgeError::Undecided { memory })
        }
        (Verdict::Disputed(dispute), _) => Err((*dispute).into()),
        (Verdict::Linearizable(_), Outcome::NotLinearizable { .. }) => {
            Err(JudgeError::Disagreement { check: "linearizable", search: "a violation" })
        }
        (Verdict::Violation(_), Outcome::Linearizable(_)) => {
            Err(JudgeError::Disagreement { check: "a violation", search: "linearizable" })
        }
    }
}
