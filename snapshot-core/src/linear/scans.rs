//! The vectors of complete scans, and condition D: they form a chain.
//!
//! Either all vectors are kept, to build a linearization, and ordered at the end by counting. Or
//! they are kept until no scan that is still to respond can lie between them: by condition C such a
//! scan is not below the floor of any open scan, so the vectors below all floors are *settled*:
//! ordered among themselves, compared with their neighbours, and forgotten except the last.

use super::runs::Instant;
use crate::history::History;

/// Unless all vectors are kept, they are settled in blocks of at least this size.
const BLOCK: usize = 64;

/// Complete scans, in the order of their responses.
#[derive(Debug)]
pub(super) struct Scans {
    width: usize,
    /// Numbers of the runs read, `width` per scan; may have one vector more than `sums`, of the
    /// scan being read.
    numbers: Vec<u32>,
    sums: Vec<u64>,
    /// Only if all are kept: the operations, and their earliest instants when considered alone.
    pub operations: Vec<u32>,
    pub since: Vec<Instant>,
    keeps_all: bool,
    /// Number of scans in the next block.
    block: usize,
    /// The largest vector settled.
    settled: Vec<u32>,
}

fn at_most(smaller: &[u32], larger: &[u32]) -> bool {
    smaller.iter().zip(larger).fold(true, |so_far, (a, b)| so_far & (a <= b))
}

impl Scans {
    /// Keeps all scans of the history.
    pub fn keeping_all<V>(history: &History<V>) -> Self {
        let scans = history.scans();
        Self {
            numbers: Vec::with_capacity((scans + 1) * history.segments()),
            sums: Vec::with_capacity(scans),
            operations: Vec::with_capacity(scans),
            since: Vec::with_capacity(scans),
            keeps_all: true,
            ..Self::keeping_recent(history)
        }
    }

    /// Keeps scans as long as others may be compared with them.
    pub fn keeping_recent<V>(history: &History<V>) -> Self {
        Self {
            width: history.segments(),
            numbers: Vec::new(),
            sums: Vec::new(),
            operations: Vec::new(),
            since: Vec::new(),
            keeps_all: false,
            block: BLOCK,
            settled: vec![0; history.segments()],
        }
    }

    /// Begins a scan and returns its vector, to be filled in.
    #[inline]
    pub fn begin(&mut self) -> &mut [u32] {
        let start = self.sums.len() * self.width;
        self.numbers.resize(start + self.width, 0);
        &mut self.numbers[start..]
    }

    /// Completes the scan last begun.
    #[inline]
    pub fn finish(&mut self, operation: u32, sum: u64, since: Instant) {
        self.sums.push(sum);
        if self.keeps_all {
            self.operations.push(operation);
            self.since.push(since);
        }
    }

    /// Returns the vector last begun.
    pub fn last(&self) -> &[u32] {
        &self.numbers[self.numbers.len() - self.width..]
    }

    /// Returns the vector last begun.
    pub fn last_mut(&mut self) -> &mut [u32] {
        let start = self.numbers.len() - self.width;
        &mut self.numbers[start..]
    }

    /// The vector of a scan.
    pub fn vector(&self, scan: usize) -> &[u32] {
        &self.numbers[scan * self.width..][..self.width]
    }

    /// Returns the last scan with this sum, if it is kept.
    pub fn find(&self, sum: u64) -> Option<usize> {
        self.sums.iter().rposition(|&other| other == sum)
    }

    /// Returns true if it is time to settle.
    #[inline]
    pub fn is_full(&self) -> bool {
        !self.keeps_all && self.sums.len() >= self.block
    }

    /// Settles the scans whose sums are below `floor`; all others, present or future, are at or
    /// above it. Returns true if they form a chain.
    pub fn settle(&mut self, floor: u64) -> bool {
        let mut order: Vec<usize> =
            (0..self.sums.len()).filter(|&scan| self.sums[scan] < floor).collect();
        order.sort_by_key(|&scan| self.sums[scan]);
        let mut below = &self.settled[..];
        for &scan in &order {
            if !at_most(below, self.vector(scan)) {
                return false;
            }
            below = self.vector(scan);
        }
        self.settled = below.to_vec();
        let mut kept = 0;
        for scan in 0..self.sums.len() {
            if self.sums[scan] >= floor {
                let from = scan * self.width;
                self.numbers.copy_within(from..from + self.width, kept * self.width);
                self.sums[kept] = self.sums[scan];
                kept += 1;
            }
        }
        self.numbers.truncate(kept * self.width);
        self.sums.truncate(kept);
        // Twice the number of kept scans, so that the total work is linear.
        self.block = BLOCK.max(2 * kept);
        true
    }

    /// Returns all scans in ascending order of their vectors, if such an order exists; equal ones
    /// in the order of responses. O(entries of all scans).
    pub fn chain(&self) -> Option<Vec<u32>> {
        let largest = self.sums.iter().copied().max().unwrap_or(0) as usize;
        let mut ends = vec![0u32; largest + 2];
        for &sum in &self.sums {
            ends[sum as usize + 1] += 1;
        }
        for sum in 0..=largest {
            ends[sum + 1] += ends[sum];
        }
        let mut chain = vec![0u32; self.sums.len()];
        for (scan, &sum) in self.sums.iter().enumerate() {
            let place = &mut ends[sum as usize];
            chain[*place as usize] = scan as u32;
            *place += 1;
        }
        let ordered = chain
            .windows(2)
            .all(|pair| at_most(self.vector(pair[0] as usize), self.vector(pair[1] as usize)));
        ordered.then_some(chain)
    }
}
