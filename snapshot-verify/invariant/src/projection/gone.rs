//! Names in an execution, and the paths of lost processes: found by running each process alone.

use std::collections::BTreeSet;

use snapshot_core::Process;
use snapshot_language::program::{Access, SharedId};
use snapshot_semantics::interpret::code::Instruction;
use snapshot_semantics::interpret::{Data, Next};

use super::execution::{Ended, Execution, PATIENCE};
use crate::byte::{BASE, integer};
use crate::layout::op;

impl Execution<'_> {
    /// Returns true if the latest LL of a process on a variable, in its operation, was to this
    /// cell, and its link is unbroken.
    pub fn is_linked_to(&self, process: usize, variable: SharedId, indices: &[i64]) -> bool {
        let me = Process::from_index(process);
        self.linked.get(&(process, variable)).is_some_and(|latest| latest == indices)
            && self.machine.is_linked(&self.state, variable, indices, me) == Some(true)
    }

    /// Returns the process that a name refers to, while it is in force.
    pub fn named(&self, name: usize) -> Option<usize> {
        let of = &self.layout.named[name];
        let data = self.machine.cell(&self.state, of.variable, &[]).expect("one cell");
        let field = |offset: usize| match data {
            Data::Parts(parts) => &parts[offset],
            data => data,
        };
        let byte = |data: &Data| match data {
            Data::Bool(truth) => BASE + u8::from(*truth),
            Data::Number(number) => integer(*number),
            _ => panic!("neither a truth value nor a number"),
        };
        let is_in_force =
            of.force.as_ref().is_none_or(|(offset, bytes)| bytes.contains(&byte(field(*offset))));
        match field(of.offset) {
            Data::Number(process) => is_in_force.then_some(*process as usize),
            _ => panic!("a name is a process"),
        }
    }

    /// Returns copies of the execution in which some members without a link to a variable, to which
    /// they may be lost, have continued alone until they test the link; with the histories that
    /// allow this.
    pub fn gone_on(&self, members: &[usize]) -> Vec<Self> {
        let mut all = vec![self.clone()];
        for &process in members {
            let mut number = 0;
            while let Some(one) = all.get(number).cloned() {
                for (_, variable) in one.lost.iter().filter(|(of, _)| *of == process) {
                    let mut one = one.clone();
                    let is_new = |one: &Self| all.iter().all(|other| other.state != one.state);
                    if one.go_on(process, *variable) && is_new(&one) {
                        all.push(one);
                    }
                }
                number += 1;
            }
        }
        self.choose_histories(&mut all);
        all
    }

    /// Returns copies with each of these members at each location at which it may test its link, or
    /// respond, if others move before.
    pub fn put_forward(&self, members: &[usize]) -> Vec<Self> {
        let mut all = vec![self.clone()];
        for &process in members {
            let calls = self.open_calls(process);
            let Some(call) = calls.last() else { continue };
            let code = &self.layout.code[call.procedure.0 as usize].instructions;
            let lost = self.lost.iter().filter(|(of, _)| *of == process);
            let lost: Vec<SharedId> = lost.map(|(_, variable)| *variable).collect();
            if lost.is_empty() {
                continue;
            }
            for one in all.clone() {
                for (at, instruction) in code.iter().enumerate() {
                    let mut one = one.clone();
                    match instruction {
                        Instruction::Access { access: Access::LoadLinked(cell), .. }
                            if lost.contains(&cell.variable) =>
                        {
                            one.moved.insert(process, at);
                        }
                        Instruction::Return { .. } if calls.len() == 1 => one.stop(process),
                        _ => continue,
                    }
                    all.push(one);
                }
            }
        }
        self.choose_histories(&mut all);
        all
    }

    /// Keeps the histories in which the members that have finished their operations have responded.
    fn choose_histories(&self, all: &mut [Self]) {
        for one in all {
            let has_responded = |process: &usize| {
                self.doing[*process].operation == op::SWITCHES
                    && one.doing[*process].operation == op::IDLE
            };
            let early = BTreeSet::from_iter(self.pair.into_iter().filter(has_responded));
            one.histories.retain(|history| history.early == early);
        }
    }

    /// Returns true if any process may be lost.
    pub fn may_any_be_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns true if a process has lost its link to a variable, and may still test it.
    pub fn may_be_lost(&self, process: usize) -> bool {
        self.lost.iter().any(|(of, _)| *of == process)
    }

    /// Notes the variables to which a process has lost its link and may still test it.
    pub(super) fn note_lost(&mut self, process: usize) {
        let calls = self.open_calls(process);
        let Some(call) = calls.last() else { return };
        let unlinked = &self.layout.unlinked[call.procedure.0 as usize][call.at];
        let me = Process::from_index(process);
        let is_lost = |variable: &SharedId| {
            self.layout.link(self.place(process), *variable, 0).is_some()
                && !unlinked.contains(&(variable.0 as usize))
                && self.machine.is_linked(&self.state, *variable, &[], me) == Some(false)
        };
        let lost: Vec<SharedId> = self.layout.lost.iter().copied().filter(is_lost).collect();
        self.lost.extend(lost.into_iter().map(|variable| (process, variable)));
    }

    fn go_on(&mut self, process: usize, variable: SharedId) -> bool {
        let me = Process::from_index(process);
        let mut is_over = false;
        for _ in 0..PATIENCE {
            if self.machine.next(&self.state, me) == Next::Respond {
                let mut passages = Vec::new();
                let went = self.machine.advance_passing(&mut self.state, me, &mut passages);
                self.stop(process);
                self.lost.retain(|(of, _)| *of != process);
                return went.is_ok();
            }
            if self.state.is_idle(process) {
                return true;
            }
            let calls = self.open_calls(process);
            let looks = calls.last().is_some_and(|call| match self.instruction(call) {
                Instruction::Access { access: Access::LoadLinked(cell), .. } => {
                    cell.variable == variable
                }
                _ => false,
            });
            if looks || is_over && self.is_at_pause(process) {
                return true;
            }
            let mut passages = Vec::new();
            if self.access(process, &mut passages) != Ended::Well {
                return false;
            }
            is_over |= !passages.is_empty();
            if self.pass(process, &passages) == Ended::Violation {
                return false;
            }
        }
        false
    }
}
