//! The links of processes to LL/SC cells: a byte for each process and each cell that has a place.
//!
//! Whether a process is linked to a cell is known of i and j outside of their scans, and of the process
//! that a view follows. A link of an idle process is forgotten: what an operation has not linked
//! itself is unknown to it.

use snapshot_language::program::{CellKind, SharedId, SharedVariable};

use super::{Layout, Leaf, Room, RowOf, Scalar, Slot, at, bookkeeping, op};
use crate::byte::{ANY, BROKEN, PLACES, T};

impl Layout<'_> {
    /// Adds the links of a process to its block; per shared variable, where they are.
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

    /// The bytes of the links of a member to the cells of a variable, in the order of these.
    pub fn links_of(&self, member: u8, variable: SharedId) -> std::ops::Range<usize> {
        let block = self.blocks[usize::from(member)];
        let room = self.links[variable.0 as usize].unwrap_or(Room { base: 0, size: 0 });
        block + room.base..block + room.base + room.size
    }

    /// Forgets all links of a member.
    pub fn clear_links(&self, state: &mut [u8], member: u8) {
        for (variable, _) in (0..).zip(&self.links) {
            state[self.links_of(member, SharedId(variable))].fill(ANY);
        }
    }

    /// The byte of the link of a member to the cell of a variable with this number, if it is kept.
    pub fn link(&self, member: u8, variable: SharedId, number: usize) -> Option<usize> {
        self.links_of(member, variable).nth(number).filter(|at| self.slots[*at].kept)
    }

    /// Whether any link of a member to a cell of a variable is kept.
    pub fn keeps_links(&self, member: u8, variable: SharedId) -> bool {
        self.links_of(member, variable).any(|at| self.slots[at].kept)
    }

    /// The cell of a variable is written: links to it are broken; what is unknown stays so.
    pub fn break_links(&self, state: &mut [u8], variable: SharedId, number: usize) {
        for member in 0..PLACES as u8 {
            if let Some(at) = self.link(member, variable, number)
                && state[at] != ANY
            {
                state[at] = BROKEN;
            }
        }
    }

    /// Whether the links of a member to the cells of a variable are forgotten where it stands: an
    /// idle one has none, and of i and j within a ghost scan of an update it counts where they have
    /// called that.
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
