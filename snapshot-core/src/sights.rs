//! The updates that scans read, from which an order of all operations follows.
//!
//! As in [`crate::chain`], "scan" stands for every operation that returns a vector.

use crate::OperationId;

/// The complete scans of a stream, in the order of their responses, and the updates that they read.
#[derive(Clone, Debug)]
pub(crate) struct Sights {
    /// The scans, with the sums of their vectors.
    scans: Vec<(OperationId, u64)>,
    /// The update read, one per segment and scan (of several with the same value in succession, the
    /// first); [`Self::INITIAL`] for the initial value.
    updates: Vec<u32>,
}

impl Sights {
    /// Stands for the initial value.
    pub const INITIAL: u32 = u32::MAX;

    /// Creates the sights of a stream before the first event, with room for so many scans.
    pub fn new(scans: usize, segments: usize) -> Self {
        let updates = Vec::with_capacity(scans * segments);
        Self { scans: Vec::with_capacity(scans), updates }
    }

    /// Adds a scan, with the sum of its vector and the updates that it read; `None` for an initial
    /// value.
    pub fn push(
        &mut self,
        scan: OperationId,
        sum: u64,
        updates: impl Iterator<Item = Option<u64>>,
    ) {
        self.scans.push((scan, sum));
        self.updates.extend(updates.map(|one| one.map_or(Self::INITIAL, |one| one as u32)));
    }

    /// Returns the scans in the order of their vectors, equal ones in the order of responses; each
    /// with the updates that it read, one per segment.
    pub fn chain(&self) -> impl Iterator<Item = (OperationId, &[u32])> {
        let mut order: Vec<usize> = (0..self.scans.len()).collect();
        order.sort_by_key(|&scan| self.scans[scan].1);
        let width = self.updates.len() / self.scans.len().max(1);
        order
            .into_iter()
            .map(move |scan| (self.scans[scan].0, &self.updates[scan * width..(scan + 1) * width]))
    }

    /// The updates that scans read.
    pub fn updates(&self) -> &[u32] {
        &self.updates
    }
}
