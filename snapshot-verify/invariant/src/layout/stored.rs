//! Bytes of a value as it is stored, and of a value that is not kept.

use snapshot_language::program::Type;

use super::Layout;
use super::scalars::{Scalar, each_leaf, size};
use crate::byte::{ANY, BASE, BORROWED, EXEMPT, LOOSE, OLD, OWN, Row};
use crate::claim::Ghosts;

impl Layout<'_> {
    /// Returns a byte as a variable holds it. A view in an array by process never counts as made
    /// here: elements of any other process have no place, and count as made elsewhere.
    pub fn element(&self, at: usize, byte: u8) -> u8 {
        let slot = &self.slots[at];
        let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
        let is_judged_elsewhere = matches!(byte, OWN | EXEMPT);
        match is_view && self.tokens() && !slot.path.is_empty() && is_judged_elsewhere {
            true => OLD,
            false => self.tight(at, byte),
        }
    }

    /// Returns a byte as it is stored: nothing is known of a process that may be i, j or any other.
    pub fn tight(&self, at: usize, byte: u8) -> u8 {
        let is_member = self.slots[at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
        match self.slots[at].leaf {
            Some(leaf) if leaf.is_unbounded() => self.counted(at, leaf, byte),
            _ if is_member && byte == BASE + LOOSE => ANY,
            _ => byte,
        }
    }

    /// Returns the bytes of an unkept value of this type; each view is `view`.
    pub fn unknown(&self, content: &Type, view: u8) -> Row {
        if view == ANY {
            return Row::from_elem(ANY, size(content, self.tokens()));
        }
        let mut row = Row::new();
        each_leaf(content, self.tokens(), 0, &mut |leaf, members| {
            // Within the place of one other process, the view may be an element of yet another
            // process.
            let is_nested = self.tokens() && members != 0 && view == EXEMPT;
            let view = if is_nested { OLD } else { view };
            row.push(if leaf.scalar == Scalar::View { view } else { ANY });
        });
        row
    }

    /// Returns true if views that are read from shared memory are judged where they were made.
    pub fn borrows(&self) -> bool {
        let is_nested = match self.obligation.ghosts {
            Ghosts::Scans => self.nested,
            Ghosts::Calls => true,
            Ghosts::Rounds => false,
        };
        is_nested && !self.tokens()
    }

    /// Returns the byte of an unkept view that is read whole from shared memory.
    pub fn read_view(&self, exempt: bool) -> u8 {
        match (self.tokens(), exempt) {
            (true, true) => EXEMPT,
            (true, false) => OLD,
            (false, _) if self.borrows() => BORROWED,
            (false, _) => ANY,
        }
    }
}
