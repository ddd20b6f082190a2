//! Supposing that one scan comes before another one, and undoing it.
//!
//! Between [`Relation::begin_trial`] and [`Relation::undo_trial`], old clock entries are kept on a
//! trail, and restored with the edges, last ones first.

use super::{Cycle, NONE, Relation, Stands};

/// The changes of a trial.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// Node, chain, and previous entry.
    pub clocks: Vec<(u32, u32, u32)>,
    /// The sources of the new edges.
    pub edges: Vec<u32>,
    pub first_edge: usize,
    pub entries: Vec<Settled>,
}

/// An entry that was settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    pub place: usize,
    pub block: u32,
    /// The first scan that saw the block, before the trial.
    pub seen_by: u32,
}

impl Relation {
    /// Supposes, or states, that one scan comes before another one.
    pub fn order(&mut self, first: u32, second: u32) -> Result<(), Cycle> {
        let (from, to) = (self.operation(first).node, self.operation(second).node);
        self.add_edge(from, to, (NONE, NONE));
        self.saturate()
    }

    /// Returns true if a scan can have seen a block; changes nothing.
    pub fn can_settle(&mut self, scan: u32, segment: u32, block: u32) -> bool {
        self.begin_trial();
        let result = self.settle_entry(scan, segment, block);
        self.undo_trial();
        result.is_ok()
    }

    /// Returns true if an order of two scans makes no cycle; changes nothing.
    pub fn can_order(&mut self, first: u32, second: u32) -> bool {
        self.begin_trial();
        let result = self.order(first, second);
        self.undo_trial();
        result.is_ok()
    }

    /// Orders two scans, if that makes no cycle; else changes nothing.
    pub fn try_order(&mut self, first: u32, second: u32) -> bool {
        self.begin_trial();
        let is_possible = self.order(first, second).is_ok();
        if is_possible {
            self.keep_trial()
        } else {
            self.undo_trial()
        }
        is_possible
    }

    /// Starts an undo log.
    pub fn begin_trial(&mut self) {
        let first_edge = self.edges.len();
        self.trials.push(Trail { first_edge, ..Trail::default() });
    }

    /// Visits the operations whose clocks have risen since the last trial began; some repeatedly.
    pub fn each_risen(&self, mut visit: impl FnMut(u32)) {
        let Some(trail) = self.trials.last() else { return };
        for &(node, _, _) in &trail.clocks {
            if let Stands::Operation(operation) = self.nodes[node as usize].stands {
                visit(operation);
            }
        }
    }

    /// Undoes the changes since the trial began, with any cycle.
    pub fn undo_trial(&mut self) {
        let Some(trail) = self.trials.pop() else { return };
        for (node, chain, before) in trail.clocks.into_iter().rev() {
            self.nodes[node as usize].clock[chain as usize] = before;
        }
        for (edge, from) in (trail.first_edge..self.edges.len()).zip(&trail.edges).rev() {
            self.nodes[*from as usize].edges = self.edges[edge].next;
        }
        self.edges.truncate(trail.first_edge);
        for Settled { place, block, seen_by } in trail.entries.into_iter().rev() {
            self.entries[place] = NONE;
            self.blocks[block as usize].seen_by = seen_by;
        }
        self.cycle = None;
    }

    /// Keeps the changes since the trial began.
    pub fn keep_trial(&mut self) {
        let Some(mut trail) = self.trials.pop() else { return };
        if let Some(outer) = self.trials.last_mut() {
            outer.clocks.append(&mut trail.clocks);
            outer.edges.append(&mut trail.edges);
            outer.entries.append(&mut trail.entries);
        }
    }
}
