//! Counterexamples of objects: executions after which no order of the operations explains their
//! results.

use std::fmt::Write;

use snapshot_core::history::{Declaration, Event as HistoryEvent};
use snapshot_core::{History, OperationId, Segment};

use super::names::Names;
use super::{CounterexampleError, CounterexampleErrorKind, columns, intervals, paragraph};
use crate::interpret::{Action, Event, Execution, Machine, Move, Sequential};
use crate::object::{Judge, Judgement, Order};

/// A validated execution whose history is not linearizable.
#[derive(Clone, Debug)]
pub struct ObjectCounterexample {
    title: String,
    moves: Vec<Move>,
    execution: Execution,
    argument: String,
}

impl ObjectCounterexample {
    /// Makes the moves and judges the execution. Moves after the violation are left out.
    ///
    /// # Errors
    /// If the moves are not a counterexample: they cannot be made, an operation begins where the
    /// object's `when` forbids it, or the history is linearizable.
    pub fn validated(
        machine: &Machine<'_>,
        sequential: &Sequential<'_>,
        moves: &[Move],
    ) -> Result<Self, CounterexampleError> {
        let execution = machine.run(moves)?;
        let events: Vec<&Event> = execution.events().collect();
        let judge = Judge::new(sequential);
        let Judgement::Violation { events: decided, order } = judge.judge(&events)? else {
            let (moves, operations) = (moves.len(), begun(&execution));
            return Err(CounterexampleErrorKind::Linearizable { moves, operations }.into());
        };
        for (position, event) in events[..decided].iter().enumerate() {
            if let Action::Begin { call, text } = &event.action
                && !judge.may_begin(&events[..position], event.process, *call)?
            {
                let (process, text) = (event.process, text.to_string());
                return Err(CounterexampleErrorKind::Forbidden { process, text }.into());
            }
        }
        let moves = moves[..execution.step_of(decided - 1)].to_vec();
        let execution = machine.run(&moves)?;
        let argument =
            object_argument(&execution, decided, &order, sequential.object().has_blocks());
        let title = super::title(machine, None, moves.len());
        Ok(Self { title, moves, execution, argument })
    }

    /// Returns the moves, up to the event that completes the violation.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the execution of the moves.
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Returns the number of operations.
    pub fn operations(&self) -> usize {
        begun(&self.execution)
    }

    /// Returns the argument why the history is not linearizable, as one paragraph.
    pub fn argument(&self) -> &str {
        &self.argument
    }

    /// Renders the counterexample below a title line. Lines have at most `width` characters, unless
    /// a word is longer.
    pub fn text(&self, width: usize) -> String {
        format!("{}\n\n{}", self.title, self.body(width))
    }

    /// Renders as [`Self::text`], without the title line.
    pub fn body(&self, width: usize) -> String {
        let mut text = render_object(&self.execution, width);
        text.push_str("\nWhy it is not linearizable:\n\n");
        for line in paragraph::lines(&self.argument, width.saturating_sub(2).min(98)) {
            writeln!(text, "  {line}").expect("writing to a string cannot fail");
        }
        text
    }
}

/// Renders an execution of an object: its columns and its history. Lines have at most `width`
/// characters, unless a word is longer.
pub fn render_object(execution: &Execution, width: usize) -> String {
    let names = Names::of_object(begun(execution));
    let labels = labels(execution, &names);
    let short: Vec<String> = (0..labels.len())
        .map(|number| names.of_operation(OperationId::from_index(number)))
        .collect();
    let columns = columns::text(execution, &names, width);
    let drawn = intervals::labelled(&drawing(execution), &labels, &short, width);
    let drawn = drawn.unwrap_or_else(|list| list);
    format!("{columns}\nThe history:\n\n{drawn}")
}

/// Returns the number of operations of an execution.
pub(super) fn begun(execution: &Execution) -> usize {
    execution.events().filter(|event| !event.action.is_response()).count()
}

/// Returns a label per operation, with its result if complete: `O1: push(1)`, `O2: pop returns 1`.
fn labels(execution: &Execution, names: &Names) -> Vec<String> {
    named(&operation_deeds(execution), names)
}

fn named(deeds: &[String], names: &Names) -> Vec<String> {
    let name = |number| names.of_operation(OperationId::from_index(number));
    deeds.iter().enumerate().map(|(number, deed)| format!("{}: {deed}", name(number))).collect()
}

/// Describes each operation of an object, in the order of invocations, with its result if complete:
/// `push(1)`, `pop returns 1`.
pub fn operation_deeds(execution: &Execution) -> Vec<String> {
    deeds_of(execution, usize::MAX)
}

/// Describes the operations of the first `events` events.
fn deeds_of(execution: &Execution, events: usize) -> Vec<String> {
    let mut deeds: Vec<String> = Vec::new();
    let mut open = vec![0; execution.processes];
    for event in execution.events().take(events) {
        let open = &mut open[event.process.index()];
        match &event.action {
            Action::Begin { text, .. } => {
                *open = deeds.len();
                deeds.push(text.to_string());
            }
            Action::End { result: Some(_), text, .. } => {
                write!(deeds[*open], " returns {text}").expect("writing to a string cannot fail");
            }
            _ => {}
        }
    }
    deeds
}

/// Returns the operations as a history of updates: a picture shows only their intervals.
fn drawing(execution: &Execution) -> History<u32> {
    let n = execution.processes;
    let declaration = Declaration::new(0).with_segments(n).with_processes(n);
    let mut history = History::builder(declaration).expect("there is at least one process");
    for event in execution.events() {
        let segment = Segment::from_index(event.process.index());
        let drawn = match event.action.is_response() {
            false => HistoryEvent::invoke_update(event.process, segment, &0),
            true => HistoryEvent::respond_update(event.process),
        };
        history.push(&drawn).expect("a machine's events are a history");
    }
    history.finish()
}

/// Returns the argument why no order explains the first `events` events of an execution. `order`
/// explains the events before the last of them.
pub fn object_argument(
    execution: &Execution,
    events: usize,
    order: &Order,
    in_blocks: bool,
) -> String {
    let names = Names::of_object(begun(execution));
    let labels = named(&deeds_of(execution, events), &names);
    let mut open = vec![0; execution.processes];
    let (mut begun, mut last) = (0, 0);
    for event in execution.events().take(events) {
        let open = &mut open[event.process.index()];
        if event.action.is_response() {
            last = *open;
        } else {
            *open = begun;
            begun += 1;
        }
    }
    let block = |block: &Vec<OperationId>| {
        let labels: Vec<&str> = block.iter().map(|id| labels[id.index()].as_str()).collect();
        labels.join(" together with ")
    };
    let order: Vec<String> = order.iter().map(block).collect();
    let before = match order.as_slice() {
        [] => "Nothing else has to have taken effect before".to_owned(),
        order => format!("Before, the order {} explains what was returned", order.join("; ")),
    };
    let (alone, some) = match in_blocks {
        true => (", alone or together with others", ", alone or together"),
        false => ("", ""),
    };
    format!(
        "Each operation takes effect at one instant between its begin and its end{alone}. {before}. \
         But no order of all these operations{some}, in which each comes after those that ended \
         before it began, explains the last response, that of {}.",
        labels[last]
    )
}
