//! What the specification keeps in mind of an execution: more than one history, where processes may be
//! lost. In views an update is then invoked as late as where the process looks again, and may have
//! responded as early as when its link was broken.

use std::collections::BTreeSet;

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_invariant::layout::op;
use snapshot_language::program::{Access, SharedId};
use snapshot_semantics::interpret::code::Instruction;

use super::execution::Execution;

/// What the specification keeps in mind of an execution: of each choice of lost updates that are
/// invoked late, or have responded early, another history.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct History {
    /// The state of the specification.
    pub specification: u8,
    /// What it keeps of the open round.
    pub round: Option<u8>,
    /// The processes whose first update to 1 is invoked, and has not responded.
    pub invoked: BTreeSet<usize>,
    /// The updates of i and j that are not over, and have responded early.
    pub early: BTreeSet<usize>,
}

impl History {
    pub fn observer(&self) -> ObserverState {
        ObserverState::from_bits(self.specification).expect("a state of the observer")
    }

    /// A round ends with a vector: whether it is right.
    pub fn end_round(&mut self, at_i: bool, at_j: bool) -> bool {
        let must = self.round.take().and_then(Must::from_bits);
        must.is_some_and(|must| self.respond_scan(must, at_i, at_j))
    }

    /// A ghost scan responds with a vector: whether it is right.
    pub fn respond_scan(&mut self, must: Must, at_i: bool, at_j: bool) -> bool {
        let next = self.observer().respond_scan(must, at_i, at_j);
        self.specification = next.map_or(self.specification, ObserverState::bits);
        next.is_ok()
    }
}

impl Execution<'_> {
    /// The history without choices.
    pub(super) fn history(&mut self) -> &mut History {
        &mut self.histories[0]
    }

    fn segment(&self, process: usize) -> Switching {
        if process == self.pair[0] { Switching::I } else { Switching::J }
    }

    /// Whether a process may be lost and stand behind its next access in views.
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

    /// The first update to 1 responds, where it has not early.
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

    /// Behind a move of a process: updates that have just got lost may have responded, in other
    /// histories; `before`, those that may have been lost before. One that is lost no more has not.
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
