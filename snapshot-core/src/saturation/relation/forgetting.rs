//! What nothing that follows can bear upon is forgotten, so that memory is
//! bounded by how much overlaps, not by the length of the stream.
//!
//! Let t be the invocation of the oldest open operation (updates of unknown outcome
//! are not open); *over* are the operations that responded before t: all that
//! follow come after them. A block is over if an operation of it is. A block is
//! * *closed*, if it is before a block that is over: no scan that is still open, or
//!   begins later, can return it, for then the other block would be before it, too;
//! * *settled*, if it is ordered with every other block of the segment.
//!
//! The *past* is the largest set of operations that are over (an update of unknown
//! outcome: if its block is) such that
//! 1. whatever comes before an operation of the past belongs to the past;
//! 2. each block of an operation of the past is settled; or it is closed, and all of its
//!    operations belong to the past.
//!
//! **Lemma.** Nothing more will ever come before an operation of the past, except in
//! a cycle that is found without it. Consider the first such step x < y.
//! By *time* and *reads*, y would be a new operation. By *first*, a new scan returned an
//! initial value, though an update is over: its block is closed, and reading it is
//! refused. By *chain*, x < z < y: then z < y is old, so z is of the past, and x < z was
//! first. By *block*, from x' < y' with x, x' in block a, and y, y' in block b:
//! y' is not of the past (else x' < y' is old, so a was before b already, and closed,
//! and x is no new scan). So b is settled. If a is over, it is ordered with b: either a was
//! before b already, or b before a, and y' < x' < y' is a cycle of operations outside
//! of the past, or x', and with it y', belongs to the past. If a is not over, all of its
//! operations that have responded, or will, begin after t, so after y: then b is before a,
//! a cycle again.
//!
//! So what is derived among other operations never needs those of the past, with one exception:
//! that a block has been there at all. From its update follows all that follows from the
//! scans that saw it. Hence scans of the past can be forgotten, and updates as soon as their
//! blocks are closed and lie in the past as a whole. (An update that is on no chain is
//! represented by scans that carry it: these are kept with it.) A scan that returns what
//! was forgotten is a conflict by itself.
//!
//! Clocks stay as they are: an entry that points behind what is kept means the last
//! operation kept before it. Nodes of what is forgotten never rise again, so their
//! edges are not needed.
//!
//! Condition 2 is needed: without it, an old scan may be forgotten that still decides
//! the order of later ones, by blocks that it shares with scans that are kept
//! (`snapshot-core/tests/all/judge/forgetting.rs` has such a history).

use super::{End, Kind, NONE, Operation, Relation, at};

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    is_over: bool,
    is_closed: bool,
    /// Of a block that is over; the past has no others.
    is_settled: bool,
    /// Whether all of its operations belong to the past.
    is_past: bool,
}

/// The past of a relation at rest.
pub(super) struct Past<'r> {
    relation: &'r Relation,
    /// Time of the oldest open invocation.
    oldest: u32,
    blocks: Vec<Standing>,
    /// Per chain, the number of the last operation of the past.
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

    /// Whether nothing more will come before what has this clock.
    pub fn covers(&self, clock: &[u32]) -> bool {
        clock.iter().zip(&self.frontier).all(|(number, last)| number <= last)
    }

    /// Whether an operation belongs to the past.
    pub fn contains(&self, operation: &Operation) -> bool {
        if operation.chain == NONE {
            self.covers(&self.relation.nodes[operation.node as usize].clock)
        } else {
            operation.number <= self.frontier[operation.chain as usize]
        }
    }

    /// Whether a block can be forgotten: no scan will return it, and it decides nothing.
    pub fn has_block(&self, block: u32) -> bool {
        let standing = self.blocks[block as usize];
        standing.is_closed && standing.is_past
    }

    fn is_over(&self, operation: &Operation) -> bool {
        operation.end == End::Response && operation.response < self.oldest
    }

    /// The blocks of an operation: of its update, or those that it saw, if it is complete.
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

    /// Whether a block is before one that is over; and whether it is ordered with all others. Along a chain, whatever comes before one mark comes before the next
    /// ones: so the last one that is over tells of all whether some is later, and
    /// the first one that is not earlier, whether all others are later.
    fn compare(&self, block: u32) -> (bool, bool) {
        let relation = self.relation;
        let super::Block { segment, update, seen_by, .. } = *relation.block(block);
        let chains = 0..relation.chains.len() as u32;
        if update == NONE {
            // It is before all others, and there from the start.
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

    /// All that is over, chain by chain.
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

    /// Finds out which blocks belong to the past as a whole; whether that has changed.
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

    /// Takes out of the past what does not fulfil its conditions; whether there was any.
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
