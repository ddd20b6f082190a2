//! Chains: a cover of the operations by sequences ordered in real time.
//!
//! An operation takes a free chain at its invocation and frees it when it ends, so the number of
//! chains is the largest number of overlapping operations. Process numbers are unsuitable: after an
//! unknown outcome, the operations of one process are not ordered.
//!
//! For each chain and segment, *marks* record the blocks of the segment that operations of the
//! chain belong to: each update on the chain, and each scan that saw an update that is on no chain
//! (below).
//!
//! **Updates of unknown outcome** leave their chain, unless a scan has already seen them: they
//! would occupy it forever. A scan that sees one later carries it: such an update has no response,
//! so every successor of the update is a successor of a scan that saw it. An update that a
//! completed scan has seen took effect before that scan responded, so its chain may be used again
//! from then on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::relation::NONE;

/// An operation on a chain that belongs to a block of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Position of the operation on the chain, from 1.
    pub number: u32,
    /// The operation.
    pub operation: u32,
    /// The block.
    pub block: u32,
}

#[derive(Clone, Debug, Default)]
struct Chain {
    /// Number of operations put on the chain.
    length: u32,
    /// For each segment, ascending by number.
    marks: Vec<Vec<Mark>>,
    /// Complete scans, ascending, with their numbers.
    scans: Vec<(u32, u32)>,
}

/// All chains of a history.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    chains: Vec<Chain>,
    /// The free chains; the smallest is taken first, which keeps clocks short.
    free: BinaryHeap<Reverse<u32>>,
}

impl Chains {
    /// Number of chains: the largest number of operations that overlap.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Takes a chain for an operation that is invoked now; returns it with the operation's number
    /// there.
    pub fn take(&mut self) -> (u32, u32) {
        let chain = match self.free.pop() {
            Some(Reverse(chain)) => chain,
            None => {
                self.chains.push(Chain::default());
                self.chains.len() as u32 - 1
            }
        };
        let length = &mut self.chains[chain as usize].length;
        *length += 1;
        (chain, *length)
    }

    /// Frees a chain: later operations come after all operations on it.
    pub fn free(&mut self, chain: u32) {
        self.free.push(Reverse(chain));
    }

    /// Appends a mark; numbers ascend.
    pub fn mark(&mut self, chain: u32, segment: u32, mark: Mark) {
        let marks = &mut self.chains[chain as usize].marks;
        if marks.len() <= segment as usize {
            marks.resize_with(segment as usize + 1, Vec::new);
        }
        marks[segment as usize].push(mark);
    }

    /// Returns the block of the last mark of a segment.
    pub fn last_block(&self, chain: u32, segment: u32) -> Option<u32> {
        self.marks(chain, segment).last().map(|mark| mark.block)
    }

    /// The marks of a segment, ascending.
    pub fn marks(&self, chain: u32, segment: u32) -> &[Mark] {
        self.chains[chain as usize].marks.get(segment as usize).map_or(&[], Vec::as_slice)
    }

    pub fn each_mark(&self, visit: impl FnMut(&Mark)) {
        self.chains.iter().flat_map(|chain| chain.marks.iter().flatten()).for_each(visit);
    }

    /// Renumbers the marks and scans; forgets those without a new number.
    pub fn renumber(&mut self, operations: &[u32], blocks: &[u32]) {
        for chain in &mut self.chains {
            for marks in &mut chain.marks {
                marks.retain_mut(|mark| {
                    mark.block = blocks[mark.block as usize];
                    mark.operation = operations[mark.operation as usize];
                    mark.block != NONE
                });
            }
            chain.scans.retain_mut(|(_, scan)| {
                *scan = operations[*scan as usize];
                *scan != NONE
            });
        }
    }

    /// Removes the mark of an operation that is the last one on its chain.
    pub fn unmark(&mut self, chain: u32, segment: u32, operation: u32) {
        let marks = &mut self.chains[chain as usize].marks[segment as usize];
        debug_assert_eq!(marks.last().map(|mark| mark.operation), Some(operation));
        marks.pop();
    }

    /// Returns the last mark of a segment up to a number. Usually one of the last few.
    #[inline]
    pub fn last_mark(&self, chain: u32, segment: u32, number: u32) -> Option<Mark> {
        let marks = self.chains[chain as usize].marks.get(segment as usize)?;
        let mut end = marks.len();
        for _ in 0..4 {
            match marks[..end].last() {
                None => return None,
                Some(mark) if mark.number <= number => return Some(*mark),
                Some(_) => end -= 1,
            }
        }
        let end = marks[..end].partition_point(|mark| mark.number <= number);
        marks[..end].last().copied()
    }

    /// Appends a complete scan.
    pub fn add_scan(&mut self, chain: u32, number: u32, scan: u32) {
        self.chains[chain as usize].scans.push((number, scan));
    }

    /// The complete scans of a chain, ascending, each with its number.
    pub fn scans(&self, chain: u32) -> &[(u32, u32)] {
        &self.chains[chain as usize].scans
    }
}
