//! Bytes of a view.

use snapshot_language::program::SharedId;

use super::rows::RowOf;
use super::scalars::{Leaf, Scalar};
use crate::claim::{Ghosts, Obligation};

/// A byte of a view.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Empty for bookkeeping, which is always kept.
    pub name: String,
    /// Type of the scalar; `None` for bookkeeping.
    pub leaf: Option<Leaf>,
    /// True if the byte is kept; otherwise it is always [`ANY`](crate::byte::ANY).
    pub kept: bool,
    /// True if t is among its indices, or it is a token, which is relative to t.
    pub tracked: bool,
    /// Owner of its block.
    pub owner: Option<u8>,
    /// Procedure of its frame.
    pub frame: Option<usize>,
    /// True for the position of a loop.
    pub position: bool,
    /// Members among its indices.
    pub path: Vec<u8>,
    /// True if t is among the indices within its variable or cell.
    pub within_tracked: bool,
    /// Number of places of the [windows](crate::cursor) that a counter holds; 0: it holds none.
    pub window: usize,
    /// For an array whose rows are named, or a link to one: the owner of the row.
    pub row: Option<RowOf>,
}

impl Slot {
    /// Returns true if this is the byte's name, or its word.
    pub fn is_called(&self, name: &str) -> bool {
        !self.name.is_empty()
            && self.name.chars().map(within_word).eq(name.chars().map(within_word))
    }

    /// Returns the name as one word, as in lines with several names. The name of a hidden local is
    /// the text that it stands for, with blanks; its number distinguishes it from others.
    pub fn word(&self) -> String {
        self.name.chars().map(within_word).collect()
    }

    /// Returns the members that must be present for the byte to hold anything.
    pub fn members(&self) -> impl Iterator<Item = u8> {
        self.path.iter().copied().chain(self.owner)
    }

    /// Returns the variable of the cell that a link refers to.
    pub fn linked(&self) -> Option<SharedId> {
        match self.leaf?.scalar {
            Scalar::Link(variable) => Some(variable),
            _ => None,
        }
    }
}

/// Replaces a character of a name within a word: blanks separate words, and `@` separates a name
/// from a round.
const fn within_word(one: char) -> char {
    match one {
        ' ' | '@' => '_',
        one => one,
    }
}

/// Returns the byte of the round.
pub(super) fn round(obligation: Obligation) -> Slot {
    // A token is relative to t.
    let tracked = obligation.has_tokens();
    Slot { kept: obligation.ghosts == Ghosts::Rounds, tracked, ..bookkeeping() }
}

/// Returns the byte of the process that made the latest write to the clock.
pub(super) fn signer() -> Slot {
    let leaf = Some(Leaf { scalar: Scalar::Member, optional: true });
    Slot { leaf, kept: false, ..bookkeeping() }
}

/// Returns a byte that is always kept, and has no name.
pub(super) fn bookkeeping() -> Slot {
    Slot {
        name: String::new(),
        leaf: None,
        kept: true,
        tracked: false,
        owner: None,
        frame: None,
        position: false,
        path: Vec::new(),
        within_tracked: false,
        window: 0,
        row: None,
    }
}
