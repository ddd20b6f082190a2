//! Registers and responses that a step may touch.

use std::collections::BTreeSet;

use snapshot_core::Process;

use super::{Address, Code, Entry, Operand, Operation};
use crate::search::layout::Register;

/// An over-approximation of the accesses of a step, in any state.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Footprint {
    /// Registers of the state that may be read or written.
    pub registers: BTreeSet<Register>,
    pub may_respond_to_update: bool,
    pub may_respond_to_scan: bool,
}

impl Code {
    /// Returns the footprint of one step of a process, without reactions. Follows all jumps of the
    /// code.
    ///
    /// # Panics
    /// If the process has no such step.
    pub fn footprint(&self, process: Process, entry: Entry) -> Footprint {
        let mut footprint = Footprint::default();
        let mut passed = vec![false; self.operations.len()];
        let mut waiting = vec![self.address(process, entry)];
        while let Some(address) = waiting.pop() {
            if std::mem::replace(&mut passed[address as usize], true) {
                continue;
            }
            let operation = self.operations[address as usize];
            // Temporaries and constants follow the registers of the state.
            let operands = operation.operands(self).into_iter().map(usize::from);
            footprint.registers.extend(operands.filter(|&operand| operand < self.variables));
            match operation {
                Operation::RespondUpdate { .. } => footprint.may_respond_to_update = true,
                Operation::RespondScan { .. } => footprint.may_respond_to_scan = true,
                _ => {}
            }
            let (next, jump) = operation.leads_to(address);
            waiting.extend(next.into_iter().chain(jump));
        }
        footprint
    }
}

impl Operation {
    /// Returns the operands that the operation may read or write.
    fn operands(self, code: &Code) -> Vec<Operand> {
        match self {
            Self::Assign { to, from } | Self::Successor { to, of: from } => vec![to, from],
            Self::AssignElement { index, table, from } => {
                [code.elements(table), &[index, from]].concat()
            }
            Self::Select { to, index, table } => [code.elements(table), &[to, index]].concat(),
            Self::Fresh { to } => vec![to],
            Self::Let { operator: _, to, left, right } => vec![to, left, right],
            Self::Choose { to, bit, then, otherwise } => vec![to, bit, then, otherwise],
            Self::JumpIfZero { bit, to: _ } | Self::JumpIfOne { bit, to: _ } => vec![bit],
            Self::JumpIfEqual { left, right, to: _ }
            | Self::JumpIfDifferent { left, right, to: _ } => vec![left, right],
            Self::RespondUpdate { value } => vec![value],
            Self::RespondScan { at: [at_i, at_j], foreign } => vec![at_i, at_j, foreign],
            Self::Jump { to: _ }
            | Self::Accesses { count: _ }
            | Self::Pause { at: _ }
            | Self::Fault { index: _ }
            | Self::Decline => Vec::new(),
        }
    }

    /// Returns the next address and the jump target, if there are any.
    fn leads_to(self, address: Address) -> (Option<Address>, Option<Address>) {
        match self {
            Self::Jump { to } => (None, Some(to)),
            Self::JumpIfEqual { to, .. }
            | Self::JumpIfDifferent { to, .. }
            | Self::JumpIfZero { to, .. }
            | Self::JumpIfOne { to, .. } => (Some(address + 1), Some(to)),
            Self::Pause { .. }
            | Self::RespondUpdate { .. }
            | Self::RespondScan { .. }
            | Self::Fault { .. }
            | Self::Decline => (None, None),
            Self::Assign { .. }
            | Self::AssignElement { .. }
            | Self::Fresh { .. }
            | Self::Successor { .. }
            | Self::Let { .. }
            | Self::Choose { .. }
            | Self::Select { .. }
            | Self::Accesses { .. } => (Some(address + 1), None),
        }
    }
}
