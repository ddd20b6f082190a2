//! Counterexamples: executions whose history is not linearizable, validated and rendered.
//!
//! A method that finds a counterexample hands over only its moves. The interpreter makes these
//! moves, and [`judge`] decides the recorded history; only a violation becomes a
//! [`Counterexample`]. If the moves show no violation, the search is wrong, and
//! [`CounterexampleError`] reports that.
//!
//! As text, a counterexample has one column per process that takes part, with the accesses to
//! shared memory in their order and the values they saw. Below follow the history, with its
//! operations as intervals, and the argument why no order of these operations explains their
//! results. The operations have the same names, S1 and U1 for the first scan and the first update,
//! in all three.

mod columns;
mod intervals;
mod names;
mod object;
mod paragraph;

pub use object::{ObjectCounterexample, object_argument, operation_deeds, render_object};

use std::fmt::Write;

use snapshot_core::History;
use snapshot_core::explanation::Explanation;
use snapshot_core::history::OperationKind;
use snapshot_core::{OperationId, Process};
use thiserror::Error;

use self::names::Names;
use crate::interpret::{Execution, JudgeError, Machine, Move, MoveError, judge};
use crate::object::ObjectJudgeError;

/// Memory in bytes for each search of orders.
const MEMORY: usize = 1 << 30;

/// A validated execution whose history is not linearizable.
#[derive(Clone, Debug)]
pub struct Counterexample {
    title: String,
    moves: Vec<Move>,
    execution: Execution,
    history: History<u32>,
    explanation: Explanation<u32>,
}

/// A claimed counterexample is not one: the search that found it is wrong.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "BUG in this program, please report it: a search claims a violation, but {kind}. \
     Its verdicts cannot be trusted"
)]
pub struct CounterexampleError {
    #[source]
    pub kind: CounterexampleErrorKind,
}

/// Reason to reject a claimed counterexample.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CounterexampleErrorKind {
    /// The interpreter cannot make these moves.
    #[error("its execution does not exist: {0}")]
    NoExecution(#[from] MoveError),
    #[error(
        "the history of its execution is linearizable ({moves} moves, {operations} operations)"
    )]
    Linearizable {
        /// Number of moves.
        moves: usize,
        operations: usize,
    },
    /// The history is not of the kind that was searched.
    #[error("update({value}) by p{process}, operation {operation}, is not ({i}, {j})-simple")]
    NotSimple {
        i: Process,
        j: Process,
        /// Process of the update.
        process: Process,
        operation: OperationId,
        /// Value of the update.
        value: u32,
    },
    /// An operation begins in a state in which the object forbids it.
    #[error("p{process} begins {text}, which the object does not allow there")]
    Forbidden {
        /// Process of the operation.
        process: Process,
        text: String,
    },
    #[error(transparent)]
    NotJudged(#[from] JudgeError),
    #[error(transparent)]
    ObjectNotJudged(#[from] ObjectJudgeError),
}

impl<K: Into<CounterexampleErrorKind>> From<K> for CounterexampleError {
    fn from(kind: K) -> Self {
        Self { kind: kind.into() }
    }
}

impl Counterexample {
    /// Makes the moves and judges the execution. With a pair (i, j), the history must also be (i,
    /// j)-simple. Moves after the violation are left out.
    ///
    /// # Errors
    /// If the moves are not a counterexample.
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
            Some(event) => execution.step_of(event),
            None => return Err(not_one(&execution).into()),
        };
        // Moves after the violation are left out.
        let moves = moves[..last].to_vec();
        let execution = machine.run(&moves)?;
        let history = execution.history();
        let Some(explanation) = judge(&history, MEMORY, &mut || true)?.explanation else {
            return Err(not_one(&execution).into());
        };
        let title = title(machine, pair, moves.len());
        Ok(Self { title, moves, execution, history, explanation })
    }

    /// Returns the moves, up to the event that completes the violation.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the execution of the moves.
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Returns the history. It is not linearizable; without its last event it is.
    pub const fn history(&self) -> &History<u32> {
        &self.history
    }

    /// Returns the explanation of the violation.
    pub const fn explanation(&self) -> &Explanation<u32> {
        &self.explanation
    }

    /// Returns the argument why the history is not linearizable, as one paragraph.
    pub fn argument(&self) -> String {
        let names = Names::new(&self.history);
        self.explanation.argument(|operation| names.of_operation(operation.id))
    }

    /// Renders the counterexample below a title line. Lines have at most `width` characters, unless
    /// a word is longer.
    pub fn text(&self, width: usize) -> String {
        format!("{}\n\n{}", self.title, self.body(width))
    }

    /// Renders as [`Self::text`], without the title line.
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

/// Describes each step of an execution, of a snapshot or of an object, with the names that its
/// operations have in counterexamples: `U1 = update(1) begins`, `a[0] is 1`, `S1 returns [1, 0]`.
pub fn named_deeds(execution: &Execution) -> Vec<String> {
    let names = Names::of_execution(execution);
    columns::deeds(execution, &names).into_iter().map(|deeds| deeds.join("; ")).collect()
}

/// Returns the name of each operation of an execution, of a snapshot or of an object, in the order
/// of invocations.
pub fn names_of(execution: &Execution) -> Vec<String> {
    let names = Names::of_execution(execution);
    (0..object::begun(execution))
        .map(OperationId::from_index)
        .map(|id| names.of_operation(id))
        .collect()
}

/// Returns the legend of the marks in the descriptions of an execution, if one occurs.
pub fn legend(execution: &Execution) -> Option<&'static str> {
    columns::is_marked(execution).then_some(columns::LEGEND)
}

/// Returns the name of each operation of a history, in the order of invocations: U1, S1, ...
pub fn operation_names(history: &History<u32>) -> Vec<String> {
    let names = Names::new(history);
    history.operation_ids().map(|id| names.of_operation(id)).collect()
}

/// Renders an execution: its columns and its history. Lines have at most `width` characters, unless
/// a word is longer.
pub fn render(execution: &Execution, width: usize) -> String {
    let history = execution.history();
    let names = Names::new(&history);
    let columns = columns::text(execution, &names, width);
    format!("{columns}\nThe history:\n\n{}", intervals::text(&history, &names, width))
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

/// Checks that only i and j write 1, and that after their first 1 they write nothing else.
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
