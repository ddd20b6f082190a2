//! Excludes sources of entries one after the other, and records the reasons.

use super::super::proof::Derivation;
use super::super::relation::{NONE, Relation};
use super::super::shrink::search;
use crate::search::Budget;
use crate::verdict::{Line, Refutation, Rule};
use crate::{OperationId, Segment};

/// The largest number of suppositions for one set of operations.
const TRIALS: usize = 20_000;

/// An entry that is not settled.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub scan: u32,
    pub segment: u32,
    pub blocks: Vec<u32>,
}

/// Excludes sources, and records the reasons.
pub(super) struct Narrowing<'r, 'b, 'p> {
    relation: Relation,
    name: &'r dyn Fn(u32) -> OperationId,
    lines: Vec<Line>,
    trials: usize,
    budget: &'b mut Budget<'p>,
}

impl<'r, 'b, 'p> Narrowing<'r, 'b, 'p> {
    /// Creates the narrowing of a relation without cycle, whose operations have these names.
    pub fn new(
        relation: Relation,
        name: &'r dyn Fn(u32) -> OperationId,
        budget: &'b mut Budget<'p>,
    ) -> Self {
        Self { relation, name, lines: Vec::new(), trials: 0, budget }
    }

    /// Returns a refutation, if one is found with suppositions nested to this depth.
    pub fn refutation(mut self, open: Vec<Open>, depth: usize) -> Option<Refutation> {
        self.refute(open, depth).then_some(Refutation { lines: self.lines })
    }

    /// Returns true if a contradiction was found; the lines then end with it. Otherwise the lines
    /// are unchanged.
    fn refute(&mut self, mut open: Vec<Open>, depth: usize) -> bool {
        let length = self.lines.len();
        if self.narrow(&mut open) || self.search(&open) || self.split(open, depth) {
            return true;
        }
        self.lines.truncate(length);
        false
    }

    /// Excludes sources that make a cycle by themselves, until nothing changes.
    fn narrow(&mut self, open: &mut Vec<Open>) -> bool {
        loop {
            let mut has_changed = false;
            let mut at = 0;
            while at < open.len() {
                let Open { scan, segment, .. } = open[at];
                let blocks = std::mem::take(&mut open[at].blocks);
                for block in blocks {
                    if !self.exclude(scan, segment, block, None) {
                        open[at].blocks.push(block);
                    }
                }
                match open[at].blocks[..] {
                    [] => return self.unreadable(scan, segment),
                    [block] => {
                        if let Err(found) = self.relation.settle_entry(scan, segment, block) {
                            // The limit of trials was reached.
                            return self.derive(found.operation);
                        }
                        open.swap_remove(at);
                        has_changed = true;
                    }
                    _ => at += 1,
                }
            }
            if !has_changed || self.is_over() {
                return false;
            }
        }
    }

    /// Takes the open entry with the fewest sources, and excludes one after the other by
    /// consequences for other entries.
    fn split(&mut self, open: Vec<Open>, depth: usize) -> bool {
        let fewest = (0..open.len()).min_by_key(|at| open[*at].blocks.len());
        let (Some(at), false) = (fewest, depth == 0) else { return false };
        let mut others = open;
        let Open { scan, segment, blocks } = others.swap_remove(at);
        let are_excluded = blocks
            .iter()
            .all(|block| self.exclude(scan, segment, *block, Some((&others, depth - 1))));
        are_excluded && self.unreadable(scan, segment)
    }

    /// Excludes a source, if a contradiction follows from it, directly or by narrowing other
    /// entries.
    fn exclude(
        &mut self,
        scan: u32,
        segment: u32,
        block: u32,
        others: Option<(&Vec<Open>, usize)>,
    ) -> bool {
        if self.is_over() {
            return false;
        }
        self.trials += 1;
        let length = self.lines.len();
        let update = self.relation.block(block).update;
        let (after, k) = ((self.name)(scan), Segment::from_index(segment as usize));
        let before = if update == NONE { after } else { (self.name)(update) };
        self.lines.push(Line { before, after, rule: Rule::Source { segment: k } });
        self.relation.begin_trial();
        let is_refuted = match self.relation.settle_entry(scan, segment, block) {
            Err(found) => self.derive(found.operation),
            Ok(()) => others.is_some_and(|(open, depth)| self.refute(open.clone(), depth)),
        };
        self.relation.undo_trial();
        if is_refuted {
            self.lines.push(Line { before, after, rule: Rule::Excluded { segment: k } });
        } else {
            self.lines.truncate(length);
        }
        is_refuted
    }

    /// Refutes the settled entries, if no entry is open, by search for an order.
    fn search(&mut self, open: &[Open]) -> bool {
        if !open.is_empty() || self.is_over() {
            return false;
        }
        let Some(found) = search(&mut self.relation, self.name) else { return false };
        let first = self.lines.len();
        self.lines.extend(found.lines.into_iter().map(|line| line.renumbered(|to| to + first)));
        true
    }

    fn derive(&mut self, operation: u32) -> bool {
        let mut derivation = Derivation::new(&self.relation, self.name);
        derivation.lines = std::mem::take(&mut self.lines);
        let is_derived = derivation.derive(operation, operation).is_some();
        self.lines = derivation.lines;
        debug_assert!(is_derived, "a cycle is made of edges");
        is_derived
    }

    fn unreadable(&mut self, scan: u32, segment: u32) -> bool {
        let (scan, segment) = ((self.name)(scan), Segment::from_index(segment as usize));
        self.lines.push(Line { before: scan, after: scan, rule: Rule::Unreadable { segment } });
        true
    }

    fn is_over(&mut self) -> bool {
        self.trials > TRIALS
            || self.relation.bytes() > self.budget.memory
            || !(self.budget.proceed)()
    }
}
