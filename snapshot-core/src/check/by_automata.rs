//! The verdict of the three automata on all renamings, with the proofs that [`check`] finds.

use std::hash::Hash;

use super::{Report, check};
use crate::history::History;
use crate::monitor::Undecided;
use crate::renaming::{Decision, Judge, Numbering, Unrenamable};
use crate::search::Budget;
use crate::verdict::{Cause, Dispute, Exhausted, Method, Unknown, Verdict};

/// Judges a history by all of its renamings. The linearization, or the operations of a violation,
/// are found as [`check`] finds them; if its verdict differs, neither is believed.
///
/// # Errors
/// If the history cannot be renamed.
pub(super) fn by_automata<V: Clone + Eq + Hash>(
    history: &History<V>,
    budget: &mut Budget<'_>,
) -> Result<Report<V>, Undecided> {
    let undecided = |error: Unrenamable| Undecided { event: 0, cause: Cause::Unrenamable(error) };
    let numbering = Numbering::new(history).map_err(|error| undecided(error.into()))?;
    let judge = Judge::new(numbering.processes());
    let mut judge = judge.map_err(|error| undecided(error.into()))?;
    let decision = judge.decide(&numbering, budget);
    let method = Method::Automata;
    if decision == Decision::Exhausted {
        let (cause, exhausted) = (Cause::Requested, Exhausted::Time);
        let unknown = Unknown { cause, exhausted, states: 0, linearizable_events: 0 };
        return Ok(Report::new(method, Verdict::Unknown(unknown)));
    }
    let report = check(history, budget);
    let (automata, other) = (Dispute::AUTOMATA, report.method.judge());
    let verdict = match (decision, report.verdict) {
        (Decision::Linearizable, Verdict::Violation(_)) => {
            Verdict::Disputed(Dispute { accepting: automata, refusing: other })
        }
        (Decision::Violation { .. }, Verdict::Linearizable(_)) => {
            Verdict::Disputed(Dispute { accepting: other, refusing: automata })
        }
        (_, verdict) => verdict,
    };
    Ok(Report { method, verdict, ..report })
}
