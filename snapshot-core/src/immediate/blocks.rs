//! Sequences of blocks.

use crate::OperationId;

/// A sequence of blocks: the proof that an execution is set-linearizable. Checked by
/// [`crate::certificate::blocks`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SetLinearization {
    /// The operations, block by block.
    members: Vec<OperationId>,
    /// End of each block in `members`.
    ends: Vec<usize>,
}

impl SetLinearization {
    /// Creates the sequence of these blocks.
    pub fn new<B: IntoIterator<Item = OperationId>>(blocks: impl IntoIterator<Item = B>) -> Self {
        let mut all = Self::default();
        for block in blocks {
            all.push(block);
        }
        all
    }

    /// Number of blocks.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if no operation took effect.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the blocks in order, each with its operations.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &[OperationId]> {
        let start = |block: usize| block.checked_sub(1).map_or(0, |before| self.ends[before]);
        (0..self.ends.len()).map(move |block| &self.members[start(block)..self.ends[block]])
    }

    /// Appends a block.
    pub(super) fn push(&mut self, block: impl IntoIterator<Item = OperationId>) {
        self.members.extend(block);
        self.ends.push(self.members.len());
    }
}
