//! The links of processes to LL/SC cells: a byte for each process and each cell that has a place.
//!
//! Whether a process is linked to a cell is known for i and j outside of their scans, and for the
//! followed process. The links of an idle process are forgotten: links from earlier operations are
//! unknown.

use snapshot_language::program::{CellKind, SharedId, SharedVariable};

use super::{Layout, Leaf, Room, RowOf, Scalar, Slot, at, bookkeeping, op};
use crate::byte::{ANY, BROKEN, PLACES, T};

impl Layout<'_> {
    /// Adds the links of a process to its block, and returns their location per shared variable.
    pub(super) fn add_links(&self, block: &mut Vec<(Slot, Vec<u8>)>) -> Vec<Option<Room>> {
        let mut add = |number: u32, variable: &SharedVariable| {
            let base = block.len();
            for (path, name, row) in self.places(SharedId(number)) {
                let slot = Slot {
                    name: format!("link:{}{name}", variable.name),
                    leaf: Some(Leaf { scalar: Scalar::Link(SharedId(number)), optional: false }),
                    kept: false,
                    tracked: matches!(row, Some(RowOf::Member(..))),
                    row,
                    ..bookkeeping()
                };
                block.push((slot, path));
            }
            Room { base, size: block.len() - base }
        };
        let shared = (0..).zip(&self.program.shared);
        let is_linked = |variable: &SharedVariable| variable.cell == CellKind::Linked;
        shared.map(|(number, one)| is_linked(one).then(|| add(number, one))).collect()
    }

    /// Returns the bytes of the links of a member to the cells of a variable, in the order of the
    /// cells.
    pub fn links_of(&self, member: u8, variable: SharedId) -> std::ops::Range<usize> {
        let block = self.blocks[usize::from(member)];
        let room = self.links[variable.0 as usize].unwrap_or(Room { base: 0, size: 0 });
        block + room.base..block + room.base + room.size
    }

    pub fn clear_links(&self, state: &mut [u8], member: u8) {
        for (variable, _) in (0..).zip(&self.links) {
            state[self.links_of(member, SharedId(variable))].fill(ANY);
        }
    }

    /// Returns the byte of a member's link to the cell of a variable with this number, if the link
    /// is kept.
    pub fn link(&self, member: u8, variable: SharedId, number: usize) -> Option<usize> {
        self.links_of(member, variable).nth(number).filter(|at| self.slots[*at].kept)
    }

    /// Returns true if any link of a member to a cell of a variable is kept.
    pub fn keeps_links(&self, member: u8, variable: SharedId) -> bool {
        self.links_of(member, variable).any(|at| self.slots[at].kept)
    }

    /// Breaks the known links to a cell that is written; unknown links stay unknown.
    pub fn break_links(&self, state: &mut [u8], variable: SharedId, number: usize) {
        for member in 0..PLACES as u8 {
            if let Some(at) = self.link(member, variable, number)
                && state[at] != ANY
            {
                state[at] = BROKEN;
            }
        }
    }

    /// Returns true if the links of a member to the cells of a variable are forgotten at its
    /// location. An idle member has no links. If i or j is within a ghost scan of an update, the
    /// location of the call counts.
    pub fn is_unlinked(&self, state: &[u8], member: u8, variable: SharedId) -> bool {
        let operation = state[self.blocks[usize::from(member)] + at::OP];
        let is_shown = member == T || !matches!(operation, op::UPDATES | op::SWITCHES);
        match self.place(state, member, is_shown) {
            None => true,
            Some((procedure, here)) => {
                self.unlinked[procedure][here].contains(&(variable.0 as usize))
            }
        }
    }
}
