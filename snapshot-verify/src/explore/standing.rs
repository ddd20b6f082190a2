//! The verdict on a history, with its argument and its pictures.

use serde::Serialize;
use snapshot_picture::{Diagram, svg};

use super::view::Made;
use super::{ExploreError, Explorer, MEMORY, Path};
use crate::counterexample::named_deeds;
use crate::interpret::JudgeError;
use crate::object::ObjectJudgeError;
use crate::report::page::{Judged, PageError, Violation};

/// The verdict on the history at a position.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// `linearizable`, `violation`, `faulty` or `unknown`.
    pub kind: &'static str,
    /// The verdict in a word.
    pub word: &'static str,
    /// The reason in a sentence.
    pub reason: String,
    /// The step that completes the violation, from 1.
    pub decided: Option<usize>,
    /// Lines of the argument.
    pub argument: Vec<String>,
    /// The operations as intervals, drawn; empty if there are too many.
    pub picture: String,
    /// The operations of the argument, with the order that their results force.
    pub proof: Option<String>,
}

impl Standing {
    /// Returns whether the history is linearizable, if that is known and no step went wrong.
    pub fn is_linearizable(&self) -> Option<bool> {
        match self.kind {
            "linearizable" => Some(true),
            "violation" => Some(false),
            _ => None,
        }
    }
}

/// Picture read aloud.
const OPERATIONS: &str = "The operations so far";

impl Made {
    /// Judges the history. A history that needs too long a search is unknown.
    pub(super) fn standing(
        &self,
        explorer: &Explorer,
        path: &Path<'_>,
    ) -> Result<Standing, ExploreError> {
        let judged = Judged::new(&self.execution, path.sequential.as_ref(), MEMORY);
        let mut standing = match judged {
            Err(PageError::Judge(error @ JudgeError::Undecided { .. })) => unknown(&error),
            Err(PageError::ObjectJudge(error @ ObjectJudgeError::Undecided { .. })) => {
                unknown(&error)
            }
            Ok(Judged { violation: None, all, .. }) => {
                let returning =
                    if path.sequential.is_some() { "the operations" } else { "the scans" };
                linearizable(&all, returning)
            }
            Ok(Judged { violation: Some(violation), all, .. }) => self.violation(violation, &all),
            Err(error) => return Err(error.into()),
        };
        if let Some((_, fault)) = &self.fault {
            let place = explorer.source.place(fault.span);
            standing.kind = "faulty";
            standing.word = "goes wrong";
            standing.reason = format!("The last step goes wrong at {place}: {fault}.");
        }
        Ok(standing)
    }

    fn violation(&self, violation: Violation, operations: &Diagram) -> Standing {
        let Violation { argument, proof, decided } = violation;
        let reason = match decided {
            Some(step) => {
                let process = self.execution.reports[step - 1].process;
                let deed = &named_deeds(&self.execution)[step - 1];
                format!(
                    "Step {step}, p{process}: {deed}, completes a violation: no order of the \
                     operations explains it."
                )
            }
            None => "No order of the operations explains what they returned.".to_owned(),
        };
        Standing {
            kind: "violation",
            word: "not linearizable",
            reason,
            decided,
            argument,
            picture: drawn(operations, OPERATIONS).unwrap_or_default(),
            proof: drawn(&proof, "The operations that prove it, and the order they force"),
        }
    }
}

fn linearizable(operations: &Diagram, returning: &str) -> Standing {
    Standing {
        kind: "linearizable",
        word: "linearizable",
        reason: format!("An order of the operations explains what {returning} returned."),
        decided: None,
        argument: Vec::new(),
        picture: drawn(operations, OPERATIONS).unwrap_or_default(),
        proof: None,
    }
}

fn unknown(error: &dyn std::fmt::Display) -> Standing {
    Standing {
        kind: "unknown",
        word: "unknown",
        reason: format!("{error}: go back some steps."),
        decided: None,
        argument: Vec::new(),
        picture: String::new(),
        proof: None,
    }
}

fn drawn(diagram: &Diagram, title: &str) -> Option<String> {
    let is_drawn = (1..=svg::MOST_BARS).contains(&diagram.bars.len());
    let prefix = if diagram.arrows.is_empty() { "all" } else { "why" };
    is_drawn.then(|| svg::element(diagram, title, prefix).into_string())
}
