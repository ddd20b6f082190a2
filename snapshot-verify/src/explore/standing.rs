//! The verdict on a history, with its argument and its pictures.

use serde::Serialize;
use snapshot_core::history::Outcome;
use snapshot_core::{Names, Process};
use snapshot_picture::{Diagram, Named, svg};

use super::view::Made;
use super::{ExploreError, Explorer, MEMORY, Path};
use crate::counterexample::{
    ObjectCounterexample, named_deeds, names_of, operation_deeds, operation_names,
};
use crate::interpret::{Event, Execution, JudgeError, Sequential, judge};
use crate::object::{Judge, Judgement, ObjectJudgeError};
use crate::report::page::diagram;

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
        let judged = match &path.sequential {
            None => self.of_snapshot(),
            Some(sequential) => self.of_object(path, sequential),
        };
        let mut standing = match judged {
            Err(ExploreError::Judge(error @ JudgeError::Undecided { .. })) => unknown(&error),
            Err(ExploreError::ObjectJudge(error @ ObjectJudgeError::Undecided { .. })) => {
                unknown(&error)
            }
            judged => judged?,
        };
        if let Some((_, fault)) = &self.fault {
            let place = explorer.source.place(fault.span);
            standing.kind = "faulty";
            standing.word = "goes wrong";
            standing.reason = format!("The last step goes wrong at {place}: {fault}.");
        }
        Ok(standing)
    }

    fn of_snapshot(&self) -> Result<Standing, ExploreError> {
        let history = self.execution.history();
        let report = judge(&history, MEMORY, &mut || true)?;
        let shown = diagram(&history, &report);
        let Some(explanation) = &report.explanation else {
            return Ok(linearizable(&shown, "the scans"));
        };
        let names = operation_names(&history);
        let argument = explanation.argument(|exhibit| names[exhibit.id.index()].clone());
        let decided = report.decided_at.map(|event| self.execution.step_of(event));
        let mut standing =
            self.violation(decided, &Diagram::of_history(&history, &Names::default()));
        standing.argument = argument.lines().map(str::to_owned).collect();
        standing.proof = drawn(&shown, "The operations that prove it, and the order they force");
        Ok(standing)
    }

    fn of_object(
        &self,
        path: &Path<'_>,
        sequential: &Sequential<'_>,
    ) -> Result<Standing, ExploreError> {
        let events: Vec<&Event> = self.execution.events().collect();
        let operations = operations(&self.execution);
        match Judge::new(sequential).judge(&events)? {
            Judgement::Linearizable => Ok(linearizable(&operations, "the operations")),
            Judgement::Violation { events, .. } => {
                let decided = self.execution.step_of(events - 1);
                let found = ObjectCounterexample::validated(
                    &path.machine,
                    sequential,
                    &path.moves[..decided],
                );
                let mut standing = self.violation(Some(decided), &operations);
                standing.argument = found.iter().map(|one| one.argument().to_owned()).collect();
                Ok(standing)
            }
        }
    }

    fn violation(&self, decided: Option<usize>, operations: &Diagram) -> Standing {
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
            argument: Vec::new(),
            picture: drawn(operations, OPERATIONS).unwrap_or_default(),
            proof: None,
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

/// Returns the operations of an object as a diagram.
fn operations(execution: &Execution) -> Diagram {
    let mut named: Vec<Named> = Vec::new();
    let mut open = vec![0; execution.processes];
    let mut deeds = operation_deeds(execution).into_iter();
    for (number, event) in execution.events().enumerate() {
        let open = &mut open[event.process.index()];
        if event.action.is_response() {
            named[*open].outcome = Outcome::Complete { response: number };
        } else {
            *open = named.len();
            let deed = deeds.next().unwrap_or_default();
            named.push(Named {
                is_answer: deed.contains(" returns "),
                deed,
                process: Process::from_index(event.process.index()),
                invocation: number,
                outcome: Outcome::Pending,
            });
        }
    }
    let mut diagram = Diagram::of_operations(&named, None);
    for (bar, name) in diagram.bars.iter_mut().zip(names_of(execution)) {
        bar.name = name;
    }
    diagram
}
