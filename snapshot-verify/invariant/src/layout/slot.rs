//! What a byte of a view is.

use snapshot_language::program::SharedId;

use super::rows::RowOf;
use super::scalars::{Leaf, Scalar};
use crate::claim::{Ghosts, Obligation};

/// A byte of a view.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name; empty if it is bookkeeping, which is always kept.
    pub name: String,
    /// What it holds, unless it is bookkeeping.
    pub leaf: Option<Leaf>,
    /// Whether it is kept; if not, it is [`ANY`](crate::byte::ANY) for ever.
    pub kept: bool,
    /// Whether t is among its indices, or it is a token, which is relative to t.
    pub tracked: bool,
    /// Whose block it is in.
    pub owner: Option<u8>,
    /// In whose frame.
    pub frame: Option<usize>,
    /// Whether it is the position of a loop.
    pub position: bool,
    /// The members among its indices.
    pub path: Vec<u8>,
    /// Whether t is among those within its variable or cell.
    pub within_tracked: bool,
    /// Of an array whose rows are named, or of a link to one: whose row it is.
    pub row: Option<RowOf>,
}

impl Slot {
    /// Whether this is its name, or the word for it.
    pub fn is_called(&self, name: &str) -> bool {
        !self.name.is_empty()
            && self.name.chars().map(within_word).eq(name.chars().map(within_word))
    }

    /// Its name as one word, as it stands in lines with several names. What a hidden local is
    /// called is the text that it is for, with blanks; its number tells it from others.
    pub fn word(&self) -> String {
        self.name.chars().map(within_word).collect()
    }

    /// The members without which it is nothing.
    pub fn members(&self) -> impl Iterator<Item = u8> {
        self.path.iter().copied().chain(self.owner)
    }

    /// The variable of the cell that it is a link to.
    pub fn linked(&self) -> Option<SharedId> {
        match self.leaf?.scalar {
            Scalar::Link(variable) => Some(variable),
            _ => None,
        }
    }
}

/// A character of a name within a word: blanks part words, and `@` a name from a round.
const fn within_word(one: char) -> char {
    match one {
        ' ' | '@' => '_',
        one => one,
    }
}

/// The byte of the round.
pub(super) fn round(obligation: Obligation) -> Slot {
    // A token is relative to t.
    let tracked = obligation.has_tokens();
    Slot { kept: obligation.ghosts == Ghosts::Rounds, tracked, ..bookkeeping() }
}

/// A byte that is always kept, and has no name.
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
        row: None,
    }
}
