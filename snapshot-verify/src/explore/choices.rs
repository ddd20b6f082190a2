//! The moves that each process can make at a position.

use serde::Serialize;
use snapshot_core::Process;

use super::view::Made;
use super::{ExploreError, Explorer, Path};
use crate::counterexample::names_of;
use crate::interpret::{Action, Call, Execution, Move, MoveErrorKind, MoveKind, State};
use crate::object::Admission;
use crate::report::page::{faulty, line, position};
use crate::verify::Request;

/// Most choices of one process that are listed.
const MOST_CHOICES: usize = 26;

/// Most operations of an object, arguments counted, that are tried against its conditions.
const MOST_CALLS: u64 = 1 << 10;

/// A process with its possible next steps.
#[derive(Clone, Debug, Serialize)]
pub struct Turn {
    pub process: usize,
    /// The open operation, if there is one: `S1: scan`.
    pub operation: Option<String>,
    /// The position in words: `idle`, `before line 7: a[me] := v`.
    pub position: String,
    /// The line of the next step, from 1; 0 if there is none.
    pub line: usize,
    pub choices: Vec<Choice>,
    /// Number of choices that are not listed.
    pub others: usize,
}

/// A possible move.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The move as a line of a trace.
    pub line: String,
    /// The effect of the move.
    pub text: String,
}

impl Explorer {
    pub(super) fn turns(&self, path: &Path<'_>, made: &Made) -> Result<Vec<Turn>, ExploreError> {
        let state = &made.execution.last;
        let admission = match &path.sequential {
            Some(sequential) if made.fault.is_none() => {
                let mut admission = Admission::new(sequential.clone());
                for event in made.execution.events() {
                    admission.happens(event).map_err(|fault| self.object(&fault))?;
                }
                Some(admission)
            }
            _ => None,
        };
        let open = open_operations(&made.execution);
        let processes = (0..path.machine.processes()).map(Process::from_index);
        let turn = |(process, operation): (Process, Option<String>)| {
            let moves = match made.fault {
                Some(_) => Vec::new(),
                None => self.moves(path, &made.execution, admission.as_ref(), process)?,
            };
            let next = path.machine.next_text(state, process);
            let shown = moves.iter().take(MOST_CHOICES);
            Ok(Turn {
                process: process.index(),
                operation,
                position: position(&path.machine, &self.source, state, process),
                line: next.map_or(0, |span| line(&self.source, span)),
                choices: shown.map(|&made| self.choice(path, state, made)).collect(),
                others: moves.len().saturating_sub(MOST_CHOICES),
            })
        };
        processes.zip(open).map(turn).collect()
    }

    /// Returns the possible moves of a process. Of the updates of a snapshot, the one with a value
    /// that has not been written.
    fn moves(
        &self,
        path: &Path<'_>,
        execution: &Execution,
        admission: Option<&Admission<'_>>,
        process: Process,
    ) -> Result<Vec<Move>, ExploreError> {
        let state = &execution.last;
        if !state.is_idle(process.index()) {
            let outcomes = path.machine.outcomes(state, process);
            return Ok((0..outcomes).map(|outcome| Move::taking(process, outcome)).collect());
        }
        let begin = |call| Move { process, kind: MoveKind::Begin(call) };
        let (Some(sequential), Some(admission)) = (&path.sequential, admission) else {
            return Ok([Call::Update(fresh(execution)), Call::Scan].map(begin).to_vec());
        };
        let values = match sequential.count_calls(Request::VALUES) > MOST_CALLS {
            true => 1,
            false => Request::VALUES,
        };
        let mut moves = Vec::new();
        for call in sequential.calls(process.index(), values) {
            let refusal = admission.refusal(process, call);
            if refusal.map_err(|fault| self.object(&fault))?.is_none() {
                moves.push(begin(Call::Operation(call)));
            }
        }
        Ok(moves)
    }

    /// Describes a move by making it.
    fn choice(&self, path: &Path<'_>, state: &State, made: Move) -> Choice {
        let text = match path.machine.make(&mut state.clone(), made) {
            Ok(report) => report.deeds(),
            Err(MoveErrorKind::Fault(fault)) => faulty(&fault),
            Err(refused) => refused.to_string(),
        };
        Choice { line: made.named(&self.recorded.operations).to_string(), text }
    }

    fn object(&self, fault: &crate::interpret::Fault) -> ExploreError {
        ExploreError::Object { place: self.source.place(fault.span), fault: fault.to_string() }
    }
}

/// Returns the least value that is larger than all written ones.
fn fresh(execution: &Execution) -> u32 {
    let written = execution.events().filter_map(|event| match event.action {
        Action::InvokeUpdate(value) => Some(value),
        _ => None,
    });
    written.max().unwrap_or(0).saturating_add(1)
}

/// Returns the open operation of each process, with its name: `S1: scan`.
fn open_operations(execution: &Execution) -> Vec<Option<String>> {
    let names = names_of(execution);
    let mut open = vec![None; execution.processes];
    let mut begun = 0;
    for event in execution.events() {
        let text = match &event.action {
            Action::InvokeUpdate(value) => Some(format!("update({value})")),
            Action::InvokeScan => Some("scan".to_owned()),
            Action::Begin { text, .. } => Some(text.to_string()),
            Action::RespondUpdate | Action::RespondScan(_) | Action::End { .. } => None,
        };
        let named = |text| format!("{}: {text}", names[begun]);
        open[event.process.index()] = text.map(named);
        begun += usize::from(!event.action.is_response());
    }
    open
}
