//! The execution at a position: its steps, the state, and the next step of each process.

use serde::Serialize;

use super::choices::Turn;
use super::standing::Standing;
use super::{ExploreError, Explorer, Path};
use crate::counterexample::named_deeds;
use crate::interpret::{Execution, Fault, Move, MoveError, MoveErrorKind, State};
use crate::report::page::{faulty, line, table};

/// Everything that a page shows of an execution at a position.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Number of moves made.
    pub at: usize,
    /// All moves, also those after the position.
    pub steps: Vec<StepLine>,
    /// Shared memory and variables at the position.
    pub state: Vec<Place>,
    /// The processes with their possible next steps; none after a fault.
    pub turns: Vec<Turn>,
    /// The verdict on the history at the position.
    pub standing: Standing,
}

/// One step of the execution.
#[derive(Clone, Debug, Serialize)]
pub struct StepLine {
    pub process: usize,
    pub text: String,
    /// The executed line of the text, from 1; 0 if the step only begins or ends an operation.
    pub line: usize,
}

/// A cell or variable with its content.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    pub name: String,
    pub held: String,
    /// Content before the last step, if it was another.
    pub was: Option<String>,
}

/// Moves that were made, up to a fault.
pub(super) struct Made {
    /// The execution up to the position, without a faulty step.
    pub execution: Execution,
    /// The state before the last step.
    pub before: State,
    /// The fault, if the last move is faulty.
    pub fault: Option<(Move, Fault)>,
}

impl Path<'_> {
    /// Makes the first `at` moves. The last of all moves may be faulty.
    pub(super) fn make(&self, at: usize) -> Result<Made, ExploreError> {
        let machine = &self.machine;
        let mut state = machine.initial().clone();
        let (mut before, mut reports, mut fault) = (state.clone(), Vec::new(), None);
        for (number, &made) in (1..).zip(&self.moves[..at]) {
            before = state.clone();
            match machine.make(&mut state, made) {
                Ok(report) => reports.push(report),
                Err(MoveErrorKind::Fault(_)) if number < self.moves.len() => {
                    return Err(ExploreError::AfterFault { number: number + 1 });
                }
                Err(MoveErrorKind::Fault(found)) => {
                    // After a fault the state is meaningless.
                    state = before.clone();
                    fault = Some((made, found));
                }
                Err(kind) => return Err(MoveError { number, made, kind }.into()),
            }
        }
        let execution = Execution { processes: machine.processes(), reports, last: state };
        Ok(Made { execution, before, fault })
    }
}

impl Explorer {
    /// Returns the execution of these moves, each a line of a trace, after the first `at` of them.
    /// Cost: all moves, and the judgement of the history.
    ///
    /// # Errors
    /// If a line is no move, a move cannot be made, or the history cannot be judged.
    pub fn view(&self, lines: &[String], at: usize) -> Result<View, ExploreError> {
        let path = self.path(lines)?;
        let moves = path.moves.len();
        if at > moves {
            return Err(ExploreError::NoPosition { at, moves });
        }
        let all = path.make(moves)?;
        let made = path.make(at)?;
        let standing = made.standing(self, &path)?;
        let machine = &path.machine;
        let rows = |state: &State| table(machine, &self.source, state);
        let before = rows(&made.before);
        let state = rows(&made.execution.last).into_iter().map(|(name, held)| {
            let old = before.iter().find(|(old, _)| *old == name);
            let was = match old {
                Some((_, old)) => (*old != held).then(|| old.clone()),
                None => Some("-".to_owned()),
            };
            Place { name, held, was }
        });
        Ok(View {
            at,
            steps: self.steps(&all),
            state: state.collect(),
            turns: self.turns(&path, &made)?,
            standing,
        })
    }

    fn steps(&self, made: &Made) -> Vec<StepLine> {
        let texts = named_deeds(&made.execution);
        let reports = made.execution.reports.iter().zip(texts);
        let mut steps: Vec<StepLine> = reports
            .map(|(report, text)| StepLine {
                process: report.process.index(),
                text,
                line: report.span.map_or(0, |span| line(&self.source, span)),
            })
            .collect();
        steps.extend(made.fault.as_ref().map(|(made, fault)| StepLine {
            process: made.process.index(),
            text: faulty(fault),
            line: line(&self.source, fault.span),
        }));
        steps
    }
}
