//! Renamings: from a differentiated history to its (i, j)-simple histories.
//!
//! In a *differentiated* history every read names the update that it read. Number
//! the updates of each segment, choose two segments and a threshold for each, and
//! let every value numbered at or above its threshold become 1, and every other value 0: the
//! result is (i, j)-simple. The history is linearizable iff all of these simple histories
//! are (Amram et al., DISC 2022, Theorem 5, applied to one execution), which
//! three small automata decide ([`crate::automata`]). [`Judge`] runs them on all
//! renamings; the fast checks of this crate evaluate the same condition without listing them.

mod decide;
mod numbering;

use std::fmt;
use std::hash::Hash;

pub use decide::{Decision, Judge, Unrenamable};
pub use numbering::{NotDifferentiated, Numbering};

use crate::simple::SimpleHistory;
use crate::{History, Segment};

/// A renaming (i, j, r_i, r_j): updates of `i` numbered `from_i` or more and
/// updates of `j` numbered `from_j` or more become 1, all else becomes 0.
///
/// Updates of a segment are numbered 1, 2, ... in their order; number 0 is the
/// initial value. Consecutive updates with the same value have one number.
/// A value that was never in the segment has a number above all others.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Renaming {
    /// The first of the two segments.
    pub i: Segment,
    /// The other one; `None` in a history of one segment.
    pub j: Option<Segment>,
    /// The first update of `i` to become 1, at least 1.
    pub from_i: u64,
    /// The first update of `j` to become 1, at least 1.
    pub from_j: u64,
}

impl Renaming {
    /// Returns the (i, j)-simple history under this renaming. O(size of the history).
    ///
    /// For several renamings of one history, number it once: [`Numbering::rename`].
    ///
    /// ```
    /// use snapshot_core::history::{Declaration, History};
    /// use snapshot_core::renaming::Renaming;
    /// use snapshot_core::simple::{Letter, Switching, Symbol};
    /// use snapshot_core::{Process, Segment};
    ///
    /// let mut history = History::builder(Declaration::new(0)).unwrap();
    /// for value in [7, 9] {
    ///     history.invoke_update(0, 0, value).unwrap();
    ///     history.respond_update(0).unwrap();
    /// }
    /// history.invoke_scan(1).unwrap();
    /// history.respond_scan(1, &[7, 0]).unwrap(); // 9 had replaced 7
    /// let (i, j) = (Segment::from_index(0), Segment::from_index(1));
    /// // The second update of i writes 1, all else is 0: the scan misses it.
    /// let renaming = Renaming { i, j: Some(j), from_i: 2, from_j: 1 };
    /// let simple = renaming.apply(&history.finish()).unwrap();
    /// let response = Symbol::RespondScan { at_i: false, at_j: false };
    /// assert_eq!(simple.letters()[5], Letter::new(Process::from_index(1), response));
    /// let update = Symbol::InvokeUpdate { segment: Switching::I, value: true };
    /// assert_eq!(simple.letters()[2], Letter::new(Process::from_index(0), update));
    /// ```
    ///
    /// # Errors
    /// If the history is not differentiated: a value returns to its segment, updates of a
    /// segment overlap, or a scan is partial.
    ///
    /// # Panics
    /// If i and j are one segment, or one of them is not in the history.
    pub fn apply<V: Eq + Hash>(
        &self,
        history: &History<V>,
    ) -> Result<SimpleHistory, NotDifferentiated> {
        Ok(Numbering::new(history)?.rename(*self))
    }
}

impl fmt::Display for Renaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |from: u64| if from == u64::MAX { "inf".to_owned() } else { from.to_string() };
        match self.j {
            Some(j) => write!(
                f,
                "(i, j, r_i, r_j) = ({}, {}, {}, {})",
                self.i,
                j,
                number(self.from_i),
                number(self.from_j)
            ),
            None => write!(f, "(i, r_i) = ({}, {})", self.i, number(self.from_i)),
        }
    }
}
