//! The rule *block*: from a step between two blocks to the order of all of them.
//!
//! Where the clock of an operation of block b rises at a chain, the last mark there, of block a,
//! yields "a before b". Earlier marks of the chain are before that one by time, so their
//! consequences have been derived from it, or will be. A derivation is left out if it follows from
//! the one that raised the clock, or from another one that is made: from a' before b, where the
//! update of a' has the mark in its clock, so that a before a' was derived.

use std::cmp::Reverse;

use super::super::chains::Mark;
use super::{Cycle, Kind, NONE, Operation, Relation, Rise, at};

impl Relation {
    /// Derives the consequences of the rises of an operation's clock.
    pub(super) fn derive(&mut self, operation: u32, rises: &[Rise]) {
        let Operation { kind, chain, number, node, .. } = *self.operation(operation);
        if chain != NONE && at(&self.nodes[node as usize].clock, chain) >= number {
            self.cycle = Some(Cycle { operation });
            return;
        }
        match kind {
            Kind::Update { block } => {
                let segment = self.block(block).segment;
                self.derive_at(operation, segment, block, rises);
            }
            Kind::Scan { entries: NONE } => {}
            Kind::Scan { entries } => {
                let count = self.entries[entries as usize];
                for segment in 0..count {
                    let block = self.entries[(entries + 1 + segment) as usize];
                    if block != NONE {
                        self.derive_at(operation, segment, block, rises);
                    }
                }
            }
        }
    }

    fn derive_at(&mut self, operation: u32, segment: u32, block: u32, rises: &[Rise]) {
        let update = self.block(block).update;
        if update == NONE {
            // A predecessor of a scan of the initial value that belongs to another block comes
            // after the scan by the rule `first`.
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        let clock = self.clock(operation);
        let known = self.clock(update);
        for rise in rises {
            let number = at(clock, rise.chain);
            // No mark after these is new; this test does not read the marks.
            if operation != update && number <= rise.before.max(at(known, rise.chain)) {
                continue;
            }
            let Some(mark) = self.chains.last_mark(rise.chain, segment, number) else { continue };
            if mark.number <= rise.before || mark.block == block {
                continue;
            }
            let is_known = if operation == update {
                rise.via != NONE
                    && (rise.via == mark.block || self.follows(mark, rise.chain, rise.via))
            } else {
                at(known, rise.chain) >= mark.number
            };
            if !is_known {
                candidates.push((mark.operation, rise.chain, mark));
            }
        }
        // The latest first: earlier ones mostly follow from them.
        candidates.sort_unstable_by_key(|candidate| Reverse(candidate.0));
        let mut made = 0;
        for index in 0..candidates.len() {
            let candidate = candidates[index];
            let (_, chain, mark) = candidate;
            let follows = candidates[..made].iter().any(|(_, _, other)| {
                other.block == mark.block || self.follows(mark, chain, other.block)
            });
            if !follows {
                candidates[made] = candidate;
                made += 1;
            }
        }
        let to = self.operation(update).node;
        for (_, _, mark) in candidates.drain(..made) {
            let end = self.block(mark.block).end;
            self.add_edge(end, to, (mark.operation, operation));
        }
        candidates.clear();
        self.candidates = candidates;
    }

    /// Returns true if the block of a mark is known to be before another block.
    #[inline]
    fn follows(&self, mark: Mark, chain: u32, block: u32) -> bool {
        let update = self.block(block).update;
        update != NONE && at(self.clock(update), chain) >= mark.number
    }
}
