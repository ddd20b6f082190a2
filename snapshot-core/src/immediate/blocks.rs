//! Sequences of blocks, and the one that the conditions leave.

use super::history::History;
use crate::OperationId;

/// A sequence of blocks: the proof that an execution is set-linearizable. Checked by
/// [`crate::certificate::blocks`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SetLinearization {
    /// The operations, block by block.
    members: Vec<OperationId>,
    /// Where each block ends in `members`.
    ends: Vec<usize>,
}

impl SetLinearization {
    /// The sequence of these blocks.
    pub fn new<B: IntoIterator<Item = OperationId>>(blocks: impl IntoIterator<Item = B>) -> Self {
        let mut all = Self::default();
        for block in blocks {
            all.members.extend(block);
            all.ends.push(all.members.len());
        }
        all
    }

    /// Number of blocks.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no operation took effect.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The blocks in their order, each with its operations.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &[OperationId]> {
        let start = |block: usize| block.checked_sub(1).map_or(0, |before| self.ends[before]);
        (0..self.ends.len()).map(move |block| &self.members[start(block)..self.ends[block]])
    }

    /// The blocks of an execution that satisfies the four conditions: one per vector
    /// that occurs, of the operations at which it grows (module page, sufficiency).
    ///
    /// `complete` has the complete operations with the sums of their vectors, which are
    /// those that `vector` says. O(length of the history), besides sorting them.
    pub(super) fn of_chain<V>(
        history: &History<V>,
        mut complete: Vec<(u64, OperationId)>,
        vector: impl Fn(OperationId) -> Vec<u64>,
    ) -> Self {
        // The s-th operation of each process.
        let mut operations: Vec<Vec<OperationId>> = vec![Vec::new(); history.segments()];
        for id in history.operation_ids() {
            operations[history.operation(id).process.index()].push(id);
        }
        complete.sort_unstable();
        let mut below = vec![0; history.segments()];
        let mut all = Self::default();
        let mut largest = 0;
        for (sum, id) in complete {
            if sum == largest {
                continue;
            }
            largest = sum;
            let vector = vector(id);
            for (segment, &entry) in vector.iter().enumerate() {
                if entry > below[segment] {
                    all.members.push(operations[segment][entry as usize - 1]);
                }
            }
            all.ends.push(all.members.len());
            below = vector;
        }
        all
    }
}
