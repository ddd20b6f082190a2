//! Counterexamples: an execution whose history is not linearizable, validated
//! and rendered.
//!
//! A method that finds a counterexample hands over moves and nothing else. Before they
//! are shown, the interpreter makes them, and what it records is judged by
//! [`judge`]; only what passes becomes a [`Counterexample`]. A search that hands
//! over anything else is wrong, and [`CounterexampleError`] says so.
//!
//! As text, a counterexample has one column per process that takes part, the
//! accesses to shared memory in their order with what they saw; underneath the
//! history, its operations as intervals; and the argument why no order of these
//! operations explains what they returned. The operations have the same names,
//! S1 and U1 for the first scan and the first update, in all three.

mod columns;
mod intervals;
mod names;
mod object;
mod paragraph;

pub use object::{ObjectCounterexample, render_object};

use std::fmt::Write;

use snapshot_core::History;
use snapshot_core::explanation::Explanation;
use snapshot_core::history::OperationKind;
use snapshot_core::{OperationId, Process};
use thiserror::Error;

use self::names::Names;
use crate::interpret::{Execution, JudgeError, Machine, Move, MoveError, judge};
use crate::object::ObjectJudgeError;

/// Bytes for each search of orders, should a history need one.
const MEMORY: usize = 1 << 30;

/// An execution that the interpreter made, and whose history is not linearizable.
#[derive(Clone, Debug)]
pub struct Counterexample {
    title: String,
    moves: Vec<Move>,
    execution: Execution,
    history: History<u32>,
    explanation: Explanation<u32>,
}

/// A claimed counterexample is no counterexample: the search that found it is wrong.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "BUG in this program, please report it: a search claims a violation, but {kind}. \
     Its verdicts cannot be trusted"
)]
pub struct CounterexampleError {
    /// What is wrong with it.
    #[source]
    pub kind: CounterexampleErrorKind,
}

/// What is wrong with a supposed counterexample.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CounterexampleErrorKind {
    /// The interpreter cannot make these moves.
    #[error("its execution does not exist: {0}")]
    NoExecution(#[from] MoveError),
    /// The history is linearizable.
    #[error(
        "the history of its execution is linearizable ({moves} moves, {operations} operations)"
    )]
    Linearizable {
        /// How many moves it has.
        moves: usize,
        /// How many operations.
        operations: usize,
    },
    /// The history is not of the kind that was searched.
    #[error("update({value}) by p{process}, operation {operation}, is not ({i}, {j})-simple")]
    NotSimple {
        /// i.
        i: Process,
        /// j.
        j: Process,
        /// The process of the update.
        process: Process,
        /// Its number.
        operation: OperationId,
        /// What it writes.
        value: u32,
    },
    /// An operation is begun in a state in which the object forbids it.
    #[error("p{process} begins {text}, which the object does not allow there")]
    Forbidden {
        /// The process of the operation.
        process: Process,
        /// The operation.
        text: String,
    },
    /// The history could not be judged.
    #[error(transparent)]
    NotJudged(#[from] JudgeError),
    /// The history of an object could not be judged.
    #[error(transparent)]
    ObjectNotJudged(#[from] ObjectJudgeError),
}

impl<K: Into<CounterexampleErrorKind>> From<K> for CounterexampleError {
    fn from(kind: K) -> Self {
        Self { kind: kind.into() }
    }
}

impl Counterexample {
    /// Makes the moves and judges what happens. With a pair (i, j), the history
    /// must also be (i, j)-simple. Moves after the violation are left out.
    ///
    /// # Errors
    /// If this is no counterexample.
    pub fn validated(
        machine: &Machine<'_>,
        pair: Option<[Process; 2]>,
        moves: &[Move],
    ) -> Result<Self, CounterexampleError> {
        let execution = machine.run(moves)?;
        let history = execution.history();
        if let Some(pair) = pair {
            check_simple(&history, pair)?;
        }
        let last = match judge(&history, MEMORY, &mut || true)?.decided_at {
            Some(event) => move_of(&execution, event),
            None => return Err(not_one(&execution).into()),
        };
        // Only what has happened by then is shown.
        let moves = moves[..=last].to_vec();
        let execution = machine.run(&moves)?;
        let history = execution.history();
        let Some(explanation) = judge(&history, MEMORY, &mut || true)?.explanation else {
            return Err(not_one(&execution).into());
        };
        let title = title(machine, pair, moves.len());
        Ok(Self { title, moves, execution, history, explanation })
    }

    /// The moves, up to the event that completes the violation.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// What the moves did.
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// The history. It is not linearizable; without its last event it is.
    pub const fn history(&self) -> &History<u32> {
        &self.history
    }

    /// The operations that prove it.
    pub const fn explanation(&self) -> &Explanation<u32> {
        &self.explanation
    }

    /// The argument why the history is not linearizable, as one paragraph.
    pub fn argument(&self) -> String {
        let names = Names::new(&self.history);
        self.explanation.argument(|exhibit| names.of_operation(exhibit.id))
    }

    /// For people, in lines of at most `width` characters, if the words allow it, below a line
    /// that says what it is a counterexample of.
    pub fn text(&self, width: usize) -> String {
        format!("{}\n\n{}", self.title, self.body(width))
    }

    /// As [`Self::text`], without its first line.
    pub fn body(&self, width: usize) -> String {
        let names = Names::new(&self.history);
        let mut text = columns::text(&self.execution, &names, width);
        text.push_str("\nThe history:\n\n");
        text.push_str(&intervals::text(&self.history, &names, width));
        text.push_str("\nWhy it is not linearizable:\n\n");
        for line in paragraph::lines(&self.argument(), width.saturating_sub(2).min(98)) {
            writeln!(text, "  {line}").expect("writing to a string cannot fail");
        }
        text
    }
}

/// What each step of an execution did, with the names that its operations have in
/// counterexamples: `U1 = update(1) begins`, `a[0] is 1`, `S1 returns [1, 0]`.
pub fn named_deeds(execution: &Execution) -> Vec<String> {
    let names = Names::new(&execution.history());
    columns::deeds(execution, &names).into_iter().map(|deeds| deeds.join("; ")).collect()
}

/// What a mark in the deeds of an execution means, if one occurs there.
pub fn legend(execution: &Execution) -> Option<&'static str> {
    columns::is_marked(execution).then_some(columns::LEGEND)
}

/// The name of each operation of a history, in the order of their invocations: U1, S1, ...
pub fn operation_names(history: &History<u32>) -> Vec<String> {
    let names = Names::new(history);
    history.operation_ids().map(|id| names.of_operation(id)).collect()
}

/// Any execution for people: its columns, and its history; in lines of at most
/// `width` characters, if the words allow it.
pub fn render(execution: &Execution, width: usize) -> String {
    let history = execution.history();
    let names = Names::new(&history);
    let columns = columns::text(execution, &names, width);
    format!("{columns}\nThe history:\n\n{}", intervals::text(&history, &names, width))
}

/// The number of the move that is an event.
pub(super) fn move_of(execution: &Execution, event: usize) -> usize {
    let reports = execution.reports.iter().enumerate();
    let mut events = reports.filter(|(_, report)| report.event.is_some());
    events.nth(event).map_or(0, |(position, _)| position)
}

fn not_one(execution: &Execution) -> CounterexampleErrorKind {
    let operations = execution.history().operations().len();
    CounterexampleErrorKind::Linearizable { moves: execution.reports.len(), operations }
}

pub(super) fn title(machine: &Machine<'_>, pair: Option<[Process; 2]>, moves: usize) -> String {
    let program = machine.program();
    let bug = program.bug.as_ref().map_or_else(String::new, |bug| format!(", bug {bug}"));
    let pair = pair.map_or_else(String::new, |[i, j]| format!(", pair ({i},{j})"));
    format!(
        "{}{bug}, n = {}{pair}: a violation in {moves} steps",
        program.name,
        machine.processes()
    )
}

/// Only i and j write 1, and once they have, nothing else.
fn check_simple(
    history: &History<u32>,
    [i, j]: [Process; 2],
) -> Result<(), CounterexampleErrorKind> {
    let mut switched = [false; 2];
    for id in history.operation_ids() {
        let operation = history.operation(id);
        if operation.kind() == OperationKind::Scan {
            continue;
        }
        let process = operation.process();
        let value = *history.update_value(operation);
        let side = [i, j].iter().position(|one| *one == process);
        let allowed = match side {
            Some(side) => value == 1 || (value == 0 && !switched[side]),
            None => value == 0,
        };
        if !allowed {
            let operation = id;
            return Err(CounterexampleErrorKind::NotSimple { i, j, process, operation, value });
        }
        if let Some(side) = side {
            switched[side] |= value == 1;
        }
    }
    Ok(())
}
