//! Values of the updates.
//!
//! The updates of a script write *marker* values, which no other update of their segment wrote
//! before or writes before the script is over. So a scan that returns a marker saw exactly that
//! update. In a simple history the marker is the switch to 1; otherwise it is a value that no other
//! update ever writes.

use super::{Draw, Recipe, Style};

#[derive(Clone, Debug)]
pub(super) enum Values {
    Simple {
        /// The two segments, each with the ordinary operation from which on it writes 1:
        /// `usize::MAX` while a script is to decide it.
        switches: [(usize, usize); 2],
    },
    Differentiated,
    SmallDomain(u32),
}

impl Values {
    pub fn new(recipe: &Recipe, ordinary: usize, draw: &mut Draw) -> Self {
        match recipe.style {
            Style::Simple { i, j } => {
                let mut at = || draw.below(ordinary.max(1));
                Self::Simple { switches: [(i, at()), (j, at())] }
            }
            Style::Differentiated => Self::Differentiated,
            Style::SmallDomain(values) => Self::SmallDomain(values),
        }
    }

    /// Lets only a script switch this segment from now on.
    pub fn reserve(&mut self, segment: usize) {
        self.set_switch(segment, usize::MAX);
    }

    /// Records that a script has switched this segment.
    pub fn switched(&mut self, segment: usize) {
        self.set_switch(segment, 0);
    }

    fn set_switch(&mut self, segment: usize, at: usize) {
        if let Self::Simple { switches } = self {
            for switch in switches.iter_mut().filter(|switch| switch.0 == segment) {
                switch.1 = at;
            }
        }
    }

    /// Returns the value that ordinary operation number `number` writes to `segment`.
    pub fn ordinary(&self, segment: usize, number: usize, draw: &mut Draw) -> i64 {
        match self {
            Self::Simple { switches } => {
                switches.iter().any(|&(l, at)| l == segment && at <= number).into()
            }
            Self::Differentiated => number as i64 + 1,
            Self::SmallDomain(values) => draw.below(*values as usize) as i64,
        }
    }

    /// Returns marker 0 or 1 of a recipe with this many operations.
    pub fn marker(&self, index: usize, operations: usize) -> i64 {
        match self {
            Self::Simple { .. } => 1,
            Self::Differentiated => (operations + 1 + index) as i64,
            Self::SmallDomain(values) => i64::from(*values) + index as i64,
        }
    }
}
