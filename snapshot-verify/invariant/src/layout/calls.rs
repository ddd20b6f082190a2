//! Merged calls: calls of one procedure by another, with all return locations possible at the
//! return.

use snapshot_semantics::interpret::code::Instruction;

use super::Layout;

impl Layout<'_> {
    /// Returns true if calls may be merged: calls of one procedure that are not ghost scans and are
    /// in no other group. A process that makes a call in two groups would also return to calls of
    /// the other group.
    pub fn may_be_alike(&self, (procedure, calls): &(usize, Vec<usize>)) -> bool {
        let Some(code) = self.code.get(*procedure) else { return false };
        let callee = |at: &usize| match code.instructions.get(*at) {
            Some(Instruction::Call { procedure, .. }) => Some(procedure.0 as usize),
            _ => None,
        };
        let Some(first) = calls.first().and_then(callee) else { return false };
        let is_new = |at: &usize| self.alike_calls(*procedure, *at).is_empty();
        !self.is_ghost[first] && calls.iter().all(|at| callee(at) == Some(first) && is_new(at))
    }

    /// Returns the calls merged with a call.
    pub fn alike_calls(&self, procedure: usize, here: usize) -> &[usize] {
        let mut groups = self.calls.iter();
        let group = groups.find(|(of, calls)| *of == procedure && calls.contains(&here));
        group.map_or(&[], |(_, calls)| calls)
    }
}
