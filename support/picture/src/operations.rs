//! Diagrams of named operations: those of any object, as they were recorded.

use snapshot_core::history::Outcome;
use snapshot_core::immediate::SetLinearization;
use snapshot_core::{OperationId, Process};

use crate::diagram::{Arrow, Bar, Diagram};
use crate::forced::Cause;

/// An operation with its text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// Description of the operation and its result: `enqueue(5)`, `dequeue = 5`.
    pub deed: String,
    /// Process of the operation.
    pub process: Process,
    /// Number of the invocation event.
    pub invocation: usize,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// True if it returned something.
    pub is_answer: bool,
}

impl Diagram {
    /// Returns all operations of a recording, with the numbers of their groups if known. Their
    /// names are this letter and a number: X1, X2, ...
    pub fn of_operations(
        operations: &[Named],
        order: Option<&SetLinearization>,
        letter: char,
    ) -> Self {
        let named = operations.iter().enumerate();
        let bars = named.map(|(index, one)| {
            bar(OperationId::from_index(index), one, format!("{letter}{}", index + 1))
        });
        let mut diagram = Self { bars: bars.collect(), ..Self::default() };
        for (rank, group) in order.into_iter().flat_map(SetLinearization::blocks).enumerate() {
            for id in group {
                diagram.bars[id.index()].rank = Some(rank);
            }
        }
        diagram
    }

    /// Returns the operations of an argument, named by this letter and a number in its order, with
    /// the order of time among them. Bars are in the order of their invocations.
    pub fn of_argument(operations: &[Named], argument: &[OperationId], letter: char) -> Self {
        let mut named: Vec<(OperationId, usize)> = argument.iter().copied().zip(1..).collect();
        named.sort_unstable();
        let bars = named
            .iter()
            .map(|&(id, number)| bar(id, &operations[id.index()], format!("{letter}{number}")));
        let bars: Vec<Bar> = bars.collect();
        let precedes =
            |one: &Bar, other: &Bar| one.end.is_some_and(|end| end < other.begin) && !one.is_failed;
        let mut arrows = Vec::new();
        for (before, one) in bars.iter().enumerate() {
            for (after, other) in bars.iter().enumerate() {
                let is_between = |middle: &Bar| precedes(one, middle) && precedes(middle, other);
                if precedes(one, other) && !bars.iter().any(is_between) {
                    let why = format!("{} had ended before {} began", one.name, other.name);
                    let number = arrows.len() + 1;
                    arrows.push(Arrow { before, after, cause: Cause::Time, why, number });
                }
            }
        }
        Self { bars, arrows, ..Self::default() }
    }
}

fn bar(operation: OperationId, of: &Named, name: String) -> Bar {
    let (end, is_pending, is_failed) = match of.outcome {
        Outcome::Complete { response } => (Some(response), false, false),
        Outcome::Failed { event } => (Some(event), false, true),
        Outcome::Unknown { .. } | Outcome::Pending => (None, true, false),
    };
    Bar {
        operation,
        name,
        deed: of.deed.clone(),
        process: of.process,
        is_scan: of.is_answer,
        begin: of.invocation,
        end,
        is_pending,
        is_failed,
        rank: None,
    }
}
