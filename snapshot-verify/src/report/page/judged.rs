//! The history of an execution, judged and drawn: of a snapshot or of a declared object.

use snapshot_core::history::Outcome;
use snapshot_core::immediate::SetLinearization;
use snapshot_core::{Names, OperationId};
use snapshot_picture::columns::{self, Columns, Ticks, encode_operations};
use snapshot_picture::page::Form;
use snapshot_picture::{Diagram, Named};

use super::PageError;
use crate::counterexample::{object_argument, operation_deeds, operation_names};
use crate::interpret::{Event, Execution, Sequential, judge};
use crate::object::{Judge, Judgement};

/// Letter in the names of an object's operations, as in texts of counterexamples.
pub(super) const LETTER: char = 'O';

/// Maximum number of operations of a linearizable history that is drawn.
const FEW_OPERATIONS: usize = 60;

/// A judged history. Its columns and a diagram's intervals are in steps of the execution, from 1.
pub(crate) struct Judged {
    pub violation: Option<Violation>,
    /// All operations, each with its place in the linearization if there is one; none of a long
    /// linearizable history.
    pub all: Diagram,
    pub columns: Columns,
    pub form: Form,
}

/// Why a history is not linearizable.
pub(crate) struct Violation {
    /// Lines of the argument.
    pub argument: Vec<String>,
    /// The operations of the argument, with the order that is forced.
    pub proof: Diagram,
    /// The step that completes the violation, from 1.
    pub decided: Option<usize>,
}

impl Judged {
    /// Judges the history of an execution; `sequential` is the declared object, if any. Each search
    /// of orders takes at most this many bytes.
    ///
    /// # Errors
    /// If the history cannot be judged.
    pub(crate) fn new(
        execution: &Execution,
        sequential: Option<&Sequential<'_>>,
        memory: usize,
    ) -> Result<Self, PageError> {
        match sequential {
            None => of_snapshot(execution, memory),
            Some(sequential) => of_object(execution, sequential),
        }
    }

    /// Returns the diagram that explains the verdict.
    pub(crate) const fn shown(&self) -> &Diagram {
        match &self.violation {
            Some(violation) => &violation.proof,
            None => &self.all,
        }
    }
}

/// Returns the step of each event, from 1.
fn steps(execution: &Execution) -> Vec<usize> {
    let reports = execution.reports.iter().zip(1..);
    reports.filter(|(report, _)| report.event.is_some()).map(|(_, step)| step).collect()
}

fn of_snapshot(execution: &Execution, memory: usize) -> Result<Judged, PageError> {
    let steps = steps(execution);
    let history = execution.history();
    let report = judge(&history, memory, &mut || true)?;
    let order = match &report.verdict {
        snapshot_core::verdict::Verdict::Linearizable(order) => Some(order),
        _ => None,
    };
    let ticks = Ticks { of_event: Some(&steps), count: execution.reports.len() + 1 };
    let columns = columns::encode(&history, order, ticks);
    let violation = report.explanation.as_ref().map(|explanation| {
        let names = operation_names(&history);
        let name = |id: OperationId| names[id.index()].clone();
        let argument = explanation.argument(|operation| name(operation.id));
        Violation {
            argument: argument.lines().map(str::to_owned).collect(),
            proof: in_steps(Diagram::of_explanation_named(explanation, name), &steps),
            decided: report.decided_at.and_then(|event| steps.get(event).copied()),
        }
    });
    let is_long = history.operations().len() > FEW_OPERATIONS;
    let all = match order {
        Some(_) if is_long => Diagram::default(),
        Some(order) => Diagram::of_linearization(&history, order, &Names::default()),
        None => Diagram::of_history(&history, &Names::default()),
    };
    Ok(Judged { violation, all: in_steps(all, &steps), columns, form: Form::Snapshot })
}

/// Counts the intervals of a diagram in steps instead of events.
fn in_steps(mut diagram: Diagram, steps: &[usize]) -> Diagram {
    for bar in &mut diagram.bars {
        bar.begin = steps[bar.begin];
        bar.end = bar.end.map(|event| steps[event]);
    }
    diagram
}

fn of_object(execution: &Execution, sequential: &Sequential<'_>) -> Result<Judged, PageError> {
    let named = operations(execution);
    let events: Vec<&Event> = execution.events().collect();
    let has_blocks = sequential.object().has_blocks();
    let (violation, order) = match Judge::new(sequential).judge(&events)? {
        Judgement::Linearizable { order } => (None, Some(SetLinearization::new(order))),
        Judgement::Violation { events, order } => {
            let begun = execution.events().take(events).filter(|one| !one.action.is_response());
            let argued: Vec<OperationId> =
                (0..begun.count()).map(OperationId::from_index).collect();
            let violation = Violation {
                argument: vec![object_argument(execution, events, &order, has_blocks)],
                proof: Diagram::of_argument(&named, &argued, LETTER),
                decided: Some(execution.step_of(events - 1)),
            };
            (Some(violation), None)
        }
    };
    let ticks = execution.reports.len() + 1;
    let columns = encode_operations(&named, ticks, order.as_ref(), has_blocks);
    let is_long = violation.is_none() && named.len() > FEW_OPERATIONS;
    let all = match is_long {
        true => Diagram::default(),
        false => Diagram::of_operations(&named, order.as_ref(), LETTER),
    };
    Ok(Judged { violation, all, columns, form: Form::Operations })
}

/// Returns the operations of an object, with their intervals in steps.
pub(super) fn operations(execution: &Execution) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::new();
    let mut open = vec![0; execution.processes];
    let mut deeds = operation_deeds(execution).into_iter();
    for (event, step) in execution.events().zip(steps(execution)) {
        let open = &mut open[event.process.index()];
        if event.action.is_response() {
            named[*open].outcome = Outcome::Complete { response: step };
        } else {
            *open = named.len();
            let deed = deeds.next().unwrap_or_default();
            named.push(Named {
                is_answer: deed.contains(" returns "),
                deed,
                process: event.process,
                invocation: step,
                outcome: Outcome::Pending,
            });
        }
    }
    named
}
