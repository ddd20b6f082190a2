//! The specification's state in an execution: several histories, where processes may be lost. In
//! views an update of a lost process is invoked as late as where it tests its link again, and may
//! have responded as early as when its link was broken.

use std::collections::BTreeSet;

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_language::program::{Access, SharedId};
use snapshot_semantics::interpret::code::Instruction;

use super::execution::Execution;
use crate::layout::op;

/// One history of an execution: each choice of lost updates that are invoked late, or have
/// responded early, has its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct History {
    pub specification: u8,
    /// Bits of the open round.
    pub round: Option<u8>,
    /// Processes whose first update to 1 is invoked, and has not responded.
    pub invoked: BTreeSet<usize>,
    /// Updates of i and j that are not over, and have responded early.
    pub early: BTreeSet<usize>,
}

impl History {
    pub fn observer(&self) -> ObserverState {
        ObserverState::from_bits(self.specification).expect("a state of the observer")
    }

    /// Ends a round with a vector; returns true if the vector is right.
    pub fn end_round(&mut self, at_i: bool, at_j: bool) -> bool {
        let must = self.round.take().and_then(Must::from_bits);
        must.is_some_and(|must| self.respond_scan(must, at_i, at_j))
    }

    /// Ends a ghost scan with a vector; returns true if the vector is right.
    pub fn respond_scan(&mut self, must: Must, at_i: bool, at_j: bool) -> bool {
        let next = self.observer().respond_scan(must, at_i, at_j);
        self.specification = next.map_or(self.specification, ObserverState::bits);
        next.is_ok()
    }
}

impl Execution<'_> {
    /// Returns the history without choices.
    pub(super) fn history(&mut self) -> &mut History {
        &mut self.histories[0]
    }

    fn segment(&self, process: usize) -> Switching {
        if process == self.pair[0] { Switching::I } else { Switching::J }
    }

    /// Returns true if a process may be lost and stand behind its next access in views.
    pub(super) fn may_be_past(&self, process: usize) -> bool {
        let calls = self.open_calls(process);
        let looked = calls.last().and_then(|call| match self.instruction(call) {
            Instruction::Access { access: Access::LoadLinked(cell), .. } => Some(cell.variable),
            _ => None,
        });
        self.lost.iter().any(|(of, variable)| *of == process && Some(*variable) != looked)
    }

    /// Invokes the first update to 1; if it `waits`, it is not yet invoked in other histories.
    pub(super) fn invoke(&mut self, process: usize, waits: bool) {
        if self.doing[process].operation != op::SWITCHES {
            return;
        }
        let (is_observed, segment) = (self.is_observed(), self.segment(process));
        let mut waiting = Vec::new();
        for history in &mut self.histories {
            if history.early.contains(&process) || history.invoked.contains(&process) {
                continue;
            }
            if waits {
                waiting.push(history.clone());
            }
            history.invoked.insert(process);
            if is_observed {
                history.specification = history.observer().invoke_update(segment).bits();
            }
        }
        self.histories.extend(waiting);
    }

    /// Ends the first update to 1, unless it has responded early.
    pub(super) fn respond(&mut self, process: usize) {
        if !self.is_observed() {
            return;
        }
        let segment = self.segment(process);
        for history in &mut self.histories {
            if !history.early.remove(&process) {
                history.specification = history.observer().respond_update(segment).bits();
            }
        }
    }

    /// Adds, after a move of a process, histories in which updates that have just become lost have
    /// responded; `before`: the processes that could be lost before. Drops histories with early
    /// responses of processes that are not lost any more.
    pub(super) fn respond_early(&mut self, moved: usize, before: &BTreeSet<(usize, SharedId)>) {
        for process in self.pair {
            if self.doing[process].operation != op::SWITCHES {
                continue;
            }
            if !self.may_be_lost(process) {
                self.histories.retain(|history| !history.early.contains(&process));
                continue;
            }
            let mut of = self.lost.iter().filter(|(of, _)| *of == process);
            if process != moved && of.all(|one| before.contains(one)) {
                continue;
            }
            let segment = self.segment(process);
            for mut history in self.histories.clone() {
                if history.early.insert(process) {
                    let observer = history.observer();
                    let open = match history.invoked.remove(&process) {
                        true => observer,
                        false => observer.invoke_update(segment),
                    };
                    history.specification = open.respond_update(segment).bits();
                    self.histories.push(history);
                }
            }
        }
        let all = std::mem::take(&mut self.histories);
        for history in all {
            if !self.histories.contains(&history) {
                self.histories.push(history);
            }
        }
    }
}
