//! Renamings: from a differentiated history to a simple one (DESIGN 2.3).

use std::fmt;

use crate::Segment;

/// A renaming (i, j, r_i, r_j): updates of `i` numbered `from_i` or more and
/// updates of `j` numbered `from_j` or more become 1, all else becomes 0.
///
/// Updates of a segment are numbered 1, 2, ... in their order; number 0 is the
/// initial value. Consecutive updates with the same value count as one.
/// Where an update wrote a value that never was in the segment, its number
/// counts as larger than all others.
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
