//! The execution that leads to a row of the search, and the verdict at its end.

use snapshot_core::Process;

use super::clients::{Choice, World};
use super::expand::{End, Expander};
use super::search::Search;
use super::{RefinementVerdict, Unfinished};
use crate::interpret::{Event, Fault, FaultKind, Move, MoveErrorKind, MoveKind};
use crate::product::{Lent, known, reordered};

impl<'m, 'p, W: World> Search<'m, 'p, W> {
    /// Makes transitions of the search.
    fn expander(&mut self) -> Expander<'_, 'm, 'p, W> {
        let remembered = Lent::Exclusive(&mut self.remembered);
        Expander { rules: self.rules, remembered, at: &mut self.at }
    }

    /// Returns the verdict for a transition from this row that ends with its last move.
    pub(super) fn verdict(&mut self, at: u32, last: &[Move], end: End) -> RefinementVerdict {
        let moves = self.path(at, last);
        // The interpreter names nodes in the order of their creation, and nodes that rows have
        // forgotten may exhaust its limit.
        let fault = self.machine.run(&moves).err().and_then(|error| match error.kind {
            MoveErrorKind::Fault(fault) => Some(fault),
            _ => None,
        });
        if matches!(&fault, Some(Fault { kind: FaultKind::NodesExhausted { .. }, .. })) {
            return RefinementVerdict::Unknown(Unfinished::Nodes);
        }
        match end {
            End::Fault(found) => RefinementVerdict::Faulty { moves, fault: fault.unwrap_or(found) },
            End::InObject(fault) => RefinementVerdict::InObject { moves, fault },
            End::Forbidden(before, letter) if self.rules.has_points && self.allows(&moves) => {
                let process = moves.last().expect("the last move has no successor").process;
                let misplacement = self.remembered.world.misplaced(before, letter, process);
                RefinementVerdict::Misplaced { moves, misplacement }
            }
            End::Forbidden(..) => RefinementVerdict::Violation(moves),
            End::Unknown => unreachable!("the search adds to what it remembers"),
        }
    }

    /// Returns true if an execution is linearizable when operations may take effect anywhere.
    fn allows(&self, moves: &[Move]) -> bool {
        let mut specification = self.remembered.world.anywhere();
        let mut possibilities = specification.initial();
        let mut state = self.machine.initial().clone();
        for made in moves {
            let process = made.process;
            let action = match made.kind {
                MoveKind::Begin(call) => self.machine.begin(&mut state, process, call).map(Some),
                MoveKind::Step | MoveKind::Take(_) => {
                    self.machine.advance_taking(&mut state, process, made.outcome())
                }
            };
            let Ok(action) = action else { return true };
            if let Some(action) = action {
                match specification.after(possibilities, &Event { process, action }) {
                    Some(after) => possibilities = after,
                    None => return false,
                }
            }
        }
        true
    }

    /// Returns the moves that lead to a row, and these moves from there. Rows store neither the
    /// moves by which they were reached nor the identity of reordered processes. The moves are
    /// found again, and the identities are derived from the initial row and the orders since.
    pub(super) fn path(&mut self, mut number: u32, last: &[Move]) -> Vec<Move> {
        let mut rows = Vec::new();
        while number > 0 {
            rows.push(number);
            number = self.table.parent(number);
        }
        rows.reverse();
        let mut moves = Vec::new();
        let mut after = Vec::new();
        let mut names: Vec<u32> = (0..self.machine.processes() as u32).collect();
        let named = |made: &Move, names: &[u32]| {
            let process = names[made.process.index()] as usize;
            Move { process: Process::from_index(process), ..*made }
        };
        for &row in &rows {
            self.table.copy(self.table.parent(row), &mut self.at.from);
            self.transition_to(row);
            let (made, order) = (std::mem::take(&mut self.at.moves), self.at.order);
            moves.extend(made.iter().map(|made| named(made, &names)));
            if let Some(order) = order {
                names = reordered(&names, self.remembered.states.order(order));
            }
            if self.machine.program().frees() {
                after.extend(self.rows_after(&made));
            }
        }
        moves.extend(last.iter().map(|made| named(made, &names)));
        if self.machine.program().frees() {
            if let Some((_, last)) = last.split_last() {
                let number = rows.last().copied().unwrap_or(0);
                self.table.copy(number, &mut self.at.from);
                after.extend(self.rows_after(last));
            }
            let after: Vec<&[u32]> = after.iter().map(|row| &**row).collect();
            self.remembered.states.take_outcomes(self.machine.initial(), &mut moves, &after);
        }
        moves
    }

    /// Returns the normal rows after each of these moves from the row `from`.
    fn rows_after(&mut self, moves: &[Move]) -> Vec<Box<[u32]>> {
        self.at.to.copy_from_slice(&self.at.from);
        let mut rows = Vec::new();
        for made in moves {
            self.expander().make(*made).ok().expect("the moves were made before");
            let mut row: Box<[u32]> = (&*self.at.to).into();
            self.remembered.states.normalise(&mut row);
            rows.push(row);
        }
        rows
    }

    /// Finds a transition from the row `from` to another row.
    fn transition_to(&mut self, number: u32) {
        for process in self.rules.processes() {
            let mut expander = self.expander();
            let prospect = known(expander.prospect(process));
            let moves: Vec<(Move, Option<u32>)> = if prospect.is_idle {
                let begin = |&(call, after): &Choice| {
                    (Move { process, kind: MoveKind::Begin(call) }, Some(after))
                };
                let choices = expander.choices(process);
                choices.map_or_else(|_| Vec::new(), |choices| choices.iter().map(begin).collect())
            } else {
                let outcomes = 0..expander.outcomes(process, prospect);
                outcomes.map(|outcome| (Move::taking(process, outcome), None)).collect()
            };
            for (made, begun) in moves {
                let is_made = self.expander().succeed(made, begun).is_ok();
                if is_made && self.table.is(number, &self.at.to) {
                    return;
                }
            }
        }
        unreachable!("a row was reached from its parent")
    }
}
