//! Forgetting operations that no later event can depend on, so that memory is bounded by the number
//! of overlapping operations, not by the length of the stream.
//!
//! Let t be the invocation of the oldest open operation (updates of unknown outcome are not open).
//! An operation is *over* if it responded before t: all later operations come after it. A block is
//! over if an operation of it is. A block is
//! * *closed*, if it is before a block that is over: no scan that is still open, or begins later,
//!   can return it, since then the other block would be before it, too;
//! * *settled*, if it is ordered with every other block of the segment.
//!
//! The *past* is the largest set of operations that are over (an update of unknown
//! outcome: if its block is) such that
//! 1. every predecessor of an operation of the past belongs to the past;
//! 2. each block of an operation of the past is settled; or it is closed, and all of its operations
//!    belong to the past.
//!
//! **Lemma.** An operation of the past gets no further predecessor, except in a cycle that is found
//! without it. Consider the first such step x < y.
//! * By *time* and *reads*, y would be a new operation.
//! * By *first*, a new scan returned an initial value, though an update is over: its block is
//!   closed, and reading it is refused.
//! * By *chain*, x < z < y: then z < y is old, so z belongs to the past, and x < z was first.
//! * By *block*, from x' < y' with x, x' in block a, and y, y' in block b: y' does not belong to
//!   the past (else x' < y' is old, so a was before b already, and closed, and x is no new scan).
//!   So b is settled. If a is over, it is ordered with b: either a was before b already, or b
//!   before a, and y' < x' < y' is a cycle of operations outside of the past, or x', and with it
//!   y', belongs to the past. If a is not over, all of its operations that have responded, or will,
//!   begin after t, so after y: then b is before a, a cycle again.
//!
//! So derivations among other operations never need those of the past, with one exception: the
//! existence of a block. Its update implies everything that follows from the scans that saw it.
//! Hence scans of the past can be forgotten, and updates as soon as their blocks are closed and lie
//! in the past as a whole. (Scans that carry an update on no chain represent it: these are kept
//! with it.) A scan that returns a forgotten value is a conflict by itself.
//!
//! Clocks stay unchanged: an entry that names a forgotten operation means the last kept operation
//! before it. Nodes of forgotten operations never rise again, so their edges are not needed.
//!
//! Condition 2 is needed: without it, an old scan may be forgotten that still decides the order of
//! later ones, by blocks that it shares with kept scans
//! (`snapshot-core/tests/all/judge/forgetting.rs` has such a history).

use super::{End, Kind, NONE, Operation, Relation, at};

/// The status of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    is_over: bool,
    is_closed: bool,
    /// Only for a block that is over; the past has no others.
    is_settled: bool,
    /// True if all of its operations belong to the past.
    is_past: bool,
}

/// The past of a relation at rest.
pub(super) struct Past<'r> {
    relation: &'r Relation,
    /// Time of the oldest open invocation.
    oldest: u32,
    blocks: Vec<Standing>,
    /// For each chain, the number of the last operation of the past.
    frontier: Vec<u32>,
}

impl<'r> Past<'r> {
    pub fn new(relation: &'r Relation, oldest: u32) -> Self {
        let blocks = vec![Standing::default(); relation.blocks.len()];
        let frontier = vec![0; relation.chains.len()];
        let mut past = Self { relation, oldest, blocks, frontier };
        past.judge_blocks();
        past.begin_frontier();
        while past.find_whole_blocks() | past.lower_frontier() {}
        past
    }

    /// Returns true if a node with this clock gets no further predecessor.
    pub fn covers(&self, clock: &[u32]) -> bool {
        clock.iter().zip(&self.frontier).all(|(number, last)| number <= last)
    }

    /// Returns true if an operation belongs to the past.
    pub fn contains(&self, operation: &Operation) -> bool {
        if operation.chain == NONE {
            self.covers(&self.relation.nodes[operation.node as usize].clock)
        } else {
            operation.number <= self.frontier[operation.chain as usize]
        }
    }

    /// Returns true if a block can be forgotten: no scan will return it, and it decides nothing.
    pub fn has_block(&self, block: u32) -> bool {
        let standing = self.blocks[block as usize];
        standing.is_closed && standing.is_past
    }

    fn is_over(&self, operation: &Operation) -> bool {
        operation.end == End::Response && operation.response < self.oldest
    }

    /// Visits the blocks of an operation: the block of its update, or the blocks that it saw, if it
    /// is complete.
    fn each_block(&self, operation: &Operation, mut visit: impl FnMut(u32)) {
        match operation.kind {
            Kind::Update { block } => visit(block),
            Kind::Scan { .. } => {
                let entries = self.relation.entries(operation).iter();
                entries.filter(|block| **block != NONE).for_each(|block| visit(*block));
            }
        }
    }

    fn judge_blocks(&mut self) {
        for operation in &self.relation.operations {
            if self.is_over(operation) {
                let mut over = std::mem::take(&mut self.blocks);
                self.each_block(operation, |block| over[block as usize].is_over = true);
                self.blocks = over;
            }
        }
        for block in 0..self.blocks.len() as u32 {
            let is_over =
                self.blocks[block as usize].is_over || self.relation.block(block).update == NONE;
            let (is_closed, is_settled) = self.compare(block);
            let standing = &mut self.blocks[block as usize];
            standing.is_over = is_over;
            standing.is_closed = is_closed;
            standing.is_settled = is_settled;
        }
    }

    /// Returns whether a block is before one that is over; and whether it is ordered with all
    /// others. Along a chain, every predecessor of one mark is a predecessor of the next ones. So
    /// the last mark that is over decides whether some block is later, and the first mark that is
    /// not earlier decides whether all others are later.
    fn compare(&self, block: u32) -> (bool, bool) {
        let relation = self.relation;
        let super::Block { segment, update, seen_by, .. } = *relation.block(block);
        let chains = 0..relation.chains.len() as u32;
        if update == NONE {
            // The initial block is before all others from the start.
            let mut marks =
                chains.filter_map(|chain| relation.chains.marks(chain, segment).first());
            return (marks.any(|mark| self.blocks[mark.block as usize].is_over), true);
        }
        let clock = relation.clock(update);
        let on_chain = if relation.operation(update).chain == NONE { seen_by } else { update };
        if on_chain == NONE {
            return (false, false);
        }
        let Operation { chain: own, number, .. } = *relation.operation(on_chain);
        let (mut is_closed, mut is_settled) = (false, true);
        for chain in chains {
            let marks = relation.chains.marks(chain, segment);
            let comes_later = |operation: u32| at(relation.clock(operation), own) >= number;
            let last = marks.iter().rev().find(|mark| {
                mark.block != block && self.is_over(relation.operation(mark.operation))
            });
            is_closed |= last.is_some_and(|mark| comes_later(mark.operation));
            let earlier = marks.partition_point(|mark| mark.number <= at(clock, chain));
            let next = marks[earlier..].iter().find(|mark| mark.block != block);
            is_settled &= next.is_none_or(|mark| comes_later(relation.block(mark.block).update));
        }
        (is_closed, is_settled)
    }

    /// Begins with all operations that are over, chain by chain.
    fn begin_frontier(&mut self) {
        let mut ends = vec![false; self.frontier.len()];
        for operation in &self.relation.operations {
            if operation.chain == NONE || operation.end == End::NoEffect {
                continue;
            }
            let is_over = match operation.kind {
                Kind::Update { block } if operation.end == End::Unknown => {
                    self.blocks[block as usize].is_over
                }
                _ => self.is_over(operation),
            };
            let chain = operation.chain as usize;
            ends[chain] |= !is_over;
            if !ends[chain] {
                self.frontier[chain] = operation.number;
            }
        }
    }

    /// Finds the blocks that belong to the past as a whole. Returns true if they have changed.
    fn find_whole_blocks(&mut self) -> bool {
        let mut is_past: Vec<bool> = self.blocks.iter().map(|block| block.is_over).collect();
        for operation in &self.relation.operations {
            if operation.end != End::NoEffect && !self.contains(operation) {
                self.each_block(operation, |block| is_past[block as usize] = false);
            }
        }
        let mut has_changed = false;
        for (standing, is_past) in self.blocks.iter_mut().zip(is_past) {
            has_changed |= standing.is_past != is_past;
            standing.is_past = is_past;
        }
        has_changed
    }

    /// Removes operations that violate the conditions of the past. Returns true if there were any.
    fn lower_frontier(&mut self) -> bool {
        let relation = self.relation;
        let mut has_changed = false;
        for operation in &relation.operations {
            if operation.chain == NONE
                || operation.end == End::NoEffect
                || !self.contains(operation)
            {
                continue;
            }
            let mut belongs = self.covers(&relation.nodes[operation.node as usize].clock);
            self.each_block(operation, |block| {
                let Standing { is_settled, is_closed, is_past, .. } = self.blocks[block as usize];
                belongs &= is_settled || is_closed && is_past;
            });
            if !belongs {
                self.frontier[operation.chain as usize] = operation.number - 1;
                has_changed = true;
            }
        }
        has_changed
    }
}
