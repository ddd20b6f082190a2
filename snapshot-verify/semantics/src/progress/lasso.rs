//! Infinite executions: moves, and moves that repeat for ever.

use snapshot_core::Process;

use super::cycles::Step;
use crate::graph::{Graph, Kind};
use crate::interpret::{Machine, Move, MoveError, Operation};
use crate::language::Span;

/// An infinite execution.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lasso {
    /// Moves before the loop.
    pub stem: Vec<Move>,
    /// Moves that repeat for ever; at least one.
    pub cycle: Vec<Move>,
    /// Process and operation that does not return; `None`: none does.
    pub victim: Option<(Process, Operation)>,
    /// A choice that is made for ever.
    pub choice: Option<Span>,
}

impl Lasso {
    /// Creates the execution that reaches a closed walk and stays there.
    pub(super) fn new(graph: &mut Graph<'_, '_>, walk: &[Step], process: Option<Process>) -> Self {
        let first = walk[0].0;
        let mut steps = graph.steps_to(first);
        let length = steps.len();
        steps.extend(walk);
        let mut stem = graph.along(&steps, &mut |call| call);
        let cycle = stem.split_off(length);
        let victim = process.and_then(|process| {
            graph.prospect(first, process).operation.map(|operation| (process, operation))
        });
        let choice = walk.iter().find(|(_, edge)| edge.label.kind() == Kind::Choice);
        let choice = choice.and_then(|(number, edge)| {
            graph.machine().next_text(&graph.state(*number), edge.label.process())
        });
        Self { stem, cycle, victim, choice }
    }

    /// Returns the processes that move in the loop.
    pub fn movers(&self) -> Vec<Process> {
        let mut movers: Vec<Process> = self.cycle.iter().map(|made| made.process).collect();
        movers.sort_unstable();
        movers.dedup();
        movers
    }

    /// Confirms by the interpreter that the moves can be made, and that the loop returns to its
    /// first state. Its first round counts for the stem: it overwrites locals that are not read.
    ///
    /// # Errors
    /// If a move cannot be made.
    pub fn is_confirmed(&self, machine: &Machine<'_>) -> Result<bool, MoveError> {
        let run = |rounds: usize| {
            let mut moves = self.stem.clone();
            (0..rounds).for_each(|_| moves.extend(&self.cycle));
            machine.run(&moves).map(|execution| machine.key(&execution.last))
        };
        Ok(!self.cycle.is_empty() && run(1)? == run(2)?)
    }
}
