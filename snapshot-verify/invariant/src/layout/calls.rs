//! Calls that are not told apart: of one procedure by another, which goes on behind each of them.

use snapshot_semantics::interpret::code::Instruction;

use super::Layout;

impl Layout<'_> {
    /// Whether calls may be taken for one another: of one procedure, no ghost scans, and not with others
    /// already: else a process that has made one would go on behind those of another group.
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

    /// The calls that one is not told apart from.
    pub fn alike_calls(&self, procedure: usize, here: usize) -> &[usize] {
        let mut groups = self.calls.iter();
        let group = groups.find(|(of, calls)| *of == procedure && calls.contains(&here));
        group.map_or(&[], |(_, calls)| calls)
    }
}
