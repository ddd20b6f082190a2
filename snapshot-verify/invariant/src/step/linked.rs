//! Links of a process to LL/SC cells.

use snapshot_language::program::SharedId;

use super::{Outcome, Run, Write};
use crate::byte::{ANY, BROKEN, LINKED};

impl Run<'_, '_> {
    /// Links the process to a cell, if the cell has a place.
    pub(super) fn link(&self, branch: &mut Outcome, variable: SharedId, cell: Option<usize>) {
        let at = cell.and_then(|number| self.layout.link(self.me, variable, number));
        if let Some(at) = at {
            branch.state[at] = LINKED;
        }
        let write = Write::Link(variable);
        if self.layout.keeps_links(self.me, variable) && !branch.writes.contains(&write) {
            branch.writes.push(write);
        }
    }

    /// Splits a branch by whether the process is linked to the cell, which is then known.
    pub(super) fn by_link(
        &self,
        branch: Outcome,
        place: (usize, usize),
        variable: SharedId,
        cell: Option<usize>,
    ) -> Vec<(bool, Outcome)> {
        let at = cell.and_then(|number| self.layout.link(self.me, variable, number));
        let known = match (self.layout.may_be_linked(place, variable), at) {
            (false, _) => BROKEN,
            (true, at) => at.map_or(ANY, |at| branch.state[at]),
        };
        let mut ways = Vec::new();
        for byte in [LINKED, BROKEN] {
            if known == ANY || known == byte {
                let mut branch = branch.clone();
                if let Some(at) = at {
                    branch.state[at] = byte;
                }
                ways.push((byte == LINKED, branch));
            }
        }
        ways
    }
}
