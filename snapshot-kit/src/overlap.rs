//! How much the operations of a history met: the evidence that a recording could have found
//! something.

use snapshot_core::History;

/// How much the operations of a history met.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Overlap {
    /// Number of operations.
    pub operations: u64,
    /// Number of those that began while another one was open.
    pub overlapping: u64,
    /// Number of scans that overlapped an update: only these can be torn.
    pub scans: u64,
}

impl Overlap {
    /// Counts. O(events * operations that are open at a time).
    pub fn of<V>(history: &History<V>) -> Self {
        let mut overlap = Self { operations: history.operations().len() as u64, ..Self::default() };
        // Open scans that have met no update yet, and the numbers of all that are open.
        let mut alone = Vec::new();
        let (mut open, mut updates) = (0_u64, 0_u64);
        for step in history.steps() {
            let is_scan = history.operation(step.operation).is_scan();
            match (step.is_end, is_scan) {
                (false, true) if updates > 0 => overlap.scans += 1,
                (false, true) => alone.push(step.operation),
                (false, false) => {
                    overlap.scans += alone.len() as u64;
                    alone.clear();
                    updates += 1;
                }
                (true, true) => alone.retain(|scan| *scan != step.operation),
                (true, false) => updates -= 1,
            }
            if step.is_end {
                open -= 1;
            } else {
                overlap.overlapping += u64::from(open > 0);
                open += 1;
            }
        }
        overlap
    }

    /// Adds what another recording shows.
    pub(crate) const fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.overlapping += other.overlapping;
        self.scans += other.scans;
    }

    /// Why a recording cannot find anything, if it cannot.
    pub fn note(&self) -> Option<&'static str> {
        (self.scans == 0).then_some(
            "no scan overlapped an update, so this can find nothing that one thread alone would \
             not: let threads start together, do more, or use more of them",
        )
    }
}
